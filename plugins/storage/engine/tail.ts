import type { StoreEvent } from '../../../core/api/index.js';

/** Bytes of events kept: enough for watches that lag for a moment. */
const TAIL_BYTES = 16 * 1024 * 1024;

/** The newest durable events, bounded by their size, from which watches are served without reading the disk. */
export class Tail {
  /** Undefined in the place of an event that was dropped. */
  #events: (StoreEvent | undefined)[] = [];
  #start = 0;
  #bytes = 0;
  /** All events above this revision are available. */
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
      this.#bytes += eventSize(event);
    }
    while (this.#bytes > this.limit && this.#start < this.#events.length) this.#drop();
    if (this.#start > 1024 && this.#start * 2 > this.#events.length) {
      this.#events = this.#events.slice(this.#start);
      this.#start = 0;
    }
  }

  /** Drops all events; those up to `revision` are unavailable from then on. */
  reset(revision: number): void {
    this.#events = [];
    this.#start = 0;
    this.#bytes = 0;
    this.#after = revision;
  }

  /** About `limit` events above `revision`, always all of a revision; undefined if some have been dropped. */
  read(revision: number, limit: number): readonly StoreEvent[] | undefined {
    if (revision < this.#after) return undefined;
    const from = this.#find(revision);
    let to = Math.min(from + limit, this.#events.length);
    while (to > from && to < this.#events.length && this.#events[to]!.revision === this.#events[to - 1]!.revision) to++;
    return this.#events.slice(from, to) as StoreEvent[];
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
    const event = this.#events[this.#start]!;
    this.#events[this.#start++] = undefined;
    this.#bytes -= eventSize(event);
    this.#after = event.revision;
  }
}

const eventSize = (event: StoreEvent) => event.key.length + (event.value?.length ?? 0) + 100;
