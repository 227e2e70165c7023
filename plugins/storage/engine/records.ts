/** Writes that become durable together. Rows are copied or kept as they are until `write` resolves; callers do not change them. */
export interface Batch {
  put(key: Buffer, value: Buffer): void;
  remove(key: Buffer): void;
  /** All or nothing; with `sync`, survives a power failure once resolved. Used once. */
  write(sync: boolean): Promise<void>;
}

/** One row of a scan. */
export interface Row {
  readonly key: Buffer;
  readonly value: Buffer;
}

/** The ordered records underneath the engine: what a storage of the embedded kind has to supply. Keys are compared as bytes. */
export interface Records {
  batch(): Batch;
  /** Values in the order of the keys, undefined for keys that are not there. */
  getMany(keys: readonly Buffer[]): Promise<(Buffer | undefined)[]>;
  /** Rows with from <= key < to as of the call, in order, several at a time. */
  scan(from: Buffer, to: Buffer): AsyncIterable<readonly Row[]>;
  close(): Promise<void>;
}

/** A change as its event record tells it; deletions have version 0 and `created` of what they removed. */
export interface Change {
  readonly revision: number;
  readonly index: number;
  readonly key: string;
  readonly created: number;
  readonly version: number;
  /** The version it replaced or removed; modified 0 for none. */
  readonly before: { readonly modified: number; readonly created: number; readonly version: number };
}

/** Number of the record layout; an unknown one is refused at open. */
export const FORMAT = 1;

/** Bytes before the object in a value record: created (8), version (4). */
export const VALUE_HEADER = 12;
const EVENT_HEADER = 32;

/** Writes a number below 2^53 as 8 bytes, big-endian, so that byte order is numeric order. */
export function writeRevision(to: Buffer, revision: number, at: number): void {
  to.writeUInt32BE(Math.floor(revision / 0x100000000), at);
  to.writeUInt32BE(revision % 0x100000000, at + 4);
}

/** Reads what writeRevision wrote. */
export const readRevision = (from: Buffer, at: number): number => from.readUInt32BE(at) * 0x100000000 + from.readUInt32BE(at + 4);

/** `v/<key>\0<revision>`: a value. The suffix has a fixed size, so keys that hold zero bytes stay distinct. */
export function valueKey(key: string, revision: number): Buffer {
  const length = Buffer.byteLength(key);
  const row = Buffer.allocUnsafe(length + 11);
  row.write('v/', 0, 'latin1');
  row.write(key, 2, 'utf8');
  row[length + 2] = 0;
  writeRevision(row, revision, length + 3);
  return row;
}

/** `i/<key>`: the newest version of a key, so that opening does not read values. */
export const indexKey = (key: string): Buffer => Buffer.from(`i/${key}`);

/** Key of a record of the store itself: `m/format`, `m/id`, `m/compacted`. */
export const metaKey = (name: 'format' | 'id' | 'compacted'): Buffer => Buffer.from(`m/${name}`);

/** `e/<revision><index>`: an event. */
export function eventKey(revision: number, index = 0): Buffer {
  const row = Buffer.allocUnsafe(14);
  row.write('e/', 0, 'latin1');
  writeRevision(row, revision, 2);
  row.writeUInt32BE(index, 10);
  return row;
}

/** Content of an index record. */
export function encodeIndex(modified: number, created: number, version: number): Buffer {
  const row = Buffer.allocUnsafe(20);
  writeRevision(row, modified, 0);
  writeRevision(row, created, 8);
  row.writeUInt32BE(version, 16);
  return row;
}

/** Reads what encodeIndex wrote. */
export const decodeIndex = (row: Buffer) => ({
  modified: readRevision(row, 0),
  created: readRevision(row, 8),
  version: row.readUInt32BE(16),
});

/** Content of an event record. */
export function encodeChange(change: Change): Buffer {
  const length = Buffer.byteLength(change.key);
  const row = Buffer.allocUnsafe(EVENT_HEADER + length);
  writeRevision(row, change.created, 0);
  row.writeUInt32BE(change.version, 8);
  writeRevision(row, change.before.modified, 12);
  writeRevision(row, change.before.created, 20);
  row.writeUInt32BE(change.before.version, 28);
  row.write(change.key, EVENT_HEADER, 'utf8');
  return row;
}

/** Reads an event record. */
export function decodeChange({ key, value }: Row): Change {
  return {
    revision: readRevision(key, 2),
    index: key.readUInt32BE(10),
    key: value.toString('utf8', EVENT_HEADER),
    created: readRevision(value, 0),
    version: value.readUInt32BE(8),
    before: { modified: readRevision(value, 12), created: readRevision(value, 20), version: value.readUInt32BE(28) },
  };
}

/**
 * A value record with the object in it, assembled once: `gap` tells where the digits of the revision go. The object is the record from
 * VALUE_HEADER on.
 */
export function encodeValue(
  value: Uint8Array,
  gap: number | undefined,
  revision: number,
  created: number,
  version: number,
): Buffer {
  const digits = gap === undefined ? '' : String(revision);
  const row = Buffer.allocUnsafe(VALUE_HEADER + value.length + digits.length);
  writeRevision(row, created, 0);
  row.writeUInt32BE(version, 8);
  if (gap === undefined) {
    row.set(value, VALUE_HEADER);
    return row;
  }
  row.set(gap === value.length ? value : value.subarray(0, gap), VALUE_HEADER);
  row.write(digits, VALUE_HEADER + gap, 'latin1');
  if (gap < value.length) row.set(value.subarray(gap), VALUE_HEADER + gap + digits.length);
  return row;
}
