import { after } from '../../../core/api/awaitable.js';
import type { ConvertObjects } from '../../../core/api/resource/conversion.js';
import type { Awaitable } from '../../../core/api/point.js';
import type { ApiObject, Json } from '../../../core/model/object.js';
import { isReadable, reasonOf, unreadable } from '../../../core/threads/entries/unreadable.js';
import { keyOf } from '../../../core/request/keys.js';
import { decodeStored } from '../../../core/plugin/informers/stored.js';
import { Growth } from '../../../core/schema/custom/defaults.js';
import { decodeObject, encode } from '../../../core/schema/decode/decode.js';
import { sortDeep } from '../../../core/schema/patch/members.js';
import type { Registry, Resource } from '../../../core/schema/resource.js';
import type { Context } from '../context.js';
import { convertAll, converterOf } from './conversion.js';
import type { AuthorizedRequest } from '../types.js';

const isStorageVersion = ({ apiVersion, storageApiVersion }: Resource): boolean => apiVersion === storageApiVersion;

/** The resource in the version that is stored. */
export const storageResource = (registry: Registry, resource: Resource): Resource =>
  isStorageVersion(resource) ? resource : (registry.byKind(resource.storageApiVersion, resource.kind) ?? resource);

/** The object in the version that is stored, where its strategy converts it. */
export const toStrategyVersion = (resource: Resource, object: ApiObject): ApiObject =>
  isStorageVersion(resource) ? object : convert(resource, object, resource.storageApiVersion);

/** The object in the version that is stored. Throws or rejects with the error of its converter. */
export function toStorageVersion(context: Context, resource: Resource, object: ApiObject): Awaitable<ApiObject> {
  const converter = converterOf(context, resource);
  if (isStorageVersion(resource)) return object;
  if (!converter) return toStoredForm(context, resource, object);
  return after(convertAll(converter, resource, [object], resource.storageApiVersion), ([converted]) =>
    withStoredDefaults(context, resource, converted!),
  );
}

/** The object as it is stored, where its strategy converts it. */
const toStoredForm = (context: Context, resource: Resource, object: ApiObject): ApiObject =>
  isStorageVersion(resource) ? object : withStoredDefaults(context, resource, toStrategyVersion(resource, object));

/**
 * The object of an update as it is stored, where its strategy converts it. Fields that the version of the request
 * cannot show stay as they are stored.
 */
export function toStoredUpdate(context: Context, request: AuthorizedRequest, object: ApiObject): ApiObject {
  const { resource, route } = request;
  const stored = toStoredForm(context, resource, object);
  if (!isStorageVersion(resource))
    resource.strategy.restoreStored?.(stored, storedObject(request), route.subresource?.name);
  return stored;
}

/**
 * Stored objects have the defaults of their version, as reads show them. A version that is not served has no schema.
 */
const withStoredDefaults = (
  { registry }: Context,
  { storageApiVersion, kind }: Resource,
  object: ApiObject,
): ApiObject => registry.byKind(storageApiVersion, kind)?.custom?.readOwn(object) ?? object;

/** An object of any version in the version of a resource. Throws or rejects with the error of its converter. */
export function convertTo(context: Context, from: Resource, to: Resource, object: ApiObject): Awaitable<ApiObject> {
  const converter = converterOf(context, to);
  if (!converter) return to.custom?.read(object) ?? convert(from, object, to.apiVersion);
  return after(convertAll(converter, to, [object], to.apiVersion), ([converted]) => to.custom!.accept(converted!));
}

/** Stored objects in the version of the request. Throws or rejects with the error of their converter. */
export function toRequestVersion(
  context: Context,
  resource: Resource,
  objects: readonly ApiObject[],
): Awaitable<readonly ApiObject[]> {
  const converter = converterOf(context, resource);
  if (converter) return convertStored(context, converter, resource, objects);
  const growth = new Growth();
  return objects.map(
    object =>
      resource.custom?.read(object, growth) ??
      (isStorageVersion(resource) ? object : convert(resource, object, resource.apiVersion)),
  );
}

/** Reads stored objects in the versions that they were written in, and converts them. */
async function convertStored(
  { registry }: Context,
  converter: ConvertObjects,
  resource: Resource,
  objects: readonly ApiObject[],
): Promise<readonly ApiObject[]> {
  const { apiVersion, kind, custom } = resource;
  const growth = new Growth();
  const read = objects.map(
    object => registry.byKind(object.apiVersion, kind)?.custom?.readOwn(object, growth) ?? object,
  );
  const converted = await convertAll(converter, resource, read, apiVersion);
  return converted.map((object, i) => (object === read[i] ? object : custom!.accept(object)));
}

const convert = ({ strategy }: Resource, object: ApiObject, apiVersion: string): ApiObject =>
  strategy.convert?.(object, apiVersion) ?? { ...object, apiVersion };

/**
 * The current object in the version of the request; undefined where the object does not exist. Throws 500 if it cannot
 * be read.
 */
export function currentObject(context: Context, request: AuthorizedRequest): Awaitable<ApiObject | undefined> {
  const { job, resource } = request;
  return job.current && after(toRequestVersion(context, resource, [storedObject(request)]), ([object]) => object);
}

/** The object as it is stored; the request must have one. Throws 500 if it cannot be read. */
export function storedObject({ job, resource, target }: AuthorizedRequest): ApiObject {
  const { bytes } = job.current!;
  if (isReadable(bytes)) return decodeStored(bytes);
  throw unreadable({ key: keyOf(resource, target.namespace, target.name), reason: reasonOf(bytes) });
}

/**
 * Canonical text of an object in the version of `resource`: the text that is stored and sent. Members stand in the
 * order of their declaration, whoever has set them.
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
