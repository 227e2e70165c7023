import type { ApiObject, Frozen } from '../../model/object.js';
import type { Awaitable } from '../awaitable.js';
import type { Client, ObjectName } from '../client/client.js';
import type { ObjectOf, ResourceRef } from '../client/reference.js';
import type { Log, ResourceEvent } from '../host.js';

/**
 * A key of a reconciler: the name of an object, which need not exist, and its resource.
 *
 * @example
 * const key: ObjectKey = { resource: 'core/pods', namespace: 'shop', name: 'web' };
 */
export interface ObjectKey {
  /** The storage name of the resource; '' for a key of no resource. */
  readonly resource: string;
  /** '' if it has none. */
  readonly namespace: string;
  readonly name: string;
}

/**
 * The pause before a failed key is retried, in milliseconds: `min` after the first failure, twice as long after each
 * further one, at most `max`.
 *
 * @example
 * const backOff: BackOff = { min: 1000, max: 5 * 60_000 };
 */
export interface BackOff {
  readonly min: number;
  readonly max: number;
}

/**
 * An event about an object, for people who inspect it (`kubectl describe`).
 *
 * @example
 * event(order, { reason: 'Poured', message: '3 cups of assam' });
 */
export interface RecordedEvent {
  /** Default: `Normal`. */
  readonly type?: 'Normal' | 'Warning';
  /** The reason as one word, for programs: `Poured`. */
  readonly reason: string;
  /** A sentence for people. */
  readonly message: string;
}

/**
 * A key that a mapping returns: the name of an object, of the reconciled resource if no other is given.
 *
 * @example
 * const key: KeyOf = { namespace: 'shop', name: 'web' };
 */
export type KeyOf = ObjectName & { readonly resource?: string };

/**
 * The current objects of all resources, including every write acknowledged before the call. They are shared and frozen.
 *
 * @example
 * const isShared = objects.get('namespaces', { name })?.metadata.labels?.['shared'] === 'yes';
 */
export interface CurrentObjects {
  get<const R extends ResourceRef>(resource: R, name: ObjectName): Frozen<ObjectOf<R>> | undefined;
  /** The objects of a namespace, or all objects. */
  list<const R extends ResourceRef>(resource: R, namespace?: string): readonly Frozen<ObjectOf<R>>[];
}

/**
 * The second argument of `reconcile`, after the key.
 *
 * @example
 * const reconcile = async (key: ObjectKey, { object, client }: ReconcileContext<Order>) => {
 *   if (object) await client.resource(order).setStatus(object, { poured: object.spec.cups });
 * };
 */
export interface ReconcileContext<T = ApiObject> extends CurrentObjects {
  /** The object of the key; undefined if it does not exist any more. Frozen. */
  readonly object: Frozen<T> | undefined;
  /** Makes requests as the service account of the controller. It makes none after the controller has been closed. */
  readonly client: Client;
  /** Records an event about an object, for people who inspect it. */
  event(about: Frozen<ApiObject>, event: RecordedEvent): void;
  /** Adds another key to reconcile. */
  add(key: KeyOf): void;
  readonly log: Log;
  /** Milliseconds since the epoch, of the clock that tests simulate. */
  readonly now: () => number;
  /** Aborted when the controller is closed. */
  readonly signal: AbortSignal;
}

/**
 * A resource that a reconciler watches, and the keys to reconcile when one of its objects has changed.
 *
 * @example
 * const watched: Watched<'namespaces'> = {
 *   resource: 'namespaces',
 *   keys: ({ name }, { list }) => list(order, name).map(({ metadata }) => metadata),
 * };
 */
export interface Watched<R = ResourceRef> {
  /** `'*'`: every resource. */
  readonly resource: R;
  /** The keys to reconcile after a change; also called for each object at the start. */
  keys(event: ResourceEvent<ObjectOf<R>>, objects: CurrentObjects): Iterable<KeyOf>;
}

/**
 * The argument of `reconciler`.
 *
 * @example
 * const definition: ReconcilerDefinition<'pods'> = { name: 'pods', for: 'pods', reconcile: () => undefined };
 */
export interface ReconcilerDefinition<
  R extends ResourceRef = ResourceRef,
  Others extends readonly ResourceRef[] = readonly ResourceRef[],
> {
  /** The name of the controller, used in the log, in metrics and in the events that it records. */
  readonly name: string;
  /** The service account that makes its requests. Default: the one with the controller's name. */
  readonly account?: string;
  /**
   * The resource whose objects are reconciled: all of them at the start, and each after it has changed or was deleted.
   */
  readonly for?: R;
  /** Resources whose objects have an object of `for` as their controller, which is reconciled when they change. */
  readonly owns?: readonly ResourceRef[];
  readonly watches?: { readonly [Index in keyof Others]: Watched<Others[Index]> };
  /** Keys that are reconciled at the start, whether or not there is an object. */
  readonly keys?: readonly KeyOf[];
  /** Names of controllers after which this one starts on a new store: see `Controller.startsAfter`. */
  readonly startsAfter?: readonly string[];
  /** Whether an object of `for` is to be reconciled after a change; at the start, every object is ADDED. */
  predicate?(event: ResourceEvent<ObjectOf<R>>): boolean;
  /** How many keys may be reconciled at once; default 1. A key is never reconciled twice at once. */
  readonly concurrency?: number;
  /** Milliseconds after which everything is reconciled again, for state outside of the server. Default: never. */
  readonly resync?: number;
  /** The pauses before a failed key is reconciled again. Default: 5 ms after the first failure, at most 30 seconds. */
  readonly backOff?: BackOff;
  /**
   * Brings the object of the key, or its dependents, into the desired state. It can be called at any time, and again
   * for its own writes, so it must compare the actual with the desired state and write only differences. If it throws,
   * the key is tried again after a pause. With `after`, it is called again after that many milliseconds at the latest.
   */
  reconcile(
    key: ObjectKey,
    context: ReconcileContext<ObjectOf<R>>,
    // biome-ignore lint/suspicious/noConfusingVoidType: functions without a result are the usual case
  ): Awaitable<{ readonly after: number } | undefined | void>;
}
