import { setImmediate } from '../../../core/runtime/timers.js';

/**
 * Runs a limited number of asynchronous functions at once. Those that wait take turns by owner, so that an owner with
 * many of them delays its own, not those of others.
 */
export class FairLimiter {
  #running = 0;
  /** Functions that wait, by owner; the owner whose turn is next comes first. */
  readonly #waiting = new Map<object, (() => void)[]>();

  constructor(
    /** How many functions run at once. */
    readonly limit: number,
  ) {}

  /** The result of `work`, which runs when it is its turn. Rejects with the error of `work`. */
  async run<T>(owner: object, work: () => Promise<T>): Promise<T> {
    if (this.#running >= this.limit) await new Promise<void>(resolve => this.#wait(owner, resolve));
    else this.#running++;
    try {
      return await work();
    } finally {
      this.#end();
    }
  }

  #wait(owner: object, resolve: () => void): void {
    const queue = this.#waiting.get(owner);
    if (queue) queue.push(resolve);
    else this.#waiting.set(owner, [resolve]);
  }

  /** Gives the place of a function that has ended to the next one. */
  #end(): void {
    for (const [owner, queue] of this.#waiting) {
      this.#waiting.delete(owner);
      const next = queue.shift();
      if (queue.length > 0) this.#waiting.set(owner, queue);
      // In a later turn, so that other requests come between functions that end at once.
      if (next) setImmediate(next);
      return;
    }
    this.#running--;
  }
}
