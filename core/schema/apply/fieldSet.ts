import { doubleText, isNumber, readJson, writeJson } from '../../model/text/jsonText.js';
import type { Json } from '../../model/object.js';
import { parseJson } from '../json/json.js';

/**
 * A set of paths in an object, in the format of `fieldsV1` (spec, "managedFields entry"): one sorted member per element
 * (`f:name` for an object member, `k:{…}` for an item by its keys, `v:…` for an item by its value, `i:0` by position).
 * An element that is empty or contains `.` is in the set itself. Sets are immutable and share parts.
 */
export interface FieldSet {
  readonly [element: string]: FieldSet;
}

/** A set under construction. */
export type MutableFieldSet = { [element: string]: FieldSet };

/** An element without elements below. */
export const LEAF: FieldSet = Object.freeze({});
/** The empty set. */
export const NONE = LEAF;

/** The member of an element with elements below that marks it as in the set itself. */
export const SELF = '.';

/** Whether a set is empty. */
export function isEmpty(set: FieldSet): boolean {
  for (const _ in set) return false;
  return true;
}

/** Whether an element itself is in the set, not only elements below it. */
const includesSelf = (node: FieldSet): boolean => SELF in node || isEmpty(node);

/**
 * Makes an element. `self`: it is in the set itself. Returns undefined if neither it nor anything below is in the set.
 */
export function makeElement(self: boolean, below: FieldSet): FieldSet | undefined {
  if (isEmpty(below)) return self ? LEAF : undefined;
  return self ? { [SELF]: LEAF, ...below } : below;
}

/** The elements below an element. */
const below = (node: FieldSet): FieldSet => {
  if (!(SELF in node)) return node;
  const { [SELF]: _self, ...rest } = node;
  return rest;
};

const NUMBER = /-?\d{1,19}(?!\d)/y;

/** The number at `at` in a text, whose digits may begin earlier; undefined if it is not a separate value. */
function numberAround(text: string, at: number): bigint | undefined {
  let start = at;
  while (/[-\d]/.test(text[start - 1] ?? '')) start--;
  if (text[start - 1] !== ':') return undefined;
  NUMBER.lastIndex = start;
  const found = NUMBER.exec(text)?.[0];
  return found === undefined ? undefined : BigInt(found);
}

/** Compares elements by their texts, but numbers in the keys and values of items by value. */
function compareElements(a: string, b: string): number {
  if (a[0] === b[0] && (a[0] === 'k' || a[0] === 'v')) {
    let at = 0;
    while (at < a.length && a[at] === b[at]) at++;
    const [x, y] = [numberAround(a, at), numberAround(b, at)];
    if (x !== undefined && y !== undefined && x !== y) return x < y ? -1 : 1;
  }
  return a < b ? -1 : a > b ? 1 : 0;
}

/** Sorts the elements of a set, as the canonical text requires. */
export function sortElements(set: MutableFieldSet): FieldSet {
  const names = Object.keys(set);
  let sorted = true;
  for (let at = 1; at < names.length && sorted; at++) sorted = compareElements(names[at - 1]!, names[at]!) < 0;
  if (sorted) return set;
  const out: MutableFieldSet = {};
  for (const name of names.sort(compareElements)) out[name] = set[name]!;
  return out;
}

/** The union of two sets. */
export function union(a: FieldSet, b: FieldSet): FieldSet {
  if (a === b || isEmpty(b)) return a;
  if (isEmpty(a)) return b;
  const out: MutableFieldSet = { ...a };
  for (const name in b) {
    const [x, y] = [a[name], b[name]!];
    out[name] =
      x === undefined || x === y ? y : makeElement(includesSelf(x) || includesSelf(y), union(below(x), below(y)))!;
  }
  return sortElements(out);
}

/** The union of several sets, computed by halves: adding small sets one by one would copy a large one each time. */
export function unionOf(sets: readonly FieldSet[]): FieldSet {
  if (sets.length < 2) return sets[0] ?? NONE;
  const half = sets.length >> 1;
  return union(unionOf(sets.slice(0, half)), unionOf(sets.slice(half)));
}

/** The paths of `a` that are not in `b`. Paths above or below them in `b` do not matter. */
export function difference(a: FieldSet, b: FieldSet): FieldSet {
  const out: MutableFieldSet = {};
  for (const name in a) {
    const [x, y] = [a[name]!, b[name]];
    const kept = y === undefined ? x : makeElement(includesSelf(x) && !includesSelf(y), difference(below(x), below(y)));
    if (kept) out[name] = kept;
  }
  return out;
}

/** The paths of `a` that are neither in `b` nor below a path of `b`. */
export function subtractTrees(a: FieldSet, b: FieldSet): FieldSet {
  const out: MutableFieldSet = {};
  for (const name in a) {
    const [x, y] = [a[name]!, b[name]];
    if (y !== undefined && includesSelf(y)) continue;
    const kept = y === undefined ? x : makeElement(includesSelf(x), subtractTrees(below(x), y));
    if (kept) out[name] = kept;
  }
  return out;
}

