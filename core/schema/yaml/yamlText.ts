import { readJson, writeJson } from '../../model/text/jsonText.js';
import { END, JsonTape, NEXT, NODE } from '../json/jsonTape.js';
import { TextWriter } from '../json/textWriter.js';
import {
  AMBIGUOUS,
  compareKeys,
  ExplicitKey,
  FOLD_COLUMN,
  foldLine,
  keyAsText,
  libraryText,
  scalarLines,
} from './yamlLibrary.js';

/*
 * Answers in YAML, written from JSON texts. The library writes every text that needs care; maps, lists and plain texts,
 * which are nearly all of an object, are written here (docs/decisions/0010).
 */

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPEN_BRACE = 0x7b;
const OPEN_BRACKET = 0x5b;
const SPACE = 0x20;
const HASH = 0x23;
const APOSTROPHE = 0x27;
const DASH = 0x2d;
const COLON = 0x3a;
const NEWLINE = 0x0a;
const ZERO = 0x30;
const NINE = 0x39;
const TILDE = 0x7e;

/** Characters with which a plain text may always begin. */
const BEGINS = new Uint8Array(256);
for (const char of 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_/') BEGINS[char.charCodeAt(0)] = 1;

/** Characters that a text may not begin with unless it is in quotes. */
const BEGINS_QUOTED = new Uint8Array(256);
for (const char of ' ,[]{}#&*!|>\'"%@`') BEGINS_QUOTED[char.charCodeAt(0)] = 1;

/** The longest word that does not resolve to a string. */
const WORD_BYTES = 'false'.length;
/** Digits of an integer that is written as it is. */
const SAFE_DIGITS = 15;
/** Keys that are longer may be too long for a line. */
const KEY_BYTES = 512;

/** The text to be written, and the part that has been written. Shared, because writing is synchronous. */
const tape = new JsonTape(false);
const out = new TextWriter();

const isDigit = (byte: number): boolean => byte >= ZERO && byte <= NINE;
/** Whether a byte is a letter, as in the comparison of Go's YAML encoder. */
const isLetter = (byte: number): boolean => (byte | 0x20) >= 0x61 && (byte | 0x20) <= 0x7a;

/**
 * How a text is written: as it is, in single quotes because of characters that have a meaning, in double quotes because
 * it looks like a value of another type, or by the library.
 */
type Style = 'plain' | 'single' | 'double' | 'other';

/** The style of the text between two places. */
function styleOf(start: number, end: number): Style {
  const { bytes } = tape;
  if (start === end) return 'other';
  const first = bytes[start]!;
  let needsQuotes = BEGINS_QUOTED[first] === 1;
  if (BEGINS[first] === 0 && !needsQuotes) return 'other';
  for (let i = start; i < end; i++) {
    const byte = bytes[i]!;
    if (BEGINS[byte] === 1) continue;
    if (byte < SPACE || byte > TILDE || byte === BACKSLASH || byte === APOSTROPHE) return 'other';
    if (byte === HASH) needsQuotes ||= bytes[i - 1] === SPACE;
    else if (byte === COLON) needsQuotes ||= i + 1 === end || bytes[i + 1] === SPACE;
  }
  const last = bytes[end - 1]!;
  if (last === DASH) return 'other';
  const mayBeValue = isDigit(first) || (end - start <= WORD_BYTES && isLetter(first));
  if (mayBeValue && AMBIGUOUS.test(textAt(start, end))) return 'double';
  return needsQuotes || last === SPACE ? 'single' : 'plain';
}

/** The characters between two places. */
function textAt(start: number, end: number): string {
  const { buffer, byteOffset } = tape.bytes;
  return Buffer.from(buffer, byteOffset + start, end - start).toString();
}

/** The text of a key. */
function keyIn(key: number): string {
  return tape.hasEscapes(key) ? (JSON.parse(tape.textOf(key)) as string) : textAt(startOf(key) + 1, endOf(key) - 1);
}

const startOf = (node: number): number => tape.nodes[node]!;
const endOf = (node: number): number => tape.nodes[node + END]!;
const isBlock = (node: number): boolean => {
  const first = tape.first(node);
  return first === OPEN_BRACE || first === OPEN_BRACKET;
};
const isEmpty = (node: number): boolean => tape.nodes[node + NEXT] === node + NODE;

/** The value of the digits from a place on; NaN if they are too many to be exact. */
function digitsAt(at: number): number {
  const { bytes } = tape;
  let value = 0;
  for (let i = at; isDigit(bytes[i]!); i++) {
    if (i - at === SAFE_DIGITS) return Number.NaN;
    value = value * 10 + bytes[i]! - ZERO;
  }
  return value;
}

/** `compareKeys` for two keys of the text. */
function compareNodes(a: number, b: number): number {
  if (tape.hasEscapes(a) || tape.hasEscapes(b)) return compareKeys(keyIn(a), keyIn(b));
  const { bytes } = tape;
  let atA = startOf(a) + 1;
  let atB = startOf(b) + 1;
  const lengthA = endOf(a) - 1 - atA;
  const lengthB = endOf(b) - 1 - atB;
  const sameEnd = atA + Math.min(lengthA, lengthB);
  while (atA < sameEnd && bytes[atA] === bytes[atB]) {
    atA++;
    atB++;
  }
  if (atA === sameEnd) return lengthA - lengthB;
  const [byteA, byteB] = [bytes[atA]!, bytes[atB]!];
  if (byteA > TILDE || byteB > TILDE) return compareKeys(keyIn(a), keyIn(b));
  const letters = Number(isLetter(byteA)) - Number(isLetter(byteB));
  if (letters !== 0 || !isDigit(byteA) || !isDigit(byteB)) return letters || byteA - byteB;
  const difference = digitsAt(atA) - digitsAt(atB);
  return difference || compareKeys(keyIn(a), keyIn(b));
}

/** The keys of a map in the order of Go's YAML encoder. */
function sortedKeys(node: number): number[] {
  const { nodes } = tape;
  const keys: number[] = [];
  const end = nodes[node + NEXT]!;
  for (let key = node + NODE; key < end; key = nodes[key + NODE + NEXT]!) keys.push(key);
  // Managed fields are sorted.
  for (let i = 1; i < keys.length; i++) if (compareNodes(keys[i - 1]!, keys[i]!) > 0) return keys.sort(compareNodes);
  return keys;
}

/** Whether a node that is not a text is a word or an integer that is written as it is. */
function isVerbatim(node: number): boolean {
  const { bytes } = tape;
  const end = endOf(node);
  let at = startOf(node);
  if (isLetter(bytes[at]!)) return true;
  if (bytes[at] === DASH) at++;
  if (end - at > SAFE_DIGITS || (bytes[at] === ZERO && endOf(node) - startOf(node) > 1)) return false;
  while (at < end && isDigit(bytes[at]!)) at++;
  return at === end;
}

/** Writes a text that is between two quotes, without or with its own. */
function writeStyled(start: number, end: number, style: Exclude<Style, 'other'>): void {
  const { bytes } = tape;
  if (style === 'double') {
    out.copy(bytes, start, end);
    return;
  }
  if (style === 'single') out.byte(APOSTROPHE);
  out.copy(bytes, start + 1, end - 1);
  if (style === 'single') out.byte(APOSTROPHE);
}

/** Whether the text between two quotes may be too long for a line, because it has a space far after `column`. */
function mayFold(start: number, end: number, column: number): boolean {
  const { bytes } = tape;
  const first = Math.max(start, start + FOLD_COLUMN - column);
  for (let i = first; i < end; i++) if (bytes[i] === SPACE) return true;
  return false;
}

/** Writes a text, number or word after its key or dash, which ends at `column`, with the line end. */
function writeScalar(node: number, indent: number, column: number): void {
  const [start, end] = [startOf(node), endOf(node)];
  if (tape.first(node) === QUOTE) {
    const style = styleOf(start + 1, end - 1);
    if (style !== 'other' && !mayFold(start, end, column)) {
      out.byte(SPACE);
      writeStyled(start, end, style);
      out.byte(NEWLINE);
    } else if (style === 'plain') writeLines(`${textAt(start + 1, end - 1)}\n`, indent, column);
    else if (style === 'single') writeLines(`'${textAt(start + 1, end - 1)}'\n`, indent, column);
    else writeLines(scalarLines(tape.textOf(node)), indent, column);
  } else if (isVerbatim(node)) {
    out.byte(SPACE);
    out.copy(tape.bytes, start, end);
    out.byte(NEWLINE);
  } else writeLines(scalarLines(tape.textOf(node)), indent, column);
}

/** Writes the lines of a scalar; a single line that is too long is folded. */
function writeLines(text: string, indent: number, column: number): void {
  const isOneLine = text.indexOf('\n') === text.length - 1;
  const lines = isOneLine && column + text.length > FOLD_COLUMN ? foldLine(text, column + 1, indent) : text;
  const isIndented = indent > 0 && lines.indexOf('\n') < lines.length - 1;
  out.byte(SPACE);
  out.copy(Buffer.from(isIndented ? lines.replace(/\n(?=[^\n])/g, `\n${' '.repeat(indent)}`) : lines));
}

/** Writes a value that begins on the current line, after `column`, with the line end. */
function writeInline(node: number, indent: number, column: number): void {
  const first = tape.first(node);
  if (first === OPEN_BRACE) out.write(' {}\n');
  else if (first === OPEN_BRACKET) out.write(' []\n');
  else writeScalar(node, indent, column);
}

/** Writes a key with its colon. Returns its length. */
function writeKey(key: number, isTop: boolean): number {
  const [start, end] = [startOf(key), endOf(key)];
  const style = styleOf(start + 1, end - 1);
  if (style === 'other' || end - start > KEY_BYTES) {
    const text = keyAsText(keyIn(key), isTop);
    out.copy(Buffer.from(`${text}:`));
    return text.length + 1;
  }
  writeStyled(start, end, style);
  out.byte(COLON);
  return style === 'plain' ? end - start - 1 : end - start + 1;
}

/** Writes an item of a list. */
function writeItem(item: number, indent: number): void {
  out.byte(DASH);
  if (isBlock(item) && !isEmpty(item)) {
    out.byte(SPACE);
    writeBlock(item, indent + 2, true);
  } else writeInline(item, indent, indent + 1);
}

/** Writes a list or map that is not empty. `isBehindDash`: its first line has begun. */
function writeBlock(node: number, indent: number, isBehindDash = false): void {
  let start = isBehindDash ? 0 : indent;
  if (tape.first(node) === OPEN_BRACKET) {
    const end = tape.nodes[node + NEXT]!;
    for (let item = node + NODE; item < end; item = tape.nodes[item + NEXT]!) {
      out.repeat(SPACE, start);
      start = indent;
      writeItem(item, indent);
    }
    return;
  }
  for (const key of sortedKeys(node)) {
    out.repeat(SPACE, start);
    start = indent;
    const length = writeKey(key, indent === 0);
    const value = key + NODE;
    if (isBlock(value) && !isEmpty(value)) {
      out.byte(NEWLINE);
      writeBlock(value, tape.first(value) === OPEN_BRACKET ? indent : indent + 2);
    } else writeInline(value, indent, indent + length);
  }
}

/**
 * Returns the bytes that `write` writes; undefined if a key occurs for which the library has to write the whole
 * document.
 */
function writtenBy(write: () => void): Uint8Array | undefined {
  out.begin();
  try {
    write();
    return out.written();
  } catch (error) {
    if (error instanceof ExplicitKey) return undefined;
    throw error;
  }
}

/**
 * Encodes a JSON value as YAML in the style of sigs.k8s.io/yaml: sorted keys, block style, strings quoted if YAML 1.1
 * would parse them as another type, long lines folded.
 */
export function encodeYaml(value: object): string {
  const json = writeJson(value);
  tape.read(Buffer.from(json));
  if (isEmpty(0)) return libraryText(value);
  const text = writtenBy(() => writeBlock(0, 0));
  return text ? Buffer.from(text.buffer).toString() : libraryText(readJson(json) as object);
}

/** Encodes the JSON texts of objects as the items of a YAML list that is the last member of a document. */
export function encodeYamlItems(texts: readonly Uint8Array[]): Uint8Array {
  const items = writtenBy(() => {
    for (const text of texts) {
      tape.read(text);
      writeItem(0, 0);
    }
  });
  return items ?? Buffer.from(libraryText({ items: texts.map(text => readJson(text)) }).slice('items:\n'.length));
}
