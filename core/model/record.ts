import { isNumber } from './text/jsonText.js';
import type { ApiObject } from './object.js';

/** A JSON object with members of unknown types. The functions below check the type of a member when it is read. */
export type UnknownRecord = { [member: string]: unknown };

/** Whether a value is a JSON object: neither a list nor null. */
export const isRecord = (value: unknown): value is UnknownRecord =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Makes `object` equal to `other` by moving its members. */
export function replaceMembers(object: object, other: object): void {
  for (const name of Object.keys(object)) delete (object as UnknownRecord)[name];
  Object.defineProperties(object, Object.getOwnPropertyDescriptors(other));
}

/** Whether a member is absent; null counts as absent. */
export const isAbsent = (value: unknown): value is undefined | null => value === undefined || value === null;

/**
 * The value at the end of a path of members; undefined if a member on the path is absent. Without a path, the value
 * itself. Only own members are read, because clients may choose the names.
 */
export function valueAt(from: unknown, ...path: readonly string[]): unknown {
  let value = from;
  for (const member of path) value = isRecord(value) && Object.hasOwn(value, member) ? value[member] : undefined;
  return value;
}

/** The value of a map for a key that clients choose: only own members are read. Undefined if there is none. */
export const ownValue = <T>(map: { readonly [key: string]: T } | undefined | null, key: string): T | undefined =>
  map && Object.hasOwn(map, key) ? map[key] : undefined;

/** The JSON object at a path; undefined if there is none. */
export function recordAt(from: unknown, ...path: readonly string[]): UnknownRecord | undefined {
  const value = valueAt(from, ...path);
  return isRecord(value) ? value : undefined;
}

/** The string at a path; empty if there is none. */
export function stringAt(from: unknown, ...path: readonly string[]): string {
  const value = valueAt(from, ...path);
  return typeof value === 'string' ? value : '';
}

/** The number at a path, which may be rounded if it is beyond 2^53; undefined if there is none. */
export function numberAt(from: unknown, ...path: readonly string[]): number | undefined {
  const value = valueAt(from, ...path);
  return isNumber(value) ? Number(value) : undefined;
}

/** The list of objects at a path; empty if there is none. Items that are not objects are returned as empty objects. */
export function recordsAt(from: unknown, ...path: readonly string[]): UnknownRecord[] {
  const value = valueAt(from, ...path);
  return Array.isArray(value) ? value.map(item => (isRecord(item) ? item : {})) : [];
}

/** The list of strings at a path; empty if there is none. */
export function stringsAt(from: unknown, ...path: readonly string[]): string[] {
  const value = valueAt(from, ...path);
  return Array.isArray(value) ? value.map(String) : [];
}

/** The object at `member`, which is set to an empty object if there is none. */
function ensureRecord(owner: UnknownRecord, member: string): UnknownRecord {
  const value = owner[member];
  if (isRecord(value)) return value;
  const made: UnknownRecord = {};
  owner[member] = made;
  return made;
}

/** The spec of an object, which is set to an empty object if there is none. */
export const specOf = (object: ApiObject): UnknownRecord => ensureRecord(object, 'spec');

/** Sets a member if it is absent or an empty string. */
export function setDefault<T extends object, Name extends keyof T>(owner: T, member: Name, value: T[Name]): void {
  const now = owner[member];
  if (isAbsent(now) || (typeof value === 'string' && now === '')) owner[member] = value;
}

/** Sets a number if it is absent or zero: for fields whose zero value means that they were not set. */
export function setDefaultForZero<T extends object, Name extends keyof T>(
  owner: T,
  member: Name,
  value: NonNullable<T[Name]> & number,
): void {
  if (!owner[member]) owner[member] = value;
}

const ownDefined = (record: UnknownRecord): string[] =>
  Object.keys(record).filter(member => record[member] !== undefined);

/** Whether two JSON values are equal: members in any order, where undefined members count as absent. */
export function isDeepEqual(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (Array.isArray(a) && Array.isArray(b))
    return a.length === b.length && a.every((item, i) => isDeepEqual(item, b[i]));
  if (!isRecord(a) || !isRecord(b)) return false;
  const members = ownDefined(a);
  return (
    members.length === ownDefined(b).length &&
    members.every(member => Object.hasOwn(b, member) && isDeepEqual(a[member], b[member]))
  );
}

const isEmpty = (value: unknown): boolean =>
  isAbsent(value) ||
  value === '' ||
  (Array.isArray(value) && value.length === 0) ||
  (isRecord(value) && Object.values(value).every(isAbsent));

/**
 * Whether two JSON values are semantically equal: deeply equal, with absent members, null and empty lists, objects and
 * strings all equal to each other. A number or boolean that is set differs from an absent one.
 */
export function isSemanticallyEqual(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (isEmpty(a) && isEmpty(b)) return true;
  if (Array.isArray(a) && Array.isArray(b))
    return a.length === b.length && a.every((item, i) => isSemanticallyEqual(item, b[i]));
  if (isRecord(a) && isRecord(b))
    return [...new Set([...Object.keys(a), ...Object.keys(b)])].every(key =>
      isSemanticallyEqual(valueAt(a, key), valueAt(b, key)),
    );
  return false;
}
