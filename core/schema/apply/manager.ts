import type { Json } from '../../model/object.js';
import { equalJson } from '../patch/members.js';
import { matches, objectFields, readConfiguration } from './applied.js';
import { compare, type Difference } from './compare.js';
import { difference, type FieldSet, intersection, isEmpty, LEAF, pathTexts, union, unionOf } from './fieldSet.js';
import type { KindVersion, ManagedKind } from './managedKind.js';
import { merge, removeFields, addParentStructs } from './merge.js';
import { capUpdaters, managerKey, type FieldManager, type FieldManagers } from './fieldManagers.js';
import { reconcileWithSchema } from './reconcile.js';
import type { Shape } from './shape.js';

/** The manager that writes. `subresource` is empty for the object itself. `now` is RFC 3339 in whole seconds. */
export interface Writer {
  readonly manager: string;
  readonly subresource: string;
  readonly now: string;
}

/** A field that another manager owns with another value. */
export interface Conflict {
  readonly owner: FieldManager;
  readonly path: string;
}

/** Thrown if an apply without force changes fields of other managers. */
export class ApplyConflict extends Error {
  constructor(readonly conflicts: readonly Conflict[]) {
    super('conflict');
  }
}

/** Thrown if a configuration, or an object whose matching is checked, does not match the schema of a version. */
export class SchemaMismatch extends Error {}

/** Fields that are not tracked (spec, "managedFields entry"). */
const UNTRACKED_FIELDS: FieldSet = {
  'f:apiVersion': LEAF,
  'f:kind': LEAF,
  'f:metadata': {
    '.': LEAF,
    'f:clusterName': LEAF,
    'f:creationTimestamp': LEAF,
    'f:generation': LEAF,
    'f:managedFields': LEAF,
    'f:name': LEAF,
    'f:namespace': LEAF,
    'f:resourceVersion': LEAF,
    'f:selfLink': LEAF,
    'f:uid': LEAF,
  },
};

/** Fields that other managers lose: changed or added ones, and removed ones. */
interface Changes {
  readonly changed: FieldSet;
  readonly removed: FieldSet;
}

/** The difference of two objects, in each version that a manager uses. */
class Differences {
  readonly #cache = new Map<string, Changes | undefined>();

  /** With `strict`, SchemaMismatch is thrown if one of the objects does not match the schema of a version. */
  constructor(
    readonly kind: ManagedKind,
    readonly before: Json,
    readonly after: Json,
    readonly strict = false,
  ) {}

  inVersion(apiVersion: string): Changes | undefined {
    if (this.#cache.has(apiVersion)) return this.#cache.get(apiVersion);
    const version = this.kind.version(apiVersion);
    const found = version && this.#compare(version);
    this.#cache.set(apiVersion, found);
    return found;
  }

  #compare({ shape, convert }: KindVersion): Changes {
    const [before, after] = [convert(this.before), convert(this.after)];
    if (this.strict && !(matches(shape, before) && matches(shape, after)))
      throw new SchemaMismatch('the object does not match the schema');
    return this.#restrict(compare(shape, before, after));
  }

  #restrict({ added, removed, modified }: Difference): Changes {
    const { writable } = this.kind;
    return { changed: union(writable(added), writable(modified)), removed: writable(removed) };
  }
}

/** Removes differing fields from all managers but `self`. Without `force`, throws ApplyConflict for changed ones. */
function takeOwnership(managers: FieldManagers, self: string, differences: Differences, force: boolean): FieldManagers {
  const out = new Map<string, FieldManager>();
  const conflicts: Conflict[] = [];
  for (const [key, owner] of managers) {
    const found = differences.inVersion(owner.apiVersion);
    if (key === self) out.set(key, owner);
    if (key === self || !found) continue;
    const lost = intersection(owner.set, found.changed);
    if (!force) for (const path of pathTexts(lost)) conflicts.push({ owner, path });
    const set = difference(difference(owner.set, lost), found.removed);
    if (!isEmpty(set)) out.set(key, { ...owner, set });
  }
  if (conflicts.length > 0) throw new ApplyConflict(conflicts);
  return out;
}

/**
 * The managers after a write other than apply: the writer owns the fields that it changed; other managers lose these
 * and removed fields. `before` is undefined for a create. With `strict`, throws SchemaMismatch if one of the objects
 * does not match the schema of a version that is compared.
 */
export function updateManagers(
  kind: ManagedKind,
  writer: Writer,
  before: Json | undefined,
  after: Json,
  managers: FieldManagers,
  strict = false,
): FieldManagers {
  const differences = new Differences(kind, before ?? kind.empty, after, strict);
  const own = difference(differences.inVersion(kind.apiVersion)!.changed, UNTRACKED_FIELDS);
  const out = new Map(
    managers.size > 0 ? takeOwnership(reconcileWithSchema(kind, managers), '', differences, true) : [],
  );
  if (!isEmpty(own)) {
    const { manager, subresource, now: time } = writer;
    const owner: FieldManager = {
      manager,
      operation: 'Update',
      apiVersion: kind.apiVersion,
      subresource,
      time,
      set: own,
    };
    const previous = out.get(managerKey(owner));
    out.set(managerKey(owner), previous ? { ...owner, set: union(previous.set, own) } : owner);
  }
  return capUpdaters(out);
}

