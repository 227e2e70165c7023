const CHUNK = 512;

/** An ordered map from strings, kept in chunks so that an insert moves at most one chunk. Order is that of UTF-16 code units, which for API names (ASCII) is byte order. */
export class SortedMap<V> {
  readonly #byKey = new Map<string, V>();
  readonly #chunks: string[][] = [];

  get size(): number {
    return this.#byKey.size;
  }

  get(key: string): V | undefined {
    return this.#byKey.get(key);
  }

  set(key: string, value: V): void {
    if (!this.#byKey.has(key)) this.#insert(key);
    this.#byKey.set(key, value);
  }

  delete(key: string): boolean {
    if (!this.#byKey.delete(key)) return false;
    const at = this.#chunkOf(key);
    const chunk = this.#chunks[at]!;
    chunk.splice(lowerBound(chunk, key), 1);
    if (chunk.length === 0) this.#chunks.splice(at, 1);
    return true;
  }

  /** Keys at or after `from` (exclusive with `after`), in order, as long as they begin with `prefix`. */
  *range(prefix: string, after?: string): Generator<V> {
    const from = after !== undefined && after >= prefix ? after : prefix;
    const start = this.#chunkOf(from);
    for (let c = start; c < this.#chunks.length; c++) {
      const chunk = this.#chunks[c]!;
      for (let i = c === start ? lowerBound(chunk, from) : 0; i < chunk.length; i++) {
        const key = chunk[i]!;
        if (key === after) continue;
        if (!key.startsWith(prefix)) return;
        yield this.#byKey.get(key)!;
      }
    }
  }

  #insert(key: string): void {
    if (this.#chunks.length === 0) {
      this.#chunks.push([key]);
      return;
    }
    const at = this.#chunkOf(key);
    const chunk = this.#chunks[at]!;
    chunk.splice(lowerBound(chunk, key), 0, key);
    if (chunk.length > CHUNK) this.#chunks.splice(at + 1, 0, chunk.splice(CHUNK / 2));
  }

  /** The last chunk whose first key is not above `key`, or the first. */
  #chunkOf(key: string): number {
    let low = 0;
    let high = this.#chunks.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (this.#chunks[middle]![0]! <= key) low = middle;
      else high = middle - 1;
    }
    return low;
  }
}

function lowerBound(sorted: readonly string[], key: string): number {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (sorted[middle]! < key) low = middle + 1;
    else high = middle;
  }
  return low;
}
