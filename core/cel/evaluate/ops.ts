/** Operators on values: arithmetic with 64-bit bounds, equality across types, ordering. They dispatch on the values. */
import { addNanos, timestampDifference } from './time.js';
import * as V from './values.js';
import {
  canonical,
  Dict,
  Double,
  Duration,
  fail,
  type Int,
  INT_MAX,
  INT_MIN,
  List,
  noOverload,
  Opaque,
  Optional,
  Timestamp,
  TypeValue,
  typeNameOf,
  Uint,
  UINT_MAX,
  type Value,
} from './values.js';

/** Whether the value is an int. */
export const isInt = (v: Value): v is Int => typeof v === 'number' || typeof v === 'bigint';

/** An exact result as an int. Throws `CelError` on overflow. */
export function intResult(n: bigint): Int {
  if (n > INT_MAX || n < INT_MIN) fail('integer overflow');
  return canonical(n);
}
/** An exact result as a uint. Throws `CelError` on overflow. */
export function uintResult(n: bigint): Uint {
  if (n > UINT_MAX || n < 0n) fail('unsigned integer overflow');
  return new Uint(canonical(n));
}

/** The types that support each operator. For values of other types, upstream's error names the operator. */
const TRAITS = new Map<string, ReadonlySet<string>>(
  (
    [
      ['_+_', 'int uint double string bytes list google.protobuf.Timestamp google.protobuf.Duration'],
      ['_-_', 'int uint double google.protobuf.Timestamp google.protobuf.Duration'],
      ['_*_', 'int uint double'],
      ['_/_', 'int uint double'],
      ['_%_', 'int uint'],
      ['-_', 'bool int double google.protobuf.Duration'],
      ['order', 'bool int uint double string bytes google.protobuf.Timestamp google.protobuf.Duration'],
    ] as const
  ).map(([fn, types]) => [fn, new Set(types.split(' '))]),
);
/** Types that accept any member call upstream, so that their error does not name the operator. */
const RECEIVERS = new Set(['string', 'google.protobuf.Timestamp', 'google.protobuf.Duration']);

/** Throws the error of an operator that its first operand does not support. */
function failUnsupported(fn: string, operand: Value): never {
  const type = typeNameOf(operand);
  if (RECEIVERS.has(type) || (TRAITS.get(fn) ?? TRAITS.get('order')!).has(type)) return noOverload();
  return fail(`no such overload: ${fn}`);
}

const concatBytes = (a: Uint8Array, b: Uint8Array): Uint8Array => {
  const out = new Uint8Array(a.length + b.length);
  out.set(a);
  out.set(b, a.length);
  return out;
};

/** `a + b`. The caller charges for the sizes. */
export function add(a: Value, b: Value): Value {
  if (typeof a === 'number' && typeof b === 'number') {
    const r = a + b;
    return Number.isSafeInteger(r) ? r : intResult(BigInt(a) + BigInt(b));
  }
  if (typeof a === 'string' && typeof b === 'string') return a + b;
  if (a instanceof Double && b instanceof Double) return new Double(a.value + b.value);
  if (isInt(a) && isInt(b)) return intResult(BigInt(a) + BigInt(b));
  if (a instanceof Uint && b instanceof Uint) return uintResult(BigInt(a.value) + BigInt(b.value));
  if (a instanceof List && b instanceof List) return a.concat ? a.concat(b, equal) : V.concatLists(a, b);
  if (a instanceof Uint8Array && b instanceof Uint8Array) return concatBytes(a, b);
  if (a instanceof Duration && b instanceof Duration) return new Duration(BigInt(intResult(a.nanos + b.nanos)));
  if (a instanceof Timestamp && b instanceof Duration) return addNanos(a, b.nanos);
  if (a instanceof Duration && b instanceof Timestamp) return addNanos(b, a.nanos);
  return failUnsupported('_+_', a);
}

