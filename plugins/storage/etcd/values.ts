import { randomBytes } from 'node:crypto';
import type { Stored } from '../../../core/api/index.js';
import type { KeyValue } from './protocol.js';

/**
 * A stored value is: gap (4 bytes, all ones for none), mark (16), the object. etcd gives the revision only after the value is sent, so the digits are filled in
 * when it is read. The mark is unique per transaction: after a cut connection it tells whether the transaction took place.
 */
const HEADER = 20;
const NO_GAP = 0xffffffff;

/** A new mark. */
export const newMark = (): Buffer => randomBytes(16);

/** The stored form of an object. */
export function encode(value: Uint8Array, gap: number | undefined, mark: Buffer): Buffer {
  const stored = Buffer.allocUnsafe(HEADER + value.length);
  stored.writeUInt32BE(gap ?? NO_GAP, 0);
  mark.copy(stored, 4);
  stored.set(value, HEADER);
  return stored;
}

/** The object of a stored form, with the digits of its revision in the gap. */
export function decode(stored: Buffer, revision: number): Buffer {
  const gap = stored.readUInt32BE(0);
  const value = stored.subarray(HEADER);
  if (gap === NO_GAP) return value;
  return Buffer.concat([value.subarray(0, gap), Buffer.from(String(revision)), value.subarray(gap)]);
}

/** Whether a stored form was written by the transaction with this mark. */
export const hasMark = (stored: Buffer, mark: Buffer): boolean => stored.subarray(4, HEADER).equals(mark);

/** Keys under the prefix of this store. */
export class Keys {
  readonly #prefix: Buffer;

  constructor(prefix: string) {
    this.#prefix = Buffer.from(prefix);
  }

  encode(key: string): Buffer {
    return Buffer.concat([this.#prefix, Buffer.from(key)]);
  }

  decode(key: Buffer): string {
    return key.toString('utf8', this.#prefix.length);
  }

  /** First and (excluded) last key of a range. */
  range(prefix: string, after?: string): { readonly key: Buffer; readonly range_end: Buffer } {
    const start = this.encode(prefix);
    const next = after === undefined ? start : Buffer.concat([this.encode(after), Buffer.of(0)]);
    return { key: Buffer.compare(next, start) > 0 ? next : start, range_end: successor(start) };
  }

  stored(item: KeyValue): Stored {
    return {
      key: this.decode(item.key),
      value: decode(item.value, item.mod_revision),
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
