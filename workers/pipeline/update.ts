import type { ApiObject, Frozen } from '../../core/model/object.js';
import { conflict, invalidObject, MODIFIED, type Violation } from '../../core/model/refusal.js';
import { decodeStored } from '../../core/plugin/stored.js';
import type { Owners } from '../../core/schema/apply/owners.js';
import { authorizeCreate } from './access.js';
import type { Answer } from './answer.js';
import { appliedTo, checkOwners, ownersOfUpdated, setOwners, settledEntries } from './apply.js';
import { decodeBody, decodePatched, encodeObject, validateMetadataUpdate } from './body.js';
import { type Context, type Permitted, rulesOf } from './context.js';
import { createObject } from './create.js';
import { patched, patchType } from './patch.js';
import { contentChanged, dropRepeatedOwners, keepSystemMetadata } from './metadata.js';
import { type WriteOptions, writeOptionsOf } from './options.js';
import { removal } from './remove.js';
import { shape } from './render.js';
import { updateScale } from './scale.js';
import {
  absent,
  changeOf,
  checkName,
  checkNamespace,
  currentVersion,
  inRequestVersion,
  judged,
  named,
  propose,
  refuseInvalid,
  storageForm,
  stored,
  versionOf,
} from './write.js';

/** PUT: replaces an object, its status, its scale, or what another subresource holds. */
export async function update(context: Context, permitted: Permitted): Promise<Answer> {
  const { resource, job, route, target } = permitted;
  const options = writeOptionsOf(route.query, context.naming, 'UpdateOptions');
  if (route.subresource?.name === 'scale') return await updateScale(context, permitted, options, undefined);
  const object = decodeBody(context, permitted, options, job.body!);
  checkName(permitted, object);
  checkNamespace(permitted, object);
  if (!job.current) {
    if (!resource.strategy.allowCreateOnUpdate || route.subresource) throw absent(permitted);
    if (object.metadata.uid)
      throw conflict(
        named(resource),
        target.name,
        `Precondition failed: UID in precondition: ${object.metadata.uid}, UID in object meta: `,
      );
    await authorizeCreate(context, permitted.user, target);
    // There is nothing that the version could be compared with.
    versionOf(object);
    delete object.metadata.resourceVersion;
    return await createObject(context, permitted, object, options.dryRun);
  }
  const old = inRequestVersion(resource, decodeStored(job.current.bytes));
  if (object.metadata.uid && object.metadata.uid !== old.metadata.uid) {
    throw conflict(
      named(resource),
      target.name,
      `Precondition failed: UID in precondition: ${object.metadata.uid}, UID in object meta: ${old.metadata.uid}`,
    );
  }
  return await replace(context, permitted, object, old, options.dryRun);
}

/** PATCH in one of the formats that change an object, or an apply. */
export async function patch(context: Context, permitted: Permitted): Promise<Answer> {
  const { resource, job, route } = permitted;
  const type = patchType(permitted);
  const options = writeOptionsOf(route.query, context.naming, 'PatchOptions', type === 'apply');
  if (!job.current && (type !== 'apply' || route.subresource)) throw absent(permitted);
  if (route.subresource?.name === 'scale') return await updateScale(context, permitted, options, type);
  const old = job.current && inRequestVersion(resource, decodeStored(job.current.bytes));
  if (type === 'apply') return await apply(context, permitted, options, old);
  const result = patched(type, old!, job.body!, resource.type, permitted, context, options);
  const object = decodePatched(permitted, options, result, undefined, type === 'strategic');
  checkName(permitted, object);
  checkNamespace(permitted, object);
  return await replace(context, permitted, object, old!, options.dryRun);
}

/** PATCH that applies a configuration: one call creates or updates (spec, "Updates"). */
async function apply(
  context: Context,
  permitted: Permitted,
  options: WriteOptions,
  old: ApiObject | undefined,
): Promise<Answer> {
  const { resource, target, user } = permitted;
  if (!old) await authorizeCreate(context, user, target);
  const { object, owners } = appliedTo(context, permitted, options, old);
  checkName(permitted, object);
  checkNamespace(permitted, object);
  if (old) return await replace(context, permitted, object, old, options.dryRun, owners);
  const { uid } = object.metadata;
  if (uid) {
    const why = `uid mismatch: the provided object specified uid ${uid}, and no existing object was found`;
    throw conflict(named(resource), target.name, why);
  }
  // There is nothing that the version could be compared with.
  delete object.metadata.resourceVersion;
  return await createObject(context, permitted, object, options.dryRun, owners);
}

/**
 * Stages from mutate on, for an object that replaces `old`; `owners`: who owns its fields, where an apply has found
 * that out.
 */
