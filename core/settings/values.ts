import { ConfigError } from '../api/point.js';
import { parseGoBool } from '../model/text/goBool.js';

/** Parses the value of a setting: the text of a flag, or YAML. Throws ConfigError naming `path`, the flag or field. */
export type Reader<T> = (value: unknown, path: string) => T;

/** Non-empty text. */
export const text: Reader<string> = (value, path) => {
  if (typeof value === 'string' && value !== '') return value;
  throw new ConfigError(path, 'must be a non-empty text');
};

/** Text, which may be empty. */
export const anyText: Reader<string> = (value, path) => {
  if (typeof value === 'string') return value;
  throw new ConfigError(path, 'must be a text');
};

/** A port number. 0 means a free port. */
export const port: Reader<number> = (value, path) => {
  const number = typeof value === 'string' && /^\d{1,5}$/.test(value) ? Number(value) : value;
  if (typeof number === 'number' && Number.isInteger(number) && number >= 0 && number <= 65_535) return number;
  throw new ConfigError(path, `must be a port between 0 and 65535, not ${JSON.stringify(value)}`);
};

/** An integer from `least` to `most`, which have at most two digits. */
export const integer =
  (least: number, most: number): Reader<number> =>
  (value, path) => {
    const number = typeof value === 'string' && /^\d{1,2}$/.test(value) ? Number(value) : value;
    if (typeof number === 'number' && Number.isInteger(number) && number >= least && number <= most) return number;
    throw new ConfigError(path, `must be a whole number between ${least} and ${most}, not ${JSON.stringify(value)}`);
  };

const MOST_COUNT = 2 ** 31 - 1;

/** An integer from `least` to 2147483647. */
export const count =
  (least: number): Reader<number> =>
  (value, path) => {
    const number = typeof value === 'string' && /^\d{1,10}$/.test(value) ? Number(value) : value;
    if (typeof number === 'number' && Number.isInteger(number) && number >= least && number <= MOST_COUNT)
      return number;
    throw new ConfigError(
      path,
      `must be a whole number between ${least} and ${MOST_COUNT}, not ${JSON.stringify(value)}`,
    );
  };

/** A number of at least 0, which may have a fraction: `0.5`. */
export const rate: Reader<number> = (value, path) => {
  const number = typeof value === 'string' && /^\d{1,10}(\.\d{0,10})?$/.test(value) ? Number(value) : value;
  if (typeof number === 'number' && Number.isFinite(number) && number >= 0) return number;
  throw new ConfigError(path, `must be a number of at least 0, such as 0.5, not ${JSON.stringify(value)}`);
};

/** `true` or `false`, in any form that upstream's flags have. */
export const flag: Reader<boolean> = (value, path) => {
  const parsed = typeof value === 'string' ? parseGoBool(value) : value;
  if (typeof parsed === 'boolean') return parsed;
  throw new ConfigError(path, `must be true or false, not ${JSON.stringify(value)}`);
};

const UNITS = new Map([
  ['ns', 1e-6],
  ['us', 1e-3],
  ['\u00b5s', 1e-3],
  ['\u03bcs', 1e-3],
  ['ms', 1],
  ['s', 1000],
  ['m', 60_000],
  ['h', 3_600_000],
]);

const AMOUNT = /(\d+(?:\.\d*)?|\.\d+)(ns|[u\u00b5\u03bc]s|ms|h|m|s)/gy;
const DURATION = new RegExp(`^\\+?(?:${AMOUNT.source})+$`);

/** A duration such as `90s`, `1m30s`, `250ms` or `0`, in milliseconds. */
export const duration: Reader<number> = (value, path) => {
  if (value === 0 || value === '0') return 0;
  if (typeof value === 'string' && value.length <= 32 && DURATION.test(value)) {
    let total = 0;
    for (const [, amount, unit] of value.replace('+', '').matchAll(AMOUNT)) total += Number(amount) * UNITS.get(unit!)!;
    return total;
  }
  throw new ConfigError(path, `must be a duration such as 30s or 1m30s, not ${JSON.stringify(value)}`);
};

/** A duration in milliseconds as `duration` parses it, in the largest unit that needs no fraction: `5m`. */
export function formatDuration(milliseconds: number): string {
  if (milliseconds === 0) return '0';
  const unit = (['h', 'm', 's'] as const).find(candidate => milliseconds % UNITS.get(candidate)! === 0) ?? 'ms';
  return `${milliseconds / UNITS.get(unit)!}${unit}`;
}

/** One of several words. */
export const oneOf =
  <W extends string>(words: readonly W[]): Reader<W> =>
  (value, path) => {
    const word = words.find(candidate => candidate === value);
    if (word !== undefined) return word;
    throw new ConfigError(path, `must be ${words.join(' or ')}, not ${JSON.stringify(value)}`);
  };

/** A list of values: a YAML list or comma-separated text. */
export const listOf =
  <T>(each: Reader<T>): Reader<readonly T[]> =>
  (value, path) => {
    const items: unknown = typeof value === 'string' ? value.split(',') : value;
    if (!Array.isArray(items) || items.length === 0)
      throw new ConfigError(path, 'must be a list of at least one value');
    return items.map((item, i) => each(item, typeof value === 'string' ? path : `${path}[${i}]`));
  };

/** Pairs `name=value`: text with commas, a YAML list of them, or a YAML mapping of names to values. May be empty. */
export const pairs: Reader<readonly string[]> = (value, path) => {
  const items: unknown =
    typeof value === 'string'
      ? value.split(',')
      : isMapping(value)
        ? Object.entries(value).map(([name, one]) => `${name}=${String(one)}`)
        : value;
  if (!Array.isArray(items) || !items.every(item => typeof item === 'string'))
    throw new ConfigError(path, 'must be name=value, with commas between several, or a mapping of names to values');
  return items.map(item => item.trim()).filter(item => item !== '');
};

const isMapping = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Names: text with commas, or a YAML list. Upstream accepts an empty list here too. */
export const names: Reader<readonly string[]> = (value, path) => {
  const items: unknown = typeof value === 'string' ? value.split(',') : value;
  if (!Array.isArray(items) || !items.every(item => typeof item === 'string'))
    throw new ConfigError(path, 'must be a list of names');
  return items.map(item => item.trim()).filter(item => item !== '');
};
