import type { ApiObject } from '../../../core/model/object.js';
import { conflict, qualifyResource, Refusal } from '../../../core/model/refusal.js';
import { goQuote } from '../../../core/model/text/quote.js';
import { isReadable } from '../../../core/threads/entries/unreadable.js';
import { chooseAnswerForm } from '../../../core/request/forms.js';
import type { Resource } from '../../../core/schema/resource.js';
import { deepCopy } from '../../../core/schema/patch/members.js';
import { type Context, timestamp } from '../context.js';
import { decodeDeleteOptions } from '../body/deleteOptions.js';
import { conflictError, groupResource, notFoundError, storedGroup } from '../errors.js';
import { checkCollectionOptions, type DeleteOptions } from '../body/options.js';
import type { Outcome } from '../stages/outcomes.js';
import type { AuthorizedRequest, DecodedDelete, Deletion } from '../types.js';
import { currentObject } from '../answers/versions.js';

/** Finalizers that the garbage collector handles (spec, "Deletion lifecycle"). */
const ORPHAN = 'orphan';
const FOREGROUND = 'foregroundDeletion';

/** Checks the options of a deletecollection, and the form of its answer, before any object is deleted. */
export function checkCollection(context: Context, request: AuthorizedRequest): void {
  chooseAnswerForm(request.resource, request.job.accept, context, true);
  const options = decodeDeleteOptions(context, request);
  request.trail.isDryRun = options.dryRun;
  checkCollectionOptions(options, context.naming);
  warnOfPolicy(request, options);
}

/**
 * DELETE of one object: begins its deletion, shortens its grace period, or removes it (spec, "Deletion lifecycle").
 * Throws 404, 409 for a precondition that fails, and 500 for an object that cannot be read, unless the options say that
 * it is to be removed anyway.
 */
export async function remove(context: Context, { request, options }: DecodedDelete): Promise<Deletion> {
  warnOfPolicy(request, options);
  const { current } = request.job;
  if (options.ignoresReadError) {
    await checkUnsafePermission(context, request);
    if (current && !isReadable(current.bytes)) return unsafeDeletion(request, options);
  }
  const old = await currentObject(context, request);
  if (!old) throw notFoundError(request);
  checkPreconditions(request, old, options);
  return { is: 'deletion', request, options, old, outcome: deletionOutcome(context, request, options, old) };
}

const UNSAFE_DELETE = 'unsafe-delete-ignore-read-errors';

/** Throws 403 unless the sender may delete objects that cannot be read. */
async function checkUnsafePermission(context: Context, { user, target, resource }: AuthorizedRequest): Promise<void> {
  const { decision } = await context.authorization.authorize(user, { ...target, verb: UNSAFE_DELETE });
  if (decision.is === 'allow') return;
  const { group, resource: kind } = groupResource(resource);
  const subject = `${qualifyResource({ group, resource: kind })} ${goQuote(target.name)}`;
  throw new Refusal(
    'Forbidden',
    `${subject} is forbidden: not permitted to do ${goQuote(UNSAFE_DELETE)}, reason: ${decision.reason ?? ''}`,
    { name: target.name, ...(group ? { group } : {}), kind },
  );
}

/** The removal of an object that cannot be read: whether it has finalizers is not known. */
function unsafeDeletion(request: AuthorizedRequest, options: DeleteOptions): Deletion {
  const { resource, target } = request;
  const { name, namespace } = target;
  const metadata = { name, ...(namespace ? { namespace } : {}) };
  const old: ApiObject = { apiVersion: resource.apiVersion, kind: resource.kind, metadata };
  return { is: 'deletion', request, options, old, outcome: { is: 'remove', old, isUnreadable: true } };
}

/** Adds the kind's warning of a delete that names no propagation policy, even if the delete fails later. */
function warnOfPolicy({ resource, warnings }: AuthorizedRequest, options: DeleteOptions): void {
  const { deletionWarning } = resource.strategy;
  if (deletionWarning && options.propagationPolicy === undefined && options.orphanDependents === undefined)
    warnings.push(deletionWarning);
}

/** Returns the outcome of a delete of `old`. `object` is changed, and stored if the object is not removed yet. */
export function deletionOutcome(
  context: Context,
  request: AuthorizedRequest,
  options: DeleteOptions,
  old: ApiObject,
  object: ApiObject = deepCopy(old),
): Outcome {
  const { resource, job } = request;
  const { strategy } = resource;
  const expect = job.current!.revision;
  const { deletionGracePeriodSeconds: current } = old.metadata;
  const grace = gracePeriod(resource, object, options.gracePeriodSeconds);
  // 202: the garbage collector deletes the dependents later.
  const status = options.orphanDependents === false ? 202 : 200;
  // During its grace period an object is deleted again only by a delete with a shorter one.
  if (current && grace >= current) return { is: 'unchanged', object: old, status };
  setFinalizers(object, finalizersAfter(resource, object, options));
  const isHeld = Boolean(object.metadata.finalizers) || (strategy.extraFinalizers?.(object).length ?? 0) > 0;
  if (isHeld || grace > 0)
    return markDeleted(context, resource, object, old, grace)
      ? { is: 'store', object, expect, status }
      : { is: 'unchanged', object: old, status };
  // Upstream first marks an object of a kind with a grace period, even if the period is 0, so that watches show its
  // end. The second write removes it.
  if (strategy.hasGrace && !options.dryRun && markDeleted(context, resource, object, old, grace))
    return { is: 'store', object, expect, status: 200, more: true };
  return { is: 'remove', old, ...(strategy.hasGrace ? { shown: withZeroGrace(context, object) } : {}) };
}

