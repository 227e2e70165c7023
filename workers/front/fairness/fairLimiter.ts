import { setImmediate } from '../../../core/runtime/timers.js';

/**
 * Runs a limited number of asynchronous functions at once. The others wait, and owners take turns, so that an owner of
 * many functions delays only its own.
 */
export class FairLimiter {
  #running = 0;
  /** Functions that wait, by owner; the owner whose turn is next comes first. */
  readonly #waiting = new Map<object, (() => void)[]>();

  constructor(
    /** The number of functions that run at once. */
    readonly limit: number,
  ) {}

  /** Runs `work` when it is its turn, and resolves with its result. Rejects with the error of `work`. */
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
