import { Packr, RESERVE_START_SPACE } from 'msgpackr';
import type { Stored } from '../api/storage.js';
import { damaged, type Piece } from './format.js';

/** Bytes of the number that precedes a block. */
const LENGTH_BYTES = 4;
/** Bytes of keys and values that a block has at most, or one object. Readers keep a block until it is complete. */
const BLOCK_BYTES = 64 * 1024;
/** No block is longer: a damaged length must not claim memory. */
const LONGEST_BLOCK = 64 * 1024 * 1024;

/** Arrays and scalars alone: any implementation of MessagePack can read them. */
const packr = new Packr({ useRecords: false });

type Row = readonly [key: string, value: Uint8Array, created: number, modified: number, version: number];

const rowOf = ({ key, value, created, modified, version }: Stored): Row => [key, value, created, modified, version];

/** A block of objects, with its length in front. */
function blockOf(rows: readonly Row[]): Buffer {
  const block = packr.pack(rows, RESERVE_START_SPACE | LENGTH_BYTES);
  block.writeUInt32BE(block.length - LENGTH_BYTES, 0);
  return block;
}

/** The blocks of these objects, one after the other. */
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
  if (!Array.isArray(row)) throw damaged('a row in it is no array');
  const [key, value, created, modified, version] = row as unknown[];
  if (typeof key !== 'string' || !(value instanceof Uint8Array)) throw damaged('a row in it has no key or no value');
  if (!isNumber(created) || !isNumber(modified) || !isNumber(version))
    throw damaged('a row in it has no revisions or no version');
  return { key, value, created, modified, version };
}

function unpacked(bytes: Buffer): unknown {
  try {
    return packr.unpack(bytes);
  } catch (error) {
    throw damaged(`a block in it cannot be decoded: ${(error as Error).message}`);
  }
}

/** The block at a place. Values are views of `bytes`. */
export function readBlock(bytes: Buffer, at: number): Piece {
  const start = at + LENGTH_BYTES;
  if (bytes.length < start) return { is: 'incomplete' };
  const length = bytes.readUInt32BE(at);
  if (length === 0) return { is: 'end' };
  if (length > LONGEST_BLOCK) throw damaged('a length in it is impossible');
  if (bytes.length < start + length) return { is: 'incomplete' };
  const rows = unpacked(bytes.subarray(start, start + length));
  if (!Array.isArray(rows)) throw damaged('a block in it is no array');
  return { is: 'objects', objects: rows.map(storedOf), length: LENGTH_BYTES + length };
}
