import type { Log } from '../../core/api/index.js';

/** Pause before the first retry of a failed key. Each further failure doubles it. */
const MIN_RETRY_MS = 5;
/** The longest pause before a retry. */
const MAX_RETRY_MS = 30_000;

/** Options of a queue. */
export interface QueueOptions {
  readonly name: string;
  readonly log: Log;
  /** The number of keys handled concurrently. A key is never handled twice at the same time. */
  readonly workers: number;
  /** Handles a key; if it throws, the key is retried. */
  readonly handle: (key: string) => Promise<void>;
}

/**
 * A queue of keys. A key that is added while it is queued is handled once; if it is added while it is handled, it is
 * handled again afterwards. Failed keys are retried with increasing pauses.
 */
export class WorkQueue {
  readonly #options: QueueOptions;
  readonly #waiting = new Set<string>();
  readonly #active = new Set<string>();
  readonly #failures = new Map<string, number>();
  readonly #retries = new Map<string, NodeJS.Timeout>();
  #idleWaiters: (() => void)[] = [];
  #closed = false;

  constructor(options: QueueOptions) {
    this.#options = options;
  }

  /** Queues a key, which is handled in a later microtask. Cancels a pause before a retry. */
  add(key: string): void {
    if (this.#closed) return;
    this.#cancelRetry(key);
    this.#waiting.add(key);
    this.#startWorkers();
  }

  /** Resolves when no key is queued or being handled, not counting pauses before retries; also on `close`. */
  idle(): Promise<void> {
    if (this.#closed || this.#waiting.size + this.#active.size === 0) return Promise.resolve();
    return new Promise(resolve => this.#idleWaiters.push(resolve));
  }

  /** Discards all keys and timers. Keys being handled are completed, but not retried. */
  close(): void {
    this.#closed = true;
    this.#waiting.clear();
    for (const timer of this.#retries.values()) clearTimeout(timer);
    this.#retries.clear();
    this.#resolveIdle();
  }

  #startWorkers(): void {
    for (const key of this.#waiting) {
      if (this.#active.size >= this.#options.workers) return;
      if (this.#active.has(key)) continue;
      this.#waiting.delete(key);
      this.#active.add(key);
      void this.#run(key);
    }
  }

  async #run(key: string): Promise<void> {
    try {
      // Keys are not handled within `add`, so that a caller that receives several events has seen all of them.
      await Promise.resolve();
      if (!this.#closed) await this.#options.handle(key);
      this.#failures.delete(key);
    } catch (error) {
      this.#retryLater(key, error);
    }
    this.#active.delete(key);
    this.#startWorkers();
    if (this.#waiting.size + this.#active.size === 0) this.#resolveIdle();
  }

  #retryLater(key: string, error: unknown): void {
    if (this.#closed) return;
    const failures = (this.#failures.get(key) ?? 0) + 1;
    this.#failures.set(key, failures);
    const pause = Math.min(MIN_RETRY_MS * 2 ** (failures - 1), MAX_RETRY_MS);
    const level = failures > 5 ? 'warn' : 'debug';
    const { log, name } = this.#options;
    log[level]({ queue: name, key, failures, error: String(error) }, 'handling the key failed, it will be retried');
    if (this.#waiting.has(key)) return;
    this.#retries.set(
      key,
      setTimeout(() => this.add(key), pause),
    );
  }

  #cancelRetry(key: string): void {
    clearTimeout(this.#retries.get(key));
    this.#retries.delete(key);
  }

  #resolveIdle(): void {
    const resolvers = this.#idleWaiters;
    this.#idleWaiters = [];
    for (const resolve of resolvers) resolve();
  }
}

/** Runs `work` for all items, at most `limit` concurrently. After all are done, throws the first error, if any. */
export async function forEachParallel<T>(
  limit: number,
  items: readonly T[],
  work: (item: T) => Promise<unknown>,
): Promise<void> {
  const remaining = items.values();
  const failures: unknown[] = [];
  const runWorker = async (): Promise<void> => {
    for (const item of remaining) await work(item).catch(error => failures.push(error));
  };
  await Promise.all(Array.from({ length: limit }, runWorker));
  if (failures.length > 0) throw failures[0];
}
