import { createRequire } from 'node:module';
import type { Pair, Scalar, Tags } from 'yaml';
import { readJson } from '../../model/text/jsonText.js';

/* The parts of answers in YAML that are left to the library, in the style of Go's YAML encoder. */

type Yaml = typeof import('yaml');

let library: Yaml | undefined;

/** The library, loaded on first use: loading takes 40 ms, and most servers never need it. */
const yaml = (): Yaml => (library ??= createRequire(import.meta.url)('yaml') as Yaml);

/** The library's floats need no digits: `.` and `E0`, which are strings upstream, would be quoted. */
const withDigits = (tags: Tags): Tags =>
  tags.map(tag => {
    if (typeof tag === 'string' || !('test' in tag)) return tag;
    if (tag.test?.test('.')) return { ...tag, test: /^[-+]?(?:[\d_]+\.[\d_]*|\.[\d_]+)$/ };
    if (tag.test?.test('E0')) return { ...tag, test: /^[-+]?(?:\d[\d_]*(?:\.[\d_]*)?|\.\d[\d_]*)[eE][-+]?\d+$/ };
    return tag;
  });

/** Without the merge tag, so that a key `<<` is an ordinary key, which is quoted. */
const withoutMerge = (tags: Tags): Tags =>
  withDigits(tags).filter(tag => typeof tag === 'string' || !tag.tag.endsWith(':merge'));

const DIGITS = /^\d+/;
const LETTER = /^\p{L}/u;

const isAsciiLetter = (code: number): boolean => (code | 0x20) >= 0x61 && (code | 0x20) <= 0x7a;

/** Compares keys as Go's YAML encoder: letters after other characters, sequences of digits by value. */
export function compareKeys(a: string, b: string): number {
  let at = 0;
  while (at < a.length && a[at] === b[at]) at++;
  if (isAsciiLetter(a.charCodeAt(at)) && isAsciiLetter(b.charCodeAt(at))) return a[at]! < b[at]! ? -1 : 1;
  const [remaining, right] = [a.slice(at), b.slice(at)];
  if (!remaining || !right) return a.length - b.length;
  const letters = Number(LETTER.test(remaining)) - Number(LETTER.test(right));
  if (letters !== 0) return letters;
  const [leftDigits, rightDigits] = [DIGITS.exec(remaining)?.[0], DIGITS.exec(right)?.[0]];
  if (leftDigits && rightDigits && leftDigits !== rightDigits) {
    const value = Number(leftDigits) - Number(rightDigits) || leftDigits.length - rightDigits.length;
    if (value !== 0) return value;
  }
  return remaining < right ? -1 : 1;
}

/** Plain texts that YAML 1.1 parses as another type than string (yaml.org/type: null, bool, int, float, timestamp). */
const AMBIGUOUS_FORMS = [
  /~|null|y|yes|n|no|true|false|on|off|<<|=/,
  /[-+]?\.(?:inf|nan)|[-+]?0b[01_]+|[-+]?0o?[0-7_]+|[-+]?0x[\da-f_]+/,
  /[-+]?(?:\.\d+|\d[\d_]*(?:\.\d*)?)(?:e[-+]?\d+)?|[-+]?\d[\d_]*(?::[0-5]?\d)+(?:\.\d*)?/,
  /\d{4}-\d\d?-\d\d?(?:[t\s].*)?/,
];
/** Matches a whole plain text of such a form. */
export const AMBIGUOUS = new RegExp(`^(?:${AMBIGUOUS_FORMS.map(form => form.source).join('|')})?$`, 'i');
/** Characters that are only possible in a double-quoted text. */
const NEEDS_ESCAPES = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u2028\u2029\ud800-\udfff\ufeff\ufffe\uffff]/;

/**
 * Texts that the library puts into quotes. For texts with apostrophes, it would prefer quotes that differ from those of
 * Go's YAML encoder.
 */
