import { DEPTH } from '../../limits.js';
import { hasManyDigits, OutOfRange, readJson, writeJson } from '../../model/text/jsonText.js';
import type { Json } from '../../model/object.js';
import { badRequest } from '../../model/refusal.js';
import { jsonSyntaxError } from './jsonSyntax.js';
import { findStrictErrors } from '../decode/strict.js';
import { UnreadableBody } from '../decode/unreadable.js';

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COLON = 0x3a;
const NINE = 0x39;
const POINT = 0x2e;

/** The nesting depth and the number of members of a text. */
interface TextStats {
  readonly depth: number;
  readonly members: number;
  /** Whether a number may have an exponent. */
  readonly exponents: boolean;
  /** Whether a number has a fraction. */
  readonly fractions: boolean;
}

/** Bytes of a string that are scanned one by one. For longer strings a native search is faster. */
const SHORT_STRING = 24;

/** The position of the closing quote of the string that starts at `at`; the length of the text if there is none. */
function findClosingQuote(bytes: Uint8Array, at: number): number {
  let next = at;
  for (const end = at + SHORT_STRING; next < end; next++) {
    if (bytes[next] === QUOTE) return next;
    if (bytes[next] === BACKSLASH) next++;
  }
  for (;;) {
    const quote = bytes.indexOf(QUOTE, next);
    if (quote < 0) return bytes.length;
    let slashes = 0;
    while (bytes[quote - 1 - slashes] === BACKSLASH) slashes++;
    if (slashes % 2 === 0) return quote;
    next = quote + 1;
  }
}

/** Scans a text up to the maximum depth. The result for malformed text is unspecified; the parser rejects it. */
function scanText(bytes: Uint8Array, maxDepth: number): TextStats {
  let depth = 0;
  let deepest = 0;
  let members = 0;
  let exponents = false;
  let fractions = false;
  for (let at = 0; at < bytes.length && deepest <= maxDepth; at++) {
    const byte = bytes[at]!;
    if (byte === QUOTE) at = findClosingQuote(bytes, at + 1);
    else if (byte === COLON) members++;
    else if (byte === 0x7b || byte === 0x5b) {
      if (++depth > deepest) deepest = depth;
    } else if (byte === 0x7d || byte === 0x5d) depth--;
    else if (byte === POINT) fractions = true;
    else if ((byte | 0x20) === 0x65 && bytes[at - 1]! <= NINE) exponents = true;
  }
  return { depth: deepest, members, exponents, fractions };
}

/** Throws `OutOfRange` if a value has a number beyond the range of doubles. */
function refuseInfinity(value: Json): void {
  if (value === Number.POSITIVE_INFINITY || value === Number.NEGATIVE_INFINITY) throw new OutOfRange();
  if (typeof value === 'object' && value !== null)
    for (const member of Array.isArray(value) ? value : Object.values(value)) refuseInfinity(member);
}

/** The number of members of all objects in a value. */
function countMembers(value: Json): number {
  if (typeof value !== 'object' || value === null) return 0;
  let members = 0;
  if (Array.isArray(value)) for (const item of value) members += countMembers(item);
  else for (const key in value) members += 1 + countMembers(value[key]!);
  return members;
}

const toText = (bytes: Uint8Array): string =>
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8');

/** Parses a text. Throws a Refusal (400) with upstream's message if it is malformed or nested too deeply. */
function parseWithStats(bytes: Uint8Array): { value: Json; members: number; unusualNumbers: boolean } {
  const { depth, members, exponents, fractions } = scanText(bytes, DEPTH);
  if (depth > DEPTH) throw badRequest(`json: exceeded max depth of ${DEPTH}`);
  try {
    const value = readJson(bytes);
    if (exponents) refuseInfinity(value);
    return { value, members, unusualNumbers: exponents || fractions || hasManyDigits(bytes) };
  } catch (cause) {
    if (cause instanceof OutOfRange) throw badRequest(`json: ${cause.message}`);
    const syntaxError = jsonSyntaxError(bytes) ?? (cause as Error).message;
    throw new UnreadableBody(`couldn't get version/kind; json parse error: ${syntaxError}`, syntaxError);
  }
}

/** Parses a JSON body. `__proto__` is an ordinary member. Throws a Refusal (400) if malformed or nested too deeply. */
export const parseJson = (bytes: Uint8Array): Json => parseWithStats(bytes).value;

/**
 * A parsed body, with errors for its duplicate members in document order (`duplicate field "spec.x"`). The last wins.
 */
export interface StrictJson {
  readonly value: Json;
  readonly duplicates: readonly string[];
  /** Whether a number has a fraction, an exponent or many digits, so that its written form may matter. */
  readonly unusualNumbers?: boolean;
}

/** Like `parseJson`, with errors for duplicate members. */
export function parseStrict(bytes: Uint8Array): StrictJson {
  const { value, members, unusualNumbers } = parseWithStats(bytes);
  // A parsed object has no duplicates, so the numbers of members differ if the text has any.
  const duplicates = countMembers(value) === members ? [] : findStrictErrors(toText(bytes));
  return { value, duplicates, unusualNumbers };
}

const ESCAPED = /[<>&\u2028\u2029]/;
const ESCAPES: readonly (readonly [string, string])[] = [
  ['<', '\\u003c'],
  ['>', '\\u003e'],
  ['&', '\\u0026'],
  ['\u2028', '\\u2028'],
  ['\u2029', '\\u2029'],
];

/** Encodes JSON like Go, which escapes `<`, `>`, `&` and the two line separators. */
export function encodeJson(value: unknown, indent = false): string {
  let text = writeJson(value, indent ? 2 : undefined);
  if (!ESCAPED.test(text)) return text;
  // One after another, because calling a function for each character takes twice as long. Compared with `replaceAll`,
  // texts of such characters take a third of the time, and other texts the same.
  for (const [char, escaped] of ESCAPES) if (text.includes(char)) text = text.split(char).join(escaped);
  return text;
}
