/**
 * A map of bounded weight. Over the bound it drops the least recently used entries, in steps: entries are in two
 * generations, of half the bound each; an entry that is read moves to the younger one, and when that is full, the older
 * one is dropped whole. A read from the younger generation therefore costs only a look-up, and entries used within the
 * last half of the bound are kept.
 */
export class RecentMap<V> {
  #young = new Map<string, V>();
  #old = new Map<string, V>();
  #youngWeight = 0;
  #oldWeight = 0;

  constructor(
    /** Bound of the weights of all entries together. */
    readonly most: number,
    /** Weight of an entry, in any unit; asked again whenever the entry moves. */
    readonly weigh: (key: string, value: V) => number,
  ) {}

  /** Weight of all entries, as far as it is known: see `grow`. */
  get weight(): number {
    return this.#youngWeight + this.#oldWeight;
  }

  get(key: string): V | undefined {
    const young = this.#young.get(key);
    if (young !== undefined) return young;
    const old = this.#old.get(key);
    if (old === undefined) return undefined;
    this.#old.delete(key);
    this.#oldWeight -= this.weigh(key, old);
    this.set(key, old);
    return old;
  }

  /** Adds an entry. Replaces the one with the same key. */
  set(key: string, value: V): void {
    const before = this.#young.get(key);
    this.#young.set(key, value);
    this.grow(this.weigh(key, value) - (before === undefined ? 0 : this.weigh(key, before)));
  }

  /** Adds to the weight of an entry that was just read or set. */
  grow(weight: number): void {
    this.#youngWeight += weight;
    if (this.#youngWeight <= this.most / 2) return;
    this.#old = this.#young;
    this.#oldWeight = this.#youngWeight;
    this.#young = new Map();
    this.#youngWeight = 0;
  }

  clear(): void {
    this.#young = new Map();
    this.#old = new Map();
    this.#youngWeight = 0;
    this.#oldWeight = 0;
  }
}
