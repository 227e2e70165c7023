import { readFile } from 'node:fs/promises';
import { basename } from 'node:path';
import { uncompress } from 'snappyjs';
import { StoreError } from '../../../core/api/index.js';
import { maskedCrc } from './log/logFile.js';
import { Reader } from './reader.js';
import type { Write } from './writes.js';

/**
 * Tables of RocksDB, read without it: tables of releases before 10 are compressed with Snappy, which the library cannot
 * read, and tables of a damaged database have to be read without its list of tables.
 */

/** Version and magic number at the end of a table. */
const TAIL = 12;
/** RocksDB's number for block-based tables, the last 8 bytes of the file. */
const MAGIC = 0x88e241b785f4cff7n;
/** Bytes of the footer: type of checksum (1 byte), handles or their replacement (40), version (4), magic number (8). */
const FOOTER = 53;
/** After each block: type of compression (1 byte) and checksum (4). */
const TRAILER = 5;
const CRC_32C = 1;
/** The first version in which the footer names a list of blocks instead of the index. */
const LISTED = 6;
/** The first version whose index has blocks without the length of each value. */
const SHORT_INDEX = 4;
/** The largest block that is decompressed: a value may have 1.5 MiB, and a block several. */
const MAX_BLOCK = 64 * 1024 * 1024;
const INDEX = 'rocksdb.index';

/** The version of the format of a table; undefined if its end is damaged. */
export function tableVersion(end: Buffer): number | undefined {
  if (end.length < TAIL || end.readBigUInt64LE(end.length - 8) !== MAGIC) return undefined;
  return end.readUInt32LE(end.length - TAIL);
}

/** The first version of tables that the library reads in all their forms. */
export const CURRENT_VERSION = LISTED;

interface Block {
  readonly offset: number;
  readonly size: number;
}

/**
 * The writes in a table, block by block, in the order of keys, and for one key the newest first. Throws StoreError for
 * a damaged table. With `salvage`, every write that can be parsed is returned, right or wrong: one wrong byte in a
 * block does not mean that its other writes are lost, and rows of the store have checksums of their own.
 */
export async function* readTable(file: string, { salvage = false } = {}): AsyncGenerator<readonly Write[]> {
  const table = await readFile(file);
  try {
    for (const block of blocksOf(table, salvage)) {
      const writes: Write[] = [];
      try {
        for (const { key, value } of entriesIn(contentOf(table, block, salvage), true))
          writes.push(writeOf(key, value));
      } catch (error) {
        if (!salvage) throw error;
      }
      yield writes;
    }
  } catch (error) {
    if (!salvage) throw new StoreError(`${basename(file)} is damaged: ${(error as Error).message}`);
  }
}

/** The data blocks of a table, which its index lists. */
function blocksOf(table: Buffer, salvage: boolean): readonly Block[] {
  const version = tableVersion(table);
  if (version === undefined || table.length < FOOTER) throw new RangeError('its end is missing');
  const footer = table.subarray(table.length - FOOTER);
  const index = version >= LISTED ? listedIndex(table, footer, salvage) : namedIndex(footer);
  const entries = entriesIn(contentOf(table, index, salvage), version < SHORT_INDEX);
  return Array.from(entries, ({ value }) => readBlock(new Reader(value)));
}

function readBlock(reader: Reader): Block {
  return { offset: reader.varint(), size: reader.varint() };
}

/** The footer has the positions of two blocks: that of the list of blocks, then that of the index. */
function namedIndex(footer: Buffer): Block {
  const reader = new Reader(footer, 1);
  readBlock(reader);
  return readBlock(reader);
}

/** The list of blocks is before the footer, which has its size. */
function listedIndex(table: Buffer, footer: Buffer, salvage: boolean): Block {
  const size = footer.readUInt32LE(13);
  const list = contentOf(table, { offset: table.length - FOOTER - TRAILER - size, size }, salvage);
  for (const { key, value } of entriesIn(list, true)) if (key.toString() === INDEX) return readBlock(new Reader(value));
  throw new RangeError('it has no index');
}

/** Reads a block. Without `salvage`, verifies its checksum if that is a CRC-32C. */
function contentOf(table: Buffer, { offset, size }: Block, salvage: boolean): Buffer {
  const end = offset + size;
  if (end + TRAILER > table.length - FOOTER) throw new RangeError(`a block at byte ${offset} is outside of it`);
  const isVerified = !salvage && table[table.length - FOOTER] === CRC_32C;
  if (isVerified && maskedCrc(table, offset, end + 1) !== table.readUInt32LE(end + 1))
    throw new RangeError(`the block at byte ${offset} fails its checksum`);
  const bytes = table.subarray(offset, end);
  switch (table[end]) {
    case 0:
      return bytes;
    case 1:
      return uncompress(bytes, MAX_BLOCK);
    default:
      throw new RangeError(`the block at byte ${offset} has an unknown compression`);
  }
}

interface Entry {
  readonly key: Buffer;
  readonly value: Buffer;
}

/** The entries of a block. Each key begins with a part of the previous one. */
function* entriesIn(block: Buffer, hasLengths: boolean): Generator<Entry> {
  // After the entries are the positions of those with a whole key, and their number.
  const restarts = block.readUInt32LE(block.length - 4) & 0x7fffffff;
  const reader = new Reader(block, 0, block.length - 4 - 4 * restarts);
  let key: Buffer = Buffer.alloc(0);
  while (!reader.isAtEnd) {
    const shared = reader.varint();
    const rest = reader.varint();
    const length = hasLengths ? reader.varint() : undefined;
    if (shared > key.length) throw new RangeError('a key is incomplete');
    key = Buffer.concat([key.subarray(0, shared), reader.bytes(rest)]);
    // Without lengths, a value is a position: two numbers.
    yield { key, value: length === undefined ? reader.bytes(positionLength(reader)) : reader.bytes(length) };
  }
}

function positionLength({ buffer, at, end }: Reader): number {
  const reader = new Reader(buffer, at, end);
  readBlock(reader);
  return reader.at - at;
}

/** After a key in a table: the type of the write (1 byte), and its sequence number (7). */
const KEY_SUFFIX = 8;
/** Types of writes: removal and single removal, and put. */
const DELETED = [0, 7];
const PUT = 1;

function writeOf(key: Buffer, value: Buffer): Write {
  if (key.length < KEY_SUFFIX) throw new RangeError('a key is incomplete');
  const end = key.length - KEY_SUFFIX;
  const type = key[end]!;
  if (type !== PUT && !DELETED.includes(type)) throw new RangeError(`a write has the unknown type ${type}`);
  const sequence = Number(key.readBigUInt64LE(end) >> 8n);
  return { key: key.subarray(0, end), sequence, value: type === PUT ? value : undefined };
}
