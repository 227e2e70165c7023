import { isRecord, recordAt, type UnknownRecord } from '../../../core/model/record.js';

/** The path of the counters in the field sets of an object's managers. */
const COUNTERS = ['f:status', 'f:used'] as const;
const SUBRESOURCE = 'status';

/** The manager and the time (RFC 3339) of a write. */
export interface ChargeWriter {
  readonly manager: string;
  readonly time: string;
}

/** Removes the field at a path from a field set in the form FieldsV1, and parents that are empty then. */
function removeField(set: UnknownRecord, [first, ...rest]: readonly string[]): void {
  const below = first === undefined ? undefined : set[first];
  if (first === undefined || !isRecord(below)) return;
  if (rest.length === 0) {
    delete set[first];
    return;
  }
  const wasEmpty = Object.keys(below).length === 0;
  removeField(below, rest);
  const left = Object.keys(below);
  if (left.length === 0 && !wasEmpty) delete set[first];
  // Only the mark of the field itself is left.
  else if (left.length === 1 && left[0] === '.') set[first] = {};
}

/** A copy of a field set with counters, in the order of their names. */
function withCounters(set: unknown, counters: readonly string[]): UnknownRecord {
  const [status, used] = COUNTERS;
  const added = Object.fromEntries(counters.map(name => [`f:${name}`, {}]));
  const all = Object.entries({ ...recordAt(set, status, used), ...added }).sort(([a], [b]) => (a < b ? -1 : 1));
  return { ...recordAt(set), [status]: { ...recordAt(set, status), [used]: Object.fromEntries(all) } };
}

/**
 * The entries of `metadata.managedFields` after an update of the status that changed these counters: the writer owns
 * them, and no other manager does. Entries are changed in place.
 */
export function takeCounters(
  entries: unknown,
  counters: readonly string[],
  { manager, time }: ChargeWriter,
  apiVersion: unknown,
): readonly UnknownRecord[] {
  const known = (Array.isArray(entries) ? entries : []).filter(isRecord);
  const own = known.find(
    entry => entry['manager'] === manager && entry['operation'] === 'Update' && entry['subresource'] === SUBRESOURCE,
  );
  const others = known.filter(entry => entry !== own);
  for (const { fieldsV1 } of others)
    if (isRecord(fieldsV1)) for (const name of counters) removeField(fieldsV1, [...COUNTERS, `f:${name}`]);
  return [
    ...others.filter(({ fieldsV1 }) => !isRecord(fieldsV1) || Object.keys(fieldsV1).length > 0),
    {
      manager,
      operation: 'Update',
      apiVersion,
      time,
      fieldsType: 'FieldsV1',
      fieldsV1: withCounters(own?.['fieldsV1'], counters),
      subresource: SUBRESOURCE,
    },
  ];
}
