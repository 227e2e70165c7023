import { END, JsonTape } from '../json/jsonTape.js';
import type { ScalarName } from '../model.js';
import { PACKED } from '../packedEncodings.js';
import { BYTES, VARINT } from './protobufWire.js';
import { parseDuration } from '../decode/scalars.js';

/**
 * The output of the protobuf encoder, and the encoding of single values. Messages are written from their end to their
 * beginning, so that the length of each part is known when it is written before the part. One output and one tape serve
 * all calls of a thread, because encoding is synchronous.
 */

/** Writes a field, or its content, with the value of a node; the zero value for `ABSENT`. */
export type Write = (node: number) => void;

/** Represents a member that is absent or null. */
export const ABSENT = -1;

const QUOTE = 0x22;
const ZERO = 0x30;
const COLON = 0x3a;
/** The first byte of `true`. */
export const LETTER_T = 0x74;
const LETTER_Z = 0x5a;

/** The text that is being encoded. */
export const tape = new JsonTape();

/** The message under construction: from `at` to the end. */
let out = Buffer.allocUnsafeSlow(64 * 1024);
let at = out.length;
/**
 * In packed output (`packedEncodings.ts`), parts of the text from this length on are replaced by references. For
 * shorter ones, unpacking would cost more than is saved.
 */
const REFERENCE_BYTES = 64;

/** Whether the output refers to parts of the text. */
let refers = false;
/** The position of the last reference, from the end of the output. */
let ownSince = 0;
/** Bytes that are referred to, not counting the references themselves. */
let shared = 0;

/** Output memory above this size is not kept for the next call. */
const KEPT_BYTES = 4 * 1024 * 1024;

/** Makes room for `bytes` more. */
function reserve(bytes: number): void {
  if (at >= bytes) return;
  const used = out.length - at;
  const larger = Buffer.allocUnsafeSlow(Math.max(out.length * 2, used + bytes + out.length));
  out.copy(larger, larger.length - used, at);
  at = larger.length - used;
  out = larger;
}

/** Writes an unsigned integer below 2^53. */
export function writeVarint(value: number): void {
  reserve(10);
  if (value < 0x80) {
    out[--at] = value;
    return;
  }
  if (value < 0x4000) {
    out[--at] = value >>> 7;
    out[--at] = (value & 0x7f) | 0x80;
    return;
  }
  let bytes = 3;
  for (let rest = Math.floor(value / 0x200000); rest > 0; rest = Math.floor(rest / 0x80)) bytes++;
  at -= bytes;
  let rest = value;
  for (let i = 0; i < bytes - 1; i++) {
    out[at + i] = (rest % 0x80) | 0x80;
    rest = Math.floor(rest / 0x80);
  }
  out[at + bytes - 1] = rest;
}

/** Writes an integer of 64 bits. */
function writeBigVarint(value: bigint): void {
  reserve(10);
  let rest = BigInt.asUintN(64, value);
  const bytes: number[] = [];
  for (; rest >= 0x80n; rest >>= 7n) bytes.push(Number(rest & 0x7fn) | 0x80);
  bytes.push(Number(rest));
  at -= bytes.length;
  out.set(bytes, at);
}

/** Bytes of all messages so far, which include those that are referred to. */
export const position = (): number => out.length - at + shared;

/** Writes the length of what was written since a position, and a tag. */
export function delimitFrom(since: number, tag: number): void {
  writeVarint(position() - since);
  writeVarint(tag);
}

/** Writes the length of the following part of a record, up to the next reference or the end. */
function endPart(): void {
  writeVarint(out.length - at - ownSince);
}

/** Begins a record, which is written from its end to its beginning. `canRefer`: it may refer to parts of the text. */
export function beginRecord(canRefer: boolean): void {
  refers = canRefer;
  ownSince = out.length - at;
  shared = 0;
}

/** Ends a record that began at a position. Returns its length, packed if it refers to parts of the text. */
export function endRecord(since: number): number {
  refers = false;
  const length = position() - since;
  if (shared === 0) return length;
  endPart();
  writeVarint(length);
  writeVarint(PACKED);
  shared = 0;
  return position() - since;
}

/** Refers to a part of the text. */
function refer(start: number, length: number): void {
  const before = out.length - at;
  endPart();
  writeVarint(length);
  writeVarint(start);
  ownSince = out.length - at;
  shared += length - (ownSince - before);
}

function writeBytes(bytes: Uint8Array): void {
  reserve(bytes.length);
  at -= bytes.length;
  out.set(bytes, at);
}

/** Bytes up to which a loop is faster than a call. */
const LOOP_BYTES = 48;

/** Copies a part of the text, or refers to it. */
function copy(start: number, end: number): void {
  const { bytes } = tape;
  const length = end - start;
  if (refers && length >= REFERENCE_BYTES) {
    refer(start, length);
    return;
  }
  reserve(length);
  at -= length;
  if (length > LOOP_BYTES) out.set(bytes.subarray(start, end), at);
  else for (let i = 0; i < length; i++) out[at + i] = bytes[start + i]!;
}

const isText = (node: number): boolean => node !== ABSENT && tape.first(node) === QUOTE;

/** The value of a node that is a string. */
export const stringIn = (node: number): string => JSON.parse(tape.textOf(node)) as string;

/** Writes the content of a node that is a string; nothing for other nodes. */
function writeText(node: number): void {
  if (!isText(node)) return;
  if (tape.hasEscapes(node)) writeBytes(Buffer.from(stringIn(node)));
  else copy(tape.nodes[node]! + 1, tape.nodes[node + END]! - 1);
}

