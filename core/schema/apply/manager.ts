import type { Json } from '../../model/object.js';
import { equalJson } from '../patch/members.js';
import { fieldsOf, readApplied } from './applied.js';
import { compare, type Difference } from './compare.js';
import { difference, type FieldSet, intersection, isEmpty, LEAF, pathTexts, union, unionOf } from './fieldSet.js';
import { merge, without, withStructs } from './merge.js';
import { capped, keyOf, type Owner, type Owners } from './owners.js';
import { reconciled } from './reconcile.js';
import type { Shape } from './shape.js';

/** One version of a kind: its shape, and objects of the request's version in it. */
export interface Version {
  readonly shape: Shape;
  /** To this version, from any other of the kind. */
  convert(object: Json): Json;
}

/** What field management knows about the kind that is written. */
export interface Kind {
  /** Version of the request: all objects are given and returned in it. */
  readonly apiVersion: string;
  /** A version by name; undefined: it is not served any more, and nobody owns fields in it. */
  version(apiVersion: string): Version | undefined;
  /** What an object of the kind shows before anything is written into it. */
  readonly empty: Json;
  /**
   * Fields that the write cannot change (the status of a main write, all else of a status write) belong to nobody
   * through it.
   */
  owned(set: FieldSet): FieldSet;
}

/** Who writes. `subresource` is empty for the object itself. `now` is RFC 3339 in whole seconds. */
export interface Writer {
  readonly manager: string;
  readonly subresource: string;
  readonly now: string;
}

/** One field that somebody else owns with another value. */
export interface Conflict {
  readonly owner: Owner;
  readonly path: string;
}

/** An apply changes fields of others and was not forced. */
export class ApplyConflict extends Error {
  constructor(readonly conflicts: readonly Conflict[]) {
    super('conflict');
  }
}

/** A configuration does not fit the schema. */
export class NotApplicable extends Error {}

