import { isBase64 } from '../../model/text/base64.js';
import { timeError } from './timeErrors.js';
import { canonicalQuantity } from '../../model/quantity.js';
import { isInteger, isNumber } from '../../model/text/jsonText.js';
import { withoutTrailing } from '../../model/text/trailing.js';
import type { Json } from '../../model/object.js';
import type { ScalarName } from '../model.js';

/** Error reporting of scalar decoders; both methods throw. `ownJson`: the Go type has its own JSON decoder. */
export interface DecodeErrors {
  mismatch(value: Json, goType: string, how?: 'ownJson'): never;
  fail(message: string): never;
}

/** Converts a JSON value other than null to its canonical form, which is upstream's encoding of it. */
export type ScalarDecoder = (value: Json, errors: DecodeErrors) => Json;

const integerDecoder =
  (goType: string, min: number, max: number, how?: 'ownJson'): ScalarDecoder =>
  (value, errors) =>
    isInteger(value) && value >= min && value <= max
      ? typeof value === 'number'
        ? value + 0
        : value
      : errors.mismatch(value, goType, how);

const TIME = /^(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d):(\d\d)(?:[.,](\d+))?(?:Z|([+-])(\d\d):(\d\d))$/;

/** Milliseconds since the epoch, in whole seconds; undefined if the time does not exist. */
function toMilliseconds(match: RegExpExecArray): number | undefined {
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

/** Parses an RFC 3339 time to milliseconds since the epoch, without its fraction. Returns undefined if malformed. */
export function parseTime(text: string): number | undefined {
  const match = TIME.exec(text);
  return match ? toMilliseconds(match) : undefined;
}

const CANONICAL_TIME = /^\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|1\d|2[0-8])T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\dZ$/;
const ZERO_TIME = '0001-01-01T00:00:00Z';

const decodeTime: ScalarDecoder = (value, errors) => {
  if (typeof value !== 'string') return errors.mismatch(value, 'string', 'ownJson');
  if (CANONICAL_TIME.test(value)) return value === ZERO_TIME ? null : value;
  const at = parseTime(value);
  if (at === undefined) return errors.fail(timeError(value, '2006-01-02T15:04:05Z07:00'));
  return `${new Date(at).toISOString().slice(0, 19)}Z`;
};

