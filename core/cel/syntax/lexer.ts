/** The lexer: tokens of the grammar (CEL language definition, "Syntax"). */
import { canonical, Double, INT_MAX, UINT_MAX, Uint, type Value } from '../evaluate/values.js';
import type { Issues } from './source.js';

/** A token. `op` covers punctuation and the word `in`; `quoted` is a field name in back ticks. */
export interface Token {
  readonly kind: 'ident' | 'quoted' | 'const' | 'op' | 'end';
  /** The source text; of a `quoted` token, without its back ticks. */
  readonly text: string;
  readonly at: number;
  readonly value?: Value;
  /** An integer literal's exact value: 2^63 is valid after a minus sign only, which the parser checks. */
  readonly big?: bigint;
}

const OPERATORS = [
  '&&',
  '||',
  '==',
  '!=',
  '<=',
  '>=',
  '<',
  '>',
  '+',
  '-',
  '*',
  '/',
  '%',
  '!',
  '?',
  ':',
  '(',
  ')',
  '[',
  ']',
  '{',
  '}',
  ',',
  '.',
];
const SPACE = /[\t\n\f\r ]+|\/\/[^\n]*/y;
const NUMBER = /0x([0-9a-fA-F]+)(u|U)?|(\d+\.\d+(?:[eE][+-]?\d+)?|\d+[eE][+-]?\d+|\.\d+(?:[eE][+-]?\d+)?)|(\d+)(u|U)?/y;
const IDENT = /[A-Za-z_][A-Za-z0-9_]*/y;
const QUOTED = /`([a-zA-Z0-9_.\-/ ]+)`/y;
const STRING_START = /(?:[rR]?[bB]?|[bB][rR])("""|'''|"|')/y;

/**
 * Splits a text into tokens. Characters that start no token are reported as issues and skipped. `quotedFields` allows
 * field names in back ticks.
 */
export function tokenize(text: string, issues: Issues, quotedFields: boolean): Token[] {
  const out: Token[] = [];
  let i = 0;
  while (i < text.length) {
    SPACE.lastIndex = i;
    if (SPACE.test(text)) {
      i = SPACE.lastIndex;
      continue;
    }
    const token = readToken(text, i, issues, quotedFields);
    if (!token) {
      const end = errorEnd(text, i);
      issues.add(i, `Syntax error: token recognition error at: '${escapeControls(text.slice(i, end))}'`);
      i = end;
      continue;
    }
    out.push(token.token);
    i = token.end;
  }
  out.push({ kind: 'end', text: '<EOF>', at: text.length });
  return out;
}

const escapeControls = (text: string): string => text.replace(/\n/g, '\\n').replace(/\r/g, '\\r').replace(/\t/g, '\\t');

const COMPLETE_ESCAPE = /\\(?:[abfnrtv\\'"`?]|[xX][0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|[0-3][0-7]{2})/.source;
const PARTIAL_ESCAPE = /\\(?:[xX][0-9a-fA-F]?|u[0-9a-fA-F]{0,3}|U[0-9a-fA-F]{0,7}|[0-3][0-7]?)?/.source;
/** The longest valid start of a string literal's content, for each quote. */
const SINGLE_QUOTED_PART = new RegExp(`(?:[^\\\\'\\n\\r]|${COMPLETE_ESCAPE})*(?:${PARTIAL_ESCAPE})?`, 'y');
const DOUBLE_QUOTED_PART = new RegExp(`(?:[^\\\\"\\n\\r]|${COMPLETE_ESCAPE})*(?:${PARTIAL_ESCAPE})?`, 'y');

/**
 * The end of the text that a recognition error shows: the longest prefix of any token at `i`, and the character after
 * it.
 */
function errorEnd(text: string, i: number): number {
  const quote = text[i]!;
  let at = i;
  if (quote === "'" || quote === '"') {
    const part = quote === "'" ? SINGLE_QUOTED_PART : DOUBLE_QUOTED_PART;
    part.lastIndex = i + 1;
    part.test(text);
    at = part.lastIndex;
  } else if ('=&|'.includes(quote)) at = i + 1;
  return Math.min(text.length, at + String.fromCodePoint(text.codePointAt(at) ?? 0).length);
}

function readToken(
  text: string,
  i: number,
  issues: Issues,
  quotedFields: boolean,
): { token: Token; end: number } | undefined {
  STRING_START.lastIndex = i;
  const start = STRING_START.exec(text);
  const string = start && stringToken(text, i, start[0], start[1]!, issues);
  if (string) return string;
  NUMBER.lastIndex = i;
  const num = NUMBER.exec(text);
  if (num) return { token: numberToken(num, i, issues), end: NUMBER.lastIndex };
  IDENT.lastIndex = i;
  const ident = IDENT.exec(text)?.[0];
  if (ident !== undefined) return { token: wordToken(ident, i), end: i + ident.length };
  QUOTED.lastIndex = i;
  const quoted = quotedFields ? QUOTED.exec(text) : null;
  if (quoted) return { token: { kind: 'quoted', text: quoted[1]!, at: i }, end: QUOTED.lastIndex };
  const op = OPERATORS.find(o => text.startsWith(o, i));
  return op ? { token: { kind: 'op', text: op, at: i }, end: i + op.length } : undefined;
}

function wordToken(word: string, at: number): Token {
  if (word === 'true' || word === 'false') return { kind: 'const', text: word, at, value: word === 'true' };
  if (word === 'null') return { kind: 'const', text: word, at, value: null };
  return { kind: word === 'in' ? 'op' : 'ident', text: word, at };
}

function numberToken(m: RegExpExecArray, at: number, issues: Issues): Token {
  const text = m[0];
  if (m[3] !== undefined) {
    const value = Number(text);
    if (!Number.isFinite(value)) issues.add(at, 'invalid double literal');
    return { kind: 'const', text, at, value: new Double(value) };
  }
  if (text.length > 100) {
    issues.add(at, 'invalid int literal');
    return { kind: 'const', text, at, value: 0 };
  }
  const unsigned = (m[2] ?? m[5]) !== undefined;
  const n = BigInt(unsigned ? text.slice(0, -1) : text);
  if (unsigned) {
    if (n > UINT_MAX) issues.add(at, 'invalid uint literal');
    return { kind: 'const', text, at, value: new Uint(canonical(n)) };
  }
  if (n > INT_MAX + 1n) issues.add(at, 'invalid int literal');
  return { kind: 'const', text, at, value: canonical(n), big: n };
}

function stringToken(
  text: string,
  at: number,
  opening: string,
  quote: string,
  issues: Issues,
): { token: Token; end: number } | undefined {
  const prefix = opening.slice(0, opening.length - quote.length).toLowerCase();
  const raw = prefix.includes('r');
  const bytes = prefix.includes('b');
  const from = at + opening.length;
  let i = from;
  for (; i < text.length; i++) {
    const c = text[i];
    if (c === '\\' && !raw) i++;
    else if (text.startsWith(quote, i)) break;
    else if (quote.length === 1 && (c === '\n' || c === '\r')) return undefined;
  }
  if (i >= text.length) return undefined;
  const body = text.slice(from, i).replace(/\r\n?/g, '\n');
  const value = decodeLiteral(body, raw, bytes, message => issues.add(at, message));
  if (value === undefined) return undefined;
  return { token: { kind: 'const', text: text.slice(at, i + quote.length), at, value }, end: i + quote.length };
}

const SIMPLE = new Map([
  ['a', '\x07'],
  ['b', '\b'],
  ['f', '\f'],
  ['n', '\n'],
  ['r', '\r'],
  ['t', '\t'],
  ['v', '\v'],
  ['\\', '\\'],
  ["'", "'"],
  ['"', '"'],
  ['`', '`'],
  ['?', '?'],
]);
const ESCAPE = /\\(?:([abfnrtv\\'"`?])|[xX]([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|([0-3][0-7]{2}))/y;

/**
 * The value of a literal's content. Escapes stand for code points in strings and for octets in bytes literals. Returns
 * `undefined` for an unknown escape.
 */
function decodeLiteral(
  body: string,
  raw: boolean,
  bytes: boolean,
  bad: (message: string) => void,
): string | Uint8Array | undefined {
  const octets: number[] = [];
  let out = '';
  const put = (s: string) => {
    if (bytes) for (const b of new TextEncoder().encode(s)) octets.push(b);
    else out += s;
  };
  for (let i = 0; i < body.length; ) {
    if (raw || body[i] !== '\\') {
      let end = raw ? -1 : body.indexOf('\\', i);
      if (end < 0) end = body.length;
      put(body.slice(i, end));
      i = end;
      continue;
    }
    ESCAPE.lastIndex = i;
    const m = ESCAPE.exec(body);
    if (!m) {
      return undefined;
    }
    i = ESCAPE.lastIndex;
    if (m[1] !== undefined) put(SIMPLE.get(m[1])!);
    else {
      const code = m[5] !== undefined ? Number.parseInt(m[5], 8) : Number.parseInt(m[2] ?? m[3] ?? m[4]!, 16);
      const octet = m[2] !== undefined || m[5] !== undefined;
      if (bytes && octet) octets.push(code);
      else if (bytes || code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff)) {
        bad(bytes ? 'unable to unescape string' : 'invalid unicode code point');
        return bytes ? new Uint8Array() : '';
      } else put(String.fromCodePoint(code));
    }
  }
  return bytes ? Uint8Array.from(octets) : out;
}
