/** Text forms of values: floating point as Go prints it, and the `format` function of the strings library. */
import { compareStrings } from './ops.js';
import { formatDuration, formatTimestamp } from './time.js';
import { Dict, Double, Duration, fail, type Int, List, Timestamp, TypeValue, typeNameOf, Uint, type Value } from './values.js';
import type { Meter } from './meter.js';

/** Shortest form, with an exponent below -4 and from 6 on (Go's %g). */
export function goFloat(n: number): string {
  if (Number.isNaN(n)) return 'NaN';
  if (!Number.isFinite(n)) return n > 0 ? '+Inf' : '-Inf';
  if (n === 0) return Object.is(n, -0) ? '-0' : '0';
  const [mantissa, exponent] = n.toExponential().split('e') as [string, string];
  const e = Number(exponent);
  if (e < -4 || e >= 6) return `${mantissa}e${e < 0 ? '-' : '+'}${String(Math.abs(e)).padStart(2, '0')}`;
  return String(n);
}

/** How the older and the newer strings library differ in `%e`, `%f` and messages. */
export interface FormatStyle {
  readonly locale: boolean;
}

const CLAUSE = /%(?:(%)|(?:\.(\d*))?([a-zA-Z])|(.?))/gsu;

/** `format.format(args)`. */
export function formatText(format: string, args: List, style: FormatStyle, meter: Meter): string {
  let i = 0;
  const out = format.replace(
    CLAUSE,
    (_whole, percent: string | undefined, precision: string | undefined, verb: string | undefined, other: string | undefined) => {
      if (percent) return '%';
      if (!verb) return unrecognized(other ?? '');
      if (!'sdfeboxX'.includes(verb)) return unrecognized(verb);
      if (i >= args.size) return fail(`index ${i} out of range`);
      const digits = precision === undefined ? 6 : precision === '' ? 0 : Number(precision);
      if (digits > 1000) return fail('error during formatting: precision too large');
      const text = clause(verb, args.at(i++), digits, style, meter);
      meter.traverse(text.length);
      return text;
    },
  );
  meter.traverse(format.length);
  return out;
}

const unrecognized = (verb: string): never =>
  fail(
    verb === ''
      ? 'could not parse formatting clause: unexpected end of string'
      : `could not parse formatting clause: unrecognized formatting clause "${verb}"`,
  );

function clause(verb: string, v: Value, digits: number, style: FormatStyle, meter: Meter): string {
  switch (verb) {
    case 's':
      return style.locale ? display(v, meter) : bare(v, meter);
    case 'd':
      return decimal(v);
    case 'f':
      return fixed(v, digits, style);
    case 'e':
      return scientific(v, digits, style);
    case 'b':
      return typeof v === 'boolean'
        ? v
          ? '1'
          : '0'
        : integer(v, 2, 'only integers and bools can be formatted as binary, was given ');
    case 'o':
      return integer(v, 8, 'octal clause can only be used on integers, was given ');
    default: {
      const hex = hexadecimal(v);
      return verb === 'X' ? hex.toUpperCase() : hex;
    }
  }
}

const formatting = (text: string, v: Value): never => fail(`error during formatting: ${text}${typeNameOf(v)}`);

/** The text of `%s`. Depth is bounded by the value, which the language cannot make deep without paying for it. */
export function display(v: Value, meter?: Meter): string {
  if (typeof v === 'string') return v;
  if (typeof v === 'number' || typeof v === 'bigint' || typeof v === 'boolean') return String(v);
  if (v === null) return 'null';
  if (v instanceof Double) return goFloat(v.value);
  if (v instanceof Uint) return String(v.value);
  if (v instanceof Uint8Array) return new TextDecoder().decode(v);
  if (v instanceof Timestamp) return formatTimestamp(v);
  if (v instanceof Duration) return formatDuration(v);
  if (v instanceof TypeValue) return v.name;
  if (v instanceof List) {
    meter?.charge(v.size);
    return `[${Array.from({ length: v.size }, (_, i) => nested(v.at(i), meter)).join(', ')}]`;
  }
  if (v instanceof Dict && v.typeName === 'map') {
    meter?.charge(v.size);
    const entries = v.keys().map(k => [nested(k, meter), nested(v.get(k)!, meter)] as const);
    entries.sort((a, b) => compareStrings(a[0], b[0]));
    return `{${entries.map(([k, x]) => `${k}:${x}`).join(', ')}}`;
  }
  return formatting(
    'string clause can only be used on strings, bools, bytes, ints, doubles, maps, lists, types, durations, and timestamps, was given ',
    v,
  );
}

