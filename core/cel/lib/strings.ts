/** The extended string functions. Indexes count code points. */
import { declare, declareGlobal, type Overload } from '../check/declarations.js';
import type { Library } from '../library.js';
import type { Meter } from '../cost/meter.js';
import { codePoints } from '../evaluate/ops.js';
import { formatText } from '../evaluate/format.js';
import { quote } from '../../model/text/quote.js';
import { display } from '../evaluate/text.js';
import { ArrayList, fail, type Int, type List, type Value } from '../evaluate/values.js';

/** Whether every UTF-16 unit is a code point, so that both indexes are equal. */
const isFlat = (s: string): boolean => codePoints(s) === s.length;

const codePointsOf = (v: Value, m: Meter): string[] => {
  m.traverse((v as string).length);
  return [...(v as string)];
};
const failRange = (i: Int): never => fail(`index out of range: ${i}`);

function charAt(s: Value, index: Value, _c: Value, m: Meter): Value {
  const chars = codePointsOf(s, m);
  const i = index as Int;
  if (i < 0 || i > chars.length) failRange(i);
  return chars[Number(i)] ?? '';
}

/** The code point index of a UTF-16 index. */
const toPointIndex = (s: string, unit: number): number => (unit < 0 ? -1 : codePoints(s.slice(0, unit)));
const toUnitIndex = (s: string, point: number): number => (isFlat(s) ? point : [...s].slice(0, point).join('').length);

function indexOf(s: Value, sub: Value, from: Value, m: Meter): Value {
  const text = s as string;
  const needle = sub as string;
  m.traverse(text.length);
  const start = from === null ? 0 : (from as Int);
  // Upstream finds the empty string at any start index, even outside the text.
  if (needle === '') return start;
  if (start < 0) failRange(start);
  if (start >= codePoints(text)) return -1;
  return toPointIndex(text, text.indexOf(needle, toUnitIndex(text, Number(start))));
}

function lastIndexOf(s: Value, sub: Value, from: Value, m: Meter): Value {
  const text = s as string;
  const needle = sub as string;
  m.traverse(text.length);
  const length = codePoints(text);
  if (needle === '') return from === null ? length : (from as Int);
  const start = from === null ? length - 1 : (from as Int);
  if (start < 0) failRange(start);
  if (start >= length) return -1;
  return toPointIndex(text, text.lastIndexOf(needle, toUnitIndex(text, Number(start))));
}

/**
 * Replaces up to `count` occurrences; all if it is negative. An empty text occurs before every character and at the
 * end, as in Go.
 */
function replace(s: Value, from: Value, to: Value, m: Meter, count: Value): Value {
  const [text, old, next] = [s as string, from as string, to as string];
  let left = count === null || (count as Int) < 0 ? Number.POSITIVE_INFINITY : Number(count as Int);
  m.traverse(text.length);
  const pieces: string[] = [];
  if (old === '') {
    const chars = [...text];
    m.traverse(Math.min(left, chars.length + 1) * next.length);
    for (let i = 0; i <= chars.length; i++) {
      if (left-- > 0) pieces.push(next);
      if (i < chars.length) pieces.push(chars[i]!);
    }
    return pieces.join('');
  }
  let at = 0;
  for (let hit = text.indexOf(old); hit >= 0 && left-- > 0; hit = text.indexOf(old, at)) {
    m.traverse(next.length + 10);
    pieces.push(text.slice(at, hit), next);
    at = hit + old.length;
  }
  pieces.push(text.slice(at));
  return pieces.join('');
}

function split(s: Value, by: Value, limit: Value, m: Meter): Value {
  const text = s as string;
  const separator = by as string;
  m.traverse(text.length);
  const n = limit === null || (limit as Int) < 0 ? Number.POSITIVE_INFINITY : Number(limit as Int);
  if (n === 0 || (text === '' && separator === '')) return new ArrayList([]);
  if (n === 1) return new ArrayList([text]);
  const parts = separator === '' ? [...text] : text.split(separator);
  m.charge(parts.length);
  if (parts.length <= n) return new ArrayList(parts);
  return new ArrayList([...parts.slice(0, n - 1), parts.slice(n - 1).join(separator)]);
}

