/**
 * Longer chunks make insertions slower, shorter ones the search for a chunk. A chunk that exceeds this size is split in
 * halves.
 */
const MAX_CHUNK = 512;
/** A character that is sorted after all characters of keys. */
const AFTER_ALL = '\uffff';

/** A value with its key. */
interface Keyed {
  readonly key: string;
}

/**
 * An ordered map of values that contain their key. It is stored in chunks, so that an insertion moves at most one
 * chunk. The order is that of UTF-16 code units, which for API names (ASCII) is the byte order.
 */
export class SortedMap<V extends Keyed> {
  readonly #byKey = new Map<string, V>();
  readonly #chunks: V[][] = [];

  get size(): number {
    return this.#byKey.size;
  }

  get(key: string): V | undefined {
    return this.#byKey.get(key);
  }

  /** All values, unordered. The map may be changed during the iteration. */
  values(): IterableIterator<V> {
    return this.#byKey.values();
  }

  /** Adds a value or replaces the one with the same key. */
  set(value: V): void {
    const known = this.#byKey.has(value.key);
    this.#byKey.set(value.key, value);
    if (known) this.#replace(value);
    else this.#insert(value);
  }

  delete(key: string): boolean {
    if (!this.#byKey.delete(key)) return false;
    const at = this.#chunkIndex(key);
    const chunk = this.#chunks[at]!;
    chunk.splice(lowerBound(chunk, key), 1);
    if (chunk.length === 0) this.#chunks.splice(at, 1);
    return true;
  }

  /** Visits the values whose keys begin with `prefix` and follow `after`, in order, until `visit` returns false. */
  each(prefix: string, after: string | undefined, visit: (value: V) => boolean | undefined): void {
    if (this.#chunks.length === 0) return;
    const [from, until] = bounds(prefix, after);
    const start = this.#chunkIndex(from);
    const last = this.#chunkIndex(until);
    for (let c = start; c <= last; c++) {
      const chunk = this.#chunks[c]!;
      const end = c === last ? lowerBound(chunk, until) : chunk.length;
      for (let i = c === start ? lowerBound(chunk, from) : 0; i < end; i++) if (visit(chunk[i]!) === false) return;
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

  /** The number of values that `range` returns. */
  count(prefix: string, after?: string): number {
    const [from, until] = bounds(prefix, after);
    return Math.max(0, this.#countBelow(until) - this.#countBelow(from));
  }

  /** The number of keys before `key`. */
  #countBelow(key: string): number {
    if (this.#chunks.length === 0) return 0;
    const at = this.#chunkIndex(key);
    let below = lowerBound(this.#chunks[at]!, key);
    for (let c = 0; c < at; c++) below += this.#chunks[c]!.length;
    return below;
  }

  #replace(value: V): void {
    const chunk = this.#chunks[this.#chunkIndex(value.key)]!;
    chunk[lowerBound(chunk, value.key)] = value;
  }

  #insert(value: V): void {
    if (this.#chunks.length === 0) {
      this.#chunks.push([value]);
      return;
    }
    const last = this.#chunks.at(-1)!;
    if (last.at(-1)!.key < value.key) {
      // Values are often added in order, as at the start. Chunks are then full, not half full.
      if (last.length < MAX_CHUNK) last.push(value);
      else this.#chunks.push([value]);
      return;
    }
    const at = this.#chunkIndex(value.key);
    const chunk = this.#chunks[at]!;
    chunk.splice(lowerBound(chunk, value.key), 0, value);
    if (chunk.length > MAX_CHUNK) this.#chunks.splice(at + 1, 0, chunk.splice(MAX_CHUNK / 2));
  }

  /** The last chunk whose first key is not above `key`, or the first. */
  #chunkIndex(key: string): number {
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

/** The bounds of the keys that begin with `prefix` and follow `after`: the first key, and the end (exclusive). */
const bounds = (prefix: string, after: string | undefined): readonly [from: string, until: string] => [
  after !== undefined && after >= prefix ? `${after}\0` : prefix,
  prefix + AFTER_ALL,
];

function lowerBound(sorted: readonly Keyed[], key: string): number {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (sorted[middle]!.key < key) low = middle + 1;
    else high = middle;
  }
  return low;
}
