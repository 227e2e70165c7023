/** Bytes of a ring: the events of some hundred commits. */
const RING_BYTES = 256 * 1024;
/** Two positions of four bytes, padded so that the two threads do not share a cache line with the messages. */
const HEADER_BYTES = 64;
const WRITTEN = 0;
const READ = 1;
/** The number and the length of a message. */
const FRAME_BYTES = 8;
const ALIGNMENT = 4;

/** Memory for a ring. */
export const createRing = (): SharedArrayBuffer => new SharedArrayBuffer(HEADER_BYTES + RING_BYTES);

const frameSize = (length: number): number => FRAME_BYTES + Math.ceil(length / ALIGNMENT) * ALIGNMENT;

/**
 * A queue of messages in shared memory, from one thread to one other. Unlike a post, a write does not wake the reader,
 * which reads when it is awake. Each message has a number, from which the reader knows its place among posted messages.
 * Positions count bytes modulo 2^32.
 *
 * Each side changes only one of the positions, and only after it has written or copied the bytes of the message. The
 * atomic store orders earlier writes before it, so the side that loads the position sees these bytes without a lock.
 */
export class Ring {
  readonly #positions: Int32Array;
  readonly #words: Int32Array;
  readonly #bytes: Uint8Array;

  /** `memory` is that of `createRing`. */
  constructor(memory: SharedArrayBuffer) {
    this.#positions = new Int32Array(memory, 0, 2);
    this.#words = new Int32Array(memory, HEADER_BYTES, RING_BYTES / 4);
    this.#bytes = new Uint8Array(memory, HEADER_BYTES, RING_BYTES);
  }

  /** Whether the reader has read every message. */
  get isEmpty(): boolean {
    return Atomics.load(this.#positions, READ) === Atomics.load(this.#positions, WRITTEN);
  }

  /** Writes a message. Returns false, and writes nothing, if there is no room for it. */
  write(number: number, message: Uint8Array): boolean {
    const written = Atomics.load(this.#positions, WRITTEN);
    const used = (written - Atomics.load(this.#positions, READ)) >>> 0;
    const size = frameSize(message.length);
    if (used + size > RING_BYTES) return false;
    this.#words[this.#wordAt(written)] = number;
    this.#words[this.#wordAt(written + 4)] = message.length;
    const at = this.#offset(written + FRAME_BYTES);
    const beforeEnd = Math.min(message.length, RING_BYTES - at);
    this.#bytes.set(message.subarray(0, beforeEnd), at);
    this.#bytes.set(message.subarray(beforeEnd), 0);
    // Last: from now on the reader takes the message.
    Atomics.store(this.#positions, WRITTEN, (written + size) | 0);
    return true;
  }

  /** Reads a copy of the next message, if there is one with this number. */
  read(number: number): Uint8Array | undefined {
    const read = Atomics.load(this.#positions, READ);
    if (read === Atomics.load(this.#positions, WRITTEN) || this.#words[this.#wordAt(read)] !== number) return undefined;
    const length = this.#words[this.#wordAt(read + 4)]!;
    const at = this.#offset(read + FRAME_BYTES);
    const beforeEnd = Math.min(length, RING_BYTES - at);
    const message = new Uint8Array(length);
    message.set(this.#bytes.subarray(at, at + beforeEnd));
    message.set(this.#bytes.subarray(0, length - beforeEnd), beforeEnd);
    // Last: from now on the writer may overwrite the bytes.
    Atomics.store(this.#positions, READ, (read + frameSize(length)) | 0);
    return message;
  }

  #offset(position: number): number {
    return (position >>> 0) % RING_BYTES;
  }

  #wordAt(position: number): number {
    return this.#offset(position) / 4;
  }
}
