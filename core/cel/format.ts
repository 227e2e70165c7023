/**
 * `string.format`: one reader of format strings for evaluation and for the check of constant ones, and the text of each
 * clause.
 */
import type { Meter } from './meter.js';
import { compareStrings } from './ops.js';
import { display, goFixed } from './text.js';
import { Dict, Double, fail, type Int, List, typeNameOf, Uint, type Value } from './values.js';

/** The verbs there are. */
export type Verb = 's' | 'd' | 'f' | 'e' | 'b' | 'o' | 'x' | 'X';

/** One clause; `precision` is absent where none is written. */
export interface Clause {
  readonly verb: Verb;
  readonly precision?: number;
}

/** How the older strings libraries differ from the newer: locale forms of `%e` and `%f`, quoting inside aggregates. */
export interface FormatStyle {
  readonly locale: boolean;
}

/** Longest fraction: beyond it a format is an attack. */
const MAX_PRECISION = 1000;
const VERBS = 'sdfeboxX';

/** What is done with the parts of a format. */
export interface FormatVisitor {
  readonly count: number;
  /** The format is only checked: its end is looked at before the number of arguments. */
  readonly checking: boolean;
  text(part: string): void;
  clause(clause: Clause, index: number): void;
}

/** Walks a format; answers how many arguments it takes. Fails with upstream's text where it is malformed. */
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

const bad = (reason: string): never => fail(`could not parse formatting clause: ${reason}`);

function readClause(format: string, start: number): { clause: Clause; end: number } {
  let i = start;
  let precision: number | undefined;
  if (format[i] === '.') {
    const digits = /\d*/y;
    digits.lastIndex = ++i;
    const text = digits.exec(format)![0];
    i += text.length;
    if (i >= format.length) bad('error while parsing precision: could not find end of precision specifier');
    precision = toPrecision(text);
  }
  const verb = format[i]!;
  if (!VERBS.includes(verb)) bad(`unrecognized formatting clause "${firstByte(format, i)}"`);
  return { clause: { verb: verb as Verb, precision }, end: i + 1 };
}

function toPrecision(text: string): number {
  const wrong = (reason: string): never =>
    bad(
      `error while parsing precision: error while converting precision to integer: strconv.Atoi: parsing "${text}": ${reason}`,
    );
  if (text === '') return wrong('invalid syntax');
  const n = Number(text);
  if (n >= 2 ** 63) return wrong('value out of range');
  return n > MAX_PRECISION ? fail('error during formatting: precision too large') : n;
}

/** Upstream shows the first octet of a character as if it were one. */
const firstByte = (format: string, i: number): string =>
  String.fromCharCode(Buffer.from(String.fromCodePoint(format.codePointAt(i)!))[0]!);

/** `format.format(args)`. */
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
      return style.locale ? display(v, meter) : bare(v, meter);
    case 'd':
      return decimal(v, style);
    case 'f':
      return fixed(v, precision ?? 6, style);
    case 'e':
      return scientific(v, precision ?? 6, style);
    case 'b':
      return typeof v === 'boolean' ? String(Number(v)) : integer(v, 2, CLAUSE_KINDS.b);
    case 'o':
      return integer(v, 8, CLAUSE_KINDS.o);
    case 'x':
      return hexadecimal(v);
    case 'X':
      return hexadecimal(v).toUpperCase();
  }
}

/** What each clause but `%s` says of a value of another type. */
export const CLAUSE_KINDS = {
  d: 'decimal clause can only be used on integers',
  f: 'fixed-point clause can only be used on doubles',
  e: 'scientific clause can only be used on doubles',
  b: 'only integers and bools can be formatted as binary',
  o: 'octal clause can only be used on integers',
  x: 'only integers, byte buffers, and strings can be formatted as hex',
  X: 'only integers, byte buffers, and strings can be formatted as hex',
} as const;

const refuse = (wanted: string, v: Value): never =>
  fail(`error during formatting: ${wanted}, was given ${typeNameOf(v)}`);

