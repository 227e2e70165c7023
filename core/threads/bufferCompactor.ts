/** Fewer unused bytes than this are not compacted, because copying would cost more than it frees. */
const MIN_UNUSED = 32 * 1024 * 1024;
/** Size of the buffers that values are copied to. It is small because a buffer is kept as long as any value in it. */
const SLAB = 32 * 1024;
/** Values visited in one turn of the event loop. */
const SLICE = 2000;

/** A range of bytes in a buffer; a Uint8Array is one. */
export interface Part {
  readonly buffer: ArrayBufferLike;
  readonly byteOffset: number;
  readonly length: number;
}

/**
 * Counts how much of each shared buffer is in use, and moves values out of buffers that are mostly unused. The values
 * of a commit group arrive in one buffer, which stays in memory as long as one of them is current: an object created in
 * the same group as hundreds of objects that change all the time would hold the memory of hundreds.
 */
export class BufferCompactor {
  /** Used bytes of each buffer. */
  readonly #usage = new Map<ArrayBufferLike, number>();
  #allocated = 0;
  #used = 0;
  #slab: Uint8Array = new Uint8Array(0);
  #filled = 0;
  #running: Promise<void> | undefined;

  constructor(readonly minUnused = MIN_UNUSED) {}

  /** Bytes of all buffers with a value in use, and of the values themselves. */
  get totals(): { readonly allocated: number; readonly used: number } {
    return { allocated: this.#allocated, used: this.#used };
  }

  /** Adds a value that is in use from now on. */
  add(value: Part): void {
    const used = this.#usage.get(value.buffer);
    if (used === undefined) this.#allocated += value.buffer.byteLength;
    this.#usage.set(value.buffer, (used ?? 0) + value.length);
    this.#used += value.length;
  }

  /** Removes a value that is no longer in use. */
  remove(value: Part): void {
    const used = (this.#usage.get(value.buffer) ?? 0) - value.length;
    this.#used -= value.length;
    if (used > 0) {
      this.#usage.set(value.buffer, used);
      return;
    }
    this.#usage.delete(value.buffer);
    this.#allocated -= value.buffer.byteLength;
  }

  /**
   * Copies values out of buffers of which less than half is used, if enough is unused in all; a slice per turn of the
   * event loop. `items` lists the owners of the values and may change meanwhile: `valueIn` reads an item's value just
   * before `move` replaces it, and returns undefined for an item that is no longer in use. Resolves at the end.
   */
  compact<T>(
    items: () => Iterable<T>,
    valueIn: (item: T) => Part | undefined,
    move: (item: T, value: Uint8Array) => void,
  ): Promise<void> {
    if (this.#running) return this.#running;
    if (this.#allocated - this.#used < Math.max(this.minUnused, this.#used / 2)) return Promise.resolve();
    this.#running = this.#run(items(), valueIn, move).finally(() => {
      this.#running = undefined;
    });
    return this.#running;
  }

  async #run<T>(
    items: Iterable<T>,
    valueIn: (item: T) => Part | undefined,
    move: (item: T, value: Uint8Array) => void,
  ): Promise<void> {
    let visited = 0;
    for (const item of items) {
      if (++visited % SLICE === 0) await new Promise(resolve => setImmediate(resolve));
      const value = valueIn(item);
      if (!value || !this.#isSparse(value)) continue;
      const copy = this.#copy(value);
      this.remove(value);
      this.add(copy);
      move(item, copy);
    }
  }

  /** Whether less than half of the value's buffer is used. False for values that are not counted. */
  #isSparse(value: Part): boolean {
    const used = this.#usage.get(value.buffer);
    return used !== undefined && used * 2 < value.buffer.byteLength && value.buffer !== this.#slab.buffer;
  }

  #copy(part: Part): Uint8Array {
    const value = new Uint8Array(part.buffer, part.byteOffset, part.length);
    if (value.length * 4 > SLAB) return value.slice();
    if (this.#filled + value.length > this.#slab.length) {
      this.#slab = new Uint8Array(SLAB);
      this.#filled = 0;
    }
    const copy = this.#slab.subarray(this.#filled, this.#filled + value.length);
    copy.set(value);
    this.#filled += value.length;
    return copy;
  }
}
