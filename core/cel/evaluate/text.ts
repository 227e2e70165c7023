/** Text forms of values as upstream prints them: doubles as Go's `%g` and `%f`. */
import { goQuote } from '../../model/text/quote.js';
import type { Meter } from '../cost/meter.js';
import { compareStrings } from './ops.js';
import { formatDuration, formatTimestamp } from './time.js';
import { Dict, Double, Duration, fail, List, Timestamp, TypeValue, typeNameOf, Uint, type Value } from './values.js';

/** Go's `%g`: the shortest form, with an exponent if it is below -4 or above 5. */
export function goFloat(n: number): string {
  if (Number.isNaN(n)) return 'NaN';
  if (!Number.isFinite(n)) return n > 0 ? '+Inf' : '-Inf';
  if (n === 0) return Object.is(n, -0) ? '-0' : '0';
  const [mantissa, exponent] = n.toExponential().split('e') as [string, string];
  const e = Number(exponent);
  if (e < -4 || e >= 6) return `${mantissa}e${e < 0 ? '-' : '+'}${String(Math.abs(e)).padStart(2, '0')}`;
  return String(n);
}

/** Go's `%f`: a fixed number of decimals, halves rounded to even. Unlike `toFixed`, for any number of digits. */
export function goFixed(n: number, digits: number): string {
  if (!Number.isFinite(n)) return goFloat(n);
  if (Object.is(n, -0)) return `-${goFixed(0, digits)}`;
  const scaled = n * 10 ** digits;
  if (digits <= 10 && Math.abs(scaled) < 2 ** 50 && Math.abs(scaled % 1) === 0.5 && isTie(n, digits)) {
    return ((2 * Math.round(scaled / 2)) / 10 ** digits).toFixed(digits);
  }
  if (Math.abs(n) < 1e21) return n.toFixed(Math.min(digits, 100)) + '0'.repeat(Math.max(0, digits - 100));
  return `${BigInt(n)}${digits ? `.${'0'.repeat(digits)}` : ''}`;
}

/** Whether a number lies exactly between two with that many digits. 20.15, as a double, is below 20.15. */
const isTie = (n: number, digits: number): boolean => /^50*$/.test(n.toFixed(100).split('.')[1]!.slice(digits));

const UNPRINTABLE =
  'string clause can only be used on strings, bools, bytes, ints, doubles, maps, lists, types, durations, and ' +
  'timestamps, was given ';

/** The error of `%s` for a type without a text form. */
export const unprintableText = (typeName: string): string => UNPRINTABLE + typeName;

/**
 * The text of `%s`. Throws `CelError` for values without a text form. Recursion is bounded by the cost of the value.
 */
export function display(v: Value, meter?: Meter): string {
  if (typeof v === 'string') return v;
  if (typeof v === 'number' || typeof v === 'bigint' || typeof v === 'boolean') return String(v);
  if (v === null) return 'null';
  if (v instanceof Double) return goFloat(v.value);
  if (v instanceof Uint) return String(v.value);
  if (v instanceof Uint8Array) return displayBytes(v);
  if (v instanceof Timestamp) return formatTimestamp(v);
  if (v instanceof Duration) return formatDuration(v);
  if (v instanceof TypeValue) return v.name;
  if (v instanceof List) return displayList(v, meter);
  if (v instanceof Dict && v.typeName === 'map') return displayMap(v, meter);
  return fail(`error during formatting: ${unprintableText(typeNameOf(v))}`);
}

function displayBytes(v: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(v);
  } catch {
    return fail(
      'error during formatting: could not convert argument "invalid UTF-8 in bytes, cannot convert to string" ' +
        'to string',
    );
  }
}

function displayList(v: List, meter?: Meter): string {
  meter?.charge(v.size);
  const parts = new Array<string>(v.size);
  for (let i = 0; i < parts.length; i++) parts[i] = displayNested(v.at(i), meter);
  return `[${parts.join(', ')}]`;
}

function displayMap(v: Dict, meter?: Meter): string {
  meter?.charge(v.size);
  const entries = v.keys().map(k => [displayKey(k), displayNested(v.get(k)!, meter)] as const);
  entries.sort((a, b) => compareStrings(a[0], b[0]));
  return `{${entries.map(([k, x]) => `${k}:${x}`).join(', ')}}`;
}

function displayKey(key: Value): string {
  if (typeof key === 'string') return goQuote(key);
  if (typeof key === 'boolean' || typeof key === 'number' || typeof key === 'bigint' || key instanceof Uint)
    return display(key);
  return fail(`error during formatting: no formatting function for map key of type ${typeNameOf(key)}`);
}

/** Values inside aggregates are printed as literals. */
function displayNested(v: Value, meter?: Meter): string {
  if (typeof v === 'string') return goQuote(v);
  if (v instanceof Double) return Number.isFinite(v.value) ? goFixed(v.value, 6) : `"${goFloat(v.value)}"`;
  if (v instanceof Uint8Array) return `b${goQuote(displayBytes(v))}`;
  if (v instanceof Timestamp) return `timestamp(${goQuote(formatTimestamp(v))})`;
  if (v instanceof Duration) return `duration(${goQuote(formatDuration(v))})`;
  if (typeof v === 'object' && v !== null && !(v instanceof Uint || v instanceof TypeValue || v instanceof List)) {
    if (!(v instanceof Dict) || v.typeName !== 'map')
      return fail(`error during formatting: no formatting function for ${typeNameOf(v)}`);
  }
  return display(v, meter);
}
