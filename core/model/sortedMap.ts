const CHUNK = 512;
/** Above every character of a key. */
const LAST = '\uffff';

/** A key with its value: an overwritten value stays where it is in order. */
interface Held<V> {
  readonly key: string;
  value: V;
}

/** An ordered map from strings, kept in chunks so that an insert moves at most one chunk. Order is that of UTF-16 code units, which for API names (ASCII) is byte order. */
export class SortedMap<V> {
  readonly #byKey = new Map<string, Held<V>>();
  readonly #chunks: Held<V>[][] = [];

  get size(): number {
    return this.#byKey.size;
  }

  get(key: string): V | undefined {
    return this.#byKey.get(key)?.value;
  }

  /** All values, in no order that means anything; the map may change meanwhile. */
  *values(): Generator<V> {
    for (const held of this.#byKey.values()) yield held.value;
  }

  set(key: string, value: V): void {
    const held = this.#byKey.get(key);
    if (held) held.value = value;
    else this.#insert({ key, value });
  }

  delete(key: string): boolean {
    if (!this.#byKey.delete(key)) return false;
    const at = this.#chunkOf(key);
    const chunk = this.#chunks[at]!;
    chunk.splice(lowerBound(chunk, key), 1);
    if (chunk.length === 0) this.#chunks.splice(at, 1);
    return true;
  }

  /** Visits values whose keys begin with `prefix` (behind `after`, if that is given), in order, until `visit` returns false. */
  each(prefix: string, after: string | undefined, visit: (value: V) => boolean | undefined): void {
    if (this.#chunks.length === 0) return;
    const [from, until] = bounds(prefix, after);
    const start = this.#chunkOf(from);
    const last = this.#chunkOf(until);
    for (let c = start; c <= last; c++) {
      const chunk = this.#chunks[c]!;
      const end = c === last ? lowerBound(chunk, until) : chunk.length;
      for (let i = c === start ? lowerBound(chunk, from) : 0; i < end; i++) if (visit(chunk[i]!.value) === false) return;
    }
  }

  /** The values that `each` visits. */
  range(prefix: string, after?: string): V[] {
    const found: V[] = [];
    this.each(prefix, after, value => {
      found.push(value);
      return true;
    });
    return found;
  }

  /** How many values `range` would give. */
  count(prefix: string, after?: string): number {
    const [from, until] = bounds(prefix, after);
    return Math.max(0, this.#below(until) - this.#below(from));
  }

  /** How many keys are below `key`. */
  #below(key: string): number {
    if (this.#chunks.length === 0) return 0;
    const at = this.#chunkOf(key);
    let below = lowerBound(this.#chunks[at]!, key);
    for (let c = 0; c < at; c++) below += this.#chunks[c]!.length;
    return below;
  }

  #insert(held: Held<V>): void {
    this.#byKey.set(held.key, held);
    if (this.#chunks.length === 0) {
      this.#chunks.push([held]);
      return;
    }
    const at = this.#chunkOf(held.key);
    const chunk = this.#chunks[at]!;
    chunk.splice(lowerBound(chunk, held.key), 0, held);
    if (chunk.length > CHUNK) this.#chunks.splice(at + 1, 0, chunk.splice(CHUNK / 2));
  }

  /** The last chunk whose first key is not above `key`, or the first. */
  #chunkOf(key: string): number {
    let low = 0;
    let high = this.#chunks.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (this.#chunks[middle]![0]!.key <= key) low = middle;
      else high = middle - 1;
    }
    return low;
  }
}

/** The keys that begin with `prefix` and come behind `after`: from the first one up to, and without, the second. */
const bounds = (prefix: string, after: string | undefined): readonly [from: string, until: string] => [
  after !== undefined && after >= prefix ? `${after}\0` : prefix,
  prefix + LAST,
];

function lowerBound(sorted: readonly Held<unknown>[], key: string): number {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (sorted[middle]!.key < key) low = middle + 1;
    else high = middle;
  }
  return low;
}
