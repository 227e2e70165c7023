/** The standard functions. Operators are declared for the checker only: the planner compiles them itself. */
import { declare, type Overload } from '../check/declarations.js';
import type { Library } from '../library.js';
import { EXISTS_ONE_MACRO, STANDARD_MACROS } from '../syntax/macros.js';
import { isInt, sizeOf } from '../evaluate/ops.js';
import {
  calendar,
  formatDuration,
  formatTimestamp,
  parseDuration,
  timestamp,
  timestampFrom,
} from '../evaluate/time.js';
import {
  canonical,
  Double,
  type Duration,
  fail,
  INT_MAX,
  INT_MIN,
  type Int,
  noOverload,
  type Timestamp,
  TypeValue,
  typeNameOf,
  Uint,
  UINT_MAX,
  type Value,
} from '../evaluate/values.js';
import { goFloat } from '../evaluate/text.js';
import {
  BOOL,
  DURATION,
  INT,
  TIMESTAMP,
  UINT,
  DOUBLE,
  STRING,
  BYTES,
  NULL,
  DYN,
  typeType,
  listType,
  mapType,
  type Type,
} from '../check/types.js';
import { matchRegex } from './regex.js';

const neverCalled = (): never => noOverload();
const operator = (signature: string): Overload => declare(signature, neverCalled);

const ORDERED = ['bool', 'int', 'uint', 'double', 'string', 'bytes', 'timestamp', 'duration'];
const CROSS_NUMERIC = [
  ['int', 'uint'],
  ['int', 'double'],
  ['uint', 'int'],
  ['uint', 'double'],
  ['double', 'int'],
  ['double', 'uint'],
];
const COMPARISONS = ['_<_', '_<=_', '_>_', '_>=_'];

const operators: Overload[] = [
  ...['int', 'uint', 'double', 'string', 'bytes', 'duration'].map(t => operator(`_+_(${t}, ${t}): ${t}`)),
  operator('_+_(list(A), list(A)): list(A)'),
  operator('_+_(timestamp, duration): timestamp'),
  operator('_+_(duration, timestamp): timestamp'),
  ...['int', 'uint', 'double', 'duration'].map(t => operator(`_-_(${t}, ${t}): ${t}`)),
  operator('_-_(timestamp, duration): timestamp'),
  operator('_-_(timestamp, timestamp): duration'),
  ...['_*_', '_/_'].flatMap(fn => ['int', 'uint', 'double'].map(t => operator(`${fn}(${t}, ${t}): ${t}`))),
  operator('_%_(int, int): int'),
  operator('_%_(uint, uint): uint'),
  operator('-_(int): int'),
  operator('-_(double): double'),
  operator('!_(bool): bool'),
  operator('_==_(A, A): bool'),
  operator('_!=_(A, A): bool'),
  operator('_?_:_(bool, A, A): A'),
  operator('@in(A, list(A)): bool'),
  operator('@in(A, map(A, B)): bool'),
  operator('_[_](list(A), int): A'),
  operator('_[_](map(A, B), A): B'),
  ...COMPARISONS.flatMap(fn => ORDERED.map(t => operator(`${fn}(${t}, ${t}): bool`))),
];

const size = (v: Value): Value => sizeOf(v) ?? noOverload();
const sizes: Overload[] = ['string', 'bytes', 'list(A)', 'map(A, B)'].flatMap(t => [
  declare(`size(${t}): int`, size),
  declare(`${t}.size(): int`, size),
]);

const failConversion = (from: string, to: string): never => fail(`type conversion error from '${from}' to '${to}'`);

