import type { Json } from '../../model/object.js';
import { equalJson } from '../patch/members.js';
import { objectFields, readConfiguration } from './applied.js';
import { type FieldManager, type FieldManagers, managerKey } from './fieldManagers.js';
import { difference, type FieldSet, intersection, isEmpty, union, unionOf } from './fieldSet.js';
import type { ManagedKind } from './managedKind.js';
import { addParentStructs, merge, removeFields } from './merge.js';
import {
  Differences,
  SchemaMismatch,
  takeOwnership,
  UNTRACKED_FIELDS,
  updateManagers,
  type Writer,
} from './ownership.js';
import { reconcileWithSchema } from './reconcile.js';
import type { Shape } from './shape.js';

/** The result of an apply: the object and its managers. */
export interface ApplyResult {
  readonly object: Json;
  readonly managers: FieldManagers;
  /** Whether there was a live object that the configuration does not change: `object` equals it. */
  readonly isUnchanged: boolean;
}

/** The manager that owns all fields of an object whose fields are not tracked yet. */
const BEFORE_FIRST_APPLY = 'before-first-apply';

/**
 * Applies a configuration to the live object (undefined if there is none). Fields that the manager applied before and
 * has dropped are removed, unless another manager owns them. Throws `ApplyConflict`, `SchemaMismatch` and
 * `LiveMismatch`.
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
  const current = currentManagers(kind, writer, live, managers);

  // The manager owns the fields of the configuration, instead of those that it applied last.
  const { shape } = kind.version(kind.apiVersion)!;
  const fields = fieldsOf(shape, config);
  const { manager, subresource, now: time } = writer;
  const owned = difference(kind.writable(fields), UNTRACKED_FIELDS);
  const owner: FieldManager = {
    manager,
    operation: 'Apply',
    apiVersion: kind.apiVersion,
    subresource,
    time,
    set: owned,
  };
  const self = managerKey(owner);
  const last = current.get(self);
  const next = new Map(current).set(self, owner);

  // The object gets the values of the configuration, and loses the fields that the manager has dropped.
  const merged = merge(shape, before, config)!;
  const object = removeDropped(kind, merged, next, last, owner);

  // Other managers lose the fields that this has changed.
  const result = new Map(takeOwnership(next, self, new Differences(kind, before, object), force));
  const isUnchanged = equalJson(before, object);
  if (isEmpty(owned)) result.delete(self);
  // Upstream's entries have the time of the last change of the object.
  else if (isUnchanged) result.set(self, { ...owner, time: last?.time });
  return { object, managers: result, isUnchanged: live !== undefined && isUnchanged };
}

/** Thrown for a live object without managers that does not match the schema, with all errors. */
export class LiveMismatch extends Error {}

/** The managers before the apply. If the fields of the live object are not tracked, one is assumed to own them all. */
function currentManagers(
  kind: ManagedKind,
  writer: Writer,
  live: Json | undefined,
  managers: FieldManagers,
): FieldManagers {
  if (live === undefined || managers.size > 0) return reconcileWithSchema(kind, managers);
  try {
    return updateManagers(kind, { ...writer, manager: BEFORE_FIRST_APPLY }, undefined, live, managers);
  } catch (thrown) {
    if (!(thrown instanceof SchemaMismatch)) throw thrown;
    const { errors } = readConfiguration(kind.version(kind.apiVersion)!.shape, live);
    throw new LiveMismatch(formatErrors(errors));
  }
}

/** The fields of a configuration. Throws SchemaMismatch with all errors. */
function fieldsOf(shape: Shape, config: Json): FieldSet {
  const { set, errors } = readConfiguration(shape, config);
  if (errors.length > 0) throw new SchemaMismatch(formatErrors(errors));
  return set;
}

const formatErrors = (errors: readonly string[]): string =>
  errors.length === 1 ? errors[0]! : ['errors:', ...errors.map(error => `  ${error}`)].join('\n');

/**
 * Removes dropped fields from the merged object: all fields that the manager applied last time are removed, and those
 * with a current owner are restored.
 */
function removeDropped(
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
  // As in upstream, a map or list that has no members left becomes null.
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
