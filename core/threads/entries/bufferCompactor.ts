import { copyBytes } from '../../runtime/copyBytes.js';
import { nextTurn } from '../../runtime/timers.js';
import { CHUNK_BYTES, countMemory } from './sharedValues.js';

/** Fewer unused bytes than this are not compacted, because copying would cost more than it frees. */
const MIN_UNUSED = 32 * 1024 * 1024;
/** Values visited in one turn of the event loop. */
const SLICE = 2000;

/** A range of bytes in a buffer; a Uint8Array is one. */
export interface Part {
  readonly buffer: ArrayBufferLike;
  readonly byteOffset: number;
  readonly length: number;
}

/** Values that were copied to the same memory. */
export interface Moved<T> {
  readonly memory: SharedArrayBuffer;
  readonly items: readonly T[];
}

/** The callbacks by which `compact` reads and moves the values of items. */
export interface Moves<T> {
  /** The owners of the values, which may change meanwhile. */
  items(): Iterable<T>;
  /** The value of an item, called just before it is moved; undefined for an item that is no longer in use. */
  valueIn(item: T): Part | undefined;
  /** Makes the item refer to a copy of its value. */
  move(item: T, value: Part): void;
  /** Called after many moves, and at the end: the items that were moved since. */
  moved(moved: Moved<T>): void;
}

/**
 * Counts how much of each buffer is in use, and moves values out of buffers that are mostly unused. A buffer contains
 * the values of many objects and stays in memory as long as one of them is current: an object that is created among
 * many changes to others would keep the memory of all these changes. The copies are in shared memory, for all threads.
 */
export class BufferCompactor {
  /** Used bytes of each buffer. */
  readonly #usage = new Map<ArrayBufferLike, number>();
  #allocated = 0;
  #used = 0;
  /** The buffer of the last value that was added: it may not be full yet, so it is neither compacted nor unused. */
  #open: ArrayBufferLike | undefined;
  #running: Promise<void> | undefined;

  constructor(readonly minUnused = MIN_UNUSED) {}

  /** Bytes of all buffers with a value in use, and of the values themselves. */
  get totals(): { readonly allocated: number; readonly used: number } {
    return { allocated: this.#allocated, used: this.#used };
  }

  /** Adds a value that is in use from now on. */
  add(value: Part): void {
    this.#open = value.buffer;
    this.#count(value);
  }

  #count(value: Part): void {
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
   * Copies values out of buffers of which less than half is used, if enough is unused in total; one slice per turn of
   * the event loop. Resolves at the end.
   */
  compact<T>(moves: Moves<T>): Promise<void> {
    if (this.#running) return this.#running;
    if (this.#unused < Math.max(this.minUnused, this.#used / 2)) return Promise.resolve();
    this.#running = this.#run(moves).finally(() => {
      this.#running = undefined;
    });
    return this.#running;
  }

  get #unused(): number {
    const open = this.#open && this.#usage.has(this.#open) ? this.#open.byteLength - this.#usage.get(this.#open)! : 0;
    return this.#allocated - this.#used - open;
  }

  async #run<T>({ items, valueIn, move, moved }: Moves<T>): Promise<void> {
    const sparse = this.#sparse();
    let size = 0;
    for (const buffer of sparse) size += this.#usage.get(buffer)!;
    const target = new Target<T>(size, moved);
    let visited = 0;
    for (const item of items()) {
      if (++visited % SLICE === 0) await nextTurn();
      const value = valueIn(item);
      if (!value || !sparse.has(value.buffer)) continue;
      const copy = target.copy(item, value);
      this.remove(value);
      this.#count(copy);
      move(item, copy);
    }
    target.end();
  }

  /** The buffers of which less than half is used. */
  #sparse(): Set<ArrayBufferLike> {
    const found = new Set<ArrayBufferLike>();
    for (const [buffer, used] of this.#usage)
      if (used * 2 < buffer.byteLength && buffer !== this.#open) found.add(buffer);
    return found;
  }
}

/** The memory that values are moved to: pieces of at most CHUNK_BYTES that are full, except for the last one. */
class Target<T> {
  #memory = new SharedArrayBuffer(0);
  #bytes = Buffer.from(this.#memory);
  #filled = 0;
  #items: T[] = [];

  constructor(
    /** An upper bound of the bytes that are still to be moved. */
    private remaining: number,
    readonly moved: (moved: Moved<T>) => void,
  ) {}

  copy(item: T, { buffer, byteOffset, length }: Part): Uint8Array {
    if (this.#filled + length > this.#memory.byteLength) {
      this.end();
      this.#memory = new SharedArrayBuffer(Math.max(length, Math.min(CHUNK_BYTES, this.remaining)));
      this.#bytes = Buffer.from(this.#memory);
      this.#filled = 0;
      countMemory(this.#memory);
    }
    const copy = new Uint8Array(this.#memory, this.#filled, length);
    copyBytes(this.#bytes, this.#filled, new Uint8Array(buffer, byteOffset, length));
    this.#filled += length;
    this.remaining -= length;
    this.#items.push(item);
    return copy;
  }

  /** Reports the items that were moved to the memory that is being filled. */
  end(): void {
    if (this.#items.length > 0) this.moved({ memory: this.#memory, items: this.#items });
    this.#items = [];
  }
}
