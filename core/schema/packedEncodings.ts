/**
 * The form in which records are cached: without the longer texts that they share with the JSON of their objects, such
 * as managed fields, which are a third of an object. A packed record consists of a zero, the length of the record, and
 * then alternately the length and bytes of a part of the record, and the place and length of the part of the JSON text
 * that follows it, up to the last part of the record. All numbers are varints. Records that share nothing are kept as
 * they are: a tag of one byte, which is not zero, a length, and a message.
 */

/** The first byte of a packed record. */
export const PACKED = 0;

/** Bytes up to which a loop is faster than a call. */
const LOOP_BYTES = 48;

/** The packed record that is being read, and the position in it. */
let packed: Uint8Array = new Uint8Array();
let at = 0;

function readVarint(): number {
  let byte = packed[at++]!;
  let value = byte & 0x7f;
  for (let factor = 0x80; byte >= 0x80; factor *= 0x80) {
    byte = packed[at++]!;
    value += (byte & 0x7f) * factor;
  }
  return value;
}

function copy(from: Uint8Array, start: number, length: number, to: Uint8Array, place: number): void {
  if (length > LOOP_BYTES) to.set(from.subarray(start, start + length), place);
  else for (let i = 0; i < length; i++) to[place + i] = from[start + i]!;
}

/** The length of a record, which may be packed. */
export function recordLength(record: Uint8Array): number {
  if (record[0] !== PACKED) return record.length;
  packed = record;
  at = 1;
  return readVarint();
}

/** Writes the record that is being read. Returns its end. */
function unpack(text: Uint8Array, to: Uint8Array, start: number): number {
  const begin = at++;
  if (packed[begin] !== PACKED) {
    const length = readVarint() + at - begin;
    copy(packed, begin, length, to, start);
    at = begin + length;
    return start + length;
  }
  const end = readVarint() + start;
  for (let place = start; ; ) {
    const own = readVarint();
    copy(packed, at, own, to, place);
    at += own;
    place += own;
    if (place >= end) return place;
    const from = readVarint();
    const shared = readVarint();
    copy(text, from, shared, to, place);
    place += shared;
  }
}

/**
 * Unpacks records into one buffer. `pieces` contain the records of the objects with these texts, one after another;
 * `length` is the length of all unpacked records.
 */
export function unpackRecords(
  pieces: readonly Uint8Array[],
  texts: Iterable<Uint8Array>,
  length: number,
): Uint8Array<ArrayBuffer> {
  const records = Buffer.allocUnsafeSlow(length);
  const source = texts[Symbol.iterator]();
  let end = 0;
  for (const piece of pieces) {
    packed = piece;
    at = 0;
    while (at < piece.length) end = unpack(source.next().value as Uint8Array, records, end);
  }
  return records;
}