/** As newer releases print `%s`: nothing quoted, infinities spelt out. */
function bare(v: Value, meter: Meter): string {
  if (v instanceof Double && !Number.isFinite(v.value)) return spelt(v.value);
  if (v instanceof List) {
    meter.charge(v.size);
    return `[${Array.from({ length: v.size }, (_, i) => bare(v.at(i), meter)).join(', ')}]`;
  }
  if (!(v instanceof Dict) || v.typeName !== 'map') return display(v, meter);
  meter.charge(v.size);
  const entries = v.keys().map(k => [bare(k, meter), bare(v.get(k)!, meter)] as const);
  entries.sort((a, b) => compareStrings(a[0], b[0]));
  return `{${entries.map(([k, x]) => `${k}: ${x}`).join(', ')}}`;
}

const spelt = (n: number): string => (Number.isNaN(n) ? 'NaN' : n > 0 ? 'Infinity' : '-Infinity');
const symbol = (n: number): string => (Number.isNaN(n) ? 'NaN' : n > 0 ? '∞' : '-∞');

function decimal(v: Value, style: FormatStyle): string {
  if (typeof v === 'number' || typeof v === 'bigint') return String(v);
  if (v instanceof Uint) return String(v.value);
  if (!style.locale && v instanceof Double && !Number.isFinite(v.value)) return spelt(v.value);
  return refuse(CLAUSE_KINDS.d, v);
}

/** The number of `%f` and `%e`: a double, or its name where it has no literal; newer releases take integers too. */
function floating(v: Value, style: FormatStyle, wanted: string): number {
  if (v instanceof Double) return v.value;
  if (v === 'NaN') return Number.NaN;
  if (v === 'Infinity') return Number.POSITIVE_INFINITY;
  if (v === '-Infinity') return Number.NEGATIVE_INFINITY;
  if (!style.locale && (typeof v === 'number' || typeof v === 'bigint')) return Number(v);
  if (!style.locale && v instanceof Uint) return Number(v.value);
  return refuse(wanted, v);
}

function fixed(v: Value, digits: number, style: FormatStyle): string {
  const n = floating(v, style, CLAUSE_KINDS.f);
  if (!Number.isFinite(n)) return style.locale ? symbol(n) : spelt(n);
  const text = goFixed(n, digits);
  if (!style.locale) return text;
  const [whole, fraction] = text.split('.');
  const grouped = whole!.replace(/\B(?=(\d{3})+$)/g, ',');
  return fraction === undefined ? grouped : `${grouped}.${fraction}`;
}

const SUPERSCRIPT = '⁰¹²³⁴⁵⁶⁷⁸⁹';

/** With a locale the precision is a width: upstream's format string lacks the dot. */
function scientific(v: Value, precision: number, style: FormatStyle): string {
  const n = floating(v, style, CLAUSE_KINDS.e);
  if (!Number.isFinite(n)) return style.locale ? padded(symbol(n), precision) : spelt(n);
  const digits = style.locale ? 6 : Math.min(precision, 100);
  const [mantissa, exponent] = n.toExponential(digits).split('e') as [string, string];
  const abs = String(Math.abs(Number(exponent))).padStart(2, '0');
  const negative = exponent.startsWith('-');
  if (!style.locale) return `${mantissa}e${negative ? '-' : '+'}${abs}`;
  const raised = [...abs].map(d => SUPERSCRIPT[Number(d)]).join('');
  return padded(`${mantissa}\u202f×\u202f10${negative ? '⁻' : ''}${raised}`, precision);
}
const padded = (text: string, width: number): string => text.padStart(width, ' ');

function integer(v: Value, base: number, wanted: string): string {
  if (typeof v === 'number' || typeof v === 'bigint') return (v as Int).toString(base);
  return v instanceof Uint ? v.value.toString(base) : refuse(wanted, v);
}

function hexadecimal(v: Value): string {
  if (typeof v === 'string') return Buffer.from(v, 'utf8').toString('hex');
  if (v instanceof Uint8Array) return Buffer.from(v).toString('hex');
  return integer(v, 16, CLAUSE_KINDS.x);
}
