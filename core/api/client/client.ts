import { isDeepEqual } from '../../model/record.js';
import { notFound, Refusal } from '../../model/refusal.js';
import type { ApiObject, Frozen } from '../../model/object.js';
import type { InternalRequest } from '../host.js';
import { pathOf, queryOf } from './paths.js';
import type { ObjectOf, ResourceRef, Resources, ServedResource } from './reference.js';

/**
 * The name of an object, and its namespace if it has one: a key of a reconciler, or the metadata of the object.
 *
 * @example
 * const pod = await client.resource('pods').get({ namespace: 'shop', name: 'web' });
 */
export interface ObjectName {
  readonly namespace?: string | undefined;
  readonly name?: string | undefined;
}

/** A text: any in the place of one with a form, which has members that other texts have not. */
type TextInput<T extends string> = [Exclude<keyof T, keyof string>] extends [never] ? T : string;

/**
 * A value as it is sent: every member may be missing, because the server has defaults and says what is required; none
 * is unknown. Objects that are read are values too.
 *
 * @example
 * const spec: Input<Pod['spec']> = { containers: [{ name: 'web', image: 'nginx:1.25' }] };
 */
export type Input<T> = T extends string
  ? TextInput<T>
  : T extends readonly (infer E)[]
    ? readonly Input<E>[]
    : T extends object
      ? { readonly [K in keyof T]?: Input<T[K]> | undefined }
      : T;

/**
 * Which objects of a collection.
 *
 * @example
 * const { items } = await client.resource('pods').list({ namespace: 'shop', labelSelector: 'app=web' });
 */
export interface CollectionOptions {
  /** Absent: those of all namespaces. */
  readonly namespace?: string;
  readonly labelSelector?: string;
  readonly fieldSelector?: string;
}

/**
 * The objects of a collection.
 *
 * @example
 * const names = ({ items }: ObjectList<ApiObject>) => items.map(({ metadata }) => metadata.name);
 */
export interface ObjectList<T> {
  readonly items: readonly T[];
  /** The state of the store that they are from; a watch can begin there. */
  readonly resourceVersion: string;
}

/**
 * How a write is made.
 *
 * @example
 * await client.resource('pods').create(pod, { dryRun: true });
 */
export interface WriteOptions {
  /** Everything is checked, and nothing is stored. */
  readonly dryRun?: boolean;
  /** The owner of the fields, for apply. */
  readonly fieldManager?: string;
}

/**
 * How an object is changed.
 *
 * @example
 * await client.resource('apps/deployments').patch(key, { spec: { replicas: 3 } }, { subresource: 'scale' });
 */
export interface ChangeOptions extends WriteOptions {
  readonly subresource?: string;
}

/**
 * How an object is deleted.
 *
 * @example
 * await client.resource('pods').delete(key, { gracePeriodSeconds: 0, preconditions: { uid: pod.metadata.uid } });
 */
export interface DeletionOptions {
  readonly propagationPolicy?: 'Background' | 'Foreground' | 'Orphan';
  readonly gracePeriodSeconds?: number;
  /** The deletion is refused with Conflict if the object has another uid or resourceVersion. */
  readonly preconditions?: { readonly uid?: string | undefined; readonly resourceVersion?: string | undefined };
  readonly dryRun?: boolean;
}

/**
 * The objects of one resource. Its requests pass the whole pipeline: they are authorized, mutated, validated and
 * audited as those of other clients. A request that is refused rejects with Refusal, whose `reason` and `code` say why;
 * one whose object has no name, or no namespace where it needs one, with TypeError.
 *
 * @example
 * const pods = client.resource('pods');
 * const pod = await pods.get({ namespace: 'shop', name: 'web' });
 */