function toInt(v: Value): Value {
  if (isInt(v)) return v;
  if (v instanceof Uint) return BigInt(v.value) > INT_MAX ? fail('integer overflow') : v.value;
  if (v instanceof Double) {
    if (!(v.value > -(2 ** 63) && v.value < 2 ** 63)) fail('integer overflow');
    return canonical(BigInt(Math.trunc(v.value)));
  }
  return noOverload();
}
function intFromString(v: Value): Value {
  const text = v as string;
  if (!/^[+-]?\d{1,30}$/.test(text)) return failConversion('string', 'int');
  const n = BigInt(text.replace(/^\+/, ''));
  return n > INT_MAX || n < INT_MIN ? failConversion('string', 'int') : canonical(n);
}
function toUint(v: Value): Value {
  if (v instanceof Uint) return v;
  if (isInt(v)) return v < 0 ? fail('unsigned integer overflow') : new Uint(v);
  if (v instanceof Double) {
    if (!(v.value >= 0 && v.value < 2 ** 64)) fail('unsigned integer overflow');
    return new Uint(canonical(BigInt(Math.trunc(v.value))));
  }
  return noOverload();
}
function uintFromString(v: Value): Value {
  const text = v as string;
  if (!/^\d{1,30}$/.test(text) || BigInt(text) > UINT_MAX) return failConversion('string', 'uint');
  return new Uint(canonical(BigInt(text)));
}
/** Parses decimals, hexadecimals with a binary exponent, and `inf` and `nan`. NaN has no sign. */
function doubleFromString(v: Value): Value {
  const text = (v as string).toLowerCase();
  if (text === 'nan') return new Double(Number.NaN);
  const infinite = /^([+-]?)inf(inity)?$/.exec(text);
  if (infinite) return new Double(infinite[1] === '-' ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY);
  const hex = text.length > 40 ? null : /^([+-]?)0x([0-9a-f]*)(?:\.([0-9a-f]*))?p([+-]?\d{1,5})$/.exec(text);
  const hexFraction = hex?.[3] ?? '';
  if (hex && (hex[2] || hexFraction)) {
    const n = Number(`0x0${hex[2]}${hexFraction}`) * 2 ** (Number(hex[4]) - 4 * hexFraction.length);
    return Number.isFinite(n) ? new Double(hex[1] === '-' ? -n : n) : failConversion('string', 'double');
  }
  if (!/^[+-]?(\d+(\.\d*)?|\.\d+)(e[+-]?\d+)?$/.test(text)) return failConversion('string', 'double');
  const n = Number(text);
  return Number.isFinite(n) ? new Double(n) : failConversion('string', 'double');
}
function boolFromString(v: Value): Value {
  if (['true', 'TRUE', 'True', 't', 'T', '1'].includes(v as string)) return true;
  return ['false', 'FALSE', 'False', 'f', 'F', '0'].includes(v as string) ? false : failConversion('string', 'bool');
}
function stringFromBytes(v: Value): Value {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(v as Uint8Array);
  } catch {
    return fail('invalid UTF-8 in bytes, cannot convert to string');
  }
}
function durationFromString(v: Value): Value {
  return parseDuration(v as string) ?? failConversion('string', 'google.protobuf.Duration');
}
function timestampFromString(v: Value): Value {
  return timestampFrom(v as string) ?? failConversion('string', 'google.protobuf.Timestamp');
}
function timestampFromInt(v: Value): Value {
  return timestamp(Number(v as Int), 0);
}
const identity = (v: Value): Value => v;
const utf8 = new TextEncoder();

const conversions: Overload[] = [
  declare('int(int): int', identity),
  declare('int(uint): int', toInt),
  declare('int(double): int', toInt),
  declare('int(string): int', intFromString),
  declare('int(timestamp): int', v => (v as Timestamp).seconds),
  declare('int(duration): int', v => canonical((v as Duration).nanos)),
  declare('uint(uint): uint', identity),
  declare('uint(int): uint', toUint),
  declare('uint(double): uint', toUint),
  declare('uint(string): uint', uintFromString),
  declare('double(double): double', identity),
  declare('double(int): double', v => new Double(Number(v as Int))),
  declare('double(uint): double', v => new Double(Number((v as Uint).value))),
  declare('double(string): double', doubleFromString),
  declare('bool(bool): bool', identity),
  declare('bool(string): bool', boolFromString),
  declare('string(string): string', identity),
  declare('string(int): string', String as (v: Value) => Value),
  declare('string(uint): string', v => String((v as Uint).value)),
  declare('string(double): string', v => goFloat((v as Double).value)),
  declare('string(bool): string', String as (v: Value) => Value),
  declare('string(bytes): string', stringFromBytes),
  declare('string(timestamp): string', v => formatTimestamp(v as Timestamp)),
  declare('string(duration): string', v => formatDuration(v as Duration)),
  declare('bytes(bytes): bytes', identity),
  declare('bytes(string): bytes', (v, _b, _c, m) => {
    m.traverse((v as string).length);
    return utf8.encode(v as string);
  }),
  declare('timestamp(timestamp): timestamp', identity),
  declare('timestamp(string): timestamp', timestampFromString),
  declare('timestamp(int): timestamp', timestampFromInt),
  declare('duration(duration): duration', identity),
  declare('duration(string): duration', durationFromString),
  declare('duration(int): duration', v => parseDuration(`${v as Int}ns`) ?? noOverload()),
  declare('dyn(A): dyn', identity),
  declare('type(A): type(A)', v => new TypeValue(typeNameOf(v))),
];

