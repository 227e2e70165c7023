import { createRequire } from 'node:module';
import { DEPTH, OBJECT_BYTES, YAML_BYTES } from '../../limits.js';
import type { Json } from '../../model/object.js';
import { Refusal } from '../../model/refusal.js';
import { parseStrict, type StrictJson } from '../json/json.js';
import { UnreadableBody } from '../decode/unreadable.js';
import { composeYaml, YamlError } from './yamlCompose.js';

type JsYaml = typeof import('js-yaml');

let library: JsYaml | undefined;

/** The library, loaded on first use: most servers never need it. */
const jsYaml = (): JsYaml => (library ??= createRequire(import.meta.url)('js-yaml') as JsYaml);

const yamlError = (why: string): Refusal => new UnreadableBody(`yaml: ${why}`);

/** A line that begins or ends a document. */
const MARKER = /(?:^|[\r\n])(---|\.\.\.)(?=[ \t\r\n]|$)/g;
/** Lines before a document: blank ones, comments and directives. */
const isPreamble = (text: string): boolean =>
  text.split(/\r\n?|\n/).every(line => /^(?:\ufeff?[ \t]*(?:#|$)|%)/.test(line));

/** The first document of a stream. Marker lines end a document wherever they are, even in a block of text. */
function firstDocument(text: string): string {
  MARKER.lastIndex = 0;
  let marker = MARKER.exec(text);
  if (marker?.[1] === '---' && isPreamble(text.slice(0, marker.index))) marker = MARKER.exec(text);
  return marker ? text.slice(0, marker.index + 1) : text;
}

/** A copy of a JSON value with members sorted by name. */
function sortMembers(value: Json): Json {
  if (Array.isArray(value)) return value.map(sortMembers);
  if (typeof value !== 'object' || value === null) return value;
  const members = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  // `fromEntries` defines `__proto__` as an own member.
  return Object.fromEntries(members.map(([name, member]) => [name, sortMembers(member)]));
}

const OPEN_BRACE = 0x7b;
const isBlank = (byte: number | undefined): boolean => byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;

/**
 * The value of a body that is JSON, with its members sorted; undefined for anything else, and if there are duplicate
 * members, which the YAML parser must report. It takes a tenth of the time of that parser.
 */
function parseAsJson(bytes: Uint8Array): StrictJson | undefined {
  let start = 0;
  while (isBlank(bytes[start])) start++;
  if (bytes[start] !== OPEN_BRACE) return undefined;
  try {
    const { value, duplicates } = parseStrict(bytes);
    return duplicates.length > 0 ? undefined : { value: sortMembers(value), duplicates };
  } catch {
    return undefined;
  }
}

/** Returns the refusal for an error that the library throws for a text that is not YAML. */
function syntaxError(error: unknown): Refusal {
  if (!(error instanceof jsYaml().YAMLException)) return yamlError((error as Error).message);
  if (error.reason.startsWith('nesting exceeded')) return yamlError(`exceeded max depth of ${DEPTH}`);
  return yamlError(error.mark ? `line ${error.mark.line + 1}: ${error.reason}` : error.reason);
}

/**
 * Decodes the first document of a YAML 1.1 stream to JSON, with the duplicate keys (`line 7: key "k" already set in
 * map`). Timestamps stay strings, keys become strings, the last of duplicate keys wins, an empty stream is null.
 * `__proto__` is an ordinary key. Members are sorted by name: upstream reports unknown fields in this order.
 * Throws a Refusal: 400, and 413 for more than YAML_BYTES that are not JSON.
 */
export function decodeYamlStrict(bytes: Uint8Array): StrictJson {
  const json = parseAsJson(bytes);
  if (json) return json;
  if (bytes.length > YAML_BYTES)
    throw new Refusal('RequestEntityTooLarge', `Request entity too large: limit of a body in YAML is ${YAML_BYTES}`);
  const text = firstDocument(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8'));
  try {
    const events = jsYaml().parseEvents(text, { maxDepth: DEPTH });
    return composeYaml(text, events, jsYaml(), OBJECT_BYTES);
  } catch (error) {
    throw error instanceof YamlError ? new UnreadableBody(error.message) : syntaxError(error);
  }
}

/** Like `decodeYamlStrict`, without the duplicate keys. */
export const decodeYaml = (bytes: Uint8Array): Json => decodeYamlStrict(bytes).value;
