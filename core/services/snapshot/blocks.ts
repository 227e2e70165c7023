import { Packr, RESERVE_START_SPACE } from 'msgpackr/pack';
import type { Stored } from '../../api/storage.js';
import { damagedError, type Part } from './format.js';

/** Size of the number before each block, which is the length of the block. */
const LENGTH_BYTES = 4;
/**
 * Maximum number of bytes of keys and values in a block with several objects. Readers collect a block before they
 * decode it.
 */
const BLOCK_BYTES = 64 * 1024;
/** The longest block that is read: a damaged length must not allocate memory. */
const LONGEST_BLOCK = 64 * 1024 * 1024;

/** Writes only arrays and scalars, which any implementation of MessagePack can read. */
const packr = new Packr({ useRecords: false });

type Row = readonly [key: string, value: Uint8Array, created: number, modified: number, version: number];

const rowOf = ({ key, value, created, modified, version }: Stored): Row => [key, value, created, modified, version];

/** Encodes objects as a block that begins with its length. */
function blockOf(rows: readonly Row[]): Buffer {
  const block = packr.pack(rows, RESERVE_START_SPACE | LENGTH_BYTES);
  block.writeUInt32BE(block.length - LENGTH_BYTES, 0);
  return block;
}

/** Encodes objects as consecutive blocks. */
export function encodeBlocks(objects: readonly Stored[]): Buffer {
  const blocks: Buffer[] = [];
  let rows: Row[] = [];
  let size = 0;
  for (const object of objects) {
    const length = object.key.length + object.value.length;
    if (rows.length > 0 && size + length > BLOCK_BYTES) {
      blocks.push(blockOf(rows));
      rows = [];
      size = 0;
    }
    rows.push(rowOf(object));
    size += length;
  }
  if (rows.length > 0) blocks.push(blockOf(rows));
  return Buffer.concat(blocks);
}

const isNumber = (value: unknown): value is number => Number.isSafeInteger(value);

function storedOf(row: unknown): Stored {
  if (!Array.isArray(row)) throw damagedError('a row in it is not an array');
  const [key, value, created, modified, version] = row as unknown[];
  if (typeof key !== 'string' || !(value instanceof Uint8Array))
    throw damagedError('a row in it has no key or no value');
  if (!isNumber(created) || !isNumber(modified) || !isNumber(version))
    throw damagedError('a row in it has no revisions or no version');
  return { key, value, created, modified, version };
}

function decodeRows(bytes: Buffer): unknown {
  try {
    return packr.unpack(bytes);
  } catch (error) {
    throw damagedError(`a block in it cannot be decoded: ${(error as Error).message}`);
  }
}

/** Decodes the block at a position. Values are views of `bytes`. */
export function readBlock(bytes: Buffer, at: number): Part {
  const start = at + LENGTH_BYTES;
  if (bytes.length < start) return { is: 'incomplete' };
  const length = bytes.readUInt32BE(at);
  if (length === 0) return { is: 'end' };
  if (length > LONGEST_BLOCK) throw damagedError('a length in it is impossible');
  if (bytes.length < start + length) return { is: 'incomplete' };
  const rows = decodeRows(bytes.subarray(start, start + length));
  if (!Array.isArray(rows)) throw damagedError('a block in it is not an array');
  return { is: 'objects', objects: rows.map(storedOf), length: LENGTH_BYTES + length };
}
