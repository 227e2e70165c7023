import type { Json } from '../../model/object.js';
import { matches } from './applied.js';
import { compare, type Difference } from './compare.js';
import { difference, type FieldSet, intersection, isEmpty, LEAF, pathTexts, union } from './fieldSet.js';
import type { KindVersion, ManagedKind } from './managedKind.js';
import { capUpdaters, managerKey, type FieldManager, type FieldManagers } from './fieldManagers.js';
import { reconcileWithSchema } from './reconcile.js';
import { InvalidListItem } from './shape.js';

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
export const UNTRACKED_FIELDS: FieldSet = {
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

/** The fields that other managers lose: changed or added ones, and removed ones. */
interface Changes {
  readonly changed: FieldSet;
  readonly removed: FieldSet;
}

/** The difference of two objects, in each version that a manager uses. */
export class Differences {
  readonly #cache = new Map<string, Changes | undefined>();

  /**
   * With `strict`, SchemaMismatch is thrown if one of the objects does not match the schema of a version. It is always
   * thrown if they differ in a list with an item that lacks its keys.
   */
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
    try {
      return this.#restrict(compare(shape, before, after));
    } catch (thrown) {
      if (thrown instanceof InvalidListItem) throw new SchemaMismatch(thrown.message);
      throw thrown;
    }
  }

  #restrict({ added, removed, modified }: Difference): Changes {
    const { writable } = this.kind;
    return { changed: union(writable(added), writable(modified)), removed: writable(removed) };
  }
}

/** Removes differing fields from all managers but `self`. Without `force`, throws ApplyConflict for changed ones. */
export function takeOwnership(
  managers: FieldManagers,
  self: string,
  differences: Differences,
  force: boolean,
): FieldManagers {
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
 * and removed fields. `before` is undefined for a create. Throws SchemaMismatch as `Differences` does.
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
