import { type Stored, StoreError } from '../../../core/api/index.js';
import { withoutTrailing } from '../../../core/model/text/trailing.js';
import { randomBytes } from '../../../core/runtime/random.js';
import { readValue, type ValueCodec } from '../values.js';
import type { KeyValue } from './protocol.js';

/**
 * A stored value consists of the format (1 byte), the gap (4 bytes, all ones for none), the transaction id (16 bytes)
 * and the object. etcd assigns the revision after the value is sent, so its digits are inserted into the gap when the
 * value is read. The transaction id shows after a lost connection whether the transaction was committed.
 */
const HEADER = 21;
const ID_OFFSET = 5;
const ID_BYTES = 16;
/** Stored as the gap of an object without a revision to insert. */
const NO_GAP = 0xffffffff;
/** The version of the format of values. */
const FORMAT = 1;

/** Prefix of the transaction ids of this process. */
const PROCESS_PREFIX = randomBytes(8);
let transactions = 0;

/** A new transaction id, unique among all servers. */
export function newTransactionId(): Buffer {
  const transactionId = Buffer.allocUnsafe(ID_BYTES);
  PROCESS_PREFIX.copy(transactionId);
  transactionId.writeDoubleBE(++transactions, PROCESS_PREFIX.length);
  return transactionId;
}

/** A stored value with an object, before it is encoded (ValueCodec). */
export function storedValue(value: Uint8Array, gap: number | undefined, transactionId: Buffer): Buffer {
  const stored = Buffer.allocUnsafe(HEADER + value.length);
  stored[0] = FORMAT;
  stored.writeUInt32BE(gap ?? NO_GAP, 1);
  transactionId.copy(stored, ID_OFFSET);
  stored.set(value, HEADER);
  return stored;
}

/** Inserts the digits of the revision into the gap of an object. */
export function fillGap(value: Uint8Array, gap: number | undefined, revision: number): Uint8Array {
  if (gap === undefined) return value;
  return Buffer.concat([value.subarray(0, gap), Buffer.from(String(revision)), value.subarray(gap)]);
}

/** The position of the digits of the revision in the object of a stored value. Throws StoreError for another format. */
function gapOf(stored: Buffer, key: string): number | undefined {
  if (stored[0] !== FORMAT || stored.length < HEADER) {
    const what =
      stored.length < HEADER
        ? 'is not an object of this server'
        : `has format ${stored[0]}, this version reads format ${FORMAT}`;
    throw new StoreError(`the value of ${JSON.stringify(key)} in etcd ${what}: run the version that wrote it`);
  }
  const gap = stored.readUInt32BE(1);
  return gap === NO_GAP ? undefined : gap;
}

/**
 * The object of a stored value that was not encoded further, without the digits of the revision, and the gap for them.
 * Throws StoreError for an unknown format.
 */
export const splitValue = (stored: Buffer, key: string): { readonly value: Uint8Array; readonly gap?: number } => {
  const gap = gapOf(stored, key);
  return { value: stored.subarray(HEADER), ...(gap === undefined ? {} : { gap }) };
};

/** Whether a stored value was written by the transaction with this id. */
export const hasTransactionId = (stored: Buffer, transactionId: Buffer): boolean =>
  stored.subarray(ID_OFFSET, HEADER).equals(transactionId);

/** Encodes keys as `<prefix>/<key>`. The empty key is that of the store's own record. */
export class Keys {
  readonly #text: string;
  readonly #prefix: Buffer;
  /**
   * The key by which servers agree on the compactor. It is outside of the objects' range, so that watches ignore it.
   */
  readonly compaction: Buffer;

  constructor(prefix: string) {
    const withoutSlash = withoutTrailing(prefix, '/');
    this.#text = `${withoutSlash}/`;
    this.#prefix = Buffer.from(this.#text);
    this.compaction = Buffer.from(`${withoutSlash}.compaction`);
  }

  /** The key of the store's record (format and secret). Writing it again makes a revision that all watches receive. */
  get record(): Buffer {
    return this.#prefix;
  }

  encode(key: string): Buffer {
    return Buffer.from(this.#text + key);
  }

  decode(key: Buffer): string {
    return key.toString('utf8', this.#prefix.length);
  }

  /** The bounds of the objects with `prefix` after the key `after`: first key, and end (exclusive). */
  range(prefix: string, after = ''): { readonly key: Buffer; readonly range_end: Buffer } {
    const start = this.encode(prefix);
    const next = Buffer.concat([this.encode(after), Buffer.of(0)]);
    return { key: Buffer.compare(next, start) > 0 ? next : start, range_end: rangeEnd(start) };
  }

  /** The bounds of the record and all objects, which watches use. */
  all(): { readonly key: Buffer; readonly range_end: Buffer } {
    return { key: this.#prefix, range_end: rangeEnd(this.#prefix) };
  }
}

/** How keys and values are stored. */
export class Encoding {
  readonly keys: Keys;

  constructor(
    prefix: string,
    readonly values: ValueCodec,
  ) {
    this.keys = new Keys(prefix);
  }

  /** The bytes that are stored for an object. */
  encodeValue(key: string, value: Uint8Array, gap: number | undefined, transactionId: Buffer): Buffer {
    return this.values.encode(key, storedValue(value, gap, transactionId), HEADER);
  }

  /** The object of a stored value, or that it is unreadable, because its format is unknown or it cannot be decoded. */
  decodeValue(stored: Buffer, revision: number, key: string): Uint8Array {
    return readValue(() => {
      const gap = gapOf(stored, key);
      return fillGap(this.values.decode(key, stored, HEADER), gap, revision);
    });
  }

  /** Must be awaited before these values are decoded (`ValueCodec.prepare`). */
  prepare(items: readonly KeyValue[]): Promise<unknown> | undefined {
    return this.values.prepare?.(
      items.map(({ key, value }) => ({ key: this.keys.decode(key), record: value })),
      HEADER,
    );
  }

  toStored(item: KeyValue): Stored {
    const key = this.keys.decode(item.key);
    return {
      key,
      value: this.decodeValue(item.value, item.mod_revision, key),
      created: item.create_revision,
      modified: item.mod_revision,
      version: item.version,
    };
  }
}

/** The first key after all keys with `prefix`. In etcd, a single zero byte means no end. */
function rangeEnd(prefix: Buffer): Buffer {
  const end = Buffer.from(prefix);
  for (let i = end.length - 1; i >= 0; i--) {
    if (end[i]! === 0xff) continue;
    end[i]!++;
    return end.subarray(0, i + 1);
  }
  return Buffer.of(0);
}
