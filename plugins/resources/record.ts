import type { ApiObject } from '../../core/model/object.js';

/** An object whose members are only known by name; strategies narrow what they read. */
export type Rec = { [member: string]: unknown };

/** True for a JSON object (not a list, not null). */
export const isRec = (value: unknown): value is Rec =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The object found by walking `path`, undefined if any step is absent. */
export function at(from: unknown, ...path: string[]): Rec | undefined {
  let here: unknown = from;
  for (const step of path) here = isRec(here) && Object.hasOwn(here, step) ? here[step] : undefined;
  return isRec(here) ? here : undefined;
}

/** The value of a member, undefined if the owner is absent. */
export const get = (from: unknown, member: string): unknown =>
  isRec(from) && Object.hasOwn(from, member) ? from[member] : undefined;

/** A string member; absent is ''. */
export const text = (from: unknown, member: string): string => {
  const value = get(from, member);
  return typeof value === 'string' ? value : '';
};

/** A number member; absent is undefined. */
export const num = (from: unknown, member: string): number | undefined => {
  const value = get(from, member);
  return typeof value === 'number' ? value : undefined;
};

/** A list member as objects; absent is empty, members that are no objects are read as empty ones. */
export const list = (from: unknown, member: string): Rec[] => {
  const value = get(from, member);
  return Array.isArray(value) ? value.map(entry => (isRec(entry) ? entry : {})) : [];
};

/** A list member as strings; absent is empty. */
export const strings = (from: unknown, member: string): string[] => {
  const value = get(from, member);
  return Array.isArray(value) ? value.map(String) : [];
};

/** Entries of a map member; absent is empty. */
export const entries = (from: unknown, member: string): [string, unknown][] => Object.entries(at(from, member) ?? {});

/** True where Go sees nil: absent or null. */
export const absent = (value: unknown): boolean => value === undefined || value === null;

/** The object under `member`, made if absent. */
export function into(owner: Rec, member: string): Rec {
  const value = owner[member];
  if (isRec(value)) return value;
  const made: Rec = {};
  owner[member] = made;
  return made;
}

/** Sets a member that is absent; strings also when empty. */
export function fill(owner: Rec, member: string, value: unknown): void {
  const now = owner[member];
  if (absent(now) || (typeof value === 'string' && now === '')) owner[member] = value;
}

/** Sets a number member that is absent or zero: fields that Go keeps by value. */
export function fillZero(owner: Rec, member: string, value: number): void {
  if (!owner[member]) owner[member] = value;
}

/** The spec of an object, made if absent. */
export const spec = (object: ApiObject): Rec => into(object, 'spec');

/**
 * Deep equality of JSON values; absent, null, and empty lists, maps and strings are one (upstream's semantic equality).
 */
export function same(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (isEmpty(a) && isEmpty(b)) return true;
  if (Array.isArray(a) && Array.isArray(b)) return a.length === b.length && a.every((entry, i) => same(entry, b[i]));
  if (isRec(a) && isRec(b))
    return [...new Set([...Object.keys(a), ...Object.keys(b)])].every(key => same(get(a, key), get(b, key)));
  return false;
}

const isEmpty = (value: unknown): boolean =>
  absent(value) ||
  value === '' ||
  value === 0 ||
  value === false ||
  (Array.isArray(value) && value.length === 0) ||
  (isRec(value) && Object.values(value).every(absent));
