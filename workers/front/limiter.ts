/** Runs a bounded number of asynchronous functions at once; the others wait, in the order in which they came. */
export class Limiter {
  #running = 0;
  readonly #waiting: (() => void)[] = [];

  constructor(
    /** How many functions run at once. */
    readonly limit: number,
  ) {}

  /** The result of `work`. Rejects with what `work` throws. */
  async run<T>(work: () => Promise<T>): Promise<T> {
    if (this.#running >= this.limit) await new Promise<void>(resolve => this.#waiting.push(resolve));
    else this.#running++;
    try {
      return await work();
    } finally {
      const next = this.#waiting.shift();
      // The next one takes this one's place.
      if (next) next();
      else this.#running--;
    }
  }
}
