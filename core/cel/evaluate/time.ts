/** Timestamps and durations: parsing, printing, arithmetic, calendar fields in a zone. */
import { withoutTrailing } from '../../model/text/trailing.js';
import { Duration, fail, INT_MAX, INT_MIN, Timestamp } from './values.js';

/** The first second of year 1 and the last one of year 9999, the range of a protobuf Timestamp. */
const MIN_SECONDS = -62135596800;
const MAX_SECONDS = 253402300799;
const BILLION = 1_000_000_000n;

/** Makes a timestamp. Throws `CelError` for instants outside the years 1 to 9999. */
export function timestamp(seconds: number, nanos: number, offset = 0): Timestamp {
  if (!inRange(seconds)) fail('timestamp overflow');
  return new Timestamp(seconds, nanos, offset);
}

/** Adds nanoseconds to an instant. Throws `CelError` for a result outside the years 1 to 9999. */
export function addNanos(t: Timestamp, nanos: bigint): Timestamp {
  const total = BigInt(t.seconds) * BILLION + BigInt(t.nanos) + nanos;
  let seconds = total / BILLION;
  let rest = total % BILLION;
  if (rest < 0n) {
    rest += BILLION;
    seconds -= 1n;
  }
  return timestamp(Number(seconds), Number(rest), t.offset);
}

/** The nanoseconds from `b` to `a`. */
export const timestampDifference = (a: Timestamp, b: Timestamp): bigint =>
  BigInt(a.seconds - b.seconds) * BILLION + BigInt(a.nanos - b.nanos);

/** RFC 3339 as Go parses it: capitals only; an hour of one digit and a comma before the fraction are accepted. */
const RFC3339 = /^(\d{4})-(\d\d)-(\d\d)T(\d{1,2}):(\d\d):(\d\d)(?:[.,](\d{1,9})\d*)?(?:Z|([+-])(\d\d):(\d\d))$/;

/** Parses RFC 3339. Returns `undefined` for malformed text and for years other than 1 to 9999. */
export function parseTimestamp(text: string): Timestamp | undefined {
  const parsed = parseRfc3339(text);
  return parsed && inRange(parsed.seconds) ? parsed : undefined;
}

/** Like `parseTimestamp`, but throws `CelError` for an instant out of range, as arithmetic does. */
export function timestampFrom(text: string): Timestamp | undefined {
  const parsed = parseRfc3339(text);
  return parsed && timestamp(parsed.seconds, parsed.nanos, parsed.offset);
}

const inRange = (seconds: number): boolean => seconds >= MIN_SECONDS && seconds <= MAX_SECONDS;

function parseRfc3339(text: string): Timestamp | undefined {
  const m = RFC3339.exec(text);
  if (!m) return undefined;
  const [year, month, day, hour, minute, second] = m.slice(1, 7).map(Number) as [
    number,
    number,
    number,
    number,
    number,
    number,
  ];
  if (hour > 23 || minute > 59 || second > 59) return undefined;
  const ms = utcMillis(year, month, day, hour, minute, second);
  if (ms === undefined) return undefined;
  const zoneHours = Number(m[9] ?? 0);
  const zoneMinutes = Number(m[10] ?? 0);
  if (zoneHours > 24 || zoneMinutes > 60) return undefined;
  const offset = (m[8] === '-' ? -1 : 1) * (zoneHours * 60 + zoneMinutes) + 0;
  return new Timestamp(ms / 1000 - offset * 60, Number((m[7] ?? '').padEnd(9, '0')), offset);
}

/** Parses a calendar date (`2024-01-31`) to its first instant in UTC. */
export function parseDate(text: string): Timestamp | undefined {
  const m = /^(\d{4})-(\d\d)-(\d\d)$/.exec(text);
  const ms = m ? utcMillis(Number(m[1]), Number(m[2]), Number(m[3]), 0, 0, 0) : undefined;
  return ms === undefined ? undefined : new Timestamp(ms / 1000, 0);
}

