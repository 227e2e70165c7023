import { DEPTH } from '../../limits.js';
import type { Json } from '../object.js';

/** Thrown for a value that is not JSON. `path` is its place, `fix` says how to correct it. */
export class NotJson extends TypeError {
  constructor(
    readonly path: string,
    readonly fix: string,
  ) {
    super(`${path}: ${fix}`);
  }
}

/** Describes a value that is not JSON. */
const describe = (value: unknown): string =>
  typeof value === 'object'
    ? (value?.constructor?.name ?? 'object')
    : typeof value === 'number'
      ? String(value)
      : typeof value;

const isPlain = (value: object): boolean => {
  const prototype = Object.getPrototypeOf(value) as object | null;
  // Test runners run programs in another realm, with another `Object.prototype`.
  return prototype === null || Object.getPrototypeOf(prototype) === null;
};

/** Whether a bigint fits into 64 bits, signed or not. */
const fits = (value: bigint): boolean => BigInt.asIntN(64, value) === value || BigInt.asUintN(64, value) === value;

/**
 * A copy of a JSON value without undefined members. `path` is that of the value, for errors. Throws NotJson for a value
 * that is not JSON, or is nested too deeply, such as one that contains itself.
 */
export function copyJson(value: unknown, path: string, { bigints = true } = {}, depth = 0): Json {
  if (depth > DEPTH) throw new NotJson(path, `is nested more than ${DEPTH} levels deep`);
  if (value === null || typeof value === 'string' || typeof value === 'boolean' || Number.isFinite(value))
    return value as Json;
  if (bigints && typeof value === 'bigint' && fits(value)) return value;
  if (Array.isArray(value)) return value.map((item, i) => copyJson(item, `${path}[${i}]`, { bigints }, depth + 1));
  if (typeof value === 'object' && isPlain(value))
    return Object.fromEntries(
      Object.entries(value)
        .filter(([, member]) => member !== undefined)
        .map(([name, member]) => [name, copyJson(member, `${path}.${name}`, { bigints }, depth + 1)]),
    );
  throw new NotJson(path, `must be JSON, not a value of type ${describe(value)}`);
}
