const NOTHING = new Uint8Array(0);
/** Smaller parts are copied into blocks, because each array takes about 200 bytes besides its content. */
const SMALL_BYTES = 1024;
/** A block is as large as all bytes so far, within these bounds. */
const BLOCK_BYTES = { least: SMALL_BYTES, most: 16 * 1024 };

/**
 * Collects bytes that arrive in parts, in memory of about their total size, however small the parts are: a client may
 * send each byte of a body as a chunk (RFC 9112, 7.1).
 *
 * @example
 * const parts = new BodyParts();
 * parts.add(Buffer.from('a'));
 * parts.add(Buffer.from('b'));
 * parts.take(); // ab
 */
export class BodyParts {
  #parts: Uint8Array[] = [];
  #size = 0;
  /** Memory for small parts. The bytes from `#begin` to `#end` are the last ones, and not in `#parts` yet. */
  #block: Uint8Array = NOTHING;
  #begin = 0;
  #end = 0;

  /** Number of bytes collected. */
  get size(): number {
    return this.#size;
  }

  /** Adds bytes, which must not be changed afterwards. */
  add(part: Uint8Array): void {
    const isFirst = this.#size === 0;
    this.#size += part.length;
    if (isFirst || part.length >= SMALL_BYTES) {
      this.#endRun();
      this.#parts.push(part);
      return;
    }
    if (part.length > this.#block.length - this.#end) {
      this.#endRun();
      this.#block = new Uint8Array(Math.min(Math.max(this.#size, BLOCK_BYTES.least), BLOCK_BYTES.most));
      this.#begin = this.#end = 0;
    }
    this.#block.set(part, this.#end);
    this.#end += part.length;
  }

  /** Removes and returns all bytes. If there is only one part, it is returned without copying. */
  take(): Uint8Array {
    this.#endRun();
    const parts = this.#parts;
    const size = this.#size;
    this.clear();
    return parts.length > 1 ? Buffer.concat(parts, size) : (parts[0] ?? NOTHING);
  }

  /** Removes all bytes. */
  clear(): void {
    this.#parts = [];
    this.#size = 0;
    this.#block = NOTHING;
    this.#begin = this.#end = 0;
  }

  #endRun(): void {
    if (this.#end === this.#begin) return;
    this.#parts.push(this.#block.subarray(this.#begin, this.#end));
    this.#begin = this.#end;
  }
}
