import { randomBytes } from 'node:crypto';
import { type Stored, StoreError } from '../../../core/api/index.js';
import type { KeyValue } from './protocol.js';

/**
 * A stored value is: format (1 byte), gap (4 bytes, all ones for none), mark (16), the object. etcd gives the revision
 * only after the value is sent, so the digits are filled in when it is read. The mark is unique per transaction: after
 * a cut connection it tells whether the transaction took place.
 */
const HEADER = 21;
const MARK = 5;
const MARK_BYTES = 16;
const NO_GAP = 0xffffffff;
/** Format of values and of the store as a whole. */
export const FORMAT = 1;

/** Of this process: what makes its marks differ from those of others. */
const PROCESS = randomBytes(8);
let marks = 0;

/** A new mark. */
export function newMark(): Buffer {
  const mark = Buffer.allocUnsafe(MARK_BYTES);
  PROCESS.copy(mark);
  mark.writeDoubleBE(++marks, PROCESS.length);
  return mark;
}

/** The stored form of an object. */
export function encode(value: Uint8Array, gap: number | undefined, mark: Buffer): Buffer {
  const stored = Buffer.allocUnsafe(HEADER + value.length);
  stored[0] = FORMAT;
  stored.writeUInt32BE(gap ?? NO_GAP, 1);
  mark.copy(stored, MARK);
  stored.set(value, HEADER);
  return stored;
}

/** An object with the digits of its revision in the gap. */
export function filled(value: Uint8Array, gap: number | undefined, revision: number): Uint8Array {
  if (gap === undefined) return value;
  return Buffer.concat([value.subarray(0, gap), Buffer.from(String(revision)), value.subarray(gap)]);
}

/** The object of a stored form. Throws StoreError for a format that this version does not know. */
export function decode(stored: Buffer, revision: number, key: string): Uint8Array {
  if (stored[0] !== FORMAT || stored.length < HEADER) {
    const what =
      stored.length < HEADER
        ? 'is no object of this server'
        : `has format ${stored[0]}, this version reads format ${FORMAT}`;
    throw new StoreError(`the value of ${JSON.stringify(key)} in etcd ${what}: run the version that wrote it`);
  }
  const gap = stored.readUInt32BE(1);
  return filled(stored.subarray(HEADER), gap === NO_GAP ? undefined : gap, revision);
}

/** Whether a stored form was written by the transaction with this mark. */
export const hasMark = (stored: Buffer, mark: Buffer): boolean => stored.subarray(MARK, HEADER).equals(mark);

/** Keys under the prefix of this store: `<prefix>/<key>`. The empty key is the store's own record. */
export class Keys {
  readonly #text: string;
  readonly #prefix: Buffer;
  /** Who compacts, and when: outside of the range of objects, so that watches do not hear of it. */
  readonly compaction: Buffer;

  constructor(prefix: string) {
    const bare = prefix.replace(/\/+$/, '');
    this.#text = `${bare}/`;
    this.#prefix = Buffer.from(this.#text);
    this.compaction = Buffer.from(`${bare}.compaction`);
  }

  /** The store's record: its format and secret. Writing it again makes a revision that every watch comes to. */
  get record(): Buffer {
    return this.#prefix;
  }

  encode(key: string): Buffer {
    return Buffer.from(this.#text + key);
  }

  decode(key: Buffer): string {
    return key.toString('utf8', this.#prefix.length);
  }

  /** The objects of a range: first and (excluded) last key. */
  range(prefix: string, after = ''): { readonly key: Buffer; readonly range_end: Buffer } {
    const start = this.encode(prefix);
    const next = Buffer.concat([this.encode(after), Buffer.of(0)]);
    return { key: Buffer.compare(next, start) > 0 ? next : start, range_end: successor(start) };
  }

  /** Everything a watch looks at: the record and all objects. */
  all(): { readonly key: Buffer; readonly range_end: Buffer } {
    return { key: this.#prefix, range_end: successor(this.#prefix) };
  }

  stored(item: KeyValue): Stored {
    const key = this.decode(item.key);
    return {
      key,
      value: decode(item.value, item.mod_revision, key),
      created: item.create_revision,
      modified: item.mod_revision,
      version: item.version,
    };
  }
}

/** The first key above all that begin with `prefix`; etcd takes a single zero byte as no end. */
function successor(prefix: Buffer): Buffer {
  const end = Buffer.from(prefix);
  for (let i = end.length - 1; i >= 0; i--) {
    if (end[i]! === 0xff) continue;
    end[i]!++;
    return end.subarray(0, i + 1);
  }
  return Buffer.of(0);
}
