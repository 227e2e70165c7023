import { LONGEST_TIMER_MS, RECONCILES_AT_ONCE } from '../../limits.js';
import type { Frozen } from '../../model/object.js';
import { Refusal } from '../../model/refusal.js';
import { clearInterval, setInterval } from '../../runtime/timers.js';
import type { ObjectName } from '../client/client.js';
import { clientOf } from '../client/requests.js';
import type { ObjectOf, ResourceRef } from '../client/reference.js';
import type { Controller } from '../control.js';
import type { Host, ResourceEvent } from '../host.js';
import { ReconcilerMetrics } from './metrics.js';
import { controllerOf } from './owners.js';
import { BACK_OFF, WorkQueue } from './queue.js';
import { EventRecorder } from './recorder.js';
import type { CurrentObjects, KeyOf, ObjectKey, ReconcileContext, ReconcilerDefinition } from './types.js';

/** After this many failures in a row, a refused request no longer counts as a conflict with another writer. */
const MANY_FAILURES = 5;

/** Throws TypeError for a definition that does not conform to its type: plugins may be written in JavaScript. */
function checkDefinition({ name, reconcile, concurrency = 1, resync, backOff = BACK_OFF }: ReconcilerDefinition): void {
  if (typeof name !== 'string' || name === '') throw new TypeError('reconciler: name must be a text');
  if (typeof reconcile !== 'function') throw new TypeError(`reconciler ${name}: reconcile must be a function`);
  if (!Number.isInteger(concurrency) || concurrency < 1 || concurrency > RECONCILES_AT_ONCE)
    throw new TypeError(`reconciler ${name}: concurrency must be an integer from 1 to ${RECONCILES_AT_ONCE}`);
  const isTime = (value: number): boolean => value >= 1 && value <= LONGEST_TIMER_MS;
  if (resync !== undefined && !isTime(resync))
    throw new TypeError(`reconciler ${name}: resync must be milliseconds, from 1 to ${LONGEST_TIMER_MS}`);
  if (!isTime(backOff.min) || !isTime(backOff.max) || backOff.min > backOff.max)
    throw new TypeError(`reconciler ${name}: backOff must be milliseconds from 1 on, and min no more than max`);
}

/** A controller that reconciles keys. */
class Reconciler implements Controller {
  readonly name: string;
  readonly startsAfter: readonly string[];
  readonly #host: Host<'control'>;
  readonly #definition: ReconcilerDefinition;
  /** The storage name of the reconciled resource; '' for a reconciler of keys alone. */
  readonly #resource: string;
  readonly #queue: WorkQueue;
  readonly #metrics: ReconcilerMetrics;
  readonly #recorder: EventRecorder;
  readonly #closed = new AbortController();
  /** The members of the context that are the same for all calls. */
  readonly #shared: Omit<ReconcileContext, 'object'>;