const decodeMicroTime: ScalarDecoder = (value, errors) => {
  if (typeof value !== 'string') return errors.mismatch(value, 'string', 'ownJson');
  const match = TIME.exec(value);
  const at = match && match[7]?.length === 6 ? toMilliseconds(match) : undefined;
  if (at === undefined) return errors.fail(timeError(value, '2006-01-02T15:04:05.000000Z07:00'));
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
const DURATION_PART = /(\d*)(?:\.(\d*))?(ns|us|µs|μs|ms|s|m|h)/gy;
/** Go's durations are signed 64-bit numbers of nanoseconds: about 292 years. */
const MAX_NANOSECONDS = (1n << 63n) - 1n;

/** Parses a Go duration (`1h2m3.5s`) to nanoseconds. Returns undefined if malformed or beyond 64 bits. */
export function parseDuration(text: string): bigint | undefined {
  if (text.length > DURATION_CHARACTERS || !DURATION.test(text)) return undefined;
  let total = 0n;
  for (const [, whole, fraction = '', unit] of text.replace(/^[+-]/, '').matchAll(DURATION_PART)) {
    const size = UNITS.get(unit!)!;
    total += BigInt(whole || '0') * size + (BigInt(fraction || '0') * size) / 10n ** BigInt(fraction.length);
  }
  if (total > MAX_NANOSECONDS) return undefined;
  return text[0] === '-' ? -total : total;
}

/** The largest number of characters of a duration. */
const DURATION_CHARACTERS = 100;

/** Go's error for a text that is not a duration (`30s`, `1m30s`, `-1.5h`); undefined for a duration. */
export function durationProblem(text: string): string | undefined {
  const quoted = JSON.stringify(text);
  if (text.length > DURATION_CHARACTERS) return `time: invalid duration ${quoted}`;
  let rest = text.replace(/^[+-]/, '');
  if (rest === '0') return undefined;
  do {
    const [all, number, unit] = /^(\d+\.?\d*|\.\d+)([^.\d]*)/.exec(rest) ?? [];
    if (all === undefined) return `time: invalid duration ${quoted}`;
    if (unit === '') return `time: missing unit in duration ${quoted}`;
    if (!UNITS.has(unit!)) return `time: unknown unit ${JSON.stringify(unit)} in duration ${quoted}`;
    if (number!.length > 19) return `time: invalid duration ${quoted}`;
    rest = rest.slice(all.length);
  } while (rest !== '');
  return undefined;
}

const withFraction = (nanoseconds: bigint, unit: bigint, digits: number): string => {
  const fraction = withoutTrailing(String(nanoseconds % unit).padStart(digits, '0'), '0');
  return `${nanoseconds / unit}${fraction ? `.${fraction}` : ''}`;
};

/** Formats a duration as Go: `1h0m0s`, `1.5s`, `20ms`, `0s`. */
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

const decodeDuration: ScalarDecoder = (value, errors) => {
  if (typeof value !== 'string') return errors.mismatch(value, 'string', 'ownJson');
  const parsed = parseDuration(value);
  return parsed === undefined ? errors.fail(`time: invalid duration ${JSON.stringify(value)}`) : formatDuration(parsed);
};

/** The position at which Go's decoder finds an error in a text that is not base64 (RFC 4648, section 4). */
function base64ErrorAt(text: string): number {
  const bytes = Buffer.from(text);
  let digits = 0;
  for (let at = 0; at < bytes.length; at++) {
    const char = String.fromCharCode(bytes[at]!);
    if (char === '\n' || char === '\r') continue;
    if (/[A-Za-z0-9+/]/.test(char)) digits = (digits + 1) % 4;
    else if (char !== '=' || digits < 2) return at;
    else {
      const [second, after] = [...bytes.keys()].filter(
        next => next > at && bytes[next] !== 0x0a && bytes[next] !== 0x0d,
      );
      if (digits === 3) return second ?? bytes.length;
      if (second === undefined) return bytes.length;
      return bytes[second] === 0x3d ? (after ?? bytes.length) : second - 1;
    }
  }
  return bytes.length - digits;
}

const decodeBytes: ScalarDecoder = (value, errors) => {
  if (typeof value !== 'string') return errors.mismatch(value, '[]uint8');
  const text = value.includes('\n') || value.includes('\r') ? value.replace(/[\r\n]/g, '') : value;
  if (!isBase64(text)) return errors.fail(`illegal base64 data at input byte ${base64ErrorAt(value)}`);
  return text.endsWith('=') ? Buffer.from(text, 'base64').toString('base64') : text;
};

const decodeQuantity: ScalarDecoder = (value, errors) => {
  const text = typeof value === 'string' || isNumber(value) ? String(value) : JSON.stringify(value);
  return canonicalQuantity(text, why => errors.fail(why));
};

const decodeInt32 = integerDecoder('int32', -(2 ** 31), 2 ** 31 - 1);
const decodeOwnInt32 = integerDecoder('int32', -(2 ** 31), 2 ** 31 - 1, 'ownJson');
/** The decoders of all scalar types. */
export const SCALAR_DECODERS: Readonly<Record<ScalarName, ScalarDecoder>> = {
  string: (value, errors) => (typeof value === 'string' ? value : errors.mismatch(value, 'string')),
  bool: (value, errors) => (typeof value === 'boolean' ? value : errors.mismatch(value, 'bool')),
  int32: decodeInt32,
  int64: integerDecoder('int64', -(2 ** 63), 2 ** 63),
  uint32: integerDecoder('uint32', 0, 2 ** 32 - 1),
  double: (value, errors) => (isNumber(value) ? Number(value) : errors.mismatch(value, 'float64')),
  bytes: decodeBytes,
  any: value => value,
  Time: decodeTime,
  MicroTime: decodeMicroTime,
  Duration: decodeDuration,
  Quantity: decodeQuantity,
  IntOrString: (value, errors) => (typeof value === 'string' ? value : decodeOwnInt32(value, errors)),
  FieldsV1: value => value,
  RawExtension: value => value,
  JSON: value => value,
};

/** The values of absent scalars that are not pointers. */
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

/** The Go name of a scalar type. */
export const goScalar = (name: ScalarName): string => GO_NAMES[name] ?? name;
