import type { ApiObject } from '../model/object.js';
import type { Naming } from '../naming.js';
import type { Awaitable } from './awaitable.js';
import type { CheckedRef, ObjectOf, ResourceRef, Resources } from './client/reference.js';

/**
 * Kinds of thread: the front end (the main thread), the pool, the writer, and the control thread.
 *
 * @example
 * if (host.thread === 'control') host.watch(count);
 */
export type Thread = 'front' | 'pool' | 'writer' | 'control';

/**
 * Structured log. Each record is written to standard error with the name of the plugin, in the format of
 * `--logging-format`. Members named `authorization`, `password` or `token` are redacted. `info` is written from
 * verbosity 1, and `debug` from 2.
 *
 * @example
 * host.log.warn({ namespace, team }, 'the namespace has no team');
 */
export interface Log {
  debug(fields: object, message: string): void;
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

/**
 * All current objects of one resource, including every write acknowledged before the call. The objects are shared and
 * must not be changed.
 *
 * @example
 * const team = namespaces.get('', target.namespace)?.metadata.labels?.['team'];
 */
export interface Informer<T = ApiObject> {
  /** The namespace of a cluster-scoped object is ''. */
  get(namespace: string, name: string): T | undefined;
  /** The objects of a namespace, or all objects. */
  list(namespace?: string): readonly T[];
  /** Changes with every event of the resource. Values computed from its objects are valid while it stays the same. */
  readonly revision: number;
}

/**
 * An informer that finds objects by their labels, as `host.dynamicInformer` returns it.
 *
 * @example
 * const limits = (await host.dynamicInformer(kind.storageName)).labeled(target.namespace, 'team', 'payments');
 */
export interface LabeledInformer extends Informer {
  /**
   * The objects of a namespace that have a value of a label, found by an index, in the order of their names. The
   * namespace of cluster-scoped objects is ''.
   */
  labeled(namespace: string, label: string, value: string): readonly ApiObject[];
  /**
   * The first objects of a namespace in the order of their names, up to `bytes` bytes as they are stored, and their
   * total number. Use it instead of `list` for very many objects: those that it decodes are not kept in memory.
   */
  listFirst(namespace: string, bytes: number): { readonly objects: readonly ApiObject[]; readonly total: number };
}

/**
 * A request of a controller or a service, which passes the whole pipeline with the identity that `host.request` names.
 *
 * @example
 * await host.request('labeler', { method: 'GET', path: '/api/v1/namespaces/default' });
 */
export interface InternalRequest {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Path and query, in the naming of the server. */
  readonly path: string;
  /** Default: `application/json`. */
  readonly contentType?: string;
  /** Sent as JSON. */
  readonly body?: unknown;
}

/**
 * A committed change, as controllers receive it.
 *
 * @example
 * host.watch(event => event.type === 'DELETED' && forget(event.namespace, event.name));
 */
export interface ResourceEvent<T = ApiObject> {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED';
  /** `core/pods`, `apps/deployments`: in neutral names. That of a custom kind is `customStorageName`. */
  readonly storageName: string;
  readonly namespace: string;
  readonly name: string;
  readonly revision: number;
  /** The new object, or the last one for DELETED. It is decoded when it is first requested. */
  readonly object: () => T;
  /** The object before the change; absent unless it was MODIFIED. It is decoded when it is first requested. */
  readonly old?: (() => T) | undefined;
  /**
   * Whether the stored bytes contain this text, which is cheaper than decoding with `object()`. Absent if there are no
   * bytes.
   */
  readonly mentions?: (text: string) => boolean;
  /**
   * The values of all members of this name that are strings, at any depth, which is cheaper than decoding with
   * `object()`. Absent if there are no bytes.
   */
  readonly stringsNamed?: (member: string) => readonly string[];
}

/**
 * The part of a point that identifies it and combines its values, as `host.at` needs it.
 *
 * @example
 * const combinationOf = <Out>(host: Host, point: Combined<Out>): Out => host.at(point);
 */
export type Combined<Out> = { readonly name: string; readonly combine: (inputs: never) => Out };

/**
 * A service, as parts of plugins in the pool use it.
 *
 * @example
 * const days = host.service('holidays');
 * const isHoliday = async (day: string) => ((await days.state()) as string[]).includes(day);
 */
export interface ServiceClient {
  /**
   * The last published state: the same object until another one is published. Waits for the first one. The threads of
   * the pool may get a new state at slightly different times.
   */
  state(): Awaitable<unknown>;
  /** Asks the service. If the service throws, rejects with an Error that has the same message. */
  ask(question: unknown): Promise<unknown>;
}

/** The host of a plugin, as every thread offers it. */
interface BaseHost<T extends Thread> {
  readonly thread: T;
  readonly log: Log;
  /** Translates neutral names to those of the server. */
  readonly naming: Naming;
  /** Milliseconds since the epoch. Tests simulate the clock, so plugins never call Date.now(). */
  readonly now: () => number;
  /** Whether a feature gate (`--feature-gates`) is on. Throws for one that does not exist. */
  isEnabled(feature: string): boolean;
  /**
   * Registers a function that releases resources when the thread ends or fails to start. Release functions are called
   * in reverse order, each with a time limit of RELEASE_MS. If one fails, the error is logged and the others are
   * called.
   */
  onClose(release: () => Awaitable<void>): void;
  /**
   * The combined contributions to an extension point of your own. Available once all contributions of the thread have
   * been created: call it while a request or event is processed, not in `make`.
   */
  at<Out>(point: Combined<Out>): Out;
}

/** The members that the pool and the control thread add. */
interface InformerHost {
  /**
   * The informer of a stored resource. Call it in `make`: in the pool, a later call for a new resource throws. Throws
   * for a name that no resource can have.
   */
  informer<const R extends ResourceRef>(resource: CheckedRef<R>): Informer<ObjectOf<R>>;
  /**
   * Calls back for every change of a stored resource, in order and before any later request is handled, beginning with
   * the current objects as ADDED. Call it in `make`: in the pool, a later call for a new resource throws. Throws for a
   * name that no resource can have.
   */
  onChange<const R extends ResourceRef>(resource: CheckedRef<R>, listener: (event: ResourceEvent) => void): void;
}

/** The members that the pool adds. */
interface PoolHost {
  /**
   * The informer of a resource that is only known while the server runs. Resolves when it has all current objects; from
   * then on it works like any other. Throws for a name that no resource can have.
   */
  dynamicInformer<const R extends ResourceRef>(resource: CheckedRef<R>): Awaitable<LabeledInformer>;
  /** The kinds that are served now. */
  readonly kinds: Kinds;
  /** A service of this plugin or another one, by its name. A service that no plugin contributes never has a state. */
  service(name: string): ServiceClient;
}

/** The members for metrics. */
interface MetricsHost {
  /**
   * Adds to a metric that a plugin defines at the point `metrics`: a counter is increased by `value`, a gauge is set to
   * it, a histogram observes it. The labels must be those of the metric. A value that does not fit a metric is dropped,
   * and this is logged.
   */
  observe(metric: string, labels: { readonly [name: string]: string }, value: number): void;
}

/**
 * A stored kind as it is served in one version.
 *
 * @example
 * const informer = await host.dynamicInformer(kind.storageName);
 */
export interface StoredKind {
  readonly storageName: string;
  /** The group as clients name it. */
  readonly group: string;
  readonly version: string;
  readonly resource: string;
  readonly namespaced: boolean;
  /** An object of an informer in this version. */
  read(object: ApiObject): ApiObject;
}

/**
 * The kinds that are served.
 *
 * @example
 * const limits = host.kinds.find('example.com/v1', 'Limit');
 */
export interface Kinds {
  /** The stored kind that is served in a version, both as clients name them; undefined if there is none. */
  find(apiVersion: string, kind: string): StoredKind | undefined;
  /** The neutral name of a group that is named as clients name it. */
  neutralGroup(group: string): string;
}

/** The members that the front end and the control thread add. */
interface RequestHost {
  /**
   * Makes a request, in the control thread as `system:serviceaccount:<system namespace>:<name>`, in the front end as
   * `system:apiserver`; both have all permissions. `name` is that of the controller or service. Throws Refusal if the
   * request is refused, and in the front end an Error as long as the server does not answer requests yet: services may
   * call it in `ask`, but not in `start`.
   */
  request(name: string, request: InternalRequest): Promise<ApiObject>;
}

/**
 * The resource, namespace and name of an object.
 *
 * @example
 * const found: FoundObject = { storageName: 'core/pods', namespace: 'shop', name: 'web' };
 */
export interface FoundObject {
  readonly storageName: string;
  /** '' if it has none. */
  readonly namespace: string;
  readonly name: string;
}

/** The members that the control thread adds. */
interface ControlHost {
  /**
   * The objects of all resources that have one of these uids, by uid. There is no index: all objects are searched,
   * which takes some milliseconds per ten thousand, so ask for many uids at once, and only for objects that were not
   * found at their expected place.
   */
  findByUid(uids: ReadonlySet<string>): Promise<ReadonlyMap<string, FoundObject>>;
  /**
   * Calls back for every committed change, in order, beginning with the current objects as ADDED, all in one turn of
   * the event loop.
   */
  watch(listener: (event: ResourceEvent) => void): void;
  /** The resources that are served now. */
  readonly resources: Resources;
}

/** The members of `Offered`, if all threads in T offer them. */
type OfferedIn<T extends Thread, Offering extends Thread, Offered> = [T] extends [Offering] ? Offered : unknown;

/**
 * The server as a plugin sees it, in the thread of the contribution. It has the members that all of the threads T
 * offer: `informer` is for the pool and controllers, `request` for controllers and services, `watch` for controllers.
 *
 * @example
 * validator.of(host => {
 *   const namespaces = host.informer('namespaces');
 *   const exists = (name: string): boolean => namespaces.get('', name) !== undefined;
 *   return { on: {}, validate: ({ target }) => (exists(target.namespace) ? [] : [required('namespace')]) };
 * });
 */
export type Host<T extends Thread = Thread> = BaseHost<T> &
  MetricsHost &
  OfferedIn<T, 'pool' | 'control', InformerHost> &
  OfferedIn<T, 'pool', PoolHost> &
  OfferedIn<T, 'front' | 'control', RequestHost> &
  OfferedIn<T, 'control', ControlHost>;
