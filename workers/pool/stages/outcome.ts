import type { ApiObject } from '../../../core/model/object.js';
import { decodeStored } from '../../../core/plugin/informers/stored.js';
import type { Resource } from '../../../core/schema/resource.js';
import type { Context } from '../context.js';
import { nameTakenError } from '../errors.js';
import { comparableManagedFields } from './managers.js';
import type { Outcome } from './outcomes.js';
import { converterOf } from '../answers/conversion.js';
import type { AuthorizedRequest, ObjectWrite } from '../types.js';
import { encodeObject, storageResource, toStoredUpdate } from '../answers/versions.js';

/**
 * The outcome of the create or update of a valid object. Throws 409 for a create under a name that is taken, and 400
 * for one with a resourceVersion.
 */
export function outcomeOf(context: Context, write: ObjectWrite): Outcome {
  const { request, draft: object, old } = write;
  if (!old) {
    if (write.refusal) throw write.refusal;
    checkNameIsFree(write);
    return { is: 'store', object, expect: 0, status: 201 };
  }
  if (object.metadata.deletionTimestamp && canBeRemoved(request.resource, object))
    return { is: 'remove', old, shown: object };
  if (isUnchanged(context, request, object, old)) return { is: 'unchanged', object: old, status: 200 };
  return { is: 'store', object, expect: request.job.current!.revision, status: 200 };
}

/** Throws 409 for the create of an object whose name mutators have changed to one that is taken. */
function checkNameIsFree({ request, draft, hasGeneratedName }: ObjectWrite): void {
  const { current } = request.job;
  if (!current || hasGeneratedName || request.target.verb !== 'create') return;
  throw nameTakenError(request, draft.metadata.generateName);
}

/** Whether an object that is being deleted can be removed: it has neither finalizers nor a grace period left. */
function canBeRemoved({ strategy }: Resource, object: ApiObject): boolean {
  const { finalizers, deletionGracePeriodSeconds } = object.metadata;
  return !finalizers?.length && !deletionGracePeriodSeconds && !strategy.extraFinalizers?.(object).length;
}

/** Whether the stored bytes would be the same, except the times in `metadata.managedFields`. */
function isUnchanged(context: Context, request: AuthorizedRequest, object: ApiObject, old: ApiObject): boolean {
  const { job, resource } = request;
  if (object.metadata.generation !== old.metadata.generation) return false;
  const managedFields = comparableManagedFields(object, old);
  const metadata = { ...object.metadata };
  if (managedFields) metadata.managedFields = managedFields;
  const now = { ...object, metadata };
  if (converterOf(context, resource)) {
    const isInStorageVersion = decodeStored(job.current!.bytes).apiVersion === resource.storageApiVersion;
    return isInStorageVersion && encodeObject(resource, now) === encodeObject(resource, old);
  }
  const text = encodeObject(storageResource(context.registry, resource), toStoredUpdate(context, request, now));
  return Buffer.from(text).equals(job.current!.bytes);
}
