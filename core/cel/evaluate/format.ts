/** `string.format`: the parser of format strings, used by evaluation and validation, and the text of each clause. */
import type { Meter } from '../cost/meter.js';
import { compareStrings } from './ops.js';
import { display, goFixed } from './text.js';
import { Dict, Double, fail, type Int, List, typeNameOf, Uint, type Value } from './values.js';

/** The verbs of format clauses. */
export type Verb = 's' | 'd' | 'f' | 'e' | 'b' | 'o' | 'x' | 'X';

/** One clause; `precision` is absent if not given. */
export interface Clause {
  readonly verb: Verb;
  readonly precision?: number;
}

/** Options of a strings library: older versions print `%e` and `%f` by locale and quote strings inside aggregates. */
export interface FormatStyle {
  readonly locale: boolean;
}

/** Decimals that a clause may ask for, so that a short format cannot produce a huge text. */
const MAX_PRECISION = 1000;
const VERBS = 'sdfeboxX';

/** Callbacks for the parts of a format. */
export interface FormatVisitor {
  /** The number of arguments. */
  readonly count: number;
  /** Validation, not evaluation: a truncated clause is reported before a missing argument. */
  readonly checking: boolean;
  text(part: string): void;
  clause(clause: Clause, index: number): void;
}

/** Walks a format and returns the number of arguments it uses. Throws `CelError` with upstream's text if malformed. */
export function scanFormat(format: string, visitor: FormatVisitor): number {
  let next = 0;
  for (let i = 0; i < format.length; ) {
    const mark = format.indexOf('%', i);
    if (mark !== i) visitor.text(format.slice(i, mark < 0 ? undefined : mark));
    if (mark < 0) break;
    if (format[mark + 1] === '%') {
      visitor.text('%');
      i = mark + 2;
      continue;
    }
    if (!visitor.checking && next >= visitor.count) fail(`index ${next} out of range`);
    if (mark + 1 >= format.length) fail('unexpected end of string');
    if (next >= visitor.count) fail(`index ${next} out of range`);
    const { clause, end } = readClause(format, mark + 1);
    visitor.clause(clause, next++);
    i = end;
  }
  return next;
}

const failClause = (reason: string): never => fail(`could not parse formatting clause: ${reason}`);

function readClause(format: string, start: number): { clause: Clause; end: number } {
  let i = start;
  let precision: number | undefined;
  if (format[i] === '.') {
    const digits = /\d*/y;
    digits.lastIndex = ++i;
    const text = digits.exec(format)![0];
    i += text.length;
    if (i >= format.length) failClause('error while parsing precision: could not find end of precision specifier');
    precision = toPrecision(text);
  }
  const verb = format[i]!;
  if (!VERBS.includes(verb)) failClause(`unrecognized formatting clause "${firstByte(format, i)}"`);
  return { clause: { verb: verb as Verb, precision }, end: i + 1 };
}

function toPrecision(text: string): number {
  const failPrecision = (reason: string): never =>
    failClause(
      `error while parsing precision: error while converting precision to integer: strconv.Atoi: parsing "${text}": ` +
        `${reason}`,
    );
  if (text === '') return failPrecision('invalid syntax');
  const n = Number(text);
  if (n >= 2 ** 63) return failPrecision('value out of range');
  return n > MAX_PRECISION ? fail('error during formatting: precision too large') : n;
}

/** The first octet of a character, printed as a character: upstream reports it so. */
const firstByte = (format: string, i: number): string =>
  String.fromCharCode(Buffer.from(String.fromCodePoint(format.codePointAt(i)!))[0]!);

/** Evaluates `format.format(args)`. */
export function formatText(format: string, args: List, style: FormatStyle, meter: Meter): string {
  const out: string[] = [];
  meter.traverse(format.length);
  scanFormat(format, {
    count: args.size,
    checking: false,
    text: part => out.push(part),
    clause(clause, index) {
      const text = clauseText(clause, args.at(index), style, meter);
      meter.traverse(text.length);
      out.push(text);
    },
  });
  return out.join('');
}

function clauseText({ verb, precision }: Clause, v: Value, style: FormatStyle, meter: Meter): string {
  switch (verb) {
    case 's':
      return style.locale ? display(v, meter) : displayUnquoted(v, meter);
    case 'd':
      return formatDecimal(v, style);
    case 'f':
      return formatFixed(v, precision ?? 6, style);
    case 'e':
      return formatScientific(v, precision ?? 6, style);
    case 'b':
      return typeof v === 'boolean' ? String(Number(v)) : formatInteger(v, 2, CLAUSE_KINDS.b);
    case 'o':
      return formatInteger(v, 8, CLAUSE_KINDS.o);
    case 'x':
      return formatHex(v);
    case 'X':
      return formatHex(v).toUpperCase();
  }
}

/** The error of each clause except `%s` for a value of the wrong type. */
export const CLAUSE_KINDS = {
  d: 'decimal clause can only be used on integers',
  f: 'fixed-point clause can only be used on doubles',
  e: 'scientific clause can only be used on doubles',
  b: 'only integers and bools can be formatted as binary',
  o: 'octal clause can only be used on integers',
  x: 'only integers, byte buffers, and strings can be formatted as hex',
  X: 'only integers, byte buffers, and strings can be formatted as hex',
} as const;

