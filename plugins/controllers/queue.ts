import type { Log } from '../../core/api/index.js';

/** First and longest pause before a failed key is tried again; each failure doubles it. */
const FIRST_RETRY_MS = 5;
const LAST_RETRY_MS = 30_000;

/** What a queue needs: `handle` throws to have its key tried again later. */
export interface QueueOptions {
  readonly name: string;
  readonly log: Log;
  /** Keys handled at a time; one key is never handled twice at once. */
  readonly workers: number;
  readonly handle: (key: string) => Promise<void>;
}

/**
 * Keys with work to do. A key added while it waits is one piece of work; added while it is handled, it is handled once
 * more. Failures are retried with growing pauses until `close`.
 */
export class WorkQueue {
  readonly #options: QueueOptions;
  readonly #waiting = new Set<string>();
  readonly #active = new Set<string>();
  readonly #failures = new Map<string, number>();
  readonly #retries = new Map<string, NodeJS.Timeout>();
  #idle: (() => void)[] = [];
  #closed = false;

  constructor(options: QueueOptions) {
    this.#options = options;
  }

  /** Has `key` handled soon, but not before the caller's turn is over; cuts a pause between retries short. */
  add(key: string): void {
    if (this.#closed) return;
    this.#cancelRetry(key);
    this.#waiting.add(key);
    this.#fill();
  }

  /** Resolves when nothing waits or runs (pauses before retries do not count), or on `close`. */
  idle(): Promise<void> {
    if (this.#closed || this.#waiting.size + this.#active.size === 0) return Promise.resolve();
    return new Promise(resolve => this.#idle.push(resolve));
  }

  /** Forgets all work and timers; work under way ends by itself and is not retried. */
  close(): void {
    this.#closed = true;
    this.#waiting.clear();
    for (const timer of this.#retries.values()) clearTimeout(timer);
    this.#retries.clear();
    this.#wakeIdle();
  }

  #fill(): void {
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
      // Not within `add`: who is told of many objects one after the other has heard of all before the first of them is
      // handled.
      await Promise.resolve();
      if (!this.#closed) await this.#options.handle(key);
      this.#failures.delete(key);
    } catch (error) {
      this.#retryLater(key, error);
    }
    this.#active.delete(key);
    this.#fill();
    if (this.#waiting.size + this.#active.size === 0) this.#wakeIdle();
  }

  #retryLater(key: string, error: unknown): void {
    if (this.#closed) return;
    const failures = (this.#failures.get(key) ?? 0) + 1;
    this.#failures.set(key, failures);
    const pause = Math.min(FIRST_RETRY_MS * 2 ** (failures - 1), LAST_RETRY_MS);
    const level = failures > 5 ? 'warn' : 'debug';
    this.#options.log[level]({ queue: this.#options.name, key, failures, error: String(error) }, 'will be tried again');
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

  #wakeIdle(): void {
    const resolvers = this.#idle;
    this.#idle = [];
    for (const resolve of resolvers) resolve();
  }
}

/**
 * Does `work` for every item, so many at a time; one that fails does not keep the others. Throws the first failure once
 * all are done.
 */
export async function inParallel<T>(
  limit: number,
  items: readonly T[],
  work: (item: T) => Promise<unknown>,
): Promise<void> {
  const left = items.values();
  const failures: unknown[] = [];
  const take = async (): Promise<void> => {
    for (const item of left) await work(item).catch(error => failures.push(error));
  };
  await Promise.all(Array.from({ length: limit }, take));
  if (failures.length > 0) throw failures[0];
}