export async function replace(
  context: Context,
  permitted: Permitted,
  object: ApiObject,
  old: ApiObject,
  dryRun: boolean,
  owners?: Owners,
): Promise<Answer> {
  const { resource, job, target, route } = permitted;
  const { strategy } = resource;
  const sent = currentVersion(permitted, object);
  if (!['', '0', String(job.current!.revision)].includes(ifMatch(job.ifMatch)))
    throw conflict(named(resource), target.name, MODIFIED);
  dropRepeatedOwners(object, permitted.warnings, false);
  // The object itself is owned as it was sent; of a subresource's body only what comes through counts.
  const known = owners ?? (route.subresource ? undefined : ownersOfUpdated(context, permitted, object, old));
  const merged = merge(context, permitted, object, old, dryRun);
  const set = setOwners(merged, known ?? ownersOfUpdated(context, permitted, merged, old));
  await context.mutate(changeOf(permitted, 'UPDATE', dryRun, target.name, old), merged);
  dropRepeatedOwners(merged, permitted.warnings, true);
  checkOwners(merged, set, permitted.warnings);
  const violations = judged(permitted, () => validate(context, permitted, merged, old, dryRun, sent));
  refuseInvalid(resource, target.name, violations);
  // Validators get the object as it will be stored, and frozen.
  if (strategy.hasGeneration && !isStatus(permitted) && (strategy.changesGeneration ?? contentChanged)(merged, old))
    merged.metadata.generation = (old.metadata.generation ?? 0) + 1;
  merged.metadata.resourceVersion = old.metadata.resourceVersion;
  refuseInvalid(
    resource,
    target.name,
    await context.validate(changeOf(permitted, 'UPDATE', dryRun, target.name, old), merged as Frozen<ApiObject>),
  );
  if (merged.metadata.deletionTimestamp && isFree(permitted, merged))
    return await removal(context, permitted, old, merged, { status: 200, dryRun });
  if (same(context, permitted, merged, old)) return await shape(context, permitted, old, 200, permitted.warnings);
  return await propose(context, permitted, merged, { status: 200, dryRun, expect: job.current!.revision });
}

const isStatus = ({ route }: Permitted): boolean => route.subresource?.name === 'status';

/** `If-Match: "123"` or `123` (spec, "Headers"). */
const ifMatch = (header: string): string =>
  header === '*' ? '' : header.replace(/^W\//, '').replace(/^"(.*)"$/, '$1');

/**
 * What clients may not change comes from the current object: status on a main write, all but status on a status write.
 */
function merge(context: Context, permitted: Permitted, object: ApiObject, old: ApiObject, dryRun: boolean): ApiObject {
  const { resource, route } = permitted;
  const { strategy } = resource;
  const rules = rulesOf(context, permitted, dryRun);
  const before = structuredClone(old);
  keepSystemMetadata(object, before);
  if (isStatus(permitted)) {
    const merged: ApiObject = { ...before, metadata: object.metadata };
    if (object['status'] === undefined) delete merged['status'];
    else merged['status'] = object['status'];
    strategy.prepareStatus(merged, before, rules);
    return merged;
  }
  const other = route.subresource && strategy.subresources?.get(route.subresource.name);
  if (other) return other(object, before, rules);
  if (strategy.hasStatus) {
    if (before['status'] === undefined) delete object['status'];
    else object['status'] = before['status'];
  }
  strategy.prepareUpdate(object, before, rules);
  strategy.applyDefaults(object);
  return object;
}

function validate(
  context: Context,
  permitted: Permitted,
  object: ApiObject,
  old: ApiObject,
  dryRun: boolean,
  sentVersion: number,
): Violation[] {
  const { resource, target } = permitted;
  const { strategy } = resource;
  if (!strategy.allowUnconditionalUpdate && !sentVersion && target.verb === 'update') {
    const why = 'Invalid value: 0x0: must be specified for an update';
    throw invalidObject(resource.group, resource.plural, target.name, [
      { reason: 'FieldValueInvalid', field: 'metadata.resourceVersion', message: why },
    ]);
  }
  const rules = rulesOf(context, permitted, dryRun);
  const own = isStatus(permitted)
    ? strategy.validateStatus(object, old, rules)
    : permitted.route.subresource
      ? []
      : strategy.validateUpdate(object, old, rules);
  return [...validateMetadataUpdate(object, old, resource), ...own];
}

/** Nothing holds the object any more: neither finalizers nor a grace period. */
function isFree({ resource }: Permitted, object: ApiObject): boolean {
  const { finalizers, deletionGracePeriodSeconds } = object.metadata;
  return !finalizers?.length && !deletionGracePeriodSeconds && !resource.strategy.extraFinalizers?.(object).length;
}

/** A write that changes nothing but times of managers writes nothing. */
function same(context: Context, { job, resource }: Permitted, object: ApiObject, old: ApiObject): boolean {
  if (object.metadata.generation !== old.metadata.generation) return false;
  const { resourceVersion } = old.metadata;
  const managedFields = settledEntries(object, old);
  const metadata = { ...object.metadata, resourceVersion, ...(managedFields ? { managedFields } : {}) };
  const text = encodeObject(storageForm(context, resource), stored(resource, { ...object, metadata }));
  return Buffer.from(text).equals(job.current!.bytes);
}
