import { copyBytes } from '../../runtime/copyBytes.js';
import type { WireEvent } from '../messages/wireEvent.js';

/**
 * Size of the pieces of memory. From this size on, glibc's malloc maps memory for each allocation and unmaps it when it
 * is freed, and bytes that were never written to take no memory.
 */
export const CHUNK_BYTES = 32 * 1024 * 1024;

/** Buffers that represent shared memory in the statistics of V8, as long as the memory is referenced. */
const counted = new WeakMap<SharedArrayBuffer, ArrayBuffer>();

/**
 * Makes V8 count shared memory that this thread refers to, so that it collects garbage as often as if the memory were
 * not shared: V8 does not count a SharedArrayBuffer, and an unused one stays in memory until all threads have collected
 * their references. Instead, V8 counts a buffer of the same size that is never written to. Memory smaller than
 * CHUNK_BYTES is not counted, because the buffer might take memory.
 */
export function countMemory(memory: SharedArrayBuffer): void {
  if (memory.byteLength >= CHUNK_BYTES) counted.set(memory, new ArrayBuffer(memory.byteLength));
}

/**
 * The values of committed objects, in shared memory: the writer copies each value here once, and all threads keep the
 * same bytes, which are never modified. A chunk is filled from its beginning to its end and never reused. It is freed
 * when no thread refers to it any more. If most of a chunk is outdated, its current values are moved to another one by
 * the front end (`BufferCompactor`).
 */
export class SharedValues {
  #chunk: SharedArrayBuffer | undefined;
  #filled = 0;

  constructor(readonly chunkBytes = CHUNK_BYTES) {}

  /** Copies the values of events that are sent together. All values of the result are in one chunk. */
  share(events: readonly WireEvent[]): readonly WireEvent[] {
    if (!events.some(({ value }) => value)) return events;
    let size = 0;
    for (const { value } of events) size += value?.length ?? 0;
    const chunk = this.#chunkFor(size);
    const bytes = Buffer.from(chunk);
    return events.map(event => {
      if (!event.value) return event;
      const value = new Uint8Array(chunk, this.#filled, event.value.length);
      copyBytes(bytes, this.#filled, event.value);
      this.#filled += value.length;
      return { ...event, value };
    });
  }

  /** The chunk that is being filled, or a new one if fewer bytes than `size` are left. */
  #chunkFor(size: number): SharedArrayBuffer {
    if (this.#chunk && this.#filled + size <= this.#chunk.byteLength) return this.#chunk;
    this.#chunk = new SharedArrayBuffer(Math.max(size, this.chunkBytes));
    this.#filled = 0;
    countMemory(this.#chunk);
    return this.#chunk;
  }
}
