import type { StoreEvent } from '../../../core/api/index.js';

/** Bytes of values the tail keeps: enough for watches that fall behind for moments, small beside the caches. */
const TAIL_BYTES = 16 * 1024 * 1024;

/**
 * The newest durable events, bounded by the bytes they hold; a watch that is not further behind needs no disk for them.
 */
export class Tail {
  #events: StoreEvent[] = [];
  #start = 0;
  #bytes = 0;
  /** Every event above this revision is here. */
  #after: number;

  constructor(
    after: number,
    readonly limit = TAIL_BYTES,
  ) {
    this.#after = after;
  }

  /** Adds the events of one revision. */
  push(events: readonly StoreEvent[]): void {
    for (const event of events) {
      this.#events.push(event);
      this.#bytes += size(event);
    }
    while (this.#bytes > this.limit && this.#start < this.#events.length) this.#drop();
    if (this.#start > 1024 && this.#start * 2 > this.#events.length) {
      this.#events = this.#events.slice(this.#start);
      this.#start = 0;
    }
  }

  /** Forgets what is here, and leaves out everything up to `revision`. */
  skip(revision: number): void {
    this.#events = [];
    this.#start = 0;
    this.#bytes = 0;
    this.#after = revision;
  }

  /** Events above `revision`, whole revisions, about `limit` of them; undefined if some are not here any more. */
  read(revision: number, limit: number): readonly StoreEvent[] | undefined {
    if (revision < this.#after) return undefined;
    const from = this.#find(revision);
    let to = Math.min(from + limit, this.#events.length);
    while (to > from && to < this.#events.length && this.#events[to]!.revision === this.#events[to - 1]!.revision) to++;
    return this.#events.slice(from, to);
  }

  #find(revision: number): number {
    let low = this.#start;
    let high = this.#events.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.#events[middle]!.revision <= revision) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  #drop(): void {
    const event = this.#events[this.#start++]!;
    this.#bytes -= size(event);
    this.#after = event.revision;
  }
}

const size = (event: StoreEvent) => event.key.length + (event.value?.length ?? 0) + 100;