const failVerb = (wanted: string, v: Value): never =>
  fail(`error during formatting: ${wanted}, was given ${typeNameOf(v)}`);

/** `%s` of newer releases: strings unquoted, infinities as words. */
function displayUnquoted(v: Value, meter: Meter): string {
  if (v instanceof Double && !Number.isFinite(v.value)) return nonFiniteName(v.value);
  if (v instanceof List) {
    meter.charge(v.size);
    return `[${Array.from({ length: v.size }, (_, i) => displayUnquoted(v.at(i), meter)).join(', ')}]`;
  }
  if (!(v instanceof Dict) || v.typeName !== 'map') return display(v, meter);
  meter.charge(v.size);
  const entries = v.keys().map(k => [displayUnquoted(k, meter), displayUnquoted(v.get(k)!, meter)] as const);
  entries.sort((a, b) => compareStrings(a[0], b[0]));
  return `{${entries.map(([k, x]) => `${k}: ${x}`).join(', ')}}`;
}

const nonFiniteName = (n: number): string => (Number.isNaN(n) ? 'NaN' : n > 0 ? 'Infinity' : '-Infinity');
const nonFiniteSymbol = (n: number): string => (Number.isNaN(n) ? 'NaN' : n > 0 ? '∞' : '-∞');

function formatDecimal(v: Value, style: FormatStyle): string {
  if (typeof v === 'number' || typeof v === 'bigint') return String(v);
  if (v instanceof Uint) return String(v.value);
  if (!style.locale && v instanceof Double && !Number.isFinite(v.value)) return nonFiniteName(v.value);
  return failVerb(CLAUSE_KINDS.d, v);
}

/** The number of `%f` and `%e`: a double or the name of a non-finite one; in newer releases also an integer. */
function toFloat(v: Value, style: FormatStyle, wanted: string): number {
  if (v instanceof Double) return v.value;
  if (v === 'NaN') return Number.NaN;
  if (v === 'Infinity') return Number.POSITIVE_INFINITY;
  if (v === '-Infinity') return Number.NEGATIVE_INFINITY;
  if (!style.locale && (typeof v === 'number' || typeof v === 'bigint')) return Number(v);
  if (!style.locale && v instanceof Uint) return Number(v.value);
  return failVerb(wanted, v);
}

/** Puts a comma before every third digit from the right; a sign may precede the digits. */
function groupDigits(text: string): string {
  const sign = text.startsWith('-') ? '-' : '';
  const first = (text.length - sign.length) % 3 || 3;
  const groups = [text.slice(sign.length, sign.length + first)];
  for (let at = sign.length + first; at < text.length; at += 3) groups.push(text.slice(at, at + 3));
  return sign + groups.join(',');
}

function formatFixed(v: Value, digits: number, style: FormatStyle): string {
  const n = toFloat(v, style, CLAUSE_KINDS.f);
  if (!Number.isFinite(n)) return style.locale ? nonFiniteSymbol(n) : nonFiniteName(n);
  const text = goFixed(n, digits);
  if (!style.locale) return text;
  const [whole, fraction] = text.split('.');
  const grouped = groupDigits(whole!);
  return fraction === undefined ? grouped : `${grouped}.${fraction}`;
}

const SUPERSCRIPT = '⁰¹²³⁴⁵⁶⁷⁸⁹';

/** With a locale, the precision is used as a width. Upstream does the same, since its format string lacks the dot. */
function formatScientific(v: Value, precision: number, style: FormatStyle): string {
  const n = toFloat(v, style, CLAUSE_KINDS.e);
  if (!Number.isFinite(n)) return style.locale ? padTo(nonFiniteSymbol(n), precision) : nonFiniteName(n);
  const digits = style.locale ? 6 : Math.min(precision, 100);
  const [mantissa, exponent] = n.toExponential(digits).split('e') as [string, string];
  const abs = String(Math.abs(Number(exponent))).padStart(2, '0');
  const negative = exponent.startsWith('-');
  if (!style.locale) return `${mantissa}e${negative ? '-' : '+'}${abs}`;
  const raised = [...abs].map(d => SUPERSCRIPT[Number(d)]).join('');
  return padTo(`${mantissa}\u202f×\u202f10${negative ? '⁻' : ''}${raised}`, precision);
}
const padTo = (text: string, width: number): string => text.padStart(width, ' ');

function formatInteger(v: Value, base: number, wanted: string): string {
  if (typeof v === 'number' || typeof v === 'bigint') return (v as Int).toString(base);
  return v instanceof Uint ? v.value.toString(base) : failVerb(wanted, v);
}

function formatHex(v: Value): string {
  if (typeof v === 'string') return Buffer.from(v, 'utf8').toString('hex');
  if (v instanceof Uint8Array) return Buffer.from(v).toString('hex');
  return formatInteger(v, 16, CLAUSE_KINDS.x);
}