/** `a - b`. */
export function subtract(a: Value, b: Value): Value {
  if (typeof a === 'number' && typeof b === 'number') {
    const r = a - b;
    return Number.isSafeInteger(r) ? r : intResult(BigInt(a) - BigInt(b));
  }
  if (a instanceof Double && b instanceof Double) return new Double(a.value - b.value);
  if (isInt(a) && isInt(b)) return intResult(BigInt(a) - BigInt(b));
  if (a instanceof Uint && b instanceof Uint) return uintResult(BigInt(a.value) - BigInt(b.value));
  if (a instanceof Duration && b instanceof Duration) return new Duration(BigInt(intResult(a.nanos - b.nanos)));
  if (a instanceof Timestamp && b instanceof Duration) return addNanos(a, -b.nanos);
  if (a instanceof Timestamp && b instanceof Timestamp)
    return new Duration(BigInt(intResult(timestampDifference(a, b))));
  return failUnsupported('_-_', a);
}

/** `a * b`. */
export function multiply(a: Value, b: Value): Value {
  if (typeof a === 'number' && typeof b === 'number') {
    const r = a * b + 0;
    return Number.isSafeInteger(r) ? r : intResult(BigInt(a) * BigInt(b));
  }
  if (a instanceof Double && b instanceof Double) return new Double(a.value * b.value);
  if (isInt(a) && isInt(b)) return intResult(BigInt(a) * BigInt(b));
  if (a instanceof Uint && b instanceof Uint) return uintResult(BigInt(a.value) * BigInt(b.value));
  return failUnsupported('_*_', a);
}

/** `a / b`, rounded towards zero. */
export function divide(a: Value, b: Value): Value {
  if (a instanceof Double && b instanceof Double) return new Double(a.value / b.value);
  if (isInt(a) && isInt(b)) {
    if (b === 0) fail('division by zero');
    return typeof a === 'number' && typeof b === 'number'
      ? Math.trunc(a / b) + 0 === 0 || Math.abs(a) < 2 ** 50
        ? Math.trunc(a / b) + 0
        : Number(BigInt(a) / BigInt(b))
      : intResult(BigInt(a) / BigInt(b));
  }
  if (a instanceof Uint && b instanceof Uint) {
    if (b.value === 0) fail('division by zero');
    return uintResult(BigInt(a.value) / BigInt(b.value));
  }
  return failUnsupported('_/_', a);
}

/** `a % b`, with the sign of `a`. */
export function modulo(a: Value, b: Value): Value {
  if (isInt(a) && isInt(b)) {
    if (b === 0) fail('modulus by zero');
    if (a === INT_MIN && b === -1) fail('integer overflow');
    return typeof a === 'number' && typeof b === 'number' ? (a % b) + 0 : intResult(BigInt(a) % BigInt(b));
  }
  if (a instanceof Uint && b instanceof Uint) {
    if (b.value === 0) fail('modulus by zero');
    return uintResult(BigInt(a.value) % BigInt(b.value));
  }
  return failUnsupported('_%_', a);
}

/** `-a`. */
export function negate(a: Value): Value {
  if (typeof a === 'number') return 0 - a;
  if (typeof a === 'bigint') return intResult(-a);
  if (a instanceof Double) return new Double(-a.value);
  if (a instanceof Duration) return new Duration(BigInt(intResult(-a.nanos)));
  return failUnsupported('-_', a);
}

/** The number of a numeric value, exact for integers; `undefined` for other values. */
function numeric(v: Value): Int | undefined {
  if (typeof v === 'number' || typeof v === 'bigint') return v;
  if (v instanceof Uint || v instanceof Double) return v.value;
  return undefined;
}

/** `a == b`: values of different types differ, except that numbers compare as numbers. */
export function equal(a: Value, b: Value): boolean {
  if (a === b) return true;
  if (typeof a === 'string' || typeof b === 'string' || a === null || b === null || typeof a === 'boolean')
    return false;
  const x = numeric(a);
  if (x !== undefined) {
    const y = numeric(b);
    if (y === undefined) return false;
    return a instanceof Double || b instanceof Double ? Number(x) === Number(y) : x === y;
  }
  if (a instanceof List) {
    if (a.equals) return a.equals(b, equal);
    return b instanceof List && listsEqual(a, b);
  }
  if (a instanceof Dict) return b instanceof Dict && dictsEqual(a, b);
  if (a instanceof Uint8Array) return b instanceof Uint8Array && a.length === b.length && a.every((x, i) => x === b[i]);
  if (a instanceof Timestamp) return b instanceof Timestamp && a.seconds === b.seconds && a.nanos === b.nanos;
  if (a instanceof Duration) return b instanceof Duration && a.nanos === b.nanos;
  if (a instanceof TypeValue) return b instanceof TypeValue && a.name === b.name;
  if (a instanceof Optional) {
    if (!(b instanceof Optional)) return false;
    return a.value === undefined || b.value === undefined ? a.value === b.value : equal(a.value, b.value);
  }
  return a instanceof Opaque && b instanceof Opaque && a.typeName === b.typeName && a.equals(b);
}

