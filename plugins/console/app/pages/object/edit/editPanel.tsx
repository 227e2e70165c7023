import { type Signal, useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import type { ApiObject } from '../../../api/objects.js';
import { Failure } from '../../../parts/failure.js';
import { useKeptFocus } from '../../../parts/keptFocus.js';
import { typeText } from '../schema/schema.js';
import type { FieldHelp, Known } from './completion.js';
import { ConflictsView } from './conflictsView.js';
import type { Draft, SaveMode } from './draft.js';
import { Editor } from './editor.js';
import { NewerView } from './newerView.js';
import { ReviewView } from './reviewView.js';
import { pathText } from './yamlText.js';

function Help({ help }: { readonly help: FieldHelp | undefined }) {
  if (!help)
    return (
      <p class="field-help soft">
        <kbd>Ctrl</kbd> <kbd>Space</kbd> completes fields and values; the field at the cursor is explained here.
      </p>
    );
  const { path, schema, isRequired } = help;
  return (
    <p class="field-help">
      <code>{pathText(path)}</code>{' '}
      <span class="soft">
        {typeText(schema)}
        {isRequired ? ', required' : ''}
      </span>{' '}
      {schema.description}
    </p>
  );
}

/** The properties of the panel that edits an object. */
export interface EditPanelProps {
  readonly draft: Draft;
  readonly known: Signal<Known | undefined>;
  readonly object: ApiObject | undefined;
  readonly mayWrite: boolean;
  /** Called with the text of the stored object. */
  readonly saved?: (text: string) => void;
  /** Shown instead of the text. */
  readonly form?: ComponentChildren;
}

/** How a change is sent. */
const MODES = [
  ['update', 'Save as a whole'],
  ['apply', 'Apply what I change'],
] as const;

/** The buttons. They stay enabled while the server is asked, to keep the focus: the draft asks one thing at a time. */
function Actions({ draft, check }: { readonly draft: Draft; readonly check: () => void }) {
  const isDirty = draft.isDirty.value;
  return (
    <div class="row actions">
      <button type="button" class="button primary" disabled={!isDirty} onClick={check}>
        Review {draft.isNew ? 'object' : 'changes'}
      </button>
      {!draft.isNew && (
        <button type="button" class="button" disabled={!isDirty} onClick={() => draft.discard()}>
          Discard
        </button>
      )}
      {!draft.isNew && draft.address.kind.verbs.includes('patch') && (
        <select
          class="select"
          aria-label="How to save"
          value={draft.mode.value}
          onChange={event => (draft.mode.value = event.currentTarget.value as SaveMode)}
        >
          {MODES.map(([mode, label]) => (
            <option key={mode} value={mode}>
              {label}
            </option>
          ))}
        </select>
      )}
      <span class="soft small" role="status">
        {draft.isBusy.value ? 'Asking the server …' : isDirty && !draft.isNew ? 'Not saved' : ''}
      </span>
    </div>
  );
}

/** Edits an object: text or form, then a review of the object that the server would store, then storing it. */
export function EditPanel({ draft, known, object, mayWrite, saved, form }: EditPanelProps) {
  const help = useSignal<FieldHelp | undefined>(undefined);
  const isSaved = useSignal(false);
  const check = (): void => {
    if (mayWrite && draft.isDirty.peek()) void draft.check({ known: known.peek(), object });
  };
  const save = async (): Promise<void> => {
    const text = await draft.save();
    if (text === undefined) return;
    isSaved.value = true;
    saved?.(text);
  };
  useEffect(() => {
    if (draft.isDirty.value) isSaved.value = false;
  }, [draft.isDirty.value]);
  const review = draft.review.value;
  const newer = draft.newer.value;
  const { error } = draft;
  const panel = useRef<HTMLDivElement>(null);
  useKeptFocus(panel, review !== undefined);
  useKeptFocus(panel, draft.conflicts.value !== undefined);
  useKeptFocus(panel, newer !== undefined);
  // Without a change, there is nothing to review or discard.
  useKeptFocus(panel, draft.isDirty.value);
  if (!draft.isRead.value)
    return error.value ? <Failure error={error.value} doing="reading the object" /> : <p class="soft">Loading …</p>;
  return (
    <div class="edit-panel" tabIndex={-1} ref={panel}>
      {newer && <NewerView draft={draft} newer={newer} />}
      {draft.conflicts.value && (
        <ConflictsView
          draft={draft}
          conflicts={draft.conflicts.value}
          object={object}
          force={() => void draft.check({ known: known.peek(), object }, true)}
        />
      )}
      {error.value !== undefined && (
        <Failure error={error.value} doing={draft.isNew ? 'creating the object' : 'changing the object'} />
      )}
      {isSaved.value && !draft.isNew && (
        <p class="notice good" role="status">
          Saved.
        </p>
      )}
      {review ? (
        <ReviewView draft={draft} review={review} save={() => void save()} />
      ) : (
        <>
          {form || (
            <>
              <Editor
                label="YAML of the object"
                text={draft.text}
                problems={draft.problems}
                known={known}
                isReadOnly={!mayWrite}
                save={check}
                help={help}
              />
              <Help help={help.value} />
            </>
          )}
          {mayWrite && <Actions draft={draft} check={check} />}
        </>
      )}
    </div>
  );
}
