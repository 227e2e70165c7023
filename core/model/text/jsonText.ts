import { randomUUID } from '../../runtime/random.js';
import type { Json } from '../object.js';

/*
 * JSON texts with exact integers (RFC 8259). An integer that a JavaScript number cannot hold exactly, but 64 bits can,
 * is a bigint in memory. Texts and values without such integers take the native path: texts are only searched for
 * runs of digits, at every sixteenth byte, and values are only examined after `JSON.stringify` has refused one.
 */

/** The number of digits of the smallest integer that is not safe, 2^53. */
const DIGITS = 16;
const ZERO = 0x30;
const NINE = 0x39;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;

const isDigit = (byte: number | undefined): boolean => byte !== undefined && byte >= ZERO && byte <= NINE;

/** Whether bytes contain a run of at least 16 digits. Each such run has a digit at a multiple of 16. */
export function hasManyDigits(bytes: Uint8Array): boolean {
  for (let at = DIGITS - 1; at < bytes.length; at += DIGITS) {
    if (!isDigit(bytes[at])) continue;
    let start = at;
    let end = at;
    while (isDigit(bytes[start - 1])) start--;
    while (isDigit(bytes[end + 1])) end++;
    if (end - start >= DIGITS - 1) return true;
    at = end - ((end + 1) % DIGITS);
  }
  return false;
}

/**
 * The value of an integer: a number if it is safe, a bigint if it fits into 64 bits, otherwise the nearest double, as
 * in Go.
 */
export function integerValue(value: bigint): number | bigint {
  const near = Number(value);
  return Number.isSafeInteger(near) || BigInt.asIntN(64, value) !== value ? near : value;
}

/** Whether a JSON value is a number. */
export const isNumber = (value: unknown): value is number | bigint =>
  typeof value === 'number' || typeof value === 'bigint';

/** Whether a JSON value is a 64-bit integer. A double beyond 2^53 does not count: it may have been rounded. */
export const isInteger = (value: unknown): value is number | bigint =>
  Number.isSafeInteger(value) || typeof value === 'bigint';

/** A number as Go's `%v` prints a double: very large and very small ones have an exponent of at least two digits. */
export function doubleText(value: number | bigint): string {
  const [digits, exponent] = Number(value).toExponential().split('e') as [string, string];
  const power = Number(exponent);
  if (power >= -4 && power < 6) return String(value);
  return `${digits}e${exponent[0]}${exponent.slice(1).padStart(2, '0')}`;
}

/** A number is beyond the range of doubles. */
export class OutOfRange extends RangeError {
  constructor() {
    super('cannot unmarshal number into Go value of type float64');
  }
}

/** The number of digits of the largest double. */
const MAX_DIGITS = 309;

/** Precedes the digits of an integer in a string. It is random, so that no text from outside contains it. */
const MARK = randomUUID();
/** A string that may be the mark and digits. */
const MARKED = /"([0-9a-f-]+)"/g;

/** The end of the string that starts at `at`, in valid JSON. */
function stringEnd(bytes: Uint8Array, at: number): number {
  let next = at + 1;
  while (bytes[next] !== QUOTE) next += bytes[next] === BACKSLASH ? 2 : 1;
  return next + 1;
}

const INTEGER = /^-?\d+$/;
const isNumberByte = (byte: number | undefined): boolean =>
  isDigit(byte) || byte === 0x2d || byte === 0x2b || byte === 0x2e || byte === 0x65 || byte === 0x45;

/** A valid JSON text whose bigints are marked strings; undefined if it has none. */
function markIntegers(bytes: Buffer): string | undefined {
  let marked = '';
  let copied = 0;
  for (let at = 0; at < bytes.length; ) {
    const byte = bytes[at];
    if (byte === QUOTE) at = stringEnd(bytes, at);
    else if (byte !== 0x2d && !isDigit(byte)) at++;
    else {
      const start = at;
      while (isNumberByte(bytes[at])) at++;
      if (at - start < DIGITS) continue;
      const text = bytes.toString('latin1', start, at);
      // Longer texts do not fit into 64 bits, and would take long to parse.
      if (text.length > MAX_DIGITS && !Number.isFinite(Number(text))) throw new OutOfRange();
      if (text.length > 20 || !INTEGER.test(text) || typeof integerValue(BigInt(text)) === 'number') continue;
      marked += `${bytes.toString('utf8', copied, start)}"${MARK}${text}"`;
      copied = at;
    }
  }
  return copied === 0 ? undefined : marked + bytes.toString('utf8', copied);
}

const unmark = (_name: string, value: Json): Json =>
  typeof value === 'string' && value.startsWith(MARK) ? BigInt(value.slice(MARK.length)) : value;

/**
 * Parses JSON. Integers that are not safe but fit into 64 bits are bigints. Throws SyntaxError if it is malformed.
 * Numbers beyond the range of doubles are infinite, or throw `OutOfRange`.
 */
export function readJson(from: string | Uint8Array): Json {
  const bytes = typeof from === 'string' ? Buffer.from(from) : Buffer.from(from.buffer, from.byteOffset, from.length);
  const value = JSON.parse(typeof from === 'string' ? from : bytes.toString('utf8')) as Json;
  if (!hasManyDigits(bytes)) return value;
  const marked = markIntegers(bytes);
  return marked === undefined ? value : (JSON.parse(marked, unmark) as Json);
}

const mark = (_name: string, value: unknown): unknown => (typeof value === 'bigint' ? `${MARK}${value}` : value);

/** Like `JSON.stringify`, which throws for bigints: they are written as integers. */
export function writeJson(value: unknown, indent?: number): string {
  try {
    return JSON.stringify(value, null, indent);
  } catch (error) {
    // A cycle is thrown again.
    if (!(error instanceof TypeError)) throw error;
    return JSON.stringify(value, mark, indent).replace(MARKED, (text: string, inner: string) =>
      inner.startsWith(MARK) ? inner.slice(MARK.length) : text,
    );
  }
}
