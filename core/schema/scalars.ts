import { canonicalQuantity } from '../model/quantity.js';
import type { Json } from '../model/object.js';
import type { ScalarName } from './model.js';

/**
 * Reports a value that does not fit; throws. `ownJson`: the type reads its JSON itself, also where all else is
 * converted.
 */
export interface Complain {
  mismatch(value: Json, goType: string, how?: 'ownJson'): never;
  wrong(message: string): never;
}

/** Turns a JSON value into its canonical form, as the typed encoder of upstream would write it. Never sees null. */
export type ScalarDecoder = (value: Json, complain: Complain) => Json;

const integer =
  (goType: string, least: number, most: number, how?: 'ownJson'): ScalarDecoder =>
  (value, complain) =>
    typeof value === 'number' && Number.isInteger(value) && value >= least && value <= most
      ? value + 0
      : complain.mismatch(value, goType, how);

const TIME = /^(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d):(\d\d)(?:[.,](\d+))?(?:Z|([+-])(\d\d):(\d\d))$/;
const RFC3339 = '2006-01-02T15:04:05Z07:00';
const RFC3339_MICRO = '2006-01-02T15:04:05.000000Z07:00';

/** Milliseconds since the epoch of an RFC 3339 time in whole seconds; undefined if it is none. */
function secondsOf(match: RegExpExecArray): number | undefined {
  const [year, month, day, hour, minute, second] = match.slice(1, 7).map(Number) as [
    number,
    number,
    number,
    number,
    number,
    number,
  ];
  if (hour > 23 || minute > 59 || second > 59 || month < 1 || month > 12 || day < 1) return undefined;
  const date = new Date(0);
  date.setUTCFullYear(year, month - 1, day);
  date.setUTCHours(hour, minute, second);
  if (date.getUTCDate() !== day) return undefined;
  const [zoneHour, zoneMinute] = [Number(match[9] ?? 0), Number(match[10] ?? 0)];
  if (zoneHour > 23 || zoneMinute > 59) return undefined;
  const offset = (zoneHour * 60 + zoneMinute) * 60_000;
  return date.getTime() - (match[8] === '-' ? -offset : offset);
}

/** Milliseconds since the epoch of an RFC 3339 time, its fraction left out; undefined if the text is none. */
export function timeOf(text: string): number | undefined {
  const match = TIME.exec(text);
  return match ? secondsOf(match) : undefined;
}

const CANONICAL_TIME = /^\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|1\d|2[0-8])T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\dZ$/;
const ZERO_TIME = '0001-01-01T00:00:00Z';

const time: ScalarDecoder = (value, complain) => {
  if (typeof value !== 'string') return complain.mismatch(value, 'string', 'ownJson');
  if (CANONICAL_TIME.test(value)) return value === ZERO_TIME ? null : value;
  const at = timeOf(value);
  if (at === undefined)
    return complain.wrong(`parsing time ${JSON.stringify(value)} as "${RFC3339}": cannot parse the value`);
  return `${new Date(at).toISOString().slice(0, 19)}Z`;
};

const microTime: ScalarDecoder = (value, complain) => {
  if (typeof value !== 'string') return complain.mismatch(value, 'string', 'ownJson');
  const match = TIME.exec(value);
  const at = match && match[7]?.length === 6 ? secondsOf(match) : undefined;
  if (at === undefined)
    return complain.wrong(`parsing time ${JSON.stringify(value)} as "${RFC3339_MICRO}": cannot parse the value`);
  return `${new Date(at).toISOString().slice(0, 19)}.${match![7]}Z`;
};

const UNITS = new Map([
  ['ns', 1n],
  ['us', 1_000n],
  ['µs', 1_000n],
  ['μs', 1_000n],
  ['ms', 1_000_000n],
  ['s', 1_000_000_000n],
  ['m', 60_000_000_000n],
  ['h', 3_600_000_000_000n],
]);
const DURATION = /^[+-]?(?:0|(?:(?:\d+(?:\.\d*)?|\.\d+)(?:ns|us|µs|μs|ms|s|m|h))+)$/;
const DURATION_PART = /(\d*)\.?(\d*)(ns|us|µs|μs|ms|s|m|h)/g;
const MOST_NANOSECONDS = (1n << 63n) - 1n;

/** Nanoseconds of a Go duration (`1h2m3.5s`); undefined if it is none or does not fit into 64 bits. */
export function parseDuration(text: string): bigint | undefined {
  if (text.length > 100 || !DURATION.test(text)) return undefined;
  let total = 0n;
  for (const [, whole, fraction, unit] of text.matchAll(DURATION_PART)) {
    const size = UNITS.get(unit!)!;
    total += BigInt(whole || '0') * size + (BigInt(fraction || '0') * size) / 10n ** BigInt(fraction!.length);
  }
  if (total > MOST_NANOSECONDS) return undefined;
  return text[0] === '-' ? -total : total;
}

