import { useSignal } from '@preact/signals';
import { useMemo } from 'preact/hooks';
import { type Draft, type Newer, shortText } from './draft.js';
import { compareLines } from './lineDiff.js';
import { DiffView } from './reviewView.js';
import type { FieldConflict } from './threeWay.js';
import { comparedText, pathText } from './yamlText.js';

function Conflict(props: {
  readonly conflict: FieldConflict;
  readonly isMine: boolean;
  readonly choose: (isMine: boolean) => void;
}) {
  const { conflict, isMine, choose } = props;
  const path = pathText(conflict.path);
  const option = (mine: boolean, label: string, value: unknown) => (
    <label class={`choice ${mine === isMine ? 'chosen' : ''}`}>
      <span class="row">
        <input type="radio" name={path} checked={mine === isMine} onChange={() => choose(mine)} />
        <strong>{label}</strong>
      </span>
      <code>{shortText(value)}</code>
    </label>
  );
  return (
    <fieldset class="conflict">
      <legend>
        <code>{path}</code>
      </legend>
      {option(true, 'Yours', conflict.mine)}
      {option(false, 'On the server', conflict.theirs)}
    </fieldset>
  );
}

function Difference({ before, after }: { readonly before: string; readonly after: string }) {
  const lines = useMemo(() => compareLines(comparedText(before), comparedText(after)), [before, after]);
  return <DiffView lines={lines} label="Changed on the server" />;
}

/** Says that the object has changed while it was edited, shows how, and merges. */
export function NewerView(props: { readonly draft: Draft; readonly newer: Newer }) {
  const { draft, newer } = props;
  const isOpen = useSignal(false);
  const theirs = useSignal<ReadonlySet<string>>(new Set());
  const keyOf = ({ path }: FieldConflict): string => pathText(path);
  const choose = (conflict: FieldConflict, isMine: boolean): void => {
    const next = new Set(theirs.value);
    if (isMine) next.delete(keyOf(conflict));
    else next.add(keyOf(conflict));
    theirs.value = next;
  };
  const merge = (): void =>
    draft.merge(new Set(newer.conflicts.filter(conflict => !theirs.value.has(keyOf(conflict)))));
  const count = newer.conflicts.length;
  const by = newer.by.length > 0 ? ` by ${newer.by.join(' and ')}` : '';
  return (
    <section class="notice warn stack newer" role="status" aria-label="Changed on the server">
      <p>
        <strong>The object was changed{by} while you edited it.</strong>{' '}
        {count === 0
          ? 'The changes do not touch yours.'
          : `${count === 1 ? 'One field was' : `${count} fields were`} changed by both: choose.`}
      </p>
      {newer.conflicts.map(conflict => (
        <Conflict
          key={keyOf(conflict)}
          conflict={conflict}
          isMine={!theirs.value.has(keyOf(conflict))}
          choose={isMine => choose(conflict, isMine)}
        />
      ))}
      <div class="row">
        <button type="button" class="button primary" onClick={merge}>
          Merge into your text
        </button>
        <button
          type="button"
          class="button"
          aria-expanded={isOpen.value}
          onClick={() => (isOpen.value = !isOpen.value)}
        >
          {isOpen.value ? 'Hide' : 'Show'} what has changed
        </button>
        <button type="button" class="button" onClick={() => draft.discard()}>
          Discard yours
        </button>
      </div>
      {isOpen.value && <Difference before={draft.base.value} after={newer.text} />}
    </section>
  );
}
