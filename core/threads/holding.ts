/** Bytes that may be wasted before anything is done: below this, moving costs more than it gives. */
const LEAST_WASTE = 32 * 1024 * 1024;
/** Bytes that moved values are gathered in. Small: a buffer lives as long as any value in it. */
const SLAB = 32 * 1024;
/** Values looked at in one turn of the event loop. */
const SLICE = 2000;

/** Where bytes are; a Uint8Array is one. */
export interface Part {
  readonly buffer: ArrayBufferLike;
  readonly byteOffset: number;
  readonly length: number;
}

/**
 * Accounts for values that are views of buffers they share: a buffer that came with a commit group stays as long as one
 * object of the group does, however many of the others have changed since. Without this, one object that is created
 * beside hundreds that change all the time would hold the memory of hundreds.
 */
export class Holding {
  readonly #live = new Map<ArrayBufferLike, number>();
  #held = 0;
  #used = 0;
  #slab: Uint8Array = new Uint8Array(0);
  #filled = 0;
  #sweeping: Promise<void> | undefined;

  constructor(readonly leastWaste = LEAST_WASTE) {}

  /** Bytes of all buffers that a kept value holds, and those of the values. */
  get totals(): { readonly held: number; readonly used: number } {
    return { held: this.#held, used: this.#used };
  }

  keep(value: Part): void {
    const live = this.#live.get(value.buffer);
    if (live === undefined) this.#held += value.buffer.byteLength;
    this.#live.set(value.buffer, (live ?? 0) + value.length);
    this.#used += value.length;
  }

  drop(value: Part): void {
    const live = (this.#live.get(value.buffer) ?? 0) - value.length;
    this.#used -= value.length;
    if (live > 0) {
      this.#live.set(value.buffer, live);
      return;
    }
    this.#live.delete(value.buffer);
    this.#held -= value.buffer.byteLength;
  }

  /**
   * Moves values out of buffers that are mostly garbage, if there is much of it; a slice per turn. `all` lists what is
   * kept now, and may change meanwhile: `current` reads an item's value just before `move` replaces it. Resolves when
   * nothing is left to do.
   */
  tidy<T>(
    all: () => Iterable<T>,
    current: (item: T) => Part | undefined,
    move: (item: T, value: Uint8Array) => void,
  ): Promise<void> {
    if (this.#sweeping) return this.#sweeping;
    if (this.#held - this.#used < Math.max(this.leastWaste, this.#used / 2)) return Promise.resolve();
    this.#sweeping = this.#sweep(all(), current, move).finally(() => {
      this.#sweeping = undefined;
    });
    return this.#sweeping;
  }

  async #sweep<T>(
    all: Iterable<T>,
    current: (item: T) => Part | undefined,
    move: (item: T, value: Uint8Array) => void,
  ): Promise<void> {
    let looked = 0;
    for (const item of all) {
      if (++looked % SLICE === 0) await new Promise(resolve => setImmediate(resolve));
      const value = current(item);
      if (!value || !this.#isSparse(value)) continue;
      const copy = this.#copy(value);
      this.drop(value);
      this.keep(copy);
      move(item, copy);
    }
  }

  /** Less than half of its buffer is of use. Values that are not kept any more have none. */
  #isSparse(value: Part): boolean {
    const live = this.#live.get(value.buffer);
    return live !== undefined && live * 2 < value.buffer.byteLength && value.buffer !== this.#slab.buffer;
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
