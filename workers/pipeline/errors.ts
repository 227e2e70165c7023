import {
  alreadyExists,
  conflict,
  type GroupResource,
  invalidObject,
  notFound,
  type Refusal,
  type Violation,
} from '../../core/model/refusal.js';
import type { Resource } from '../../core/schema/resource.js';
import type { AuthorizedRequest } from './stages.js';

/** The resource as refusals name it. */
export const groupResource = ({ group, plural }: Resource): GroupResource => ({ group, resource: plural });

/** Thrown for a job that starts from an object that its body names: the front end could not know its key. */
export class UnseenObject {
  constructor(readonly key: string) {}
}

/** 404 for the object of the request. */
export const notFoundError = ({ resource, target }: AuthorizedRequest): Refusal =>
  notFound(groupResource(resource), target.name);

/** 409 for a create under a name that is taken. */
export const alreadyExistsError = ({ resource }: AuthorizedRequest, name: string): Refusal =>
  alreadyExists(groupResource(resource), name);

/** 409 for the object of the request; `reason` says which precondition failed. */
export const conflictError = ({ resource, target }: AuthorizedRequest, reason: string): Refusal =>
  conflict(groupResource(resource), target.name, reason);

/** The group that a kind is stored in: errors name a kind that two groups serve by this one. */
export const storedGroup = ({ storageApiVersion: version }: Resource): string =>
  version.includes('/') ? version.split('/')[0]! : '';

/** Throws 422 with all violations, if there are any. */
export function throwIfInvalid(resource: Resource, name: string, violations: readonly Violation[]): void {
  if (violations.length > 0) throw invalidObject(storedGroup(resource), resource.kind, name, violations);
}
