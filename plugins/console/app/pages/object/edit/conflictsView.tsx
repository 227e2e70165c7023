import { useSignal } from '@preact/signals';
import type { ApiObject } from '../../../api/objects.js';
import { ageOf } from '../../../list/liveList.js';
import type { Draft, OwnerConflict } from './draft.js';

/** Since when a manager has its fields, in words. */
function sinceOf(object: ApiObject | undefined, manager: string): string {
  const entry = object?.metadata.managedFields?.find(of => of.manager === manager && of.time !== undefined);
  return entry?.time ? `${ageOf(Date.parse(entry.time), Date.now())} ago` : 'at an unknown time';
}

/** Explains which managers own the fields that an apply would change, and takes them over after a confirmation. */
export function ConflictsView(props: {
  readonly draft: Draft;
  readonly conflicts: readonly OwnerConflict[];
  readonly object: ApiObject | undefined;
  readonly force: () => void;
}) {
  const { draft, conflicts, object, force } = props;
  const isSure = useSignal(false);
  const managers = [...new Set(conflicts.map(({ manager }) => manager))].join(', ');
  return (
    <section class="notice warn stack" role="alert" aria-label="Conflicts with other managers">
      <p>
        <strong>
          {conflicts.length === 1 ? 'A field belongs' : `${conflicts.length} fields belong`} to another manager.
        </strong>{' '}
        An apply does not change what somebody else looks after.
      </p>
      <ul class="by-kind">
        {conflicts.map(({ field, manager }) => (
          <li key={`${field} ${manager}`}>
            <code>{field.replace(/^\./, '')}</code>: set by <strong>{manager}</strong>, which wrote last{' '}
            {sinceOf(object, manager)}
          </li>
        ))}
      </ul>
      <label class="row">
        <input
          type="checkbox"
          checked={isSure.value}
          onChange={event => (isSure.value = event.currentTarget.checked)}
        />
        <span>Take these fields over from {managers}. Its next apply will be the one with the conflict.</span>
      </label>
      <div class="row">
        <button type="button" class="button danger" disabled={!isSure.value} onClick={force}>
          Take over by force
        </button>
        <button type="button" class="button" onClick={() => (draft.conflicts.value = undefined)}>
          Back to editing
        </button>
      </div>
    </section>
  );
}
