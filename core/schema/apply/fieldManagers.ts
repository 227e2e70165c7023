import { UPDATE_MANAGERS } from '../../limits.js';
import type { JsonObject, ManagedFieldsEntry } from '../../model/object.js';
import { InvalidFieldSet, type FieldSet, parseFieldSet, sameFields, unionOf } from './fieldSet.js';

/** A manager and its fields (spec, "managedFields entry"). */
export interface FieldManager {
  readonly manager: string;
  readonly operation: 'Apply' | 'Update';
  /** The version of the fields. */
  readonly apiVersion: string;
  readonly subresource: string;
  readonly time: string | undefined;
  readonly set: FieldSet;
}

/** The managers of an object, by `managerKey`. Immutable. */
export type FieldManagers = ReadonlyMap<string, FieldManager>;

type Identity = Pick<FieldManager, 'manager' | 'operation' | 'apiVersion' | 'subresource'>;

/** The key of a manager. Those of appliers do not depend on the version. */
export const managerKey = ({ manager, operation, apiVersion, subresource }: Identity): string =>
  `${manager}\n${operation}\n${operation === 'Apply' ? '' : apiVersion}\n${subresource}`;

/** The managers in the managedFields of a stored object. */
export function decodeManagers(entries: readonly ManagedFieldsEntry[] | undefined): FieldManagers {
  const managers = new Map<string, FieldManager>();
  for (const entry of entries ?? []) {
    const owner: FieldManager = {
      manager: entry.manager ?? '',
      operation: entry.operation === 'Apply' ? 'Apply' : 'Update',
      apiVersion: entry.apiVersion ?? '',
      subresource: entry.subresource ?? '',
      time: entry.time ?? undefined,
      set: (entry.fieldsV1 ?? {}) as unknown as FieldSet,
    };
    managers.set(managerKey(owner), owner);
  }
  return managers;
}

const isWellFormed = (entry: unknown): entry is ManagedFieldsEntry => {
  const { operation, apiVersion, fieldsType } = (entry ?? {}) as ManagedFieldsEntry;
  return (
    (operation === 'Apply' || operation === 'Update') &&
    typeof apiVersion === 'string' &&
    apiVersion !== '' &&
    fieldsType === 'FieldsV1'
  );
};

/** The managers in managedFields sent by a client; undefined if an entry is malformed. */
export function parseManagers(entries: unknown = []): FieldManagers | undefined {
  if (!Array.isArray(entries) || !entries.every(isWellFormed)) return undefined;
  try {
    return decodeManagers(
      entries.map(entry => ({ ...entry, fieldsV1: parseFieldSet(entry.fieldsV1 ?? {}) as unknown as JsonObject })),
    );
  } catch (thrown) {
    if (thrown instanceof InvalidFieldSet) return undefined;
    throw thrown;
  }
}

const timeInSeconds = (owner: FieldManager): number => (owner.time ? Math.floor(Date.parse(owner.time) / 1000) : 0);

const compareText = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

/** The order of entries: appliers first, then by time. */
const compareManagers = (a: FieldManager, b: FieldManager): number =>
  compareText(a.operation, b.operation) ||
  timeInSeconds(a) - timeInSeconds(b) ||
  compareText(a.manager, b.manager) ||
  compareText(a.apiVersion, b.apiVersion) ||
  compareText(a.subresource, b.subresource);

/** The managers as `metadata.managedFields`; undefined if there are none. */
export function encodeManagers(managers: FieldManagers): ManagedFieldsEntry[] | undefined {
  if (managers.size === 0) return undefined;
  const all = [...managers.values()];
  if (all.length > 1) all.sort(compareManagers);
  return all.map(encodeManager);
}

function encodeManager({ manager, operation, apiVersion, subresource, time, set }: FieldManager): ManagedFieldsEntry {
  const entry: ManagedFieldsEntry = {};
  if (manager) entry.manager = manager;
  entry.operation = operation;
  entry.apiVersion = apiVersion;
  if (time) entry.time = time;
  entry.fieldsType = 'FieldsV1';
  entry.fieldsV1 = set as unknown as JsonObject;
  if (subresource) entry.subresource = subresource;
  return entry;
}

/** Whether managers and fields are equal, ignoring their times. */
export function sameManagers(a: FieldManagers, b: FieldManagers): boolean {
  if (a.size !== b.size) return false;
  for (const [key, { apiVersion, set }] of a) {
    const other = b.get(key);
    if (!other || other.apiVersion !== apiVersion || !sameFields(other.set, set)) return false;
  }
  return true;
}

const ANCIENT_CHANGES = 'ancient-changes';

/**
 * Limits the number of updaters: the oldest ones of a version are merged into one entry. Appliers are not limited,
 * because they need their own fields for their next apply.
 */
export function capUpdaters(managers: FieldManagers): FieldManagers {
  const updaters = [...managers].filter(([, owner]) => owner.operation === 'Update');
  let count = updaters.length;
  if (count <= UPDATE_MANAGERS) return managers;
  updaters.sort(([a, x], [b, y]) => timeInSeconds(x) - timeInSeconds(y) || compareText(a, b));
  const oldest = new Map<string, (readonly [key: string, owner: FieldManager])[]>();
  for (const updater of updaters) {
    if (count <= UPDATE_MANAGERS) break;
    const { apiVersion } = updater[1];
    const older = oldest.get(apiVersion);
    if (!older) oldest.set(apiVersion, [updater]);
    else {
      older.push(updater);
      count--;
    }
  }
  const out = new Map(managers);
  for (const entries of oldest.values()) if (entries.length > 1) mergeEntries(out, entries);
  return out;
}

/** Merges entries into one with the time of the last, including an existing merged entry. */
function mergeEntries(
  managers: Map<string, FieldManager>,
  entries: readonly (readonly [key: string, owner: FieldManager])[],
): void {
  const last = entries.at(-1)![1];
  const key = managerKey({ ...last, manager: ANCIENT_CHANGES, subresource: '' });
  for (const [gone] of entries) managers.delete(gone);
  const sets = [...entries.map(([, { set }]) => set), ...(managers.has(key) ? [managers.get(key)!.set] : [])];
  managers.set(key, { ...last, manager: ANCIENT_CHANGES, subresource: '', set: unionOf(sets) });
}