const withFraction = (nanoseconds: bigint, unit: bigint, digits: number): string => {
  const fraction = String(nanoseconds % unit)
    .padStart(digits, '0')
    .replace(/0+$/, '');
  return `${nanoseconds / unit}${fraction ? `.${fraction}` : ''}`;
};

/** A duration as Go prints it: `1h0m0s`, `1.5s`, `20ms`, `0s`. */
export function formatDuration(nanoseconds: bigint): string {
  if (nanoseconds < 0n) return `-${formatDuration(-nanoseconds)}`;
  if (nanoseconds === 0n) return '0s';
  if (nanoseconds < 1_000n) return `${nanoseconds}ns`;
  if (nanoseconds < 1_000_000n) return `${withFraction(nanoseconds, 1_000n, 3)}µs`;
  if (nanoseconds < 1_000_000_000n) return `${withFraction(nanoseconds, 1_000_000n, 6)}ms`;
  const minutes = nanoseconds / 60_000_000_000n;
  const seconds = `${withFraction(nanoseconds % 60_000_000_000n, 1_000_000_000n, 9)}s`;
  if (minutes === 0n) return seconds;
  return minutes < 60n ? `${minutes}m${seconds}` : `${minutes / 60n}h${minutes % 60n}m${seconds}`;
}

const duration: ScalarDecoder = (value, complain) => {
  if (typeof value !== 'string') return complain.mismatch(value, 'string', 'ownJson');
  const parsed = parseDuration(value);
  return parsed === undefined
    ? complain.wrong(`time: invalid duration ${JSON.stringify(value)}`)
    : formatDuration(parsed);
};

const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

const bytes: ScalarDecoder = (value, complain) => {
  if (typeof value !== 'string') return complain.mismatch(value, '[]uint8');
  const text = value.includes('\n') || value.includes('\r') ? value.replace(/[\r\n]/g, '') : value;
  if (!BASE64.test(text))
    return complain.wrong('illegal base64 data at input byte ' + (text.match(/^[A-Za-z0-9+/]*/)?.[0].length ?? 0));
  return text.endsWith('=') ? Buffer.from(text, 'base64').toString('base64') : text;
};

const quantity: ScalarDecoder = (value, complain) => {
  const text = typeof value === 'string' || typeof value === 'number' ? String(value) : JSON.stringify(value);
  return canonicalQuantity(text, why => complain.wrong(why));
};

const int32 = integer('int32', -(2 ** 31), 2 ** 31 - 1);
const ownInt32 = integer('int32', -(2 ** 31), 2 ** 31 - 1, 'ownJson');
const object: ScalarDecoder = (value, complain) =>
  typeof value === 'object' && !Array.isArray(value) ? value : complain.mismatch(value, 'map[string]interface {}');

/** Decoders of all leaf types. */
export const SCALAR_DECODERS: Readonly<Record<ScalarName, ScalarDecoder>> = {
  string: (value, complain) => (typeof value === 'string' ? value : complain.mismatch(value, 'string')),
  bool: (value, complain) => (typeof value === 'boolean' ? value : complain.mismatch(value, 'bool')),
  int32,
  int64: integer('int64', -(2 ** 63), 2 ** 63 - 1024),
  uint32: integer('uint32', 0, 2 ** 32 - 1),
  double: (value, complain) => (typeof value === 'number' ? value : complain.mismatch(value, 'float64')),
  bytes,
  any: value => value,
  Time: time,
  MicroTime: microTime,
  Duration: duration,
  Quantity: quantity,
  IntOrString: (value, complain) => (typeof value === 'string' ? value : ownInt32(value, complain)),
  FieldsV1: object,
  RawExtension: object,
  JSON: value => value,
};

/**
 * What a leaf that is no pointer shows where nothing was given; undefined leaves of `bytes`, `any` and raw types are
 * null.
 */
export const SCALAR_ZEROS: Readonly<Record<ScalarName, Json>> = {
  string: '',
  bool: false,
  int32: 0,
  int64: 0,
  uint32: 0,
  double: 0,
  bytes: null,
  any: null,
  Time: null,
  MicroTime: null,
  Duration: '0s',
  Quantity: '0',
  IntOrString: 0,
  FieldsV1: null,
  RawExtension: null,
  JSON: null,
};

/** Go structs: omitempty never leaves them out. */
export const STRUCT_SCALARS: ReadonlySet<ScalarName> = new Set([
  'Time',
  'MicroTime',
  'Duration',
  'Quantity',
  'IntOrString',
  'FieldsV1',
  'RawExtension',
  'JSON',
]);

const GO_NAMES: Partial<Record<ScalarName, string>> = {
  double: 'float64',
  bytes: '[]uint8',
  Time: 'v1.Time',
  MicroTime: 'v1.MicroTime',
  Duration: 'v1.Duration',
  Quantity: 'resource.Quantity',
  IntOrString: 'intstr.IntOrString',
  any: 'interface {}',
};

/** How Go names the leaf's type. */
export const goScalar = (name: ScalarName): string => GO_NAMES[name] ?? name;
