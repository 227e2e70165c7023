/** The functions that an `InflowQueue` calls, for the connection and the consumer of its items. */
export interface Inflow<Item> {
  /** Takes an item. While a promise that it returns is pending, the next items wait. */
  consume(item: Item): void | Promise<void>;
  /** The consumer is busy: as little as possible should be received. */
  pause(): void;
  /** All that waited has been consumed. */
  resume(): void;
  /** The consumer has thrown or rejected: it gets no more items. */
  fail(error: unknown): void;
}

/**
 * Passes the data that a connection receives to a consumer that may be slower: one item after the other, in order.
 * Items that arrive while the consumer is busy wait here.
 */
export class InflowQueue<Item> {
  #waiting: Item[] = [];
  #isBusy = false;
  #isStopped = false;

  constructor(readonly inflow: Inflow<Item>) {}

  /** Whether an item that is added now would wait. */
  get isBusy(): boolean {
    return this.#isBusy;
  }

  /** Passes an item on, or lets it wait. */
  add(item: Item): void {
    if (this.#isStopped) return;
    if (this.#isBusy) this.#waiting.push(item);
    else this.#pass(item);
  }

  /** Passes no more items on. */
  stop(): void {
    this.#isStopped = true;
    this.#waiting = [];
  }

  /** Passes an item on. Returns whether the consumer is ready for the next one. */
  #pass(item: Item): boolean {
    try {
      const consumed = this.inflow.consume(item);
      if (consumed === undefined) return true;
      consumed.then(
        () => this.#continue(),
        error => this.#fail(error),
      );
    } catch (error) {
      this.#fail(error);
      return false;
    }
    // The consumer may have ended the connection meanwhile.
    if (!this.#isBusy && !this.#isStopped) {
      this.#isBusy = true;
      this.inflow.pause();
    }
    return false;
  }

  #continue(): void {
    while (this.#waiting.length > 0) if (!this.#pass(this.#waiting.shift()!)) return;
    if (this.#isStopped) return;
    this.#isBusy = false;
    this.inflow.resume();
  }

  #fail(error: unknown): void {
    if (this.#isStopped) return;
    this.stop();
    this.inflow.fail(error);
  }
}