/** The result of an apply: the object and its managers. */
export interface ApplyResult {
  readonly object: Json;
  readonly managers: FieldManagers;
  /** Whether there was a live object, which the configuration does not change: `object` equals it. */
  readonly isUnchanged: boolean;
}

const BEFORE_FIRST_APPLY = 'before-first-apply';

/**
 * Applies a configuration to the live object (undefined if there is none). Fields that the manager applied before and
 * has dropped are removed, unless another manager owns them. Throws `ApplyConflict` and `SchemaMismatch`.
 */
export function applyConfiguration(
  kind: ManagedKind,
  writer: Writer,
  live: Json | undefined,
  config: Json,
  managers: FieldManagers,
  force: boolean,
): ApplyResult {
  const before = live ?? kind.empty;
  // If the fields of the live object are not tracked, one manager is assumed to own all of them.
  const current =
    live !== undefined && managers.size === 0
      ? updateManagers(kind, { ...writer, manager: BEFORE_FIRST_APPLY }, undefined, live, managers)
      : reconcileWithSchema(kind, managers);
  const { shape } = kind.version(kind.apiVersion)!;
  const read = readConfiguration(shape, config);
  if (read.errors.length > 0) throw new SchemaMismatch(formatErrors(read.errors));
  const { manager, subresource, now: time } = writer;
  const owner: FieldManager = {
    manager,
    operation: 'Apply',
    apiVersion: kind.apiVersion,
    subresource,
    time,
    set: difference(kind.writable(read.set), UNTRACKED_FIELDS),
  };
  const self = managerKey(owner);
  const last = current.get(self);
  const next = new Map(current).set(self, owner);
  const object = pruneDropped(kind, merge(shape, before, config)!, next, last, owner);
  const result = new Map(takeOwnership(next, self, new Differences(kind, before, object), force));
  const isUnchanged = equalJson(before, object);
  if (isEmpty(owner.set)) result.delete(self);
  // Upstream's entries have the time of the last change of the object.
  else if (isUnchanged) result.set(self, { ...owner, time: last?.time });
  return { object, managers: result, isUnchanged: live !== undefined && isUnchanged };
}

const formatErrors = (errors: readonly string[]): string =>
  errors.length === 1 ? errors[0]! : ['errors:', ...errors.map(error => `  ${error}`)].join('\n');

/**
 * Removes dropped fields from the merged object: all fields that the manager applied last time are removed, and those
 * with a current owner are restored.
 */
function pruneDropped(
  kind: ManagedKind,
  merged: Json,
  managers: FieldManagers,
  last: FieldManager | undefined,
  now: FieldManager,
): Json {
  if (!last) return merged;
  if (last.apiVersion === now.apiVersion && isEmpty(difference(last.set, now.set))) return merged;
  const version = kind.version(last.apiVersion);
  if (!version) return merged;
  const { shape } = version;
  const before = addParentStructs(shape, last.set);
  const all = version.convert(merged);
  let kept = removeFields(shape, all, before);
  for (const [apiVersion, set] of setsByVersion(managers, last.apiVersion))
    kept = restoreOwned(kind, apiVersion, all, kept, set);
  kept = version.convert(kept);
  const dropped = difference(structFields(shape, all), structFields(shape, kept));
  // Upstream leaves null for a map or list that has no members left.
  return kind.version(kind.apiVersion)!.convert(removeFields(shape, all, intersection(dropped, before), true));
}

const structFields = (shape: Shape, object: Json): FieldSet => addParentStructs(shape, objectFields(shape, object));

/**
 * The owned fields by version, with the untracked ones. `first` comes first, because conversion may need its fields.
 */
function setsByVersion(managers: FieldManagers, first: string): ReadonlyMap<string, FieldSet> {
  const sets = new Map<string, FieldSet[]>([[first, [UNTRACKED_FIELDS]]]);
  for (const { apiVersion, set } of managers.values()) {
    const same = sets.get(apiVersion);
    if (same) same.push(set);
    else sets.set(apiVersion, [set]);
  }
  return new Map([...sets].map(([apiVersion, same]) => [apiVersion, unionOf(same)]));
}

/** Restores the removed fields that are in a set. */
function restoreOwned(kind: ManagedKind, apiVersion: string, merged: Json, kept: Json, set: FieldSet): Json {
  const version = kind.version(apiVersion);
  if (!version) return kept;
  const { shape } = version;
  const all = version.convert(merged);
  const stays = union(structFields(shape, version.convert(kept)), addParentStructs(shape, set));
  return removeFields(shape, all, difference(structFields(shape, all), stays));
}
