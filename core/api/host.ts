import type { ApiObject } from '../model/object.js';
import type { Naming } from '../naming.js';
import type { Awaitable, Combined } from './point.js';

/**
 * Kinds of thread: the front end (the main thread), the pool, the writer, and the controllers' thread.
 *
 * @example
 * if (host.thread === 'control') host.watch(count);
 */
export type Thread = 'front' | 'request' | 'store' | 'control';

/**
 * Structured log: each record is a line of JSON on standard error, under the name of the plugin. Members called
 * `authorization`, `password` or `token` are never written. `info` is shown from verbosity 1 on, `debug` from 2 on.
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
 * All current objects of one resource, as new as every write acknowledged before the call. The objects are shared: they
 * must not be changed.
 *
 * @example
 * const team = namespaces.get('', target.namespace)?.metadata.labels?.['team'];
 */
export interface Informer {
  /** The namespace of an object of the whole cluster is ''. */
  get(namespace: string, name: string): ApiObject | undefined;
  /** Objects of one namespace, or of all. */
  list(namespace?: string): readonly ApiObject[];
  /** Changes with every event of the resource: what was computed from its objects is valid while this is the same. */
  readonly revision: number;
}

/**
 * One request that a controller makes through the whole pipeline, with its own identity.
 *
 * @example
 * await host.request('labeler', { method: 'GET', path: '/api/v1/namespaces/default' });
 */
export interface InternalRequest {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Path and query, in the naming that the server speaks. */
  readonly path: string;
  /** Default: `application/json`. */
  readonly contentType?: string;
  /** Sent as JSON. */
  readonly body?: unknown;
}

/**
 * A committed change, as controllers see it.
 *
 * @example
 * host.watch(event => event.type === 'DELETED' && forget(event.namespace, event.name));
 */
export interface ResourceEvent {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED';
  /** `core/pods`, `apps/deployments`: in neutral names. */
  readonly storageName: string;
  readonly namespace: string;
  readonly name: string;
  readonly revision: number;
  /** The new object, or for DELETED the last one; decoded when it is first asked for. */
  readonly object: () => ApiObject;
  /**
   * Whether the stored bytes contain this text: a cheap test before `object()`. Absent where there are no bytes: then
   * decode.
   */
  readonly mentions?: (text: string) => boolean;
}

/** What every thread offers. */
interface BaseHost<T extends Thread> {
  readonly thread: T;
  readonly log: Log;
  /** Translates neutral names into those that the server speaks. */
  readonly naming: Naming;
  /** Milliseconds since the epoch; simulated in tests, so plugins never call Date.now(). */
  readonly now: () => number;
  /**
   * Registers what gives something back when the thread ends, or when its start fails. Releases run in reverse order,
   * each within RELEASE_MS; one that fails is logged and does not keep the others.
   */
  onClose(release: () => Awaitable<void>): void;
  /**
   * What plugins contributed to a point of your own, combined. Available once every plugin of the thread has been made:
   * call it when a request or event comes, not in `make`.
   */
  at<Out>(point: Combined<Out>): Out;
}

/** What the pool and the control thread offer besides. */
interface InformerHost {
  /**
   * The informer of a stored resource by its storage name (`core/namespaces`,
   * `rbac.authorization.orchestrator.io/roles`). Call it in `make`: a call in the pool for a new resource after that
   * throws.
   */
  informer(storageName: string): Informer;
}

/** What the control thread offers besides. */
interface ControlHost {
  /**
   * Makes a request as `system:serviceaccount:<system namespace>:<controller>`, which may do everything. Throws Refusal
   * for a refusal.
   */
  request(controller: string, request: InternalRequest): Promise<ApiObject>;
  /**
   * Calls back for every committed change, in order, beginning with the current objects as ADDED, which all come within
   * one turn of the event loop.
   */
  watch(listener: (event: ResourceEvent) => void): void;
}

/** The members of `Offered`, if all of the threads T are among those that offer them. */
type OfferedIn<T extends Thread, Offering extends Thread, Offered> = [T] extends [Offering] ? Offered : unknown;

/**
 * The server as a plugin sees it, in the thread of the contribution. It has the members that all of the threads T
 * offer: `informer` is for the pool and controllers, `request` and `watch` are for controllers.
 *
 * @example
 * validator.of(host => {
 *   const namespaces = host.informer('core/namespaces');
 *   const exists = (name: string): boolean => namespaces.get('', name) !== undefined;
 *   return { on: {}, validate: ({ target }) => (exists(target.namespace) ? [] : [required('namespace')]) };
 * });
 */
export type Host<T extends Thread = Thread> = BaseHost<T> &
  OfferedIn<T, 'request' | 'control', InformerHost> &
  OfferedIn<T, 'control', ControlHost>;
