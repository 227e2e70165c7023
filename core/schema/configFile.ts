import { ConfigError } from '../api/point.js';
import { isRecord, stringAt } from '../model/record.js';
import type { Naming } from '../naming.js';
import { decodeYamlStrict } from './yaml/yaml.js';

/**
 * Reads a value of a configuration file: returns it with its type; undefined if it is absent or null. Adds problems,
 * with the path of the field, to `errors`.
 */
export type Shape<T> = (value: unknown, path: string, errors: string[]) => T | undefined;

type Read<S> = S extends Shape<infer T> ? T : never;
/** The type of the values that a shape reads. */
export type Shaped<S> = Read<S>;

const nameOf = (value: unknown): string =>
  Array.isArray(value) ? 'a list' : isRecord(value) ? 'an object' : typeof value;

const scalar =
  <T>(is: (value: unknown) => value is T, what: string): Shape<T> =>
  (value, path, errors) => {
    if (value === undefined || value === null) return undefined;
    if (is(value)) return value;
    errors.push(`${path}: must be ${what}, not ${nameOf(value)}`);
    return undefined;
  };

/** A string. */
export const STRING: Shape<string> = scalar(value => typeof value === 'string', 'a string');
/** True or false. */
export const BOOLEAN: Shape<boolean> = scalar(value => typeof value === 'boolean', 'true or false');

/** A list. Items that are null are read as empty objects. */
export const list =
  <T>(item: Shape<T>): Shape<readonly T[]> =>
  (value, path, errors) => {
    if (value === undefined || value === null) return undefined;
    if (Array.isArray(value))
      return value.flatMap((one, i) => item(one ?? {}, `${path}[${i}]`, errors) ?? ([] as readonly T[]));
    errors.push(`${path}: must be a list, not ${nameOf(value)}`);
    return undefined;
  };

/** The end of the error for a field that is unknown. */
const UNKNOWN = ': unknown field';

/** Divides what shapes have found into unknown fields and other errors, for files whose unknown fields are ignored. */
export const divideErrors = (found: readonly string[]): { errors: string[]; unknown: readonly string[] } => ({
  errors: found.filter(error => !error.endsWith(UNKNOWN)),
  unknown: found.filter(error => error.endsWith(UNKNOWN)).map(error => error.slice(0, -UNKNOWN.length)),
});

/** An object with these members, all of which may be absent. Others are errors. */
export const struct =
  <S extends { readonly [name: string]: Shape<unknown> }>(
    members: S,
  ): Shape<{ readonly [K in keyof S]: Read<S[K]> | undefined }> =>
  (value, path, errors) => {
    if (value === undefined || value === null) return undefined;
    if (!isRecord(value)) {
      errors.push(`${path || 'the file'}: must be an object, not ${nameOf(value)}`);
      return undefined;
    }
    const at = (name: string): string => (path ? `${path}.${name}` : name);
    for (const name of Object.keys(value)) if (!Object.hasOwn(members, name)) errors.push(at(name) + UNKNOWN);
    const read = Object.entries(members).map(([name, shape]) => [
      name,
      shape(Object.hasOwn(value, name) ? value[name] : undefined, at(name), errors),
    ]);
    return Object.fromEntries(read) as { readonly [K in keyof S]: Read<S[K]> | undefined };
  };

/** A type of configuration file: its kind, in a neutral group and versions, and its members. */
export interface ConfigFileType<S extends { readonly [name: string]: Shape<unknown> }> {
  readonly kind: string;
  readonly group: string;
  readonly versions: readonly string[];
  readonly members: S;
}

/** Throws ConfigError with all errors. */
export function failWith(file: string, errors: readonly string[]): void {
  if (errors.length > 0) throw new ConfigError(file, errors.join('; '));
}

/**
 * Reads a configuration file in YAML or JSON. Throws ConfigError, which names the file and each field that is unknown,
 * repeated or of the wrong type.
 */
export function readConfigFile<S extends { readonly [name: string]: Shape<unknown> }>(
  bytes: Uint8Array,
  file: string,
  { kind, group, versions, members }: ConfigFileType<S>,
  naming: Naming,
): { readonly [K in keyof S]: Read<S[K]> | undefined } {
  const { value, duplicates } = decode(bytes, file);
  if (!isRecord(value)) throw new ConfigError(file, `must hold a ${kind}`);
  const known = versions.map(version => naming.apiVersion(`${group}/${version}`));
  const errors: string[] = [...duplicates];
  if (!known.includes(stringAt(value, 'apiVersion')))
    errors.push(`apiVersion: must be ${known.join(' or ')}, not ${JSON.stringify(value['apiVersion'] ?? '')}`);
  if (value['kind'] !== kind) errors.push(`kind: must be ${kind}, not ${JSON.stringify(value['kind'] ?? '')}`);
  // Otherwise, all other fields would be reported as unknown.
  failWith(file, errors);
  const read = struct({ ...members, apiVersion: STRING, kind: STRING })(value, '', errors);
  failWith(file, errors);
  return read as { readonly [K in keyof S]: Read<S[K]> | undefined };
}

function decode(bytes: Uint8Array, file: string): ReturnType<typeof decodeYamlStrict> {
  try {
    return decodeYamlStrict(bytes);
  } catch (error) {
    throw new ConfigError(file, (error as Error).message);
  }
}
