/** Difference between two ids of one slot: more than the limit of requests in flight. */
const SLOTS = 2 ** 20;
/** Ids repeat after this many others: after hours at full load, when the first request with the id has ended. */
const TURNS = 2 ** 26;
/** All ids are below this number. */
export const MOST_IDS = SLOTS * (TURNS + 1);

/**
 * The values of requests in flight, by the id that `add` returns. It is an array of slots and not a `Map`: in V8 11,
 * the tables that a growing `Map` abandons keep their values in memory until a full garbage collection
 * (docs/decisions/0005).
 */
export class InFlight<T> {
  readonly #slots: ({ readonly id: number; readonly value: T } | undefined)[] = [];
  readonly #free: number[] = [];
  #turn = 0;

  /** Number of values. */
  get size(): number {
    return this.#slots.length - this.#free.length;
  }

  /** Adds a value and returns its id, a safe integer above 0. */
  add(value: T): number {
    const slot = this.#free.pop() ?? this.#slots.length;
    this.#turn = (this.#turn % TURNS) + 1;
    const id = this.#turn * SLOTS + slot;
    this.#slots[slot] = { id, value };
    return id;
  }

  /** The value of an id; undefined after `delete`. */
  get(id: number): T | undefined {
    const entry = this.#slots[id % SLOTS];
    return entry?.id === id ? entry.value : undefined;
  }

  /** Removes the value of an id. Does nothing if there is none. */
  delete(id: number): void {
    const slot = id % SLOTS;
    if (this.#slots[slot]?.id !== id) return;
    this.#slots[slot] = undefined;
    this.#free.push(slot);
  }

  /** Every id with its value. Values may be deleted meanwhile. */
  *[Symbol.iterator](): Generator<readonly [id: number, value: T]> {
    for (const entry of this.#slots) if (entry) yield [entry.id, entry.value];
  }
}