type Field = keyof ReturnType<typeof calendar>;
const CALENDAR: readonly [string, Field, number][] = [
  ['getFullYear', 'year', 0],
  ['getMonth', 'month', 0],
  ['getDate', 'day', 0],
  ['getDayOfMonth', 'day', -1],
  ['getDayOfWeek', 'weekday', 0],
  ['getDayOfYear', 'yearday', 0],
  ['getHours', 'hour', 0],
  ['getMinutes', 'minute', 0],
  ['getSeconds', 'second', 0],
];
const millis = (v: Value): Value => Math.trunc((v as Timestamp).nanos / 1_000_000);
const durationIn =
  (unit: bigint) =>
  (v: Value): Value =>
    canonical((v as Duration).nanos / unit);

const calendars: Overload[] = [
  ...CALENDAR.flatMap(([fn, field, shift]) => [
    declare(`timestamp.${fn}(): int`, v => calendar(v as Timestamp)[field] + shift),
    declare(`timestamp.${fn}(string): int`, (v, zone) => calendar(v as Timestamp, zone as string)[field] + shift),
  ]),
  declare('timestamp.getMilliseconds(): int', millis),
  declare('timestamp.getMilliseconds(string): int', millis),
  declare('duration.getHours(): int', durationIn(3_600_000_000_000n)),
  declare('duration.getMinutes(): int', durationIn(60_000_000_000n)),
  declare('duration.getSeconds(): int', durationIn(1_000_000_000n)),
  declare('duration.getMilliseconds(): int', durationIn(1_000_000n)),
];

const strings: Overload[] = [
  declare('string.contains(string): bool', (a, b, _c, m) => {
    m.traverse((a as string).length);
    return (a as string).includes(b as string);
  }),
  declare('string.startsWith(string): bool', (a, b, _c, m) => {
    m.traverse((b as string).length);
    return (a as string).startsWith(b as string);
  }),
  declare('string.endsWith(string): bool', (a, b, _c, m) => {
    m.traverse((b as string).length);
    return (a as string).endsWith(b as string);
  }),
  declare('string.matches(string): bool', (a, b, _c, m) => matchRegex(a as string, b as string, m)),
  declare('matches(string, string): bool', (a, b, _c, m) => matchRegex(a as string, b as string, m)),
];

const typeConstants = new Map<string, { type: Type; value: Value }>(
  (
    [
      ['bool', BOOL],
      ['int', INT],
      ['uint', UINT],
      ['double', DOUBLE],
      ['string', STRING],
      ['bytes', BYTES],
      ['null_type', NULL],
      ['list', listType(DYN)],
      ['map', mapType(DYN, DYN)],
      ['type', typeType()],
      ['google.protobuf.Timestamp', TIMESTAMP],
      ['google.protobuf.Duration', DURATION],
    ] as const
  ).map(([name, type]) => [name, { type: typeType(type), value: new TypeValue(name) }]),
);

/** The standard library: operators, conversions, sizes, calendar, string tests, macros. */
export const STANDARD: Library = {
  name: 'standard',
  functions: [...operators, ...sizes, ...conversions, ...calendars, ...strings],
  macros: STANDARD_MACROS,
  constants: typeConstants,
};

/** Ordering between numbers of different types. */
export const CROSS_TYPE_COMPARISONS: Library = {
  name: 'cross-type-comparisons',
  functions: COMPARISONS.flatMap(fn => CROSS_NUMERIC.map(([a, b]) => operator(`${fn}(${a}, ${b}): bool`))),
};

/** The macro `existsOne`. */
export const EXISTS_ONE: Library = { name: 'exists-one', macros: EXISTS_ONE_MACRO };
