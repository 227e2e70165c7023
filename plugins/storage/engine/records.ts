import { crc32 } from 'node:zlib';
import { StoreError } from '../../../core/api/index.js';

/** Writes that are applied atomically. Callers must not modify the buffers until `write` has resolved. */
export interface Batch {
  put(key: Buffer, value: Buffer): void;
  remove(key: Buffer): void;
  /** Writes all changes or none. With `sync`, they survive a power failure once resolved. May be called once. */
  write(sync: boolean): Promise<void>;
}

/** One row of a scan. */
export interface Row {
  readonly key: Buffer;
  readonly value: Buffer;
}

/** Ordered records, which an embedded store implements for the engine. Keys are compared as bytes. */
export interface Records {
  batch(): Batch;
  /** Values in the order of the keys; undefined for absent keys. */
  getMany(keys: readonly Buffer[]): Promise<(Buffer | undefined)[]>;
  /** Rows with from <= key < to as of the call, in order, in chunks of about `bytes` if supported. */
  scan(from: Buffer, to: Buffer, bytes?: number): AsyncIterable<readonly Row[]>;
  /** Resolves if a write fails after its `write` has resolved. Reads may reject then, and no write may follow. */
  readonly failed?: Promise<Error>;
  close(): Promise<void>;
}

/** A change in an event record. A deletion has version 0 and the `created` revision of the deleted version. */
export interface Change {
  readonly revision: number;
  readonly index: number;
  readonly key: string;
  readonly created: number;
  readonly version: number;
  /** The version it replaced or removed; modified 0 for none. */
  readonly before: { readonly modified: number; readonly created: number; readonly version: number };
}

/** Advice in errors of damaged stores. */
export const REMEDY = 'restore a snapshot, or run `capstan store recover`';

/**
 * The version of the record layout. A store of format 2 has the same rows, but no commit log; one of format 3 may have
 * custom kinds among the keys of built-in ones (core/schema/storageLayout.ts). Either is opened, and is of this format
 * from then on, so that no earlier release opens it and misses the values that it does not find.
 */
export const FORMAT = 4;
const FORMATS: readonly string[] = ['2', '3', String(FORMAT)];

/** Returns why this version cannot read a store of a format; undefined if it can. */
export const findFormatProblem = (format: string): string | undefined =>
  FORMATS.includes(format)
    ? undefined
    : `the store has format ${format}, this version reads formats ${FORMATS.join(', ')}`;

/** Bytes before the object in a value record: checksum (4), created (8), version (4). */
export const VALUE_HEADER = 16;
/**
 * Bytes before the key in an event record: checksum (4), created (8), version (4); modified, created and version before
 * (20).
 */
const EVENT_HEADER = 36;
const CHECKSUM = 4;

/** For fewer bytes, the checksum is computed here, which takes less time than the call of a native function. */
const NATIVE_BYTES = 128;
const CRC_TABLE = Int32Array.from({ length: 256 }, (_, n) => {
  let value = n;
  for (let bit = 0; bit < 8; bit++) value = value & 1 ? (value >>> 1) ^ 0xedb88320 : value >>> 1;
  return value;
});

/** The CRC-32 of bytes from a position on, which follow those that have the CRC-32 `before`. */
function crcOf(bytes: Buffer, from: number, before: number): number {
  if (bytes.length - from > NATIVE_BYTES) return crc32(bytes.subarray(from), before);
  let sum = ~before;
  for (let i = from; i < bytes.length; i++) sum = CRC_TABLE[(sum ^ bytes[i]!) & 0xff]! ^ (sum >>> 8);
  return ~sum >>> 0;
}

/** The checksum of a row: the CRC-32 of its key, followed by its content. */
const checksumOf = (key: Buffer, row: Buffer): number => crcOf(row, CHECKSUM, crcOf(key, 0, 0));

/**
 * Writes the checksum of a row's key and content into its first bytes. RocksDB verifies its own checksums in some reads
 * only, and not in scans.
 */
export function withChecksum(key: Buffer, row: Buffer): Buffer {
  row.writeUInt32BE(checksumOf(key, row), 0);
  return row;
}

/** Returns the content of a row. Throws StoreError if its checksum is wrong. */
export function verifyChecksum({ key, value }: Row): Buffer {
  if (value.length > CHECKSUM && checksumOf(key, value) === value.readUInt32BE(0)) return value;
  throw new StoreError(
    `the store is damaged: the row ${JSON.stringify(key.toString('latin1'))} fails its checksum; ${REMEDY}`,
  );
}

/** Writes a number below 2^53 as 8 big-endian bytes, whose byte order is the numeric order. */
export function writeRevision(to: Buffer, revision: number, at: number): void {
  to.writeUInt32BE(Math.floor(revision / 0x100000000), at);
  to.writeUInt32BE(revision % 0x100000000, at + 4);
}

/** Reads a revision that `writeRevision` wrote. */
export const readRevision = (from: Buffer, at: number): number =>
  from.readUInt32BE(at) * 0x100000000 + from.readUInt32BE(at + 4);

/** Key of a value record: `v/<key>\0<revision>`. The suffix has a fixed size, so keys may contain zero bytes. */
export function valueKey(key: string, revision: number): Buffer {
  const length = Buffer.byteLength(key);
  const row = Buffer.allocUnsafe(length + 11);
  row.write('v/', 0, 'latin1');
  row.write(key, 2, 'utf8');
  row[length + 2] = 0;
  writeRevision(row, revision, length + 3);
  return row;
}

