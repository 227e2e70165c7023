import { createHash } from 'node:crypto';
import type { Stored } from '../api/storage.js';

/**
 * Where a running server gives a snapshot of its store: a path like any other, so that whoever may read it is a matter
 * of authorization (verb get).
 */
export const SNAPSHOT_PATH = '/store/snapshot';

/**
 * A snapshot: every object of a store at one revision, in one file.
 *
 *   `capstan-snapshot 1 {"revision":…,"objects":…,"store":…,"created":…}` and a line feed,
 *   per object: bytes of the key (4), bytes of the value (4), revision that created it (8), that last changed it (8),
 *   its version (4), key, value,
 *   an end mark (4 bytes of 0xff), the number of objects (8), SHA-256 of everything before it (32).
 *
 * Numbers are big-endian. Keys are in neutral names, whatever names the server speaks.
 */
export interface SnapshotHeader {
  readonly revision: number;
  readonly objects: number;
  /** Name of the backend it was taken from, and when, for whoever looks at it. */
  readonly store: string;
  readonly created: string;
}

/** A file that is no snapshot, or a damaged or incomplete one. */
export class SnapshotError extends Error {}

const MAGIC = 'capstan-snapshot 1 ';
/** Bytes of the first line: a small JSON object. */
const HEADER_BYTES = 4096;
const ROW_BYTES = 28;
const END = 0xffffffff;
const TRAILER_BYTES = 12;
const DIGEST_BYTES = 32;
/** Longer keys and values are no store's; a damaged length must not claim memory. */
const KEY_BYTES = 64 * 1024;
const VALUE_BYTES = 64 * 1024 * 1024;

const u64 = (value: number, to: Buffer, at: number): void => void to.writeBigUInt64BE(BigInt(value), at);

/** Makes the bytes of a snapshot, piece by piece, to be written in this order: `header`, `rows`…, `end`. */
export class SnapshotWriter {
  readonly #hash = createHash('sha256');
  #objects = 0;

  header(header: SnapshotHeader): Buffer {
    return this.#hashed(Buffer.from(`${MAGIC}${JSON.stringify(header)}\n`));
  }

  rows(objects: readonly Stored[]): Buffer {
    const pieces: Uint8Array[] = [];
    for (const { key, value, created, modified, version } of objects) {
      const name = Buffer.from(key);
      const head = Buffer.alloc(ROW_BYTES);
      head.writeUInt32BE(name.length, 0);
      head.writeUInt32BE(value.length, 4);
      u64(created, head, 8);
      u64(modified, head, 16);
      head.writeUInt32BE(version, 24);
      pieces.push(head, name, value);
    }
    this.#objects += objects.length;
    return this.#hashed(Buffer.concat(pieces));
  }

  end(): Buffer {
    const trailer = Buffer.alloc(TRAILER_BYTES);
    trailer.writeUInt32BE(END, 0);
    u64(this.#objects, trailer, 4);
    return Buffer.concat([this.#hashed(trailer), this.#hash.digest()]);
  }

  #hashed(bytes: Buffer): Buffer {
    this.#hash.update(bytes);
    return bytes;
  }
}

/** Reads a snapshot from its bytes in order. Objects given out are only to be believed once `end` has returned. */
export class SnapshotReader {
  readonly #hash = createHash('sha256');
  #rest: Buffer = Buffer.alloc(0);
  #header: SnapshotHeader | undefined;
  #objects = 0;
  #complete = false;

  /** The objects that are whole with these bytes. Throws SnapshotError. */
  take(bytes: Buffer): Stored[] {
    this.#rest = this.#rest.length > 0 ? Buffer.concat([this.#rest, bytes]) : bytes;
    if (!this.#header && !this.#readHeader()) return [];
    const objects: Stored[] = [];
    let at = 0;
    for (let length = this.#rowLength(at); length > 0; length = this.#rowLength(at)) {
      objects.push(rowAt(this.#rest, at));
      at += length;
    }
    this.#objects += objects.length;
    this.#drop(at);
    return objects;
  }

  /**
   * All bytes were given. Returns the header of a complete snapshot whose checksum is good; throws SnapshotError else.
   */
  end(): SnapshotHeader {
    const header = this.#header;
    if (!header) throw new SnapshotError('it is no snapshot');
    if (!this.#complete || this.#rest.length < TRAILER_BYTES + DIGEST_BYTES)
      throw new SnapshotError('it is incomplete: its end is missing');
    if (this.#rest.length > TRAILER_BYTES + DIGEST_BYTES)
      throw new SnapshotError('it is damaged: bytes follow its end');
    const digest = this.#rest.subarray(TRAILER_BYTES);
    this.#hash.update(this.#rest.subarray(0, TRAILER_BYTES));
    if (!this.#hash.digest().equals(digest)) throw new SnapshotError('it is damaged: its checksum is wrong');
    if (Number(this.#rest.readBigUInt64BE(4)) !== this.#objects || header.objects !== this.#objects)
      throw new SnapshotError(`it is damaged: it holds ${this.#objects} objects instead of ${header.objects}`);
    return header;
  }

  /** Known once its line has been given. */
  get header(): SnapshotHeader | undefined {
    return this.#header;
  }

  #readHeader(): boolean {
    const line = this.#rest.indexOf(10);
    if (line < 0 && this.#rest.length < HEADER_BYTES) return false;
    const text = this.#rest.toString('utf8', 0, Math.max(line, 0));
    if (line < 0 || line > HEADER_BYTES || !text.startsWith(MAGIC))
      throw new SnapshotError('it is no snapshot of this version');
    this.#header = headerOf(text.slice(MAGIC.length));
    this.#drop(line + 1);
    return true;
  }

  /** Bytes of the whole row at `at`; 0 if it is not whole yet, or the end. */
  #rowLength(at: number): number {
    if (this.#complete || this.#rest.length < at + 4) return 0;
    const key = this.#rest.readUInt32BE(at);
    if (key === END) {
      this.#complete = true;
      return 0;
    }
    if (this.#rest.length < at + 8) return 0;
    const value = this.#rest.readUInt32BE(at + 4);
    if (key > KEY_BYTES || value > VALUE_BYTES) throw new SnapshotError('it is damaged: a length in it is impossible');
    const length = ROW_BYTES + key + value;
    return this.#rest.length < at + length ? 0 : length;
  }

  #drop(bytes: number): void {
    this.#hash.update(this.#rest.subarray(0, bytes));
    this.#rest = this.#rest.subarray(bytes);
  }
}

function rowAt(bytes: Buffer, at: number): Stored {
  const key = bytes.readUInt32BE(at);
  const start = at + ROW_BYTES;
  return {
    key: bytes.toString('utf8', start, start + key),
    value: bytes.subarray(start + key, start + key + bytes.readUInt32BE(at + 4)),
    created: Number(bytes.readBigUInt64BE(at + 8)),
    modified: Number(bytes.readBigUInt64BE(at + 16)),
    version: bytes.readUInt32BE(at + 24),
  };
}

function headerOf(json: string): SnapshotHeader {
  try {
    const { revision, objects, store, created } = JSON.parse(json) as SnapshotHeader;
    if (Number.isSafeInteger(revision) && Number.isSafeInteger(objects))
      return { revision, objects, store: String(store), created: String(created) };
  } catch {
    // Told below.
  }
  throw new SnapshotError('it is damaged: its first line cannot be read');
}
