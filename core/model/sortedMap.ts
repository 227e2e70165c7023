const CHUNK = 512;
/** Above every character of a key. */
const LAST = '\uffff';

/** What knows its key. */
interface Keyed {
  readonly key: string;
}

/**
 * An ordered map of values that know their key, kept in chunks so that an insert moves at most one chunk. Order is that
 * of UTF-16 code units, which for API names (ASCII) is byte order.
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

  /** All values, in no order that means anything; the map may change meanwhile. */
  values(): IterableIterator<V> {
    return this.#byKey.values();
  }

  /** Adds a value, or puts it in the place of the one with its key. */
  set(value: V): void {
    const known = this.#byKey.has(value.key);
    this.#byKey.set(value.key, value);
    if (known) this.#replace(value);
    else this.#insert(value);
  }

  delete(key: string): boolean {
    if (!this.#byKey.delete(key)) return false;
    const at = this.#chunkOf(key);
    const chunk = this.#chunks[at]!;
    chunk.splice(lowerBound(chunk, key), 1);
    if (chunk.length === 0) this.#chunks.splice(at, 1);
    return true;
  }

  /**
   * Visits values whose keys begin with `prefix` (behind `after`, if that is given), in order, until `visit` returns
   * false.
   */
  each(prefix: string, after: string | undefined, visit: (value: V) => boolean | undefined): void {
    if (this.#chunks.length === 0) return;
    const [from, until] = bounds(prefix, after);
    const start = this.#chunkOf(from);
    const last = this.#chunkOf(until);
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

  #replace(value: V): void {
    const chunk = this.#chunks[this.#chunkOf(value.key)]!;
    chunk[lowerBound(chunk, value.key)] = value;
  }

  #insert(value: V): void {
    if (this.#chunks.length === 0) {
      this.#chunks.push([value]);
      return;
    }
    const at = this.#chunkOf(value.key);
    const chunk = this.#chunks[at]!;
    chunk.splice(lowerBound(chunk, value.key), 0, value);
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
