import { BACK_OFF_MAX_MS, BACK_OFF_MIN_MS, LONGEST_TIMER_MS } from '../../limits.js';
import { monotonicTime } from '../../runtime/clock.js';
import { clearTimeout, setTimeout } from '../../runtime/timers.js';
import type { BackOff, ObjectKey } from './types.js';

/** The default pauses before retries. */
export const BACK_OFF: BackOff = { min: BACK_OFF_MIN_MS, max: BACK_OFF_MAX_MS };

/** Observes the events of a queue, for metrics and logs. Times are in milliseconds. */
export interface QueueObserver {
  /** The number of keys that wait has changed. */
  depth(keys: number): void;
  added(): void;
  /** A key that has waited for this time is about to be handled. */
  began(waited: number): void;
  ended(took: number): void;
  /** A key has failed this many times in a row, and is handled again after a pause. */
  failed(key: ObjectKey, thrown: unknown, failures: number, pause: number): void;
}

/** Options of a queue. */
export interface QueueOptions {
  /** The number of keys handled concurrently. A key is never handled twice at the same time. */
  readonly workers: number;
  readonly backOff: BackOff;
  readonly observer: QueueObserver;
  /** Handles a key. If it throws, the key is handled again later, or after the resolved number of milliseconds. */
  readonly handle: (key: ObjectKey) => Promise<number | undefined>;
}

/** A key that waits, since a time of `monotonicTime`. */
interface Waiting {
  readonly key: ObjectKey;
  readonly since: number;
}

/** Unambiguous, because names contain no slash, and storage names exactly one. */
const idOf = ({ resource, namespace, name }: ObjectKey): string => `${resource}/${namespace}/${name}`;

/**
 * A queue of keys. A key that is added while it waits is handled once; if it is added while it is handled, it is
 * handled again afterwards. Failed keys are retried with increasing pauses.
 */
export class WorkQueue {
  readonly #options: QueueOptions;
  readonly #waiting = new Map<string, Waiting>();
  readonly #active = new Set<string>();
  readonly #failures = new Map<string, number>();
  /** Keys that will be added later. */
  readonly #timers = new Map<string, NodeJS.Timeout>();
  #idleWaiters: (() => void)[] = [];
  #isStarting = false;
  #closed = false;

  constructor(options: QueueOptions) {
    this.#options = options;
  }

  /** Queues a key, which is handled in a later microtask. Ends a pause before a retry. */
  add(key: ObjectKey): void {
    if (this.#closed) return;
    const id = idOf(key);
    clearTimeout(this.#timers.get(id));
    this.#timers.delete(id);
    if (this.#waiting.has(id)) return;
    this.#waiting.set(id, { key, since: monotonicTime() });
    this.#options.observer.added();
    this.#startLater();
  }

  /** Resolves when no key waits or is handled, not counting pauses; also on `close`. */
  idle(): Promise<void> {
    if (this.#closed || this.#waiting.size + this.#active.size === 0) return Promise.resolve();
    return new Promise(resolve => this.#idleWaiters.push(resolve));
  }

  /** Discards all keys and timers. Keys being handled are completed, but not handled again. */
  close(): void {
    this.#closed = true;
    this.#waiting.clear();
    for (const timer of this.#timers.values()) clearTimeout(timer);
    this.#timers.clear();
    this.#resolveIdle();
  }

  /**
   * Keys are not handled within `add`, so that a caller can add the keys of several events before the first is handled.
   */
  #startLater(): void {
    if (this.#isStarting) return;
    this.#isStarting = true;
    queueMicrotask(() => {
      this.#isStarting = false;
      this.#startWorkers();
      this.#options.observer.depth(this.#waiting.size);
    });
  }

  #startWorkers(): void {
    for (const [id, waiting] of this.#waiting) {
      if (this.#active.size >= this.#options.workers) return;
      if (this.#active.has(id)) continue;
      this.#waiting.delete(id);
      this.#active.add(id);
      void this.#run(id, waiting);
    }
  }

  async #run(id: string, { key, since }: Waiting): Promise<void> {
    const { handle, observer } = this.#options;
    const began = monotonicTime();
    observer.began(began - since);
    try {
      const after = await handle(key);
      this.#failures.delete(id);
      if (after !== undefined) this.#addLater(id, key, after);
    } catch (thrown) {
      this.#retryLater(id, key, thrown);
    }
    observer.ended(monotonicTime() - began);
    this.#active.delete(id);
    this.#startWorkers();
    observer.depth(this.#waiting.size);
    if (this.#waiting.size + this.#active.size === 0) this.#resolveIdle();
  }

  #retryLater(id: string, key: ObjectKey, thrown: unknown): void {
    if (this.#closed) return;
    const { backOff, observer } = this.#options;
    const failures = (this.#failures.get(id) ?? 0) + 1;
    this.#failures.set(id, failures);
    const pause = Math.min(backOff.min * 2 ** (failures - 1), backOff.max);
    observer.failed(key, thrown, failures, pause);
    this.#addLater(id, key, pause);
  }

  /** Adds a key after a pause, unless it waits already. */
  #addLater(id: string, key: ObjectKey, pause: number): void {
    if (this.#closed || this.#waiting.has(id)) return;
    clearTimeout(this.#timers.get(id));
    const timer = setTimeout(() => this.add(key), Math.min(pause, LONGEST_TIMER_MS));
    // A pending key does not keep the process alive.
    timer.unref();
    this.#timers.set(id, timer);
  }

  #resolveIdle(): void {
    const resolvers = this.#idleWaiters;
    this.#idleWaiters = [];
    for (const resolve of resolvers) resolve();
  }
}
