import { useSignal } from '@preact/signals';
import { useEffect, useMemo, useRef } from 'preact/hooks';
import { ScrollRegion } from '../../../parts/scrollRegion.js';
import { Several } from '../../../parts/several.js';
import type { Draft, Review } from './draft.js';
import { compareLines, type DiffLine, type DiffPart, fold } from './lineDiff.js';

const SIGNS = { same: ' ', added: '+', removed: '−' } as const;
const WORDS = { same: '', added: 'added: ', removed: 'removed: ' } as const;

function Line({ line, isOfServer }: { readonly line: DiffLine; readonly isOfServer: boolean }) {
  return (
    <div class={`diff-line ${line.is}`}>
      <span class="sign" aria-hidden="true">
        {SIGNS[line.is]}
      </span>
      <span class="hidden">{WORDS[line.is]}</span>
      <code>{line.text}</code>
      {isOfServer && <span class="by">by the server</span>}
    </div>
  );
}

function Part({ part, ofServer }: { readonly part: DiffPart; readonly ofServer: ReadonlySet<number> }) {
  const isOpen = useSignal(false);
  if (part.isFolded && !isOpen.value)
    return (
      <button type="button" class="diff-fold" onClick={() => (isOpen.value = true)}>
        {part.lines.length} unchanged lines
      </button>
    );
  return (
    <Several
      of={part.lines}
      show={(line, i) => <Line key={i} line={line} isOfServer={line.is === 'added' && ofServer.has(line.index)} />}
    />
  );
}

const NONE: ReadonlySet<number> = new Set();

/** The difference of two texts, line by line. `ofServer`: added lines that are marked as the server's own, by index. */
export function DiffView(props: {
  readonly lines: readonly DiffLine[];
  readonly ofServer?: ReadonlySet<number>;
  readonly label: string;
}) {
  const { lines, ofServer = NONE, label } = props;
  const parts = useMemo(() => fold(lines), [lines]);
  return (
    <ScrollRegion class="diff" label={label}>
      <Several
        of={parts}
        show={(part, i) => <Part key={`${i} ${part.lines.length}`} part={part} ofServer={ofServer} />}
      />
    </ScrollRegion>
  );
}

/** The comparison of a review, and the lines that were not sent. */
function useComparison({ before, after, sent }: Review) {
  return useMemo(() => {
    const lines = compareLines(before, after);
    const unsent = compareLines(sent, after).filter(({ is }) => is === 'added');
    return { lines, ofServer: new Set(unsent.map(({ index }) => index)) };
  }, [before, after, sent]);
}

/** The object that the server would store, with the choice to store it. */
export function ReviewView(props: { readonly draft: Draft; readonly review: Review; readonly save: () => void }) {
  const { draft, review, save } = props;
  const button = useRef<HTMLButtonElement>(null);
  useEffect(() => button.current?.focus(), []);
  const { lines, ofServer } = useComparison(review);
  const [added, removed] = (['added', 'removed'] as const).map(of => lines.filter(({ is }) => is === of).length);
  const isSame = !added && !removed;
  const back = (): void => void (draft.review.value = undefined);
  const press = (event: KeyboardEvent): void => {
    if (event.key === 'Escape') back();
    if (event.key === 's' && (event.ctrlKey || event.metaKey)) {
      event.preventDefault();
      save();
    }
  };
  return (
    <section class="review" aria-label="Review of the change" onKeyDown={press}>
      <div class="row">
        <h2>{draft.isNew ? 'What the server would create' : 'What the server would store'}</h2>
        <span class="chip good">+{added}</span>
        <span class="chip bad">−{removed}</span>
      </div>
      {review.warnings.map(text => (
        <p class="notice warn" key={text}>
          <strong>Warning:</strong> {text}
        </p>
      ))}
      {review.kept.length > 0 && (
        <p class="notice warn">
          An apply does not remove what belongs to other managers: <code>{review.kept.join(', ')}</code>. Save the
          object as a whole to remove it.
        </p>
      )}
      {isSame ? (
        <p class="notice">Nothing would change: the server already has all of this.</p>
      ) : (
        <DiffView lines={lines} ofServer={ofServer} label="Difference" />
      )}
      <div class="row actions">
        <button ref={button} type="button" class="button primary" onClick={save}>
          {draft.isNew ? 'Create' : 'Save'}
        </button>
        <button type="button" class="button" onClick={back}>
          Back to editing
        </button>
        <span class="soft small">Defaults and admission are applied. Nothing has been stored yet.</span>
      </div>
    </section>
  );
}