function utcMillis(
  year: number,
  month: number,
  day: number,
  hour: number,
  minute: number,
  second: number,
): number | undefined {
  const d = new Date(0);
  d.setUTCFullYear(year, month - 1, day);
  d.setUTCHours(hour, minute, second);
  return d.getUTCMonth() === month - 1 && d.getUTCDate() === day ? d.getTime() : undefined;
}

const pad = (n: number, width = 2): string => String(n).padStart(width, '0');

/** Prints RFC 3339 in the zone the timestamp was parsed with, the fraction without trailing zeros. */
export function formatTimestamp(t: Timestamp): string {
  const d = new Date((t.seconds + t.offset * 60) * 1000);
  const fraction = t.nanos ? `.${withoutTrailing(pad(t.nanos, 9), '0')}` : '';
  const sign = t.offset < 0 ? '-' : '+';
  const abs = Math.abs(t.offset);
  const zone = t.offset === 0 ? 'Z' : `${sign}${pad(Math.floor(abs / 60))}:${pad(abs % 60)}`;
  const date = [pad(d.getUTCFullYear(), 4), pad(d.getUTCMonth() + 1), pad(d.getUTCDate())].join('-');
  const time = [d.getUTCHours(), d.getUTCMinutes(), d.getUTCSeconds()].map(n => pad(n)).join(':');
  return `${date}T${time}${fraction}${zone}`;
}

const UNITS = new Map<string, bigint>([
  ['ns', 1n],
  ['us', 1000n],
  ['µs', 1000n],
  ['μs', 1000n],
  ['ms', 1_000_000n],
  ['s', BILLION],
  ['m', 60n * BILLION],
  ['h', 3600n * BILLION],
]);

/** Parses `1h30m`, `-1.5s`, `0`. Returns `undefined` for malformed text and beyond an int64 of nanoseconds. */
export function parseDuration(text: string): Duration | undefined {
  const m = /^([+-]?)((?:(?:\d+(?:\.\d*)?|\.\d+)(?:ns|us|µs|μs|ms|s|m|h))+|0)$/.exec(text);
  if (!m || text.length > 200) return undefined;
  let total = 0n;
  for (const part of m[2]!.matchAll(/(\d*)(?:\.(\d*))?(ns|us|µs|μs|ms|s|m|h)/gy)) {
    const unit = UNITS.get(part[3]!)!;
    const fraction = part[2] ?? '';
    total +=
      BigInt(part[1] || '0') * unit + (fraction ? (BigInt(fraction) * unit) / 10n ** BigInt(fraction.length) : 0n);
  }
  if (m[1] === '-') total = -total;
  return total > INT_MAX || total < INT_MIN ? undefined : new Duration(total);
}

/** Units of the schema format `duration`, with their names. The last name is a prefix: `day` accepts `days`. */
const UNIT_WORDS: readonly (readonly [bigint, ...string[]])[] = [
  [1n, 'ns', 'nano'],
  [1000n, 'us', 'µs', 'micro'],
  [1_000_000n, 'ms', 'milli'],
  [BILLION, 's', 'sec'],
  [60n * BILLION, 'm', 'min'],
  [3600n * BILLION, 'h', 'hr', 'hour'],
  [86_400n * BILLION, 'd', 'day'],
  [604_800n * BILLION, 'w', 'wk', 'week'],
];

/** Like `parseDuration`, but also accepts words (`1 day 2 hours`), as the schema format `duration` allows. */
export function parseDurationWithWords(text: string): Duration | undefined {
  const plain = parseDuration(text);
  if (plain || text.length > 200) return plain;
  let total: bigint | undefined;
  const words = text.match(/\d+|[A-Za-zµ]+|[^\dA-Za-zµ\s]+/g) ?? [];
  for (const [i, count] of words.entries()) {
    const word = words[i + 1]?.toLowerCase();
    if (word === undefined || !/^\d/.test(count)) continue;
    const unit = UNIT_WORDS.find(([, ...names]) =>
      names.some((name, i) => word === name || (i === names.length - 1 && word.startsWith(name))),
    );
    if (unit) total = (total ?? 0n) + BigInt(count) * unit[0];
  }
  return total === undefined || total > INT_MAX ? undefined : new Duration(total);
}

