import {
  alreadyExists,
  conflict,
  type GroupResource,
  invalidObject,
  notFound,
  Refusal,
  type Violation,
} from '../../core/model/refusal.js';
import type { ObjectMeta } from '../../core/model/object.js';
import { isReadable } from '../../core/threads/entries/unreadable.js';
import { decodeStored } from '../../core/plugin/informers/stored.js';
import type { Resource } from '../../core/schema/resource.js';
import type { AuthorizedRequest } from './types.js';

/** The resource as refusals name it. */
export const groupResource = ({ group, plural }: Resource): GroupResource => ({ group, resource: plural });

/** Thrown for a job that starts from an object that its body names: the front end could not know its key. */
export class UnseenObject {
  constructor(readonly key: string) {}
}

/** 404 for the object of the request. */
export const notFoundError = ({ resource, target }: AuthorizedRequest): Refusal =>
  notFound(groupResource(resource), target.name);

/**
 * 409 for a create under the name of the current object. Upstream's message says whether that is being deleted, and
 * asks a client that has sent a generateName as well to try again.
 */
export function nameTakenError({ resource, job }: AuthorizedRequest, generateName: string | undefined): Refusal {
  const { bytes } = job.current!;
  // The name of an object that cannot be read is known from its key.
  const metadata: ObjectMeta = isReadable(bytes)
    ? decodeStored(bytes).metadata
    : { name: job.currentKey?.split('/').at(-1) ?? '' };
  const { message, details } = alreadyExists(groupResource(resource), metadata.name!);
  const why = generateName ? `${message}, the server was not able to generate a unique name for the object` : message;
  return new Refusal(
    'AlreadyExists',
    metadata.deletionTimestamp ? `object is being deleted: ${why}` : why,
    generateName ? { ...details, retryAfterSeconds: 1 } : details,
  );
}

/** 409 for the object of the request; `reason` says which precondition failed. */
export const conflictError = ({ resource, target }: AuthorizedRequest, reason: string): Refusal =>
  conflict(groupResource(resource), target.name, reason);

/** The group that a kind is stored in: errors name it even if the request is for another group that serves the kind. */
export const storedGroup = ({ storageApiVersion: version }: Resource): string =>
  version.includes('/') ? version.split('/')[0]! : '';

/** Throws 422 with all violations, if there are any. */
export function throwIfInvalid(resource: Resource, name: string, violations: readonly Violation[]): void {
  if (violations.length > 0) throw invalidObject(storedGroup(resource), resource.kind, name, violations);
}