export interface ResourceClient<T> {
  /** Resolves with the object; undefined if there is none. */
  get(name: ObjectName): Promise<T | undefined>;
  list(options?: CollectionOptions): Promise<ObjectList<T>>;
  /** Creates an object. Kind and apiVersion are added. */
  create(object: Input<T>, options?: WriteOptions): Promise<T>;
  /** Replaces an object; refused with Conflict if it has a resourceVersion that is not the current one. */
  replace(object: Input<T>, options?: ChangeOptions): Promise<T>;
  /** Changes members of an object (JSON Merge Patch, RFC 7386: null removes a member). */
  patch(name: ObjectName, patch: Readonly<Record<string, unknown>>, options?: ChangeOptions): Promise<T>;
  /** Changes an object by operations (JSON Patch, RFC 6902). */
  patchJson(name: ObjectName, operations: readonly object[], options?: ChangeOptions): Promise<T>;
  /**
   * Creates or changes an object by server-side apply: `fieldManager` owns what the object has. It takes over what
   * others own.
   */
  apply(object: Input<T>, options: ChangeOptions & { readonly fieldManager: string }): Promise<T>;
  /** Deletes an object. Resolves with false if there is none. */
  delete(name: ObjectName, options?: DeletionOptions): Promise<boolean>;
  /** Deletes the objects of a collection. */
  deleteCollection(collection: CollectionOptions, options?: DeletionOptions): Promise<void>;
  /**
   * Replaces the status, unless it is equal. Resolves with the object as it is then. Rejects with Conflict if the
   * object has changed since it was read.
   */
  setStatus(object: Frozen<T>, status: StatusInput<T>, options?: WriteOptions): Promise<Frozen<T>>;
  /** Adds a finalizer, unless the object has it. Otherwise as `setStatus`. */
  addFinalizer(object: Frozen<T>, finalizer: string): Promise<Frozen<T>>;
  /** Removes a finalizer, if the object has it and still exists. Otherwise as `setStatus`. */
  removeFinalizer(object: Frozen<T>, finalizer: string): Promise<Frozen<T>>;
}

/** The status of a kind that has one. */
type StatusInput<T> = T extends { status?: infer Status }
  ? Input<NonNullable<Status>>
  : Readonly<Record<string, unknown>>;

/**
 * A client of the server inside of its process: its requests are not sent by HTTP.
 *
 * @example
 * const namespace = await client.resource('namespaces').get({ name: 'shop' });
 */
export interface Client {
  /** The objects of a resource. */
  resource<const R extends ResourceRef>(resource: R): ResourceClient<ObjectOf<R>>;
  /** Makes any request: to a subresource, or outside of the resources. */
  request(request: InternalRequest): Promise<ApiObject>;
}

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

/** The objects of a resource, by requests. Which resource it is is found for each of them: definitions may change. */
class Requests implements ResourceClient<ApiObject> {
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
      // Lists of built-in kinds leave these out.
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

  /** The path of an object, or of its subresource. Throws TypeError without a name. */
  #pathOf(of: ObjectName, { subresource }: ChangeOptions = {}, apiVersion?: string): string {
    const served = this.served();
    if (!of.name) throw new TypeError(`an object of ${served.plural} must be given with its name`);
    const place = { plural: served.plural, apiVersion: apiVersion ?? served.apiVersion };
    const path = pathOf(place, namespaceOf(served, of), of.name);
    return subresource === undefined ? path : `${path}/${encodeURIComponent(subresource)}`;
  }
}

/** The namespace in the path of an object. Throws TypeError if one is missing, or is given in vain. */
function namespaceOf({ plural, namespaced }: ServedResource, { namespace = '' }: ObjectName): string {
  if (namespaced && namespace === '') throw new TypeError(`an object of ${plural} must be given with its namespace`);
  if (!namespaced && namespace !== '') throw new TypeError(`${plural} are not in namespaces: give no namespace`);
  return namespace;
}

/**
 * An object with its kind and the version that it is written in: its own, as it was read, else that of the resource. A
 * stored object may have its group in the other naming.
 */
function bodyOf(served: ServedResource, object: Input<ApiObject>): Input<ApiObject> & { readonly apiVersion: string } {
  const version = object.apiVersion?.slice(object.apiVersion.lastIndexOf('/') + 1);
  const group = served.apiVersion.slice(0, served.apiVersion.lastIndexOf('/') + 1);
  return { ...object, kind: served.kind, apiVersion: version ? group + version : served.apiVersion };
}

/**
 * A client that makes its requests with `send`.
 *
 * @internal
 */
export function clientOf(send: Send, resources: Resources): Client {
  const servedAs = (resource: ResourceRef): ServedResource => {
    const found = resources.find(resource);
    if (found) return found;
    const [plural = '', group = ''] = resources.storageNameOf(resource).split('/').reverse();
    throw notFound({ group: '', resource: 'resources' }, `${plural}.${group.replace(/^custom:/, '')}`);
  };
  return {
    resource: <const R extends ResourceRef>(resource: R) =>
      // The server answers with objects of the kind.
      new Requests(send, () => servedAs(resource)) as unknown as ResourceClient<ObjectOf<R>>,
    request: send,
  };
}
