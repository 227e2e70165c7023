/**
 * The rows of format 1: length of the key (4 bytes), length of the value (4), revision that created the object (8),
 * revision that last changed it (8), its version (4), key, value. Numbers are big-endian. The end mark is 4 bytes of
 * 0xff.
 */
import { damagedError, type Part } from './format.js';

const ROW_BYTES = 28;
const END = 0xffffffff;
/** The longest key and value that are read: a damaged length must not allocate memory. */
const KEY_BYTES = 64 * 1024;
const VALUE_BYTES = 64 * 1024 * 1024;

/** Reads the row at a position. Its value is a view of `bytes`. */
export function readRow(bytes: Buffer, at: number): Part {
  if (bytes.length < at + 4) return { is: 'incomplete' };
  const keyLength = bytes.readUInt32BE(at);
  if (keyLength === END) return { is: 'end' };
  if (bytes.length < at + 8) return { is: 'incomplete' };
  const valueLength = bytes.readUInt32BE(at + 4);
  if (keyLength > KEY_BYTES || valueLength > VALUE_BYTES) throw damagedError('a length in it is impossible');
  const start = at + ROW_BYTES;
  const end = start + keyLength + valueLength;
  if (bytes.length < end) return { is: 'incomplete' };
  const object = {
    key: bytes.toString('utf8', start, start + keyLength),
    value: bytes.subarray(start + keyLength, end),
    created: Number(bytes.readBigUInt64BE(at + 8)),
    modified: Number(bytes.readBigUInt64BE(at + 16)),
    version: bytes.readUInt32BE(at + 24),
  };
  return { is: 'objects', objects: [object], length: end - at };
}
