import { pathSegment } from '../../model/names.js';
import { isDeepEqual } from '../../model/record.js';
import { notFound, Refusal } from '../../model/refusal.js';
import type { ApiObject, Frozen } from '../../model/object.js';
import type { InternalRequest } from '../host.js';
import type {
  ChangeOptions,
  Client,
  CollectionOptions,
  DeletionOptions,
  Input,
  ObjectList,
  ObjectName,
  ResourceClient,
  WriteOptions,
} from './client.js';
import { pathOf, queryOf } from './paths.js';
import type { ObjectOf, ResourceRef, Resources, ServedResource } from './reference.js';

/** Makes a request and returns the object of its answer. Rejects with Refusal for any other answer. */
export type Send = (request: InternalRequest) => Promise<ApiObject>;

const MERGE_PATCH = 'application/merge-patch+json';
const JSON_PATCH = 'application/json-patch+json';
const APPLY_PATCH = 'application/apply-patch+yaml';

const parametersOf = ({ dryRun, fieldManager }: WriteOptions): Readonly<Record<string, string | undefined>> => ({
  dryRun: dryRun ? 'All' : undefined,
  fieldManager,
});

const deleteOptionsOf = ({ dryRun, ...options }: DeletionOptions) => ({
  apiVersion: 'v1',
  kind: 'DeleteOptions',
  ...options,
  ...(dryRun ? { dryRun: ['All'] } : {}),
});

const isRefusedAs = (thrown: unknown, reason: Refusal['reason']): boolean =>
  thrown instanceof Refusal && thrown.reason === reason;

/**
 * Reads and writes the objects of a resource by requests. The resource is looked up for each request, because
 * definitions may change.
 */
export class ObjectRequests implements ResourceClient<ApiObject> {
  constructor(
    readonly send: Send,
    readonly served: () => ServedResource,
  ) {}

  async get(name: ObjectName): Promise<ApiObject | undefined> {
    try {
      return await this.send({ method: 'GET', path: this.#pathOf(name) });
    } catch (thrown) {
      if (isRefusedAs(thrown, 'NotFound')) return undefined;
      throw thrown;
    }
  }

  async list({ namespace = '', labelSelector, fieldSelector }: CollectionOptions = {}): Promise<ObjectList<ApiObject>> {
    const { kind, apiVersion, ...served } = this.served();
    const path = pathOf({ apiVersion, plural: served.plural }, namespace) + queryOf({ labelSelector, fieldSelector });
    const { metadata, items } = await this.send({ method: 'GET', path });
    return {
      // Items in lists of built-in kinds have no kind and apiVersion.
      items: ((items ?? []) as readonly ApiObject[]).map(item => ({ ...item, kind, apiVersion })),
      resourceVersion: metadata.resourceVersion ?? '',
    };
  }

  async create(object: Input<ApiObject>, options: WriteOptions = {}): Promise<ApiObject> {
    const served = this.served();
    const body = bodyOf(served, object);
    const path = pathOf({ ...served, apiVersion: body.apiVersion }, namespaceOf(served, object.metadata ?? {}));
    return await this.send({ method: 'POST', path: path + queryOf(parametersOf(options)), body });
  }

  async replace(object: Input<ApiObject>, options: ChangeOptions = {}): Promise<ApiObject> {
    const body = bodyOf(this.served(), object);
    const path = this.#pathOf(object.metadata ?? {}, options, body.apiVersion) + queryOf(parametersOf(options));
    return await this.send({ method: 'PUT', path, body });
  }

  async patch(name: ObjectName, patch: object, options: ChangeOptions = {}): Promise<ApiObject> {
    return await this.#patch(name, MERGE_PATCH, patch, options);
  }

  async patchJson(name: ObjectName, operations: readonly object[], options: ChangeOptions = {}): Promise<ApiObject> {
    return await this.#patch(name, JSON_PATCH, operations, options);
  }

  async apply(object: Input<ApiObject>, options: ChangeOptions): Promise<ApiObject> {
    const body = bodyOf(this.served(), object);
    const query = queryOf({ ...parametersOf(options), force: 'true' });
    const path = this.#pathOf(object.metadata ?? {}, options, body.apiVersion) + query;
    return await this.send({ method: 'PATCH', path, contentType: APPLY_PATCH, body });
  }

  async delete(name: ObjectName, options: DeletionOptions = {}): Promise<boolean> {
    try {
      await this.send({ method: 'DELETE', path: this.#pathOf(name), body: deleteOptionsOf(options) });
      return true;
    } catch (thrown) {
      if (isRefusedAs(thrown, 'NotFound')) return false;
      throw thrown;
    }
  }

  async deleteCollection(
    { namespace = '', labelSelector, fieldSelector }: CollectionOptions,
    options: DeletionOptions = {},
  ): Promise<void> {
    const path = pathOf(this.served(), namespace) + queryOf({ labelSelector, fieldSelector });
    await this.send({ method: 'DELETE', path, body: deleteOptionsOf(options) });
  }

  async setStatus(object: Frozen<ApiObject>, status: object, options: WriteOptions = {}): Promise<Frozen<ApiObject>> {
    if (isDeepEqual(object['status'], status)) return object;
    return await this.replace({ ...object, status }, { ...options, subresource: 'status' });
  }

  async addFinalizer(object: Frozen<ApiObject>, finalizer: string): Promise<Frozen<ApiObject>> {
    const finalizers = object.metadata.finalizers ?? [];
    return finalizers.includes(finalizer) ? object : await this.#setFinalizers(object, [...finalizers, finalizer]);
  }

  async removeFinalizer(object: Frozen<ApiObject>, finalizer: string): Promise<Frozen<ApiObject>> {
    const finalizers = object.metadata.finalizers ?? [];
    if (!finalizers.includes(finalizer)) return object;
    try {
      return await this.#setFinalizers(
        object,
        finalizers.filter(other => other !== finalizer),
      );
    } catch (thrown) {
      if (isRefusedAs(thrown, 'NotFound')) return object;
      throw thrown;
    }
  }

  #setFinalizers({ metadata }: Frozen<ApiObject>, finalizers: readonly string[]): Promise<ApiObject> {
    const { uid, resourceVersion } = metadata;
    return this.patch(metadata, {
      metadata: { uid, resourceVersion, finalizers: finalizers.length > 0 ? finalizers : null },
    });
  }

  #patch(name: ObjectName, contentType: string, body: unknown, options: ChangeOptions): Promise<ApiObject> {
    const path = this.#pathOf(name, options) + queryOf(parametersOf(options));
    return this.send({ method: 'PATCH', path, contentType, body });
  }

  /**
   * The path of an object, or of its subresource. Throws TypeError without a name, Refusal 404 for a name that no
   * object can have, and otherwise as `pathOf`.
   */
  #pathOf(of: ObjectName, { subresource }: ChangeOptions = {}, apiVersion?: string): string {
    const served = this.served();
    if (!of.name) throw new TypeError(`an object of ${served.plural} must be given with its name`);
    const group = served.apiVersion.split('/').slice(0, -1).join();
    if (pathSegment(of.name).length > 0) throw notFound({ group, resource: served.plural }, of.name);
    const place = { plural: served.plural, apiVersion: apiVersion ?? served.apiVersion };
    const path = pathOf(place, namespaceOf(served, of), of.name);
    return subresource === undefined ? path : `${path}/${encodeURIComponent(subresource)}`;
  }
}