/** The number of digits up to which every integer is safe. */
const SAFE_DIGITS = 15;
const INTEGER = /^-?\d+$/;

/** The value of digits; `ABSENT` for other texts. */
function digitsIn(bytes: Uint8Array, start: number, end: number): number {
  let value = 0;
  for (let i = start; i < end; i++) {
    const digit = bytes[i]! - ZERO;
    if (digit < 0 || digit > 9) return ABSENT;
    value = value * 10 + digit;
  }
  return value;
}

/** Writes the value of a node that is an integer; zero for other nodes. */
export function writeInteger(node: number): void {
  const start = node === ABSENT ? 0 : tape.nodes[node]!;
  const end = node === ABSENT ? 0 : tape.nodes[node + END]!;
  const value = end - start <= SAFE_DIGITS ? digitsIn(tape.bytes, start, end) : ABSENT;
  if (value !== ABSENT) {
    writeVarint(value);
    return;
  }
  const text = tape.textOf(node);
  writeBigVarint(INTEGER.test(text) ? BigInt(text) : BigInt(Math.trunc(Number(text)) || 0));
}

/** The value of two digits of the text. */
const twoDigits = (bytes: Uint8Array, from: number): number => (bytes[from]! - ZERO) * 10 + bytes[from + 1]! - ZERO;

/** Length of a time without fraction, with its quotes. */
const TIME_BYTES = 22;

/** Seconds of a time in whole seconds and UTC; NaN for other forms. */
function secondsOf(node: number): number {
  const { bytes } = tape;
  const start = tape.nodes[node]! + 1;
  if (tape.nodes[node + END]! - start + 1 !== TIME_BYTES || bytes[start + 19] !== LETTER_Z) return Number.NaN;
  if (bytes[start + 13] !== COLON || bytes[start + 16] !== COLON) return Number.NaN;
  const year = twoDigits(bytes, start) * 100 + twoDigits(bytes, start + 2);
  // `Date.UTC` interprets the first hundred years as 1900 to 1999.
  if (year < 100) return Number.NaN;
  const [month, day] = [twoDigits(bytes, start + 5), twoDigits(bytes, start + 8)];
  const [hour, minute, second] = [
    twoDigits(bytes, start + 11),
    twoDigits(bytes, start + 14),
    twoDigits(bytes, start + 17),
  ];
  return Date.UTC(year, month - 1, day, hour, minute, second) / 1000;
}

/** Writes seconds and nanoseconds; nothing for the zero time. */
function writeTime(node: number): void {
  if (!isText(node)) return;
  let seconds = secondsOf(node);
  let nanoseconds = 0;
  if (Number.isNaN(seconds)) {
    const text = stringIn(node);
    seconds = Math.floor(Date.parse(text) / 1000);
    if (Number.isNaN(seconds)) return;
    nanoseconds = Number(/\.(\d{1,9})/.exec(text)?.[1]?.padEnd(9, '0') ?? '0');
  }
  writeVarint(nanoseconds);
  writeVarint((2 << 3) | VARINT);
  if (seconds < 0) writeBigVarint(BigInt(seconds));
  else writeVarint(seconds);
  writeVarint((1 << 3) | VARINT);
}

function writeDuration(node: number): void {
  writeBigVarint((isText(node) && parseDuration(stringIn(node))) || 0n);
  writeVarint((1 << 3) | VARINT);
}

function writeQuantity(node: number): void {
  const since = position();
  if (node === ABSENT) writeBytes(Uint8Array.of(ZERO));
  else if (isText(node)) writeText(node);
  else copy(tape.nodes[node]!, tape.nodes[node + END]!);
  delimitFrom(since, (1 << 3) | BYTES);
}

function writeIntOrString(node: number): void {
  const text = isText(node);
  const since = position();
  writeText(node);
  delimitFrom(since, (3 << 3) | BYTES);
  writeInteger(text ? ABSENT : node);
  writeVarint((2 << 3) | VARINT);
  writeVarint(text ? 1 : 0);
  writeVarint((1 << 3) | VARINT);
}

/** Writes the JSON of a node. */
function writeRaw(node: number): void {
  if (node === ABSENT) return;
  const since = position();
  copy(tape.nodes[node]!, tape.nodes[node + END]!);
  delimitFrom(since, (1 << 3) | BYTES);
}

function writeBase64(node: number): void {
  if (isText(node)) writeBytes(Buffer.from(stringIn(node), 'base64'));
}

/** Writes the value of a node that is a number as a double. */
export function writeDouble(node: number): void {
  reserve(8);
  at -= 8;
  out.writeDoubleLE(node === ABSENT ? 0 : Number(tape.textOf(node)), at);
}

/** Writes whether the value of a node is true. */
export const writeBool = (node: number): void => writeVarint(node !== ABSENT && tape.first(node) === LETTER_T ? 1 : 0);

/** The writers of scalars with a length: texts, bytes, and scalars that are messages. */
export const DELIMITED: Partial<Record<ScalarName, Write>> = {
  string: writeText,
  bytes: writeBase64,
  Time: writeTime,
  MicroTime: writeTime,
  Duration: writeDuration,
  Quantity: writeQuantity,
  IntOrString: writeIntOrString,
  FieldsV1: writeRaw,
  RawExtension: writeRaw,
  JSON: writeRaw,
};

/** Begins an output. */
export function begin(): void {
  refers = false;
  shared = 0;
  if (out.length > KEPT_BYTES) out = Buffer.allocUnsafeSlow(KEPT_BYTES);
  at = out.length;
}

/** A copy of what was written since `begin`, in a buffer of its own. */
export const written = (): Uint8Array<ArrayBuffer> => new Uint8Array(out.subarray(at));
