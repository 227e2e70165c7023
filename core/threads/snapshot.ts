import { Entry } from './entry.js';

/** An object of a snapshot. */
export interface SnapshotItem {
  readonly key: string;
  readonly modified: number;
  readonly value: Uint8Array;
}

/**
 * Objects in one buffer: first the length of the key, the length of the value and the revision of each object, as three
 * 64-bit floats; then the key and the value of each.
 */
export interface SnapshotPage {
  readonly count: number;
  readonly memory: ArrayBufferLike;
}

const HEADER = 3;
const HEADER_BYTES = HEADER * Float64Array.BYTES_PER_ELEMENT;

/**
 * Packs a page. A starting thread reads all objects at once, and a JavaScript object for each item would be cloned and
 * queued, and would soon be garbage. With `shared`, the page is in memory that several threads keep and none may write
 * to, and that is not part of any heap.
 */
export function packSnapshot(items: readonly SnapshotItem[], shared: boolean): SnapshotPage {
  let size = items.length * HEADER_BYTES;
  for (const { key, value } of items) size += Buffer.byteLength(key) + value.length;
  const memory = shared ? new SharedArrayBuffer(size) : new ArrayBuffer(size);
  const header = new Float64Array(memory, 0, items.length * HEADER);
  const bytes = Buffer.from(memory);
  let at = header.byteLength;
  let i = 0;
  for (const { key, value, modified } of items) {
    const length = bytes.write(key, at, 'utf8');
    header[i++] = length;
    header[i++] = value.length;
    header[i++] = modified;
    bytes.set(value, at + length);
    at += length + value.length;
  }
  return { count: items.length, memory };
}

/** Calls `take` with the objects of a page, in order. */
export function readSnapshot({ count, memory }: SnapshotPage, take: (entry: Entry) => void): void {
  const header = new Float64Array(memory, 0, count * HEADER);
  const bytes = Buffer.from(memory);
  let at = header.byteLength;
  for (let i = 0; i < count; i++) {
    const value = at + header[i * HEADER]!;
    const length = header[i * HEADER + 1]!;
    const place = { buffer: memory, byteOffset: value, length };
    take(new Entry(bytes.toString('utf8', at, value), header[i * HEADER + 2]!, place));
    at = value + length;
  }
}
