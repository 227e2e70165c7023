import { setTimeout } from '../../runtime/timers.js';
import type { Host } from '../host.js';
import type { QueueObserver } from './queue.js';

/**
 * How long counts are collected before they are reported: at the start, a controller may get very many keys at once.
 */
const GATHER_MS = 100;

/** How a reconciliation has ended: `after` if it is to be called again after some time. */
export type ReconcileResult = 'success' | 'after' | 'error';

/** Counts the work of a reconciler, in upstream's metrics of queues and in one of its own. */
export class ReconcilerMetrics implements Omit<QueueObserver, 'failed'> {
  readonly #labels: { readonly name: string };
  #adds = 0;
  #retries = 0;
  #depth = 0;
  readonly #results: Record<ReconcileResult, number> = { success: 0, after: 0, error: 0 };
  #isWaiting = false;

  constructor(
    readonly name: string,
    readonly observe: Host<'control'>['observe'],
  ) {
    this.#labels = { name };
  }

  depth(keys: number): void {
    this.#depth = keys;
    this.#flushLater();
  }

  added(): void {
    this.#adds++;
  }

  began(waited: number): void {
    this.observe('workqueue_queue_duration_seconds', this.#labels, waited / 1000);
  }

  ended(took: number): void {
    this.observe('workqueue_work_duration_seconds', this.#labels, took / 1000);
  }

  retried(): void {
    this.#retries++;
  }

  count(result: ReconcileResult): void {
    this.#results[result]++;
    this.#flushLater();
  }

  #flushLater(): void {
    if (this.#isWaiting) return;
    this.#isWaiting = true;
    setTimeout(() => this.#flush(), GATHER_MS).unref();
  }

  #flush(): void {
    this.#isWaiting = false;
    this.observe('workqueue_depth', this.#labels, this.#depth);
    if (this.#adds > 0) this.observe('workqueue_adds_total', this.#labels, this.#adds);
    if (this.#retries > 0) this.observe('workqueue_retries_total', this.#labels, this.#retries);
    this.#adds = 0;
    this.#retries = 0;
    for (const result of ['success', 'after', 'error'] as const) {
      const count = this.#results[result];
      if (count > 0) this.observe('capstan_reconciles_total', { controller: this.name, result }, count);
      this.#results[result] = 0;
    }
  }
}