const NEEDS_QUOTES = /^[ ,[\]{}#&*!|>'"%@`]|^[?-]$|^[?-][ \t]|:[ \t]| #|[ :]$/;
/** Characters that Go's YAML encoder escapes, and the library does not. */
const ASTRAL = /[\u{10000}-\u{10ffff}]/gu;

const escapeAstral = (char: string): string => `\\U${char.codePointAt(0)!.toString(16).toUpperCase().padStart(8, '0')}`;

function setStyle(scalar: Scalar): void {
  const { Scalar } = yaml();
  const text = scalar.value;
  if (typeof text !== 'string') return;
  if (AMBIGUOUS.test(text) || NEEDS_ESCAPES.test(text)) scalar.type = Scalar.QUOTE_DOUBLE;
  else if (text.includes('\n')) scalar.type = /^\s|[ ]\n/.test(text) ? Scalar.QUOTE_DOUBLE : Scalar.BLOCK_LITERAL;
  else scalar.type = NEEDS_QUOTES.test(text) ? Scalar.QUOTE_SINGLE : Scalar.PLAIN;
}

/** The YAML text of a value, written by the library. */
export function libraryText(value: object): string {
  const { Document, visit } = yaml();
  const document = new Document(value, {
    version: '1.1',
    merge: false,
    customTags: withoutMerge,
    aliasDuplicateObjects: false,
    sortMapEntries: (a, b) => compareKeys(String(keyText(a)), String(keyText(b))),
  });
  visit(document, { Scalar: (_key, scalar) => setStyle(scalar) });
  const text = document.toString({ lineWidth: 0, indentSeq: false, singleQuote: true, directives: false });
  return text.replaceAll(ASTRAL, escapeAstral);
}

const keyText = ({ key }: Pair): unknown => (yaml().isScalar(key) ? key.value : key);

/** Cached texts that the library has written, most of which are repeated from object to object. */
const known = new Map<string, string>();
const KNOWN = 2000;
/** Longer texts are rarely repeated, and would take much memory. */
const KNOWN_CHARACTERS = 512;

/** Returns the result of `write` for a text that is not simple; caches it for short ones. */
function remember(key: string, write: () => string): string {
  let text = known.get(key);
  if (text !== undefined) return text;
  text = write();
  if (key.length > KNOWN_CHARACTERS) return text;
  if (known.size >= KNOWN) known.clear();
  known.set(key, text);
  return text;
}

/** The column after which Go's YAML encoder breaks a line at the next single space. */
export const FOLD_COLUMN = 80;

/**
 * Folds the one-line text of a scalar that begins in `column` like Go's YAML encoder: plain and quoted texts, whose
 * first and last characters keep their places. Further lines are indented as for a root member, which is `indentation`
 * less than their final indentation.
 */
export function foldLine(text: string, column: number, indentation: number): string {
  const quote = /^['"]/.exec(text)?.[0] ?? '';
  const [first, last] = quote ? [2, text.length - 4] : [1, text.length - 2];
  let folded = '';
  let written = 0;
  let at = column;
  for (let i = 0; i < text.length; i++, at++) {
    // The second half of a character of two code units.
    if (text[i]! >= '\udc00' && text[i]! <= '\udfff') at--;
    const isBreak = at > FOLD_COLUMN && text[i] === ' ' && i >= first && i <= last && text[i - 1] !== ' ';
    const isDoubled = text[i + 1] === ' ';
    if (!isBreak || (isDoubled && quote !== '"')) continue;
    folded += `${text.slice(written, i)}\n  ${isDoubled ? '\\' : ''}`;
    written = i + 1;
    at = indentation + (isDoubled ? 2 : 1);
  }
  return folded + text.slice(written);
}

/**
 * The YAML of a JSON value that is not an object, after its key or dash, with the line end. Further lines have only the
 * indentation that they need.
 */
export const scalarLines = (json: string): string =>
  remember(`v${json}`, () => libraryText({ k: readJson(json) }).slice('k: '.length));

/** A key as it is written before its colon. At the start of a line it must not look like the end of a document. */
export function keyAsText(key: string, isTop: boolean): string {
  const text = isTop
    ? libraryText({ [key]: null })
    : remember(`k${key}`, () => libraryText({ k: { [key]: null } }).slice('k:\n  '.length));
  // Keys that are long or have several lines are written in another way, as a block of their own.
  if (text.startsWith('? ') || !text.endsWith(': null\n')) throw new ExplicitKey();
  return text.slice(0, -': null\n'.length);
}

/** Thrown for a document with a key that does not fit on a line. The library then writes the whole document. */
export class ExplicitKey extends Error {}