function listsEqual(a: List, b: List): boolean {
  if (a.size !== b.size) return false;
  for (let i = 0; i < a.size; i++) if (!equal(a.at(i), b.at(i))) return false;
  return true;
}

function dictsEqual(a: Dict, b: Dict): boolean {
  if (a.size !== b.size) return false;
  for (const key of a.keys()) {
    const x = a.get(key);
    const y = b.get(key);
    if (x === undefined || y === undefined ? x !== y : !equal(x, y)) return false;
  }
  return true;
}

/** Orders strings by code point. UTF-16 order differs for surrogates compared to U+E000 to U+FFFF. */
export function compareStrings(a: string, b: string): number {
  if (a === b) return 0;
  const n = Math.min(a.length, b.length);
  for (let i = 0; i < n; i++) {
    const x = a.charCodeAt(i);
    const y = b.charCodeAt(i);
    if (x !== y) {
      const sx = x >= 0xd800 && x <= 0xdfff;
      const sy = y >= 0xd800 && y <= 0xdfff;
      return sx === sy ? (x < y ? -1 : 1) : sx ? 1 : -1;
    }
  }
  return a.length < b.length ? -1 : 1;
}

/** Orders two values of one type, or two numbers: negative, zero or positive. */
export function compare(a: Value, b: Value, fn = 'order'): number {
  if (typeof a === 'number' && typeof b === 'number') return a - b;
  if (typeof a === 'string' && typeof b === 'string') return compareStrings(a, b);
  const x = numeric(a);
  const y = numeric(b);
  if (x !== undefined && y !== undefined) {
    if (Number.isNaN(x) || Number.isNaN(y)) fail('NaN values cannot be ordered');
    // An integer compared to a double is rounded to the nearest double, as in cel-go.
    const [p, q] = a instanceof Double || b instanceof Double ? [Number(x), Number(y)] : [x, y];
    return p < q ? -1 : p > q ? 1 : 0;
  }
  if (typeof a === 'boolean' && typeof b === 'boolean') return Number(a) - Number(b);
  if (a instanceof Uint8Array && b instanceof Uint8Array) return Buffer.compare(a, b);
  if (a instanceof Timestamp && b instanceof Timestamp) return a.seconds - b.seconds || a.nanos - b.nanos;
  if (a instanceof Duration && b instanceof Duration) return a.nanos < b.nanos ? -1 : a.nanos > b.nanos ? 1 : 0;
  return failUnsupported(fn, a);
}

/** Whether a value is the zero value of its type. */
export function isZero(v: Value): boolean {
  if (v === null || v === false || v === 0 || v === '') return true;
  if (v instanceof Uint || v instanceof Double) return v.value === 0;
  if (v instanceof List || v instanceof Dict) return v.size === 0;
  if (v instanceof Uint8Array) return v.length === 0;
  if (v instanceof Duration) return v.nanos === 0n;
  if (v instanceof Optional) return v.value === undefined;
  return v instanceof Timestamp && v.seconds === -62135596800 && v.nanos === 0;
}

/** The number of code points of a string. */
export function codePoints(s: string): number {
  let n = s.length;
  for (let i = 0; i < s.length - 1; i++) {
    const c = s.charCodeAt(i);
    if (c >= 0xd800 && c <= 0xdbff && (s.charCodeAt(i + 1) & 0xfc00) === 0xdc00) {
      n--;
      i++;
    }
  }
  return n;
}

/** `size(v)`; `undefined` for values without a size. */
export function sizeOf(v: Value): number | undefined {
  if (typeof v === 'string') return codePoints(v);
  if (v instanceof List || v instanceof Dict) return v.size;
  return v instanceof Uint8Array ? v.length : undefined;
}

/** An upper bound of the units to charge for reading a value: its length, or one. */
export function weight(v: Value): number {
  if (typeof v === 'string') return v.length;
  if (v instanceof List) return v.size;
  if (v instanceof Uint8Array) return v.length;
  return v instanceof Dict ? v.size : 1;
}
