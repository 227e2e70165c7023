import { copyBytes } from '../../runtime/copyBytes.js';
import { isReadable } from './unreadable.js';
import { Entry } from './entry.js';

/** An object of a start page. */
export interface StartItem {
  readonly key: string;
  readonly modified: number;
  readonly value: Uint8Array;
}

/**
 * Objects in one buffer: first the position of the value, the length of the value and the revision of each object, as
 * three 64-bit floats; then the key and the value of each, without gaps. The objects of a page are in the order of the
 * bytes of their keys if they were read from a store.
 */
export interface StartPage {
  readonly count: number;
  readonly memory: ArrayBufferLike;
}

const HEADER = 3;
const HEADER_BYTES = HEADER * Float64Array.BYTES_PER_ELEMENT;

/**
 * Packs a page. A starting thread reads all objects at once, and a JavaScript object for each item would be cloned and
 * queued, and would soon be garbage. With `shared`, the page is in memory outside of any heap, which several threads
 * keep and none may write to.
 */
export function packStartPage(items: readonly StartItem[], shared: boolean): StartPage {
  let size = items.length * HEADER_BYTES;
  for (const { key, value } of items) size += Buffer.byteLength(key) + value.length;
  const memory = shared ? new SharedArrayBuffer(size) : new ArrayBuffer(size);
  const header = new Float64Array(memory, 0, items.length * HEADER);
  const bytes = Buffer.from(memory);
  let at = header.byteLength;
  let i = 0;
  for (const { key, value, modified } of items) {
    const length = bytes.write(key, at, 'utf8');
    header[i++] = at + length;
    header[i++] = value.length;
    header[i++] = modified;
    copyBytes(bytes, at + length, value);
    at += length + value.length;
  }
  return { count: items.length, memory };
}

/** Reads the objects of a page by their positions in it, from 0 on. */
export class PageReader {
  readonly count: number;
  readonly #header: Float64Array;
  readonly #bytes: Buffer;

  constructor({ count, memory }: StartPage) {
    this.count = count;
    this.#header = new Float64Array(memory, 0, count * HEADER);
    this.#bytes = Buffer.from(memory);
  }

  keyAt(position: number): string {
    return this.#bytes.toString('utf8', this.#keyBegin(position), this.#header[position * HEADER]);
  }

  entryAt(position: number): Entry {
    const at = position * HEADER;
    const place = { buffer: this.#bytes.buffer, byteOffset: this.#header[at]!, length: this.#header[at + 1]! };
    return new Entry(this.keyAt(position), this.#header[at + 2]!, place);
  }

  /** Whether the store could read all objects of the page. */
  get isReadable(): boolean {
    for (let i = 0; i < this.count; i++) {
      if (!isReadable(this.#bytes, this.#header[i * HEADER])) return false;
    }
    return true;
  }

  /**
   * Compares the key at a position with `key` by their bytes: negative if it comes before `key`, zero if they are
   * equal.
   */
  compareAt(position: number, key: Uint8Array): number {
    const begin = this.#keyBegin(position);
    const length = this.#header[position * HEADER]! - begin;
    const common = Math.min(length, key.length);
    for (let i = 0; i < common; i++) {
      const difference = this.#bytes[begin + i]! - key[i]!;
      if (difference !== 0) return difference;
    }
    return length - key.length;
  }

  #keyBegin(position: number): number {
    const before = (position - 1) * HEADER;
    return before < 0 ? this.#header.byteLength : this.#header[before]! + this.#header[before + 1]!;
  }
}

/** The key of the first object of a page; '' if there is none. */
export const firstKeyIn = (page: StartPage): string => (page.count > 0 ? new PageReader(page).keyAt(0) : '');

/** The greatest revision of the objects of a page. */
export function lastRevisionIn({ count, memory }: StartPage): number {
  const header = new Float64Array(memory, 0, count * HEADER);
  let last = 0;
  for (let i = HEADER - 1; i < header.length; i += HEADER) last = Math.max(last, header[i]!);
  return last;
}

/** Calls `take` with the objects of a page, in order. */
export function readStartPage(page: StartPage, take: (entry: Entry) => void): void {
  const reader = new PageReader(page);
  for (let i = 0; i < reader.count; i++) take(reader.entryAt(i));
}