function substring(s: Value, start: Value, end: Value, m: Meter): Value {
  const chars = codePointsOf(s, m);
  const from = start as Int;
  const to = end === null ? chars.length : (end as Int);
  if (end !== null && from > to) fail(`invalid substring range. start: ${from}, end: ${to}`);
  if (from < 0 || from > chars.length) failRange(from);
  if (to < 0 || to > chars.length) failRange(to);
  return chars.slice(Number(from), Number(to)).join('');
}

function join(list: Value, separator: Value, _c: Value, m: Meter): Value {
  const out: string[] = [];
  const l = list as List;
  const glue = (separator ?? '') as string;
  for (let i = 0; i < l.size; i++) {
    const item = l.at(i);
    if (typeof item !== 'string') return fail(`join: invalid input: ${display(item)}`);
    m.charge(1 + Math.ceil((item.length + glue.length) * 0.1));
    out.push(item);
  }
  return out.join(glue);
}

/** White space of Unicode outside ASCII. Unlike in JavaScript, the byte order mark is not included. */
const WIDE_SPACE = /[\x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]/;
function trim(s: Value, _b: Value, _c: Value, m: Meter): Value {
  const text = s as string;
  m.traverse(text.length);
  let end = text.length;
  while (end > 0 && isSpace(text.charCodeAt(end - 1))) end--;
  let start = 0;
  while (start < end && isSpace(text.charCodeAt(start))) start++;
  return text.slice(start, end);
}
const isSpace = (c: number): boolean =>
  (c >= 9 && c <= 13) || c === 32 || (c > 127 && WIDE_SPACE.test(String.fromCharCode(c)));

const mapText =
  (change: (s: string) => string) =>
  (s: Value, _b: Value, _c: Value, m: Meter): Value => {
    m.traverse((s as string).length);
    return change(s as string);
  };

const lower = mapText(s => s.replace(/[A-Z]+/g, x => x.toLowerCase()));
const upper = mapText(s => s.replace(/[a-z]+/g, x => x.toUpperCase()));
const reverse = (s: Value, _b: Value, _c: Value, m: Meter): Value => codePointsOf(s, m).reverse().join('');

const basic: Overload[] = [
  declare('string.charAt(int): string', charAt),
  declare('string.indexOf(string): int', indexOf),
  declare('string.indexOf(string, int): int', indexOf),
  declare('string.lastIndexOf(string): int', lastIndexOf),
  declare('string.lastIndexOf(string, int): int', lastIndexOf),
  declare('string.lowerAscii(): string', lower),
  declare('string.upperAscii(): string', upper),
  declare('string.replace(string, string): string', (s, a, b, m) => replace(s, a, b, m, null)),
  declare('string.replace(string, string, int): string', replace),
  declare('string.split(string): list(string)', split),
  declare('string.split(string, int): list(string)', split),
  declare('string.substring(int): string', substring),
  declare('string.substring(int, int): string', substring),
  declare('string.trim(): string', trim),
  declare('list(string).join(): string', join),
  declare('list(string).join(string): string', join),
];

/** The strings library of a version: 1 adds `format` and `quote`, 3 adds `reverse`, 4 prints numbers without locale. */
export function stringsLibrary(version: number): Library {
  const functions = [...basic];
  if (version >= 1) {
    const style = { locale: version < 4 };
    functions.push(
      declare('string.format(list(dyn)): string', (s, args, _c, m) => formatText(s as string, args as List, style, m)),
      declareGlobal('strings.quote(string): string', mapText(quote)),
    );
  }
  if (version >= 3) functions.push(declare('string.reverse(): string', reverse));
  return { name: `strings/${version}`, functions };
}
