import type { ApiObject, Json } from '../../core/model/object.js';
import { decodeStored } from '../../core/plugin/stored.js';
import { decodeObject, encode } from '../../core/schema/decode.js';
import { sortDeep } from '../../core/schema/patch/members.js';
import type { Registry, Resource } from '../../core/schema/resource.js';
import type { AuthorizedRequest } from './stages.js';

const isStorageVersion = ({ apiVersion, storageApiVersion }: Resource): boolean => apiVersion === storageApiVersion;

/** The resource in the version that is stored. */
export const storageResource = (registry: Registry, resource: Resource): Resource =>
  isStorageVersion(resource) ? resource : (registry.byKind(resource.storageApiVersion, resource.kind) ?? resource);

/** The object in the version that is stored. */
export const toStorageVersion = (resource: Resource, object: ApiObject): ApiObject =>
  isStorageVersion(resource) ? object : convert(resource, object, resource.storageApiVersion);

/** A stored object in the version of the request. */
export const toRequestVersion = (resource: Resource, object: ApiObject): ApiObject =>
  resource.custom?.read(object) ??
  (isStorageVersion(resource) ? object : convert(resource, object, resource.apiVersion));

const convert = ({ strategy }: Resource, object: ApiObject, apiVersion: string): ApiObject =>
  strategy.convert?.(object, apiVersion) ?? { ...object, apiVersion };

/** The current object in the version of the request; undefined where the object does not exist. */
export const currentObject = ({ job, resource }: AuthorizedRequest): ApiObject | undefined =>
  job.current && toRequestVersion(resource, decodeStored(job.current.bytes));

/**
 * Canonical text of an object in the version of `resource`: what is stored and sent. Members stand in the order of
 * their declaration, whoever has set them.
 */
export const encodeObject = (resource: Resource, object: ApiObject): string =>
  encode(
    resource.builtIn ? decodeObject(resource, object as unknown as Json, { strictErrors: [] }) : inCustomOrder(object),
  );

/**
 * The object of a custom kind with its members in order: the envelope, then the rest by name; in metadata first those
 * before `resourceVersion`, which hold strings only.
 */
function inCustomOrder({ apiVersion, kind, metadata, ...rest }: ApiObject): object {
  const { name, generateName, namespace, uid, resourceVersion, ...others } = metadata;
  return {
    apiVersion,
    kind,
    metadata: { name, generateName, namespace, uid, resourceVersion, ...(sortDeep(others as Json) as object) },
    ...(sortDeep(rest as Json) as object),
  };
}
