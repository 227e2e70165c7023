import { fdatasyncSync, writeSync } from 'node:fs';
import { type FileHandle, open, readdir, rm, statfs } from 'node:fs/promises';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import { syncDirectory } from '../files/files.js';

/** The directory of the commit log in a store's directory. */
export const logPath = (directory: string): string => join(directory, 'log');

/** Bytes before the first record of a segment. */
export const SEGMENT_HEADER = 4096;
/** The header is one line in the first sector, which a disk writes completely or not at all. */
const SECTOR = 512;
/** Bytes of zeros that are written at once to a new segment. */
const FILL_BYTES = 1024 * 1024;

/** The header of a segment. Sequence numbers count the records of a log, from 1. */
export interface SegmentHeader {
  /** The identity of the store. */
  readonly store: string;
  /** Increases with each segment of a log that is begun, so that reused files have an order. */
  readonly generation: number;
  /** The oldest generation that was still needed when this one was begun. */
  readonly oldest: number;
  /** The sequence number of the first record. */
  readonly first: number;
  /**
   * Whether the log was closed when the database contained all records: then this segment and older ones are not
   * needed.
   */
  readonly closed: boolean;
}

/** An encoded header, and the seed of the checksums of the records after it: those of another header are invalid. */
export function encodeHeader({ store, generation, oldest, first, closed }: SegmentHeader): {
  bytes: Buffer;
  seed: number;
} {
  const line = `capstan-log 1 ${store} ${generation} ${oldest} ${first} ${closed ? 'closed' : 'open'}`;
  const seed = crc32(line);
  const bytes = Buffer.alloc(SECTOR);
  bytes.write(`${line} ${seed.toString(16)}\n`, 'latin1');
  return { bytes, seed };
}

/** Decodes a header; undefined if it is damaged. */
export function decodeHeader(bytes: Buffer): SegmentHeader | undefined {
  const text = bytes.toString('latin1', 0, SECTOR);
  const [, line = '', store, generation, oldest, first, state, checksum] =
    /^(capstan-log 1 (\S+) (\d{1,16}) (\d{1,16}) (\d{1,16}) (open|closed)) ([0-9a-f]{1,8})\n\0*$/.exec(text) ?? [];
  if (!store || Number.parseInt(checksum!, 16) !== crc32(line)) return undefined;
  return {
    store,
    generation: Number(generation),
    oldest: Number(oldest),
    first: Number(first),
    closed: state === 'closed',
  };
}

/** An open segment file. */
export interface SegmentFile {
  readonly path: string;
  readonly handle: FileHandle;
  readonly size: number;
}

/** Writes all bytes at a position, without waiting for the disk. Blocks the thread. */
export function writeAll(fd: number, bytes: Uint8Array, length: number, position: number): void {
  for (let at = 0; at < length; ) at += writeSync(fd, bytes, at, length - at, position + at);
}

/** Writes a header durably, which makes all records of the file before it invalid. Blocks the thread. */
export function writeHeader({ handle }: SegmentFile, header: SegmentHeader): number {
  const { bytes, seed } = encodeHeader(header);
  writeAll(handle.fd, bytes, bytes.length, 0);
  fdatasyncSync(handle.fd);
  return seed;
}

/** Names of the files of a log, in any order; empty if there is none. */
export async function segmentFiles(directory: string): Promise<string[]> {
  const all = await readdir(directory).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return [];
    throw error;
  });
  return all.filter(file => /^segment-\d+$/.test(file));
}

/**
 * Creates a file of zeros, so that no later sync has to record the allocation of blocks. It is durable when resolved.
 * Leaves as much free space as it takes, since the database needs some too. Rejects with the error of the system, and
 * leaves no file then.
 */
export async function createSegment(directory: string, size: number): Promise<SegmentFile> {
  const files = await segmentFiles(directory);
  const number = Math.max(0, ...files.map(file => Number(file.slice('segment-'.length)))) + 1;
  const path = join(directory, `segment-${number}`);
  const { bavail, bsize } = await statfs(directory);
  if (bavail * bsize < 2 * size) throw new Error(`ENOSPC: no space left on device for a segment of ${size} bytes`);
  const handle = await open(path, 'wx+', 0o600);
  try {
    const zeros = Buffer.alloc(Math.min(FILL_BYTES, size));
    for (let at = 0; at < size; ) {
      const { bytesWritten } = await handle.write(zeros, 0, Math.min(zeros.length, size - at), at);
      at += bytesWritten;
    }
    await handle.sync();
    await syncDirectory(directory);
    return { path, handle, size };
  } catch (error) {
    await handle.close();
    await rm(path, { force: true });
    throw error;
  }
}
