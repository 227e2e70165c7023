import { ConfigError } from '../../core/api/point.js';
import { isRecord, type UnknownRecord } from '../../core/model/record.js';
import { goQuote } from '../../core/model/text/quote.js';
import { groupSpellings } from '../../core/naming.js';

const join = (path: string, key: string): string => (path === '' ? key : `${path}.${key}`);

/** An object of a configuration. Throws ConfigError for another value, and for members that are not in `known`. */
export function recordOf(value: unknown, path: string, known: readonly string[]): UnknownRecord {
  if (!isRecord(value)) throw new ConfigError(path || 'configuration', 'must be an object');
  const unknown = Object.keys(value).find(key => !known.includes(key));
  if (unknown !== undefined)
    throw new ConfigError(join(path, unknown), `unknown field: use one of ${known.join(', ')}, or remove it`);
  return value;
}

/** A list of texts of a configuration; [] if it is absent. Throws ConfigError for another value. */
export function textsOf(from: UnknownRecord, key: string, path = ''): readonly string[] {
  const value = from[key] ?? [];
  if (Array.isArray(value) && value.every(text => typeof text === 'string')) return value;
  throw new ConfigError(join(path, key), 'must be a list of strings');
}

/** Throws the only fault of a configuration, or ConfigError with all of several, in their order. */
export function refuseFaults(faults: readonly ConfigError[]): void {
  const [first] = faults;
  if (first === undefined) return;
  if (faults.length === 1) throw first;
  throw new ConfigError('configuration', `[${faults.map(({ message }) => message).join(', ')}]`);
}

/**
 * Checks `apiVersion` and `kind` of a configuration. `group` is neutral; both spellings are accepted in both namings,
 * like those of other configuration files. Throws ConfigError.
 */
export function checkConfigKind(config: UnknownRecord, group: string, versions: readonly string[], kind: string): void {
  const { apiVersion } = config;
  const accepted = groupSpellings(group).flatMap(spelling => versions.map(version => `${spelling}/${version}`));
  if (typeof apiVersion !== 'string' || !accepted.includes(apiVersion))
    throw new ConfigError('apiVersion', `must be one of ${accepted.map(goQuote).join(', ')}`);
  if (config['kind'] !== kind) throw new ConfigError('kind', `must be ${goQuote(kind)}`);
}
