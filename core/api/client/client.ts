import type { ApiObject, Frozen } from '../../model/object.js';
import type { InternalRequest } from '../host.js';
import type { ObjectOf, ResourceRef } from './reference.js';

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

/**
 * The type of a string to send. Any string may be sent for a branded one, such as a quantity or a time, which has
 * members that strings do not have. Other types, such as unions of literals, stay as they are.
 */
type TextInput<T extends string> = [Exclude<keyof T, keyof string>] extends [never] ? T : string;

/**
 * A value to send. Every member may be absent, because the server applies defaults and reports missing members; unknown
 * members do not compile. Objects that were read are accepted too.
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
 * Selects objects of a collection.
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
  /** The version of the collection at which they were read; a watch can begin there. */
  readonly resourceVersion: string;
}

/**
 * Options of a write.
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
 * Options of a change.
 *
 * @example
 * await client.resource('apps/deployments').patch(key, { spec: { replicas: 3 } }, { subresource: 'scale' });
 */
export interface ChangeOptions extends WriteOptions {
  readonly subresource?: string;
}

/**
 * Options of a deletion.
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
 * Reads and writes the objects of one resource. The requests pass the whole pipeline: they are authorized, mutated,
 * validated and audited like those of other clients. A method rejects with Refusal, whose `reason` and `code` say why,
 * if the request is refused; with TypeError if the object has no name, or lacks a namespace that it needs.
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
   * Creates or changes an object by server-side apply: `fieldManager` owns the fields that the object has. It takes
   * over fields that others own.
   */
  apply(object: Input<T>, options: ChangeOptions & { readonly fieldManager: string }): Promise<T>;
  /** Deletes an object. Resolves with false if there is none. */
  delete(name: ObjectName, options?: DeletionOptions): Promise<boolean>;
  /** Deletes the objects of a collection. */
  deleteCollection(collection: CollectionOptions, options?: DeletionOptions): Promise<void>;
  /**
   * Replaces the status, unless it is already equal. Resolves with the resulting object. Rejects with Conflict if the
   * object has changed since it was read.
   */
  setStatus(object: Frozen<T>, status: StatusInput<T>, options?: WriteOptions): Promise<Frozen<T>>;
  /** Adds a finalizer, unless the object has it. Resolves and rejects like `setStatus`. */
  addFinalizer(object: Frozen<T>, finalizer: string): Promise<Frozen<T>>;
  /** Removes a finalizer, if the object has it and still exists. Resolves and rejects like `setStatus`. */
  removeFinalizer(object: Frozen<T>, finalizer: string): Promise<Frozen<T>>;
}

/** The status of a kind that has one. */
type StatusInput<T> = T extends { status?: infer Status }
  ? Input<NonNullable<Status>>
  : Readonly<Record<string, unknown>>;

/**
 * A client inside the server's process: its requests are not sent over HTTP.
 *
 * @example
 * const namespace = await client.resource('namespaces').get({ name: 'shop' });
 */
export interface Client {
  /** The objects of a resource. */
  resource<const R extends ResourceRef>(resource: R): ResourceClient<ObjectOf<R>>;
  /** Makes any other request: to a subresource, or to a path outside the resources. */
  request(request: InternalRequest): Promise<ApiObject>;
}