/** The grace period in seconds. A deletion in progress keeps its period, unless the client asks for a shorter one. */
function gracePeriod({ strategy }: Resource, object: ApiObject, asked: number | undefined): number {
  const { deletionTimestamp, deletionGracePeriodSeconds } = object.metadata;
  const current = deletionGracePeriodSeconds ?? 0;
  if (!deletionTimestamp) return strategy.gracePeriod(object, asked);
  if (!current || asked === undefined) return current;
  return asked < 0 ? 1 : asked;
}

/** Sets a grace period of 0, as the answer to a delete without grace shows the object. */
function withZeroGrace(context: Context, object: ApiObject): ApiObject {
  const { metadata } = object;
  metadata.deletionTimestamp = timestamp(deletionStart(context, metadata));
  metadata.deletionGracePeriodSeconds = 0;
  return object;
}

/** When the deletion of an object began, in milliseconds: now if it has not. */
const deletionStart = (context: Context, metadata: ApiObject['metadata']): number =>
  metadata.deletionTimestamp
    ? Date.parse(metadata.deletionTimestamp) - toMilliseconds(metadata.deletionGracePeriodSeconds ?? 0)
    : context.now();

/** Milliseconds of a grace period. Upstream counts nanoseconds in 64 bits, which overflow if it is very long. */
const toMilliseconds = (seconds: number): number =>
  Number(BigInt.asIntN(64, BigInt(seconds) * 1_000_000_000n) / 1_000_000n);

/** Marks the object as being deleted; false if that changes nothing. */
function markDeleted(
  context: Context,
  { strategy }: Resource,
  object: ApiObject,
  old: ApiObject,
  grace: number,
): boolean {
  const { metadata } = object;
  const sameFinalizers = JSON.stringify(metadata.finalizers ?? []) === JSON.stringify(old.metadata.finalizers ?? []);
  const deletedAt = old.metadata.deletionTimestamp;
  const current = old.metadata.deletionGracePeriodSeconds ?? 0;
  // A later delete may shorten the grace period, never lengthen it.
  if (deletedAt && grace >= current && sameFinalizers) return false;
  if (!deletedAt || grace < current) {
    metadata.deletionTimestamp = timestamp(deletionStart(context, old.metadata) + toMilliseconds(grace));
    metadata.deletionGracePeriodSeconds = grace;
  }
  if (!deletedAt) {
    if (metadata.generation) metadata.generation++;
    strategy.beginDeletion?.(object);
  }
  return true;
}

function setFinalizers({ metadata }: ApiObject, finalizers: string[]): void {
  if (finalizers.length > 0) metadata.finalizers = finalizers;
  else delete metadata.finalizers;
}

/** The finalizers that follow from the client's propagation policy or, without one, from the default of the kind. */
function finalizersAfter({ strategy }: Resource, { metadata }: ApiObject, options: DeleteOptions): string[] {
  const present = metadata.finalizers ?? [];
  const others = present.filter(name => name !== ORPHAN && name !== FOREGROUND);
  const policy =
    options.propagationPolicy ??
    (options.orphanDependents === undefined ? undefined : options.orphanDependents ? 'Orphan' : 'Background');
  if (strategy.cannotBeOwner) return others;
  if (policy === 'Orphan') return [...others, ORPHAN];
  if (policy === 'Foreground') return [...others, FOREGROUND];
  if (policy === 'Background') return others;
  if (present.length === others.length && strategy.orphansByDefault) return [...others, ORPHAN];
  return present;
}

/** Throws 409 for an object with another uid or resourceVersion than the client expects. */
export function checkPreconditions(request: AuthorizedRequest, old: ApiObject, { preconditions }: DeleteOptions): void {
  if (!preconditions) return;
  const { resource, target, job } = request;
  const fail = (what: 'UID' | 'ResourceVersion', asked: string, found: string, hint: string): never => {
    // For kinds with finalizers of their own, upstream begins the deletion elsewhere, with other texts.
    if (resource.strategy.extraFinalizers)
      throw conflictError(
        request,
        `Precondition failed: ${what} in precondition: ${asked}, ${what} in object meta: ${found}`,
      );
    const reason = `the ${what} in the precondition (${asked}) does not match the ${what} in record (${found}). ${hint}`;
    // Upstream names the kind here, and not the resource.
    throw conflict({ group: storedGroup(resource), resource: resource.kind }, target.name, reason);
  };
  const { uid, resourceVersion } = preconditions;
  if (uid !== undefined && uid !== old.metadata.uid)
    fail('UID', uid, String(old.metadata.uid), 'The object might have been deleted and then recreated');
  const revision = String(job.current!.revision);
  if (resourceVersion !== undefined && !job.begun && resourceVersion !== revision)
    fail('ResourceVersion', resourceVersion, revision, 'The object might have been modified');
}
