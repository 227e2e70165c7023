import { UPDATE_MANAGERS } from '../../limits.js';
import type { JsonObject, ManagedFieldsEntry } from '../../model/object.js';
import { BadFieldSet, type FieldSet, readFieldSet, sameFields, unionOf } from './fieldSet.js';

/** One manager's fields (spec, "managedFields entry"). */
export interface Owner {
  readonly manager: string;
  readonly operation: 'Apply' | 'Update';
  /** The version that the fields belong to. */
  readonly apiVersion: string;
  readonly subresource: string;
  readonly time: string | undefined;
  readonly set: FieldSet;
}

/** All managers of an object, by `keyOf`. Never changed: every write makes another. */
export type Owners = ReadonlyMap<string, Owner>;

type Identity = Pick<Owner, 'manager' | 'operation' | 'apiVersion' | 'subresource'>;

/** What tells managers apart: appliers keep theirs across versions. */
export const keyOf = ({ manager, operation, apiVersion, subresource }: Identity): string =>
  `${manager}\n${operation}\n${operation === 'Apply' ? '' : apiVersion}\n${subresource}`;

/** The managers of a stored object. */
export function ownersOf(entries: readonly ManagedFieldsEntry[] | undefined): Owners {
  const owners = new Map<string, Owner>();
  for (const entry of entries ?? []) {
    const owner: Owner = {
      manager: entry.manager ?? '',
      operation: entry.operation === 'Apply' ? 'Apply' : 'Update',
      apiVersion: entry.apiVersion ?? '',
      subresource: entry.subresource ?? '',
      time: entry.time ?? undefined,
      set: (entry.fieldsV1 ?? {}) as unknown as FieldSet,
    };
    owners.set(keyOf(owner), owner);
  }
  return owners;
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

/** Entries that came from outside, undefined where one of them is malformed. */
export function readEntries(entries: unknown = []): Owners | undefined {
  if (!Array.isArray(entries) || !entries.every(isWellFormed)) return undefined;
  try {
    return ownersOf(
      entries.map(entry => ({ ...entry, fieldsV1: readFieldSet(entry.fieldsV1 ?? {}) as unknown as JsonObject })),
    );
  } catch (thrown) {
    if (thrown instanceof BadFieldSet) return undefined;
    throw thrown;
  }
}

const seconds = (owner: Owner): number => (owner.time ? Math.floor(Date.parse(owner.time) / 1000) : 0);

const order = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

/** Entries in the order they are stored in: appliers first, older ones first. */
const inOrder = (a: Owner, b: Owner): number =>
  order(a.operation, b.operation) ||
  seconds(a) - seconds(b) ||
  order(a.manager, b.manager) ||
  order(a.apiVersion, b.apiVersion) ||
  order(a.subresource, b.subresource);

/** The managers as `metadata.managedFields`; undefined for none. */
export function entriesOf(owners: Owners): ManagedFieldsEntry[] | undefined {
  if (owners.size === 0) return undefined;
  const all = [...owners.values()];
  if (all.length > 1) all.sort(inOrder);
  return all.map(entryOf);
}

function entryOf({ manager, operation, apiVersion, subresource, time, set }: Owner): ManagedFieldsEntry {
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

/** Both name the same managers with the same fields, whenever they got them. */
export function sameOwners(a: Owners, b: Owners): boolean {
  if (a.size !== b.size) return false;
  for (const [key, { apiVersion, set }] of a) {
    const other = b.get(key);
    if (!other || other.apiVersion !== apiVersion || !sameFields(other.set, set)) return false;
  }
  return true;
}

const ANCIENT = 'ancient-changes';

/**
 * Bounds the entries of updates: the oldest of one version become one entry under a name of their own. Appliers are not
 * bounded, every one of them has to find its fields again.
 */
export function capped(owners: Owners): Owners {
  const updaters = [...owners].filter(([, owner]) => owner.operation === 'Update');
  let left = updaters.length;
  if (left <= UPDATE_MANAGERS) return owners;
  updaters.sort(([a, x], [b, y]) => seconds(x) - seconds(y) || order(a, b));
  const oldest = new Map<string, (readonly [key: string, owner: Owner])[]>();
  for (const updater of updaters) {
    if (left <= UPDATE_MANAGERS) break;
    const { apiVersion } = updater[1];
    const older = oldest.get(apiVersion);
    if (!older) oldest.set(apiVersion, [updater]);
    else {
      older.push(updater);
      left--;
    }
  }
  const out = new Map(owners);
  for (const entries of oldest.values()) if (entries.length > 1) becomeOne(out, entries);
  return out;
}

/**
 * The merged entry is as young as the youngest, the last one. One of that name that is younger still is merged as well.
 */
function becomeOne(owners: Map<string, Owner>, entries: readonly (readonly [key: string, owner: Owner])[]): void {
  const last = entries.at(-1)![1];
  const key = keyOf({ ...last, manager: ANCIENT, subresource: '' });
  for (const [gone] of entries) owners.delete(gone);
  const sets = [...entries.map(([, { set }]) => set), ...(owners.has(key) ? [owners.get(key)!.set] : [])];
  owners.set(key, { ...last, manager: ANCIENT, subresource: '', set: unionOf(sets) });
}
