import { DEPTH } from '../limits.js';
import type { Json } from '../model/object.js';
import { badRequest } from '../model/refusal.js';

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COLON = 0x3a;

/** Opening braces or brackets and colons of a text, outside of its strings. */
interface Shape {
  readonly depth: number;
  readonly members: number;
}

/** One pass over the bytes, ended when brackets nest deeper than `most`. Malformed text may give any answer: the parser refuses it. */
function shapeOf(bytes: Uint8Array, most: number): Shape {
  let depth = 0;
  let deepest = 0;
  let members = 0;
  let quoted = false;
  for (let at = 0; at < bytes.length && deepest <= most; at++) {
    const byte = bytes[at]!;
    if (quoted) {
      if (byte === BACKSLASH) at++;
      else if (byte === QUOTE) quoted = false;
    } else if (byte === QUOTE) quoted = true;
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

const textOf = (bytes: Uint8Array): string => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8');

/** The text was not JSON, or nested too deeply: 400 with what the parser says. */
function parsed(bytes: Uint8Array, text: string): { value: Json; members: number } {
  const { depth, members } = shapeOf(bytes, DEPTH);
  if (depth > DEPTH) throw badRequest(`json: exceeded max depth of ${DEPTH}`);
  try {
    return { value: JSON.parse(text) as Json, members };
  } catch (cause) {
    throw badRequest(`couldn't get version/kind; json parse error: ${(cause as Error).message}`);
  }
}

/** Parses a JSON body, bounded in depth. A member `__proto__` is an ordinary own member of the result. Throws a 400 Refusal. */
export const parseJson = (bytes: Uint8Array): Json => parsed(bytes, textOf(bytes)).value;

/** A body and the members that it gives more than once (`duplicate field "spec.x"`, in document order); the last one counts. */
export interface StrictJson {
  readonly value: Json;
  readonly duplicates: readonly string[];
}

/** As `parseJson`, and finds duplicate members. */
export function parseStrict(bytes: Uint8Array): StrictJson {
  const text = textOf(bytes);
  const { value, members } = parsed(bytes, text);
  // A parsed object has each member once.
  return { value, duplicates: membersOf(value) === members ? [] : duplicateFields(text) };
}

interface Frame {
  /** Path of the container itself. */
  readonly path: string;
  readonly seen: Set<string> | undefined;
  index: number;
  /** Path of the value that comes next. */
  next: string;
}

const frameOf = (path: string, isObject: boolean): Frame => ({
  path,
  seen: isObject ? new Set() : undefined,
  index: 0,
  next: isObject ? path : `${path}[0]`,
});

/** End of the string that starts at `start` (a quote): position of its closing quote. */
function stringEnd(text: string, start: number): number {
  let at = start + 1;
  while (text[at] !== '"') at += text[at] === '\\' ? 2 : 1;
  return at;
}

/** Most duplicates reported for one body: upstream's bound of strict complaints. */
const MOST_COMPLAINTS = 100;

/** Messages for members that occur twice, in the order in which they occur again. `text` must be valid JSON. */
function duplicateFields(text: string): string[] {
  const found = new Set<string>();
  const frames: Frame[] = [];
  let top: Frame | undefined;
  let expectKey = false;
  for (let at = 0; at < text.length; at++) {
    const char = text[at];
    if (char === '"') {
      const end = stringEnd(text, at);
      if (expectKey && top?.seen) {
        const key = JSON.parse(text.slice(at, end + 1)) as string;
        top.next = top.path ? `${top.path}.${key}` : key;
        if (top.seen.has(key) && found.size < MOST_COMPLAINTS) found.add(`duplicate field ${JSON.stringify(top.next)}`);
        top.seen.add(key);
        expectKey = false;
      }
      at = end;
    } else if (char === '{' || char === '[') {
      top = frameOf(top?.next ?? '', char === '{');
      frames.push(top);
      expectKey = char === '{';
    } else if (char === '}' || char === ']') {
      frames.pop();
      top = frames.at(-1);
      expectKey = false;
    } else if (char === ',' && top) {
      expectKey = top.seen !== undefined;
      if (!top.seen) top.next = `${top.path}[${++top.index}]`;
    }
  }
  return [...found];
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
export function encodeJson(value: unknown): string {
  const text = JSON.stringify(value);
  return ESCAPED.test(text) ? text.replace(/[<>&\u2028\u2029]/g, char => ESCAPES.get(char)!) : text;
}
