import { RENDER_SLICE_BYTES } from '../../limits.js';

/** Bytes up to which a loop is faster than a call. */
const LOOP_BYTES = 48;

/** A text that is written piece by piece, in memory that is reused. */
export class TextWriter {
  #bytes = new Uint8Array(RENDER_SLICE_BYTES);
  #length = 0;

  /** Begins a text. */
  begin(): void {
    this.#length = 0;
  }

  /** Adds a part of some bytes. */
  copy(from: Uint8Array, start = 0, end = from.length): void {
    const length = end - start;
    if (this.#length + length > this.#bytes.length) this.#grow(length);
    const to = this.#bytes;
    let at = this.#length;
    this.#length += length;
    if (length > LOOP_BYTES) to.set(from.subarray(start, end), at);
    else for (let i = start; i < end; i++) to[at++] = from[i]!;
  }

  /** Adds a text of ASCII characters. */
  write(text: string): void {
    if (this.#length + text.length > this.#bytes.length) this.#grow(text.length);
    for (let i = 0; i < text.length; i++) this.#bytes[this.#length++] = text.charCodeAt(i);
  }

  /** Adds one byte. */
  byte(value: number): void {
    if (this.#length === this.#bytes.length) this.#grow(1);
    this.#bytes[this.#length++] = value;
  }

  /** Adds the same byte `times` times. */
  repeat(value: number, times: number): void {
    if (this.#length + times > this.#bytes.length) this.#grow(times);
    for (let i = 0; i < times; i++) this.#bytes[this.#length++] = value;
  }

  /** A copy of what was written since `begin`, in a buffer of its own. */
  written(): Uint8Array {
    const text = this.#bytes.slice(0, this.#length);
    if (this.#bytes.length > RENDER_SLICE_BYTES) this.#bytes = new Uint8Array(RENDER_SLICE_BYTES);
    return text;
  }

  #grow(bytes: number): void {
    const larger = new Uint8Array(2 * this.#bytes.length + bytes);
    larger.set(this.#bytes.subarray(0, this.#length));
    this.#bytes = larger;
  }
}
