import type { Json } from '../../model/object.js';
import { parseJson } from '../json.js';

/**
 * A set of paths into an object, in the form in which `fieldsV1` holds it (spec, "managedFields entry"): a member per
 * element (`f:name` for a member, `k:{…}` for an item by its keys, `v:…` for an item by its value, `i:0` by position),
 * sorted. An element that is empty or holds `.` belongs to the set itself. Sets are never changed, so they share their
 * parts.
 */
export interface FieldSet {
  readonly [element: string]: FieldSet;
}

/** A set while it is being built. */
export type Growing = { [element: string]: FieldSet };

/** An element below which nothing is in the set but itself; as a whole set, the empty one. */
export const LEAF: FieldSet = Object.freeze({});
/** The set without any path. */
export const NONE = LEAF;

/** Marks, below an element, that it belongs to the set itself. */
export const SELF = '.';

/** No path at all. */
export function isEmpty(set: FieldSet): boolean {
  for (const _ in set) return false;
  return true;
}

/** Whether an element belongs to the set itself, and not only something below it. */
const owns = (node: FieldSet): boolean => SELF in node || isEmpty(node);

/** An element from what is below it and whether it belongs to the set itself; undefined if nothing is left of it. */
export function element(self: boolean, below: FieldSet): FieldSet | undefined {
  if (isEmpty(below)) return self ? LEAF : undefined;
  return self ? { [SELF]: LEAF, ...below } : below;
}

/** The elements below, without the mark of the element itself. */
const below = (node: FieldSet): FieldSet => {
  if (!(SELF in node)) return node;
  const { [SELF]: _self, ...rest } = node;
  return rest;
};

/** The same elements in order; canonical text needs it. */
export function inOrder(set: Growing): FieldSet {
  const names = Object.keys(set);
  let sorted = true;
  for (let at = 1; at < names.length && sorted; at++) sorted = names[at - 1]! < names[at]!;
  if (sorted) return set;
  const out: Growing = {};
  for (const name of names.sort()) out[name] = set[name]!;
  return out;
}

/** Paths of either. */
export function union(a: FieldSet, b: FieldSet): FieldSet {
  if (a === b || isEmpty(b)) return a;
  if (isEmpty(a)) return b;
  const out: Growing = { ...a };
  for (const name in b) {
    const [x, y] = [a[name], b[name]!];
    out[name] = x === undefined || x === y ? y : element(owns(x) || owns(y), union(below(x), below(y)))!;
  }
  return inOrder(out);
}

/** Paths of any, joined in halves: added one by one, many small sets would copy a large one as many times. */
export function unionOf(sets: readonly FieldSet[]): FieldSet {
  if (sets.length < 2) return sets[0] ?? NONE;
  const half = sets.length >> 1;
  return union(unionOf(sets.slice(0, half)), unionOf(sets.slice(half)));
}

/** Paths of `a` that are not in `b`. A path stays where only paths above or below it are in `b`. */
export function difference(a: FieldSet, b: FieldSet): FieldSet {
  const out: Growing = {};
  for (const name in a) {
    const [x, y] = [a[name]!, b[name]];
    const kept = y === undefined ? x : element(owns(x) && !owns(y), difference(below(x), below(y)));
    if (kept) out[name] = kept;
  }
  return out;
}

/** Paths of `a` that are neither in `b` nor below a path of `b`. */
export function outside(a: FieldSet, b: FieldSet): FieldSet {
  const out: Growing = {};
  for (const name in a) {
    const [x, y] = [a[name]!, b[name]];
    if (y !== undefined && owns(y)) continue;
    const kept = y === undefined ? x : element(owns(x), outside(below(x), y));
    if (kept) out[name] = kept;
  }
  return out;
}

/** Paths of both. */
export function intersection(a: FieldSet, b: FieldSet): FieldSet {
  const out: Growing = {};
  for (const name in a) {
    const [x, y] = [a[name]!, b[name]];
    const kept = y && element(owns(x) && owns(y), intersection(below(x), below(y)));
    if (kept) out[name] = kept;
  }
  return out;
}

/** Whether the path is in the set. */
export function has(set: FieldSet, path: readonly string[]): boolean {
  let at: FieldSet | undefined = set;
  for (const name of path) at = at?.[name];
  return at !== undefined && owns(at);
}

/** Whether the child of that name belongs to the set, and what is in the set below it. */
export const childOf = (
  set: FieldSet,
  name: string,
): { readonly self: boolean; readonly below: FieldSet } | undefined => {
  const node = set[name];
  return node && { self: owns(node), below: below(node) };
};

/** Both hold the same paths. */
export function sameFields(a: FieldSet, b: FieldSet): boolean {
  if (a === b) return true;
  const names = Object.keys(a);
  return (
    names.length === Object.keys(b).length &&
    names.every(name => b[name] !== undefined && sameFields(a[name]!, b[name]!))
  );
}

/** The set of one path. */
export const pathSet = (path: readonly string[]): FieldSet =>
  path.reduceRight<FieldSet>((inner, name) => ({ [name]: inner }), LEAF);

const shown = (text: string): string => {
  if (text.startsWith('f:')) return `.${text.slice(2)}`;
  if (text.startsWith('v:')) return `[=${text.slice(2)}]`;
  if (text.startsWith('i:')) return `[${text.slice(2)}]`;
  const keys = Object.entries(JSON.parse(text.slice(2)) as { [key: string]: Json });
  return `[${keys.map(([key, value]) => `${key}=${JSON.stringify(value)}`).join(',')}]`;
};

/**
 * Every path as people read it (`.spec.containers[name="c"].image`), the paths of one level before what is below them.
 */
export function pathTexts(set: FieldSet, prefix = ''): string[] {
  const names = Object.keys(set).filter(name => name !== SELF);
  const own = names.filter(name => owns(set[name]!)).map(name => prefix + shown(name));
  return [...own, ...names.flatMap(name => pathTexts(below(set[name]!), prefix + shown(name)))];
}

/** What came from outside is no set of fields. */
export class BadFieldSet extends Error {}

const KINDS = new Set(['f', 'k', 'v', 'i']);

/** The canonical text of an element that a client sent, undefined for kinds that later releases may know. */
function canonical(text: string): string | undefined {
  if (text.length < 2 || text[1] !== ':') throw new BadFieldSet(`missing colon: ${text}`);
  if (!KINDS.has(text[0]!)) return undefined;
  const rest = text.slice(2);
  if (text[0] === 'f') return text;
  if (text[0] === 'i' && !/^-?\d+$/.test(rest)) throw new BadFieldSet(`no position: ${rest}`);
  let value: Json;
  try {
    value = parseJson(Buffer.from(rest));
  } catch {
    throw new BadFieldSet(`no JSON: ${rest}`);
  }
  if (text[0] !== 'k') return `${text[0]}:${JSON.stringify(value)}`;
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new BadFieldSet(`no keys: ${rest}`);
  const keys = Object.keys(value).sort();
  return `k:{${keys.map(key => `${JSON.stringify(key)}:${JSON.stringify((value as { [key: string]: Json })[key])}`).join(',')}}`;
}

/** A set that a client sent, made canonical. Throws `BadFieldSet`. */
export function readFieldSet(given: unknown): FieldSet {
  if (typeof given !== 'object' || given === null || Array.isArray(given))
    throw new BadFieldSet('fields must be an object');
  const out: Growing = {};
  for (const [name, inner] of Object.entries(given)) {
    const at = name === SELF ? SELF : canonical(name);
    if (at !== undefined) out[at] = readFieldSet(inner);
  }
  return inOrder(out);
}