/** Fields that every object has and nobody owns (spec, "managedFields entry"). */
const COMMON: FieldSet = {
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

/** Fields that somebody may lose: those with another value or that are new, and those that are gone. */
interface Changes {
  readonly changed: FieldSet;
  readonly removed: FieldSet;
}

/** What differs between two objects, per version that some manager uses. */
class Differences {
  readonly #known = new Map<string, Changes | undefined>();

  constructor(
    readonly kind: Kind,
    readonly before: Json,
    readonly after: Json,
  ) {}

  in(apiVersion: string): Changes | undefined {
    if (this.#known.has(apiVersion)) return this.#known.get(apiVersion);
    const version = this.kind.version(apiVersion);
    const found =
      version && this.#owned(compare(version.shape, version.convert(this.before), version.convert(this.after)));
    this.#known.set(apiVersion, found);
    return found;
  }

  #owned({ added, removed, modified }: Difference): Changes {
    const { owned } = this.kind;
    return { changed: union(owned(added), owned(modified)), removed: owned(removed) };
  }
}

/** Everybody but `self` loses the fields that differ. Without `force` every loss of a changed field is a conflict. */
function taken(owners: Owners, self: string, differences: Differences, force: boolean): Owners {
  const out = new Map<string, Owner>();
  const conflicts: Conflict[] = [];
  for (const [key, owner] of owners) {
    const found = differences.in(owner.apiVersion);
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
 * Managers after a write that is no apply: the writer owns what it changed, others lose that and what is gone. `before`
 * is undefined for a create.
 */
export function updated(kind: Kind, writer: Writer, before: Json | undefined, after: Json, owners: Owners): Owners {
  const differences = new Differences(kind, before ?? kind.empty, after);
  const own = difference(differences.in(kind.apiVersion)!.changed, COMMON);
  const out = new Map(owners.size > 0 ? taken(reconciled(kind, owners), '', differences, true) : []);
  if (!isEmpty(own)) {
    const { manager, subresource, now: time } = writer;
    const owner: Owner = { manager, operation: 'Update', apiVersion: kind.apiVersion, subresource, time, set: own };
    const previous = out.get(keyOf(owner));
    out.set(keyOf(owner), previous ? { ...owner, set: union(previous.set, own) } : owner);
  }
  return capped(out);
}

/** An applied object with its managers. */
export interface AppliedObject {
  readonly object: Json;
  readonly owners: Owners;
}

const BEFORE_FIRST_APPLY = 'before-first-apply';

/**
 * Lays a configuration over the live object (undefined: there is none yet). Fields that the manager applied before and
 * leaves out now go, unless others own them. Throws `ApplyConflict` and `NotApplicable`.
 */
export function applied(
  kind: Kind,
  writer: Writer,
  live: Json | undefined,
  config: Json,
  owners: Owners,
  force: boolean,
): AppliedObject {
  const before = live ?? kind.empty;
  // Whoever wrote an object whose fields nobody tracked is one manager that may be in conflict.
  const known =
    live !== undefined && owners.size === 0
      ? updated(kind, { ...writer, manager: BEFORE_FIRST_APPLY }, undefined, live, owners)
      : reconciled(kind, owners);
  const { shape } = kind.version(kind.apiVersion)!;
  const read = readApplied(shape, config);
  if (read.errors.length > 0) throw new NotApplicable(complaint(read.errors));
  const { manager, subresource, now: time } = writer;
  const owner: Owner = {
    manager,
    operation: 'Apply',
    apiVersion: kind.apiVersion,
    subresource,
    time,
    set: difference(kind.owned(read.set), COMMON),
  };
  const self = keyOf(owner);
  const last = known.get(self);
  const next = new Map(known).set(self, owner);
  const object = pruned(kind, merge(shape, before, config)!, next, last, owner);
  const left = new Map(taken(next, self, new Differences(kind, before, object), force));
  if (isEmpty(owner.set)) left.delete(self);
  else if (last && sameOwnership(last, owner) && equalJson(before, object)) left.set(self, last);
  return { object, owners: left };
}

const sameOwnership = (a: Owner, b: Owner): boolean =>
  a.apiVersion === b.apiVersion && isEmpty(difference(a.set, b.set)) && isEmpty(difference(b.set, a.set));

const complaint = (errors: readonly string[]): string =>
  errors.length === 1 ? errors[0]! : ['errors:', ...errors.map(error => `  ${error}`)].join('\n');

/**
 * The merged object without what the manager dropped: first all that it applied before goes, then what anybody owns
 * comes back, and what nobody ever applied.
 */
function pruned(kind: Kind, merged: Json, owners: Owners, last: Owner | undefined, now: Owner): Json {
  if (!last) return merged;
  if (last.apiVersion === now.apiVersion && isEmpty(difference(last.set, now.set))) return merged;
  const version = kind.version(last.apiVersion);
  if (!version) return merged;
  const { shape } = version;
  const before = withStructs(shape, last.set);
  const all = version.convert(merged);
  let kept = without(shape, all, before);
  for (const [apiVersion, set] of setsByVersion(owners, last.apiVersion))
    kept = withOwned(kind, apiVersion, all, kept, set);
  kept = version.convert(kept);
  const gone = difference(structFields(shape, all), structFields(shape, kept));
  return kind.version(kind.apiVersion)!.convert(without(shape, all, intersection(gone, before)));
}

const structFields = (shape: Shape, object: Json): FieldSet => withStructs(shape, fieldsOf(shape, object));

/**
 * What all managers of a version own together, and what every object has; `first` comes first, because conversion may
 * need fields of it.
 */
function setsByVersion(owners: Owners, first: string): ReadonlyMap<string, FieldSet> {
  const sets = new Map<string, FieldSet[]>([[first, [COMMON]]]);
  for (const { apiVersion, set } of owners.values()) {
    const same = sets.get(apiVersion);
    if (same) same.push(set);
    else sets.set(apiVersion, [set]);
  }
  return new Map([...sets].map(([apiVersion, same]) => [apiVersion, unionOf(same)]));
}

/** What was pruned comes back where the set has it. */
function withOwned(kind: Kind, apiVersion: string, merged: Json, kept: Json, set: FieldSet): Json {
  const version = kind.version(apiVersion);
  if (!version) return kept;
  const { shape } = version;
  const all = version.convert(merged);
  const stays = union(structFields(shape, version.convert(kept)), withStructs(shape, set));
  return without(shape, all, difference(structFields(shape, all), stays));
}