/** Whether a row's key is that of a value record of `key` at a revision. */
export function isValueKey(row: Buffer, key: string, revision: number): boolean {
  const end = row.length - 9;
  if (readRevision(row, end + 1) !== revision) return false;
  for (let i = 0; i < key.length; i++) {
    const unit = key.charCodeAt(i);
    if (unit > 0x7f) return row.equals(valueKey(key, revision));
    if (row[i + 2] !== unit) return false;
  }
  return end === key.length + 2;
}

/** Key of an index record: `i/<key>`. It holds the newest version, so that opening a store does not read values. */
export const indexKey = (key: string): Buffer => Buffer.from(`i/${key}`);

/** Key of a record of the store itself; `moving` exists while keys get the current layout. */
export const metaKey = (name: 'format' | 'id' | 'compacted' | 'state' | 'moving'): Buffer => Buffer.from(`m/${name}`);

/** Whether keys are getting the current layout: rows do not agree until all have it. */
export async function isMoveIncomplete(records: Pick<Records, 'getMany'>): Promise<boolean> {
  const [row] = await records.getMany([metaKey('moving')]);
  return row !== undefined;
}

/** Bounds of all event, index or value records. */
export const rowBounds = (kind: 'e' | 'i' | 'v'): readonly [Buffer, Buffer] => [
  Buffer.from(`${kind}/`),
  Buffer.from(`${kind}0`),
];

/** Key of an event record: `e/<revision><index>`. */
export function eventKey(revision: number, index = 0): Buffer {
  const row = Buffer.allocUnsafe(14);
  row.write('e/', 0, 'latin1');
  writeRevision(row, revision, 2);
  row.writeUInt32BE(index, 10);
  return row;
}

/** Content of an index record. */
export function encodeIndex(key: Buffer, modified: number, created: number, version: number): Buffer {
  const row = Buffer.allocUnsafe(CHECKSUM + 20);
  writeRevision(row, modified, 4);
  writeRevision(row, created, 12);
  row.writeUInt32BE(version, 20);
  return withChecksum(key, row);
}

/** Decodes an index record. Throws StoreError if it is damaged. */
export function decodeIndex(row: Row) {
  const value = verifyChecksum(row);
  return { modified: readRevision(value, 4), created: readRevision(value, 12), version: value.readUInt32BE(20) };
}

/**
 * The state record, which every commit writes to detect objects missing from the index: the revision, the number of
 * objects, and the sum of their modification revisions modulo 2^32.
 */
export interface StateRow {
  readonly revision: number;
  readonly objects: number;
  readonly sum: number;
}

/** Content of the state record. */
export function encodeState({ revision, objects, sum }: StateRow): Buffer {
  const row = Buffer.allocUnsafe(20);
  writeRevision(row, revision, 0);
  writeRevision(row, objects, 8);
  row.writeUInt32BE(sum, 16);
  return row;
}

/** Decodes the state record. */
export const decodeState = (row: Buffer): StateRow => ({
  revision: readRevision(row, 0),
  objects: readRevision(row, 8),
  sum: row.readUInt32BE(16),
});

/** Decodes the header of a value record. */
export const decodeValueHeader = (row: Buffer) => ({ created: readRevision(row, 4), version: row.readUInt32BE(12) });

/** Decodes the key of a value record. */
export const decodeValueKey = (row: Buffer) => ({
  key: row.toString('utf8', 2, row.length - 9),
  modified: readRevision(row, row.length - 8),
});

/** Content of an event record. */
export function encodeChange(key: Buffer, change: Change): Buffer {
  const length = Buffer.byteLength(change.key);
  const row = Buffer.allocUnsafe(EVENT_HEADER + length);
  writeRevision(row, change.created, 4);
  row.writeUInt32BE(change.version, 12);
  writeRevision(row, change.before.modified, 16);
  writeRevision(row, change.before.created, 24);
  row.writeUInt32BE(change.before.version, 32);
  row.write(change.key, EVENT_HEADER, 'utf8');
  return withChecksum(key, row);
}

/** Decodes an event record. Throws StoreError if it is damaged. */
export function decodeChange(row: Row): Change {
  const value = verifyChecksum(row);
  return {
    revision: readRevision(row.key, 2),
    index: row.key.readUInt32BE(10),
    key: value.toString('utf8', EVENT_HEADER),
    created: readRevision(value, 4),
    version: value.readUInt32BE(12),
    before: { modified: readRevision(value, 16), created: readRevision(value, 24), version: value.readUInt32BE(32) },
  };
}

/**
 * A value record before it is encoded (ValueCodec) and gets its checksum. `gap` is the position at which the digits of
 * the revision are inserted into the object. The object begins at VALUE_HEADER.
 */
export function valueRecord(
  value: Uint8Array,
  gap: number | undefined,
  revision: number,
  created: number,
  version: number,
): Buffer {
  const digits = gap === undefined ? '' : String(revision);
  const row = Buffer.allocUnsafe(VALUE_HEADER + value.length + digits.length);
  writeRevision(row, created, 4);
  row.writeUInt32BE(version, 12);
  const before = gap ?? value.length;
  row.set(before === value.length ? value : value.subarray(0, before), VALUE_HEADER);
  row.write(digits, VALUE_HEADER + before, 'latin1');
  if (before < value.length) row.set(value.subarray(before), VALUE_HEADER + before + digits.length);
  return row;
}
