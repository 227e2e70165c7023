/** Numbers between two ids of one slot: above every bound on requests under way. */
const SLOTS = 2 ** 20;
/**
 * Ids given before one may come again, as numbers are exact: a week of load, when nobody waits for the first any more.
 */
const TURNS = 2 ** 32;

/**
 * What belongs to requests under way, by an id. No `Map`: while members come and go, the tables that a Map has left
 * behind keep alive what they held, from one collection of young objects to the next (V8 11; docs/decisions/0005).
 */
export class Underway<T> {
  readonly #slots: ({ readonly id: number; readonly value: T } | undefined)[] = [];
  readonly #free: number[] = [];
  #turn = 0;

  get size(): number {
    return this.#slots.length - this.#free.length;
  }

  /** Keeps a value; its id. */
  add(value: T): number {
    const slot = this.#free.pop() ?? this.#slots.length;
    this.#turn = (this.#turn % TURNS) + 1;
    const id = this.#turn * SLOTS + slot;
    this.#slots[slot] = { id, value };
    return id;
  }

  /** The value of an id; undefined once it was deleted. */
  get(id: number): T | undefined {
    const kept = this.#slots[id % SLOTS];
    return kept?.id === id ? kept.value : undefined;
  }

  delete(id: number): void {
    const slot = id % SLOTS;
    if (this.#slots[slot]?.id !== id) return;
    this.#slots[slot] = undefined;
    this.#free.push(slot);
  }

  /** Every id with its value. */
  *[Symbol.iterator](): Generator<readonly [id: number, value: T]> {
    for (const kept of this.#slots) if (kept) yield [kept.id, kept.value];
  }
}