/** As newer releases print: nothing quoted, infinities spelt out. */
function bare(v: Value, meter: Meter): string {
  if (v instanceof Double && !Number.isFinite(v.value)) return infinite(v.value);
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

/** Inside aggregates strings and some others are quoted. */
function nested(v: Value, meter?: Meter): string {
  if (typeof v === 'string') return quote(v);
  if (v instanceof Uint8Array || v instanceof Timestamp || v instanceof Duration) return quote(display(v, meter));
  if (v instanceof Double && !Number.isFinite(v.value)) return quote(goFloat(v.value));
  return display(v, meter);
}

const ESCAPES = new Map([
  ['\x07', '\\a'],
  ['\b', '\\b'],
  ['\f', '\\f'],
  ['\n', '\\n'],
  ['\r', '\\r'],
  ['\t', '\\t'],
  ['\v', '\\v'],
  ['\\', '\\\\'],
  ['"', '\\"'],
]);

/** The string in double quotes, control characters escaped, broken surrogates replaced. */
export const quote = (s: string): string =>
  `"${s.replace(/[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g, '\ufffd').replace(/[\x07-\r\\"]/g, c => ESCAPES.get(c) ?? c)}"`;

function decimal(v: Value): string {
  if (typeof v === 'number' || typeof v === 'bigint') return String(v);
  if (v instanceof Uint) return String(v.value);
  if (v instanceof Double && !Number.isFinite(v.value)) return infinite(v.value);
  return formatting('decimal clause can only be used on integers, was given ', v);
}

const infinite = (n: number): string => (Number.isNaN(n) ? 'NaN' : n > 0 ? 'Infinity' : '-Infinity');

function floating(v: Value, name: string): number {
  if (v instanceof Double) return v.value;
  if (v === 'NaN') return Number.NaN;
  if (v === 'Infinity') return Number.POSITIVE_INFINITY;
  if (v === '-Infinity') return Number.NEGATIVE_INFINITY;
  if (typeof v === 'number' || typeof v === 'bigint') return Number(v);
  if (v instanceof Uint) return Number(v.value);
  return formatting(`${name} clause can only be used on doubles, was given `, v);
}

function fixed(v: Value, digits: number, style: FormatStyle): string {
  const n = floating(v, 'fixed-point');
  if (!Number.isFinite(n)) return infinite(n);
  const text = bigFixed(n, digits);
  if (!style.locale) return text;
  const [whole, fraction] = text.split('.');
  const grouped = whole!.replace(/\B(?=(\d{3})+$)/g, ',');
  return fraction === undefined ? grouped : `${grouped}.${fraction}`;
}

/** `toFixed` without its bounds. */
function bigFixed(n: number, digits: number): string {
  const scaled = n * 10 ** digits;
  // An exact half goes to the even neighbour; toFixed takes the larger.
  if (digits <= 10 && Math.abs(scaled) < 2 ** 50 && Math.abs(scaled % 1) === 0.5 && scaled / 10 ** digits === n) {
    return ((2 * Math.round(scaled / 2)) / 10 ** digits).toFixed(digits);
  }
  if (Math.abs(n) < 1e21) return n.toFixed(Math.min(digits, 100)) + '0'.repeat(Math.max(0, digits - 100));
  return `${BigInt(n)}${digits ? `.${'0'.repeat(digits)}` : ''}`;
}

const SUPERSCRIPT = '⁰¹²³⁴⁵⁶⁷⁸⁹';

function scientific(v: Value, digits: number, style: FormatStyle): string {
  const n = floating(v, 'scientific');
  if (!Number.isFinite(n)) return infinite(n);
  const [mantissa, exponent] = n.toExponential(Math.min(digits, 100)).split('e') as [string, string];
  const abs = String(Math.abs(Number(exponent))).padStart(2, '0');
  const negative = exponent.startsWith('-');
  if (!style.locale) return `${mantissa}e${negative ? '-' : '+'}${abs}`;
  return `${mantissa}\u202f×\u202f10${negative ? '⁻' : ''}${[...abs].map(d => SUPERSCRIPT[Number(d)]).join('')}`;
}

function integer(v: Value, base: number, wrong: string): string {
  if (typeof v === 'number' || typeof v === 'bigint') return (v as Int).toString(base);
  return v instanceof Uint ? v.value.toString(base) : formatting(wrong, v);
}

function hexadecimal(v: Value): string {
  if (typeof v === 'string') return Buffer.from(v, 'utf8').toString('hex');
  if (v instanceof Uint8Array) return Buffer.from(v).toString('hex');
  return integer(v, 16, 'only integers, byte buffers, and strings can be formatted as hex, was given ');
}
