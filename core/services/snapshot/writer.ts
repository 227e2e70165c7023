import { createHash } from 'node:crypto';
import type { Stored } from '../../api/storage.js';
import { encodeBlocks } from './blocks.js';
import { FORMAT, MAGIC, type SnapshotHeader, TRAILER_BYTES } from './format.js';

/** Encodes a snapshot in parts, which must be written in this order: `header`, `rows` (any number), `end`. */
export class SnapshotWriter {
  readonly #hash = createHash('sha256');
  #objects = 0;

  header(header: SnapshotHeader): Buffer {
    return this.#updateHash(Buffer.from(`${MAGIC}${FORMAT} ${JSON.stringify(header)}\n`));
  }

  rows(objects: readonly Stored[]): Buffer {
    this.#objects += objects.length;
    return this.#updateHash(encodeBlocks(objects));
  }

  end(): Buffer {
    const trailer = Buffer.alloc(TRAILER_BYTES);
    trailer.writeBigUInt64BE(BigInt(this.#objects), 4);
    return Buffer.concat([this.#updateHash(trailer), this.#hash.digest()]);
  }

  #updateHash(bytes: Buffer): Buffer {
    this.#hash.update(bytes);
    return bytes;
  }
}
