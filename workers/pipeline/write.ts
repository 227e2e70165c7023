import {
  qualified,
  alreadyExists,
  badRequest,
  conflict,
  invalidObject,
  MODIFIED,
  notFound,
  Refusal,
  type Violation,
} from '../../core/model/refusal.js';
import type { ApiObject, Frozen } from '../../core/model/object.js';
import type { Change, Operation } from '../../core/api/admission.js';
import { keyOf } from '../../core/request/keys.js';
import { parseRevision } from '../../core/request/resourceVersion.js';
import { OBJECT_BYTES } from '../../core/limits.js';
import { REVISION_MARK } from '../../core/plugin/stored.js';
import type { Resource } from '../../core/schema/resource.js';
import { encodeObject } from './body.js';
import { type Answer, jsonHeaders } from './answer.js';
import { claimOperations } from './claims.js';
import type { Context, Permitted } from './context.js';
import { shape } from './render.js';

/** What refusals name. */
export const named = (resource: Resource) => ({ group: resource.group, resource: resource.plural });

/** 404 for the object of the request. */
export const absent = ({ resource, target }: Permitted): Refusal => notFound(named(resource), target.name);
/** 409 for the object of the request. */
export const exists = ({ resource }: Permitted, name: string): Refusal => alreadyExists(named(resource), name);

/** The resourceVersion of an object as a number, 0 for none. Throws 422 for what is no number. */
export const versionOf = ({ metadata: { resourceVersion } }: ApiObject): number =>
  resourceVersion ? parseRevision(resourceVersion, 'metadata.resourceVersion') : 0;

/** The resourceVersion that an update names, 0 for none. Throws 409 for that of another state than the current one. */
export function currentVersion({ resource, target, job }: Permitted, object: ApiObject): number {
  const version = versionOf(object);
  if (version && version !== job.current!.revision) throw conflict(named(resource), target.name, MODIFIED);
  return version;
}

/** The change as admission sees it. */
export const changeOf = (
  { target, resource, user }: Permitted,
  operation: Operation,
  dryRun: boolean,
  name: string,
  old?: ApiObject,
): Change => ({
  operation,
  target: { ...target, name },
  kind: resource.kind,
  user,
  dryRun,
  ...(old ? { old: old as Frozen<ApiObject> } : {}),
});

/** Throws 422 with every violation, if there are any. */
export function refuseInvalid(resource: Resource, name: string, violations: readonly Violation[]): void {
  // Kinds of two groups are known by the one they are stored in.
  const group = resource.storageApiVersion.includes('/') ? resource.storageApiVersion.split('/')[0]! : '';
  if (violations.length > 0) throw invalidObject(group, resource.kind, name, violations);
}

/** What the rules find wrong with an object; what they warn of meanwhile is told of valid objects alone. */
export function judged({ warnings }: Permitted, judge: () => readonly Violation[]): readonly Violation[] {
  const told = warnings.length;
  const found = judge();
  if (found.length > 0) warnings.splice(told);
  return found;
}

/** Objects hold their resourceVersion; the writer puts its digits at the gap, the byte where they are left out here. */
function withGap(object: ApiObject, resource: Resource): { value: Uint8Array; gap: number } {
  const text = encodeObject(resource, { ...object, metadata: { ...object.metadata, resourceVersion: '0' } });
  const at = text.indexOf(REVISION_MARK) + REVISION_MARK.length;
  const value = Buffer.from(text.slice(0, at) + text.slice(at + 1));
  if (value.length > OBJECT_BYTES) {
    throw new Refusal(
      'RequestEntityTooLarge',
      `etcdserver: request is too large: ${qualified(named(resource))} must be at most ${OBJECT_BYTES} bytes`,
      undefined,
      500,
    );
  }
  return { value, gap: Buffer.byteLength(text.slice(0, at)) };
}

/**
 * The last stage: the transaction that stores `object`, with the answer in the form asked for; a dry run answers
 * without it.
 */
export async function propose(
  context: Context,
  permitted: Permitted,
  object: ApiObject,
  write: { readonly status: number; readonly dryRun: boolean; readonly expect: number },
): Promise<Answer> {
  const { resource, warnings } = permitted;
  const headers = jsonHeaders(warnings);
  const key = keyOf(resource, object.metadata.namespace ?? '', object.metadata.name!);
  if (write.dryRun) return { ...(await shape(context, permitted, object, write.status, warnings)), key };
  const kept = stored(resource, object);
  const { value, gap } = withGap(kept, storageForm(context, resource));
  // A create that lost its generated name knows the object that has it.
  const current = write.expect === 0 ? undefined : permitted.job.current;
  const operations = [
    { is: 'put' as const, key, value, gap, expect: write.expect },
    ...claimOperations(resource, key, current, kept),
  ];
  // What the stored version does not know is not kept: the answer shows what a read will.
  const shown = resource.custom && kept !== object ? inRequestVersion(resource, kept) : object;
  const shaped = await shape(context, permitted, shown, write.status, warnings, true);
  return shaped.body ? { ...shaped, operations } : { status: write.status, headers, operations };
}

/** The resource in the version that is stored. */
export const storageForm = ({ registry }: Context, resource: Resource): Resource =>
  resource.apiVersion === resource.storageApiVersion
    ? resource
    : (registry.byKind(resource.storageApiVersion, resource.kind) ?? resource);

/** The object in the version that is stored. */
export const stored = (resource: Resource, object: ApiObject): ApiObject =>
  resource.apiVersion === resource.storageApiVersion
    ? object
    : (resource.strategy.convert?.(object, resource.storageApiVersion) ?? {
        ...object,
        apiVersion: resource.storageApiVersion,
      });

/** The current object in the version of the request. */
export const inRequestVersion = (resource: Resource, object: ApiObject): ApiObject =>
  resource.custom?.read(object) ?? tableVersion(resource, object);

const tableVersion = (resource: Resource, object: ApiObject): ApiObject =>
  resource.apiVersion === resource.storageApiVersion
    ? object
    : (resource.strategy.convert?.(object, resource.apiVersion) ?? { ...object, apiVersion: resource.apiVersion });

/** Refuses an object that is not named as its path. */
export function checkName({ target }: Permitted, object: ApiObject): void {
  if (!object.metadata.name)
    throw badRequest(`the name of the object (${target.name} based on URL) was undeterminable: name must be provided`);
  if (object.metadata.name !== target.name) {
    throw badRequest(
      `the name of the object (${object.metadata.name}) does not match the name on the URL (${target.name})`,
    );
  }
}

/**
 * Refuses an object of another namespace than its path names, and puts it into that one; one of the whole cluster has
 * none, whatever it says.
 */
export function checkNamespace({ resource, target }: Permitted, object: ApiObject): void {
  if (!resource.namespaced) {
    delete object.metadata.namespace;
    return;
  }
  if (object.metadata.namespace && object.metadata.namespace !== target.namespace) {
    throw badRequest('the namespace of the provided object does not match the namespace sent on the request');
  }
  object.metadata.namespace = target.namespace;
}
