import type { ApiObject } from '../../../core/model/object.js';
import { badRequest, conflict, type GroupResource, MODIFIED, type Refusal } from '../../../core/model/refusal.js';
import { parseRevision } from '../../../core/request/resourceVersion.js';
import { decodeManagers } from '../../../core/schema/apply/fieldManagers.js';
import { conflictError, groupResource } from '../errors.js';
import type { AuthorizedRequest } from '../types.js';

/** The refusal of an object that has no name. */
export const missingName = ({ target }: AuthorizedRequest): Refusal =>
  badRequest(`the name of the object (${target.name} based on URL) was undeterminable: name must be provided`);

/** Throws 400 for a path without a name: such paths of custom kinds are not refused earlier. */
export function checkPathName({ target }: AuthorizedRequest): void {
  if (target.name === '') throw badRequest('name must be provided');
}

/** Throws 400 for an object that has no name, or another one than its path. */
export function checkName(request: AuthorizedRequest, { metadata: { name } }: ApiObject): void {
  const { target } = request;
  if (!name) throw missingName(request);
  if (name !== target.name)
    throw badRequest(`the name of the object (${name}) does not match the name on the URL (${target.name})`);
}

/**
 * Sets the namespace of the object to that of the path, and removes it from a cluster-scoped object. Throws 400 for an
 * object that names another namespace than its path.
 */
export function ensureNamespace({ resource, target }: AuthorizedRequest, { metadata }: ApiObject): void {
  if (!resource.namespaced) {
    delete metadata.namespace;
    return;
  }
  if (metadata.namespace && metadata.namespace !== target.namespace)
    throw badRequest('the namespace of the provided object does not match the namespace sent on the request');
  metadata.namespace = target.namespace;
}

/** The resourceVersion of an object as a number, 0 where it has none. Throws 422 for one that is not a number. */
export const parseVersion = ({ metadata: { resourceVersion } }: ApiObject): number =>
  resourceVersion ? parseRevision(resourceVersion, 'metadata.resourceVersion') : 0;

/**
 * The 409 for a change that expects another version than `old` has. The decision names the manager that wrote `old`.
 */
function modifiedError(request: AuthorizedRequest, old: ApiObject): Refusal {
  const managers = [...decodeManagers(old.metadata.managedFields).values()];
  // Times are in seconds: of several writes within one second, any may be named.
  const newest = managers.sort((a, b) => (a.time ?? '').localeCompare(b.time ?? '')).at(-1);
  if (newest) request.trail.conflict([{ owner: newest, path: '.metadata.resourceVersion' }]);
  return conflictError(request, MODIFIED);
}

/**
 * Compares the resourceVersion that an update names with the current one, and returns it as a number, 0 where it names
 * none. Throws 409 where they differ.
 */
export function checkVersion(request: AuthorizedRequest, object: ApiObject, old: ApiObject): number {
  const version = parseVersion(object);
  if (version && version !== request.job.current!.revision) throw modifiedError(request, old);
  return version;
}

/** The revision that an `If-Match: "123"` or `If-Match: 123` names, '' for any (spec, "Headers"). */
const etagOf = (header: string): string => (header === '*' ? '' : header.replace(/^W\//, '').replace(/^"(.*)"$/, '$1'));

/** Compares the header `If-Match` with the current revision. Throws 409 where they differ. */
export function checkIfMatch(request: AuthorizedRequest, old: ApiObject): void {
  const { ifMatch, current } = request.job;
  if (ifMatch === '') return;
  if (!['', '0', String(current!.revision)].includes(etagOf(ifMatch))) throw modifiedError(request, old);
}

/** Where an object is stored, as messages show it, whatever the store is. Like upstream, without prefix in dry runs. */
function storedAt({ resource, target }: AuthorizedRequest, dryRun: boolean): string {
  const { custom, group, plural, strategy } = resource;
  const path = custom ? `${group}/${plural}` : (strategy.storePath ?? plural);
  return [dryRun ? '' : '/registry', path, ...(resource.namespaced ? [target.namespace] : []), target.name].join('/');
}

/**
 * Compares the uid that an update names with the current one, absent for an object that does not exist. Throws 409
 * where they differ; `of` is the resource that the refusal names.
 */
export function checkUid(
  request: AuthorizedRequest,
  dryRun: boolean,
  object: ApiObject,
  old: ApiObject | undefined,
  of: GroupResource = groupResource(request.resource),
): void {
  const { uid } = object.metadata;
  if (!uid || uid === old?.metadata.uid) return;
  const found = old?.metadata.uid ?? '';
  const precondition = `Precondition failed: UID in precondition: ${uid}, UID in object meta: ${found}`;
  const reason =
    `StorageError: invalid object, Code: 4, Key: ${storedAt(request, dryRun)}, ResourceVersion: 0, ` +
    `AdditionalErrorMsg: ${precondition}`;
  throw conflict(of, request.target.name, reason);
}