  constructor(host: Host<'control'>, definition: ReconcilerDefinition) {
    const { name, account = name, concurrency = 1, backOff = BACK_OFF } = definition;
    const { log } = host;
    const now = (): number => host.now();
    this.name = name;
    this.startsAfter = definition.startsAfter ?? [];
    this.#host = host;
    this.#definition = definition;
    this.#resource = definition.for === undefined ? '' : host.resources.storageNameOf(definition.for);
    // Names of unknown resources are refused now, not when the controller starts.
    for (const one of [...(definition.owns ?? []), ...(definition.watches ?? []).map(({ resource }) => resource)])
      if (one !== '*') host.resources.storageNameOf(one);
    this.#metrics = new ReconcilerMetrics(name, host.observe);
    this.#queue = new WorkQueue({
      workers: concurrency,
      backOff,
      observer: {
        depth: keys => this.#metrics.depth(keys),
        added: () => this.#metrics.added(),
        began: waited => this.#metrics.began(waited),
        ended: took => this.#metrics.ended(took),
        failed: (...failure) => this.#failed(...failure),
      },
      handle: key => this.#reconcile(key),
    });
    const client = clientOf(async request => {
      if (this.#closed.signal.aborted) throw new Error(`the controller ${name} has been closed`);
      return await host.request(account, request);
    }, host.resources);
    this.#recorder = new EventRecorder({ component: name, client, log, now });
    this.#shared = {
      ...this.#objects(),
      client,
      event: (about, event) => this.#recorder.record(about, event),
      add: key => this.#add(key),
      log,
      now,
      signal: this.#closed.signal,
    };
    host.onClose(() => {
      this.#closed.abort();
      this.#queue.close();
    });
  }

  async start(): Promise<void> {
    const { owns = [], watches = [], keys = [], resync, predicate } = this.#definition;
    const { resources, onChange, watch } = this.#host;
    if (this.#resource !== '')
      onChange(this.#resource, event => {
        if (!predicate || predicate.call(this.#definition, event)) this.#addNamed(event);
      });
    for (const one of owns) onChange(resources.storageNameOf(one), event => this.#addOwner(event));
    for (const watched of watches) {
      const listener = (event: ResourceEvent): void => {
        for (const key of watched.keys(event, this.#shared)) this.#add(key);
      };
      if (watched.resource === '*') watch(listener);
      else onChange(resources.storageNameOf(watched.resource), listener);
    }
    for (const key of keys) this.#add(key);
    if (resync !== undefined) this.#resyncEvery(resync);
    await this.#queue.idle();
  }

  #add({ resource = this.#resource, namespace = '', name = '' }: KeyOf): void {
    this.#queue.add({ resource, namespace, name });
  }

  #addNamed({ namespace, name }: ResourceEvent): void {
    this.#add({ namespace, name });
  }

  /** Adds the objects of `for` that control an object, or have controlled it. */
  #addOwner({ object, old, mentions, namespace }: ResourceEvent): void {
    const served = this.#host.resources.byStorageName(this.#resource);
    if (!served || (!old && mentions?.('"ownerReferences"') === false)) return;
    for (const one of [object, ...(old ? [old] : [])]) {
      const name = controllerOf(one(), served.apiVersion, served.kind);
      if (name !== undefined) this.#add({ namespace: served.namespaced ? namespace : '', name });
    }
  }

  #resyncEvery(milliseconds: number): void {
    const { keys = [] } = this.#definition;
    const timer = setInterval(() => {
      for (const key of keys) this.#add(key);
      if (this.#resource !== '') this.#addAll();
    }, milliseconds);
    timer.unref();
    this.#closed.signal.addEventListener('abort', () => clearInterval(timer));
  }

  /** Adds all objects, as at the start. */
  #addAll(): void {
    const { predicate } = this.#definition;
    const informer = this.#host.informer(this.#resource);
    for (const object of informer.list()) {
      const { namespace = '', name = '' } = object.metadata;
      const { revision } = informer;
      const event: ResourceEvent = {
        type: 'ADDED',
        storageName: this.#resource,
        namespace,
        name,
        revision,
        object: () => object,
      };
      if (!predicate || predicate.call(this.#definition, event)) this.#addNamed(event);
    }
  }

  async #reconcile(key: ObjectKey): Promise<number | undefined> {
    const context: ReconcileContext = {
      ...this.#shared,
      object: key.resource === '' ? undefined : this.#host.informer(key.resource).get(key.namespace, key.name),
    };
    const result = (await this.#definition.reconcile(key, context)) as { readonly after: number } | undefined;
    if (result && !(result.after >= 0))
      throw new TypeError('the member after of the result of reconcile must be milliseconds');
    this.#metrics.count(result ? 'after' : 'success');
    return result?.after;
  }

  #objects(): CurrentObjects {
    const { informer, resources } = this.#host;
    return {
      get: <R extends ResourceRef>(resource: R, { namespace = '', name = '' }: ObjectName) =>
        informer(resources.storageNameOf(resource)).get(namespace, name) as Frozen<ObjectOf<R>> | undefined,
      list: <R extends ResourceRef>(resource: R, namespace?: string) =>
        informer(resources.storageNameOf(resource)).list(namespace) as readonly Frozen<ObjectOf<R>>[],
    };
  }

  #failed(key: ObjectKey, thrown: unknown, failures: number, pause: number): void {
    this.#metrics.retried();
    this.#metrics.count('error');
    // Others write too: most requests succeed at the next attempt.
    const isUsual = thrown instanceof Refusal && failures <= MANY_FAILURES;
    const error = thrown instanceof Refusal ? thrown.message : ((thrown as Error | undefined)?.stack ?? thrown);
    this.#host.log[isUsual ? 'debug' : 'warn'](
      { controller: this.name, ...key, failures, retryAfterMs: pause, error: String(error) },
      'reconciling failed, it will be tried again',
    );
  }
}

/**
 * Makes a controller, for `controller.of`, that brings objects into their desired state, key by key. It runs in the
 * server that leads, if several share a store.
 *
 * @example
 * contribute: () => [
 *   controller.of(
 *     reconciler({
 *       name: 'order-controller',
 *       for: order,
 *       async reconcile(_key, { object, client }) {
 *         if (object) await client.resource(order).setStatus(object, { poured: object.spec.cups });
 *       },
 *     }),
 *   ),
 * ],
 */
export function reconciler<
  const R extends ResourceRef = ResourceRef,
  const Others extends readonly ResourceRef[] = readonly [],
>(definition: ReconcilerDefinition<R, Others>): (host: Host<'control'>) => Controller {
  // The host has objects of the resources that the definition names.
  const known = definition as unknown as ReconcilerDefinition;
  checkDefinition(known);
  return host => new Reconciler(host, known);
}
