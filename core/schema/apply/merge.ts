import type { Json } from '../../model/object.js';
import { isMembers, type Members, setMember } from '../patch/members.js';
import { childOf, element, type FieldSet, type Growing, inOrder, isEmpty } from './fieldSet.js';
import { itemElement, type ListForm, type MapForm, memberShape, NoElement, type Shape, UNTYPED } from './shape.js';
import { formOf, hasNone, itemsOf, membersOf, readAs } from './values.js';

/**
 * The live value with the applied one laid over it (spec, "Updates": server-side apply). Both were checked against the
 * schema; neither is changed, the result shares parts of both. Atomic values are replaced.
 */
export function merge(shape: Shape, live: Json | undefined, config: Json | undefined): Json | undefined {
  if (config === undefined) return live;
  if (live === undefined) return config;
  const [a, b] = [formOf(live), formOf(config)];
  if (a && b && a !== b) return config;
  switch (readAs(shape, b ? config : live)) {
    case 'scalar':
      return config;
    case 'list':
      return mergeList(shape.list, live, config);
    case 'map':
      return mergeMap(shape.map, live, config);
  }
}

function mergeMap(form: MapForm | undefined, live: Json, config: Json): Json {
  const [old, given] = [membersOf(live), membersOf(config)];
  if (!form || form.atomic || (hasNone(old) && hasNone(given))) return config;
  const out: Members = {};
  for (const name of Object.keys(old)) {
    const shape = memberShape(form, name) ?? UNTYPED;
    setMember(out, name, Object.hasOwn(given, name) ? merge(shape, old[name]!, given[name]!)! : old[name]!);
  }
  for (const name of Object.keys(given)) if (!Object.hasOwn(old, name)) setMember(out, name, given[name]!);
  return out;
}

interface Item {
  readonly name: string;
  readonly value: Json;
}

/** Items by their elements; those without one are given names of their own. */
function named(form: ListForm, items: readonly Json[]): Item[] {
  return items.map((value, i) => {
    try {
      return { name: itemElement(form, value), value };
    } catch (thrown) {
      if (!(thrown instanceof NoElement)) throw thrown;
      return { name: `i:${i}`, value };
    }
  });
}

/**
 * Items of both lists. Applied ones stand in the order of the configuration; items that only the live list has stay
 * behind the item that they followed, as far as that order allows.
 */
function mergeList(form: ListForm | undefined, live: Json, config: Json): Json {
  const [old, given] = [itemsOf(live), itemsOf(config)];
  if (!form || form.atomic || (old.length === 0 && given.length === 0)) return config;
  const [ours, theirs] = [named(form, old), named(form, given)];
  const wanted = new Set(theirs.map(item => item.name));
  const before = new Map<string, Json>();
  // Which of several the applied item would be merged with, nobody could tell: it takes their place.
  for (const { name, value } of ours) before.set(name, before.has(name) ? null : value);
  const shared = theirs.filter(item => before.has(item.name)).map(item => item.name);
  const done = new Set<string>();
  let met = 0;
  const out: Json[] = [];
  const take = ({ name, value }: Item): void => {
    done.add(name);
    out.push(merge(form.of, before.get(name), value)!);
    if (shared[met] === name) met++;
  };
  let [at, next] = [0, 0];
  while (at < ours.length || next < theirs.length) {
    const [own, applied] = [ours[at], theirs[next]];
    if (own && applied && own.name === applied.name) {
      at++;
    } else if (own && applied && wanted.has(own.name) && met < shared.length && own.name !== shared[met]) {
      at++;
      continue;
    } else if (own && !wanted.has(own.name)) {
      out.push(own.value);
      at++;
      continue;
    } else if (own && done.has(own.name)) at++;
    if (applied) {
      take(applied);
      next++;
    }
  }
  return out;
}

/** The value without the paths of the set and what is below them. Containers that this empties stay, empty. */
export function without(shape: Shape, value: Json, set: FieldSet): Json {
  if (isEmpty(set)) return value;
  if (Array.isArray(value)) return shape.list && !shape.list.atomic ? withoutItems(shape.list, value, set) : value;
  return isMembers(value) && shape.map && !shape.map.atomic ? withoutMembers(shape.map, value, set) : value;
}

function withoutItems(form: ListForm, items: readonly Json[], set: FieldSet): Json {
  const out: Json[] = [];
  for (const { name, value } of named(form, items)) {
    const node = childOf(set, name);
    if (!node?.self) out.push(node ? without(form.of, value, node.below) : value);
  }
  return out;
}

function withoutMembers(form: MapForm, value: Members, set: FieldSet): Json {
  const out: Members = {};
  for (const name of Object.keys(value)) {
    const node = childOf(set, `f:${name}`);
    if (!node?.self)
      setMember(out, name, node ? without(memberShape(form, name) ?? UNTYPED, value[name]!, node.below) : value[name]!);
  }
  return out;
}

/**
 * The set with the members of structs that it only holds something below of: whoever owns part of a struct owns its
 * being there.
 */
export function withStructs(shape: Shape | undefined, set: FieldSet): FieldSet {
  const out: Growing = {};
  for (const name in set) {
    if (name === '.') continue;
    const node = childOf(set, name)!;
    const member = name.startsWith('f:') ? name.slice(2) : undefined;
    const inner = member === undefined ? shape?.list?.of : shape?.map && memberShape(shape.map, member);
    const isStruct = member !== undefined && (shape?.map?.members.has(member) ?? false);
    out[name] = element(node.self || isStruct, withStructs(inner, node.below))!;
  }
  return inOrder(out);
}