/** The paths in both sets. */
export function intersection(a: FieldSet, b: FieldSet): FieldSet {
  const out: MutableFieldSet = {};
  for (const name in a) {
    const [x, y] = [a[name]!, b[name]];
    const kept = y && makeElement(includesSelf(x) && includesSelf(y), intersection(below(x), below(y)));
    if (kept) out[name] = kept;
  }
  return out;
}

/** Whether a path is in the set. */
export function hasPath(set: FieldSet, path: readonly string[]): boolean {
  let at: FieldSet | undefined = set;
  for (const name of path) at = at?.[name];
  return at !== undefined && includesSelf(at);
}

/** Whether the element of that name is in the set itself, and the set below it; undefined if neither. */
export const childOf = (
  set: FieldSet,
  name: string,
): { readonly self: boolean; readonly below: FieldSet } | undefined => {
  const node = set[name];
  return node && { self: includesSelf(node), below: below(node) };
};

/** Whether two sets are equal. */
export function sameFields(a: FieldSet, b: FieldSet): boolean {
  if (a === b) return true;
  const names = Object.keys(a);
  return (
    names.length === Object.keys(b).length &&
    names.every(name => b[name] !== undefined && sameFields(a[name]!, b[name]!))
  );
}

/** The set of a single path. */
export const pathSet = (path: readonly string[]): FieldSet =>
  path.reduceRight<FieldSet>((inner, name) => ({ [name]: inner }), LEAF);

/** The set without the fields at and below a path of members. */
export function withoutPath(set: FieldSet, [member, ...rest]: readonly string[]): FieldSet {
  const name = `f:${member}`;
  if (!(name in set)) return set;
  const { [name]: inner, ...others } = set;
  const left = rest.length > 0 ? withoutPath(inner!, rest) : NONE;
  return Object.keys(left).length > 0 ? { ...others, [name]: left } : others;
}

/** Upstream shows numbers in keys as doubles. */
const keyText = (value: Json): string => (isNumber(value) ? doubleText(value) : writeJson(value));

/** An element in readable form (`.image`, `[name="c"]`), as paths in messages have it. */
export const formatElement = (text: string): string => {
  if (text.startsWith('f:')) return `.${text.slice(2)}`;
  if (text.startsWith('v:')) return `[=${text.slice(2)}]`;
  if (text.startsWith('i:')) return `[${text.slice(2)}]`;
  const keys = Object.entries(readJson(text.slice(2)) as { [key: string]: Json });
  return `[${keys.map(([key, value]) => `${key}=${keyText(value)}`).join(',')}]`;
};

/** All paths in readable form (`.spec.containers[name="c"].image`), those of a level before those below. */
export function pathTexts(set: FieldSet, prefix = ''): string[] {
  const names = Object.keys(sortElements(set)).filter(name => name !== SELF);
  const own = names.filter(name => includesSelf(set[name]!)).map(name => prefix + formatElement(name));
  return [...own, ...names.flatMap(name => pathTexts(below(set[name]!), prefix + formatElement(name)))];
}

/** Thrown for a malformed field set of a client. */
export class InvalidFieldSet extends Error {}

const KINDS = new Set(['f', 'k', 'v', 'i']);

/** The canonical text of a client's element; undefined for unknown kinds, which later releases may add. */
function canonicalElement(text: string): string | undefined {
  if (text.length < 2 || text[1] !== ':') throw new InvalidFieldSet(`missing colon: ${text}`);
  if (!KINDS.has(text[0]!)) return undefined;
  const rest = text.slice(2);
  if (text[0] === 'f') return text;
  if (text[0] === 'i' && !/^-?\d+$/.test(rest)) throw new InvalidFieldSet(`no position: ${rest}`);
  let value: Json;
  try {
    value = parseJson(Buffer.from(rest));
  } catch {
    throw new InvalidFieldSet(`no JSON: ${rest}`);
  }
  if (text[0] !== 'k') return `${text[0]}:${writeJson(value)}`;
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new InvalidFieldSet(`no keys: ${rest}`);
  const keys = Object.keys(value).sort();
  const memberText = (key: string): string => writeJson((value as { [key: string]: Json })[key]);
  return `k:{${keys.map(key => `${JSON.stringify(key)}:${memberText(key)}`).join(',')}}`;
}

/** Parses a client's field set and makes it canonical. Throws `InvalidFieldSet`. */
export function parseFieldSet(given: unknown): FieldSet {
  if (typeof given !== 'object' || given === null || Array.isArray(given))
    throw new InvalidFieldSet('fields must be an object');
  const out: MutableFieldSet = {};
  for (const [name, inner] of Object.entries(given)) {
    const at = name === SELF ? SELF : canonicalElement(name);
    if (at !== undefined) out[at] = parseFieldSet(inner);
  }
  return sortElements(out);
}
