import type { ApiObject } from '../model/object.js';
import type { Naming } from '../naming.js';
import type { Awaitable, Point } from './point.js';

/** Kinds of thread: the front end (main), the pool, the writer, the controllers. */
export type Thread = 'front' | 'request' | 'store' | 'control';

/** Structured log of one thread; never given secrets. */
export interface Log {
  debug(fields: object, message: string): void;
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

/** Read-only view of all current objects of one resource, as new as every write acknowledged before the call. */
export interface Informer {
  get(namespace: string, name: string): ApiObject | undefined;
  list(namespace?: string): readonly ApiObject[];
  /** Changes with every event of the resource; results derived from the objects may be cached under it. */
  readonly revision: number;
}

/** One request a controller makes through the whole pipeline, with its own identity. Throws Refusal for a refusal. */
export interface InternalRequest {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Path and query, in the naming the server speaks. */
  readonly path: string;
  readonly contentType?: string;
  readonly body?: unknown;
}

/** A committed change, as controllers see it. */
export interface ResourceEvent {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED';
  /** `core/pods`, `apps/deployments`: see Resource.storageName, in neutral names. */
  readonly storageName: string;
  readonly namespace: string;
  readonly name: string;
  readonly revision: number;
  /** Decoded on demand: the new object, or for DELETED the last one. */
  readonly object: () => ApiObject;
  /**
   * Whether the stored bytes contain this text: a cheap test before `object()`. Absent where bytes are not at hand:
   * then decode.
   */
  readonly mentions?: (text: string) => boolean;
}

/** The only door of a plugin to the outside. */
export interface Host {
  readonly thread: Thread;
  readonly log: Log;
  readonly naming: Naming;
  /** Milliseconds since the epoch; simulated in tests: plugins never call Date.now(). */
  readonly now: () => number;
  /** Run in reverse order at the end, also when a later plugin fails to start. */
  onClose(release: () => Awaitable<void>): void;
  /**
   * Informer of a stored resource by storage name (`core/namespaces`, `rbac.authorization.orchestrator.io/roles`).
   * Request and control threads only.
   */
  informer(storageName: string): Informer;
  /**
   * Control thread only: requests with the identity of the controller, `system:serviceaccount:<system
   * namespace>:<controller>`.
   */
  request(controller: string, request: InternalRequest): Promise<ApiObject>;
  /**
   * Control thread only: every committed change from the state at start on, in order; the initial state comes as ADDED,
   * all within one turn.
   */
  watch(listener: (event: ResourceEvent) => void): void;
  /**
   * What plugins contributed to a point of your own, combined. Available once every plugin of the thread has been made:
   * call it when a request or event comes, not in `make`.
   */
  at<In, Out>(point: Point<In, Out>): Out;
}
