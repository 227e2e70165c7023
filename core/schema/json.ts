import { DEPTH } from '../limits.js';
import type { Json } from '../model/object.js';
import { badRequest } from '../model/refusal.js';
import { syntaxComplaint } from './jsonSyntax.js';
import { strictComplaints } from './strict.js';
import { Unreadable } from './unreadable.js';

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COLON = 0x3a;

/** Opening braces or brackets and colons of a text, outside of its strings. */
interface Shape {
  readonly depth: number;
  readonly members: number;
}

/** Bytes of a string that are looked at one by one: for longer ones a native search is faster. */
const SHORT_STRING = 24;

/** Position of the quote that ends the string whose content begins at `at`; the length of malformed text. */
function closingQuote(bytes: Uint8Array, at: number): number {
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

/**
 * One pass over the bytes, ended when brackets nest deeper than `most`. Malformed text may give any answer: the parser
 * refuses it.
 */
function shapeOf(bytes: Uint8Array, most: number): Shape {
  let depth = 0;
  let deepest = 0;
  let members = 0;
  for (let at = 0; at < bytes.length && deepest <= most; at++) {
    const byte = bytes[at]!;
    if (byte === QUOTE) at = closingQuote(bytes, at + 1);
    else if (byte === COLON) members++;
    else if (byte === 0x7b || byte === 0x5b) {
      if (++depth > deepest) deepest = depth;
    } else if (byte === 0x7d || byte === 0x5d) depth--;
  }
  return { depth: deepest, members };
}

/** Members of all objects in a value. */
function membersOf(value: Json): number {
  if (typeof value !== 'object' || value === null) return 0;
  let members = 0;
  if (Array.isArray(value)) for (const item of value) members += membersOf(item);
  else for (const key in value) members += 1 + membersOf(value[key]!);
  return members;
}

const textOf = (bytes: Uint8Array): string =>
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8');

/** The text was not JSON, or nested too deeply: 400 with what the parser says. */
function parsed(bytes: Uint8Array, text: string): { value: Json; members: number } {
  const { depth, members } = shapeOf(bytes, DEPTH);
  if (depth > DEPTH) throw badRequest(`json: exceeded max depth of ${DEPTH}`);
  try {
    return { value: JSON.parse(text) as Json, members };
  } catch (cause) {
    throw new Unreadable(
      `couldn't get version/kind; json parse error: ${syntaxComplaint(bytes) ?? (cause as Error).message}`,
    );
  }
}

/**
 * Parses a JSON body, bounded in depth. A member `__proto__` is an ordinary own member of the result. Throws a 400
 * Refusal.
 */
export const parseJson = (bytes: Uint8Array): Json => parsed(bytes, textOf(bytes)).value;

/**
 * A body and the members that it gives more than once (`duplicate field "spec.x"`, in document order); the last one
 * counts.
 */
export interface StrictJson {
  readonly value: Json;
  readonly duplicates: readonly string[];
}

/** As `parseJson`, and finds duplicate members. */
export function parseStrict(bytes: Uint8Array): StrictJson {
  const text = textOf(bytes);
  const { value, members } = parsed(bytes, text);
  // A parsed object has each member once.
  return { value, duplicates: membersOf(value) === members ? [] : strictComplaints(text) };
}

const ESCAPED = /[<>&\u2028\u2029]/;
const ESCAPES = new Map([
  ['<', '\\u003c'],
  ['>', '\\u003e'],
  ['&', '\\u0026'],
  ['\u2028', '\\u2028'],
  ['\u2029', '\\u2029'],
]);

/** JSON text as Go writes it: characters with a meaning in HTML and the two line separators are escaped. */
export function encodeJson(value: unknown, indent = false): string {
  const text = JSON.stringify(value, null, indent ? 2 : undefined);
  return ESCAPED.test(text) ? text.replace(/[<>&\u2028\u2029]/g, char => ESCAPES.get(char)!) : text;
}
