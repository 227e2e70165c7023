import { createHash } from 'node:crypto';
import type { Stored } from '../../api/storage.js';
import { inCurrentLayout } from '../../schema/storageLayout.js';
import { readBlock } from './blocks.js';
import {
  DIGEST_BYTES,
  damagedError,
  FORMAT,
  HEADER_BYTES,
  MAGIC,
  type PartReader,
  SnapshotError,
  type SnapshotHeader,
  TRAILER_BYTES,
} from './format.js';
import { readRow } from './rows1.js';

/** The readers of the supported formats. */
const READERS: { readonly [format: string]: PartReader | undefined } = {
  1: withFormerKeys(readRow),
  2: withFormerKeys(readBlock),
  [FORMAT]: readBlock,
};

/** Reads objects whose keys have the former layout, as if they had the current one. */
function withFormerKeys(read: PartReader): PartReader {
  return (bytes, at) => {
    const part = read(bytes, at);
    return part.is === 'objects' ? { ...part, objects: part.objects.map(inCurrentLayout) } : part;
  };
}

/** Reads a snapshot from its bytes in order. The returned objects are not verified until `end` has returned. */
export class SnapshotReader {
  readonly #hash = createHash('sha256');
  #rest: Buffer = Buffer.alloc(0);
  #header: SnapshotHeader | undefined;
  #readPiece: PartReader = readBlock;
  #objects = 0;
  #isComplete = false;

  /** Whether the objects had keys of the former layout. */
  get isFormer(): boolean {
    return this.#readPiece !== readBlock;
  }

  /** Adds bytes, and returns the objects that are complete. Throws SnapshotError. */
  take(bytes: Buffer): Stored[] {
    this.#rest = this.#rest.length > 0 ? Buffer.concat([this.#rest, bytes]) : bytes;
    if (!this.#header && !this.#readHeader()) return [];
    const objects: Stored[] = [];
    let at = 0;
    while (!this.#isComplete) {
      const piece = this.#readPiece(this.#rest, at);
      if (piece.is === 'incomplete') break;
      if (piece.is === 'end') this.#isComplete = true;
      else {
        for (const object of piece.objects) objects.push(object);
        at += piece.length;
      }
    }
    this.#objects += objects.length;
    this.#drop(at);
    return objects;
  }

  /**
   * Call it after all bytes were added. Returns the header of a complete snapshot with a valid checksum. Throws
   * SnapshotError.
   */
  end(): SnapshotHeader {
    const header = this.#header;
    if (!header) throw new SnapshotError('it is no snapshot');
    if (!this.#isComplete || this.#rest.length < TRAILER_BYTES + DIGEST_BYTES)
      throw new SnapshotError('it is incomplete: its end is missing');
    if (this.#rest.length > TRAILER_BYTES + DIGEST_BYTES) throw damagedError('bytes follow its end');
    const digest = this.#rest.subarray(TRAILER_BYTES);
    this.#hash.update(this.#rest.subarray(0, TRAILER_BYTES));
    if (!this.#hash.digest().equals(digest)) throw damagedError('its checksum is wrong');
    if (Number(this.#rest.readBigUInt64BE(4)) !== this.#objects || header.objects !== this.#objects)
      throw damagedError(`it holds ${this.#objects} objects instead of ${header.objects}`);
    return header;
  }

  #readHeader(): boolean {
    const line = this.#rest.indexOf(10);
    if (line < 0 && this.#rest.length < HEADER_BYTES) return false;
    const text = this.#rest.toString('utf8', 0, Math.max(line, 0));
    const [, format, json] = (text.startsWith(MAGIC) && /^(\d{1,9}) (.*)$/.exec(text.slice(MAGIC.length))) || [];
    if (line > HEADER_BYTES || format === undefined)
      throw new SnapshotError(`it is no snapshot: it does not begin with "${MAGIC.trim()}"`);
    const readPiece = READERS[format];
    if (!readPiece)
      throw new SnapshotError(
        `it has format ${format}, this version reads formats 1 to ${FORMAT}: use the version that wrote it`,
      );
    this.#readPiece = readPiece;
    this.#header = headerOf(json!);
    this.#drop(line + 1);
    return true;
  }

  /** Removes the bytes that were read. */
  #drop(bytes: number): void {
    this.#hash.update(this.#rest.subarray(0, bytes));
    this.#rest = this.#rest.subarray(bytes);
  }
}

function headerOf(json: string): SnapshotHeader {
  try {
    const { revision, objects, store, created } = JSON.parse(json) as SnapshotHeader;
    if (Number.isSafeInteger(revision) && Number.isSafeInteger(objects))
      return { revision, objects, store: String(store), created: String(created) };
  } catch {
    // Reported by the error below.
  }
  throw damagedError('its first line cannot be read');
}
