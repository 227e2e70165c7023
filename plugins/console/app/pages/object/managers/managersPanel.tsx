import { useSignal } from '@preact/signals';
import type { ApiObject, ManagedFields } from '../../../api/objects.js';
import { Several } from '../../../parts/several.js';
import { ageOf } from '../../../list/liveList.js';
import { fieldsOfManager, type OwnedField, ownedFields } from './fieldTree.js';

const keyOf = ({ manager, operation, subresource }: ManagedFields): string =>
  [manager, operation, subresource].join('\0');

/** A manager in words. */
const nameOf = ({ manager = '', subresource }: ManagedFields): string =>
  subresource ? `${manager} (${subresource})` : manager;

/** When a manager wrote last, in words. */
const since = ({ time }: ManagedFields): string =>
  time === undefined ? 'at an unknown time' : `${ageOf(Date.parse(time), Date.now())} ago`;

/** Largest number of characters of a value that are shown. */
const SHORT = 60;

function Value({ value }: { readonly value: unknown }) {
  if (value === undefined) return null;
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return <code class="soft owned-value">{text.length > SHORT ? `${text.slice(0, SHORT)}…` : text}</code>;
}

function Owner({ entry, index }: { readonly entry: ManagedFields; readonly index: number }) {
  return (
    <span class={`chip owner owner-${index % 6}`} title={`${entry.operation ?? ''}, ${entry.time ?? ''}`}>
      {nameOf(entry)}
    </span>
  );
}

function Fields(props: { readonly fields: readonly OwnedField[]; readonly order: ReadonlyMap<string, number> }) {
  const { fields, order } = props;
  return (
    <ul class="owned">
      <Several
        inList
        of={fields}
        show={({ label, value, owners, fields: below }) => (
          <li key={label}>
            <span class="owned-line">
              <code>{label}</code>
              <Value value={value} />
              <Several
                of={owners}
                show={entry => <Owner key={keyOf(entry)} entry={entry} index={order.get(keyOf(entry)) ?? 0} />}
              />
            </span>
            {below.length > 0 && <Fields fields={below} order={order} />}
          </li>
        )}
      />
    </ul>
  );
}

/** Who owns which fields of an object, since when, and how they were written. */
export function ManagersPanel({ object }: { readonly object: ApiObject }) {
  const chosen = useSignal('');
  const entries = object.metadata.managedFields ?? [];
  const order = new Map(entries.map((entry, i) => [keyOf(entry), i]));
  const all = ownedFields(object);
  const shown = chosen.value === '' ? all : fieldsOfManager(all, entry => keyOf(entry) === chosen.value);
  if (entries.length === 0) return <p class="notice">The server has recorded no managers of this object's fields.</p>;
  return (
    <div class="stack">
      <fieldset class="managers">
        <legend class="hidden">Managers</legend>
        <Several
          of={[undefined, ...entries]}
          show={(entry, i) => {
            const key = entry ? keyOf(entry) : '';
            return (
              <label key={key} class={`manager ${chosen.value === key ? 'chosen' : ''}`}>
                <input
                  type="radio"
                  name="manager"
                  class="hidden"
                  checked={chosen.value === key}
                  onChange={() => (chosen.value = key)}
                />
                {entry ? (
                  <>
                    <span class={`dot owner-${(i - 1) % 6}`} aria-hidden="true" />
                    <span>
                      <strong>{nameOf(entry)}</strong>{' '}
                      <span class="soft small">
                        {entry.operation === 'Apply' ? 'applied' : 'updated'} {since(entry)}
                      </span>
                    </span>
                  </>
                ) : (
                  <strong>All managers</strong>
                )}
              </label>
            );
          }}
        />
      </fieldset>
      <div class="card">
        <Fields fields={shown} order={order} />
      </div>
      <p class="soft small">
        A manager owns the fields that it has set. An apply that changes a field of another manager is a conflict; an
        update takes the field over.
      </p>
    </div>
  );
}