/** Prints seconds with a double's decimals, without exponent, followed by `s`. */
export function formatDuration(d: Duration): string {
  const seconds = Number(d.nanos / BILLION) + Number(d.nanos % BILLION) / 1e9;
  const text = String(seconds);
  if (!text.includes('e')) return `${text}s`;
  const [mantissa, exponent] = text.split('e') as [string, string];
  return `${seconds.toFixed(-Number(exponent) + (mantissa.split('.')[1]?.length ?? 0))}s`;
}

/** Calendar fields of an instant in a zone. */
export interface Calendar {
  readonly year: number;
  readonly month: number;
  readonly day: number;
  readonly hour: number;
  readonly minute: number;
  readonly second: number;
  readonly weekday: number;
  readonly yearday: number;
}

/** The calendar fields in UTC, in a fixed offset (`+05:30`), or in a named zone. */
export function calendar(t: Timestamp, zone?: string): Calendar {
  const d = new Date((t.seconds + (zone === undefined ? 0 : zoneOffset(t, zone))) * 1000);
  const year = d.getUTCFullYear();
  const first = new Date(0);
  first.setUTCFullYear(year, 0, 1);
  return {
    year,
    month: d.getUTCMonth(),
    day: d.getUTCDate(),
    hour: d.getUTCHours(),
    minute: d.getUTCMinutes(),
    second: d.getUTCSeconds(),
    weekday: d.getUTCDay(),
    yearday: Math.floor((d.getTime() - first.getTime()) / 86_400_000),
  };
}

const zones = new Map<string, Intl.DateTimeFormat>();

/** Go's `strconv.Atoi`. Throws `CelError` with Go's message for text that is not a number. */
function atoi(text: string): number {
  if (!/^[+-]?\d+$/.test(text)) fail(`strconv.Atoi: parsing ${JSON.stringify(text)}: invalid syntax`);
  const n = Number(text);
  return Math.abs(n) < 2 ** 40 ? n : fail(`strconv.Atoi: parsing ${JSON.stringify(text)}: value out of range`);
}

function zoneOffset(t: Timestamp, zone: string): number {
  const colon = zone.indexOf(':');
  if (colon >= 0) {
    const hours = atoi(zone.slice(0, colon));
    const minutes = atoi(zone.slice(colon + 1));
    return (hours * 60 + (zone.startsWith('-') ? -minutes : minutes)) * 60;
  }
  if (zone === '' || zone === 'UTC' || zone === 'Local') return 0;
  const parts = new Map(
    formatterOf(zone)
      .formatToParts(new Date(t.seconds * 1000))
      .map(p => [p.type, p.value]),
  );
  const n = (type: Intl.DateTimeFormatPartTypes) => Number(parts.get(type));
  const year = parts.get('era')?.startsWith('B') ? 1 - n('year') : n('year');
  const local = new Date(0);
  local.setUTCFullYear(year, n('month') - 1, n('day'));
  local.setUTCHours(n('hour') % 24, n('minute'), n('second'));
  return local.getTime() / 1000 - t.seconds;
}

function formatterOf(zone: string): Intl.DateTimeFormat {
  const known = zones.get(zone);
  if (known) return known;
  if (/\.\.|^[/\\]|\\/.test(zone)) fail('time: invalid location name');
  // The reference looks zones up as files, so their names are case-sensitive; `Intl` ignores case.
  if (zone.length > 60 || !/^[A-Z][\w+-]*(\/[A-Z][\w+-]*)*$/.test(zone)) fail(`unknown time zone ${zone}`);
  try {
    const formatter = new Intl.DateTimeFormat('en-US', {
      timeZone: zone,
      hourCycle: 'h23',
      era: 'short',
      year: 'numeric',
      month: 'numeric',
      day: 'numeric',
      hour: 'numeric',
      minute: 'numeric',
      second: 'numeric',
    });
    const canonical = formatter.resolvedOptions().timeZone;
    if (canonical !== zone && canonical.toLowerCase() === zone.toLowerCase()) return fail(`unknown time zone ${zone}`);
    if (zones.size > 100) zones.clear();
    zones.set(zone, formatter);
    return formatter;
  } catch {
    return fail(`unknown time zone ${zone}`);
  }
}