/**
 * The namespace in the path of an object. Throws TypeError if a required one is missing, or if the resource has no
 * namespaces but one is given.
 */
function namespaceOf({ plural, namespaced }: ServedResource, { namespace = '' }: ObjectName): string {
  if (namespaced && namespace === '') throw new TypeError(`an object of ${plural} must be given with its namespace`);
  if (!namespaced && namespace !== '') throw new TypeError(`${plural} are not in namespaces: give no namespace`);
  return namespace;
}

/**
 * An object with its kind and apiVersion. The version is that of the object, if it was read with one, or else that of
 * the resource; the group is that of the resource, because a stored object may have it in the other naming.
 */
function bodyOf(served: ServedResource, object: Input<ApiObject>): Input<ApiObject> & { readonly apiVersion: string } {
  const version = object.apiVersion?.slice(object.apiVersion.lastIndexOf('/') + 1);
  const group = served.apiVersion.slice(0, served.apiVersion.lastIndexOf('/') + 1);
  return { ...object, kind: served.kind, apiVersion: version ? group + version : served.apiVersion };
}

/**
 * The served resource of a reference. Throws Refusal 404 if it is not served, and Error for a name that nothing can
 * have.
 */
export function servedAs(resource: ResourceRef, resources: Resources): ServedResource {
  const found = resources.find(resource);
  if (found) return found;
  const [plural = '', group = ''] = resources.storageNameOf(resource).split('/').reverse();
  throw notFound({ group: '', resource: 'resources' }, `${plural}.${group.replace(/^custom:/, '')}`);
}

/** A client that makes its requests with `send`. */
export const clientOf = (send: Send, resources: Resources): Client => ({
  resource: <const R extends ResourceRef>(resource: R) =>
    // The server answers with objects of the kind.
    new ObjectRequests(send, () => servedAs(resource, resources)) as unknown as ResourceClient<ObjectOf<R>>,
  request: send,
});
