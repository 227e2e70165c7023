import type { Json } from '../../model/object.js';
import { isMembers, type Members, setMember } from '../patch/members.js';
import { childOf, makeElement, type FieldSet, type MutableFieldSet, sortElements, isEmpty } from './fieldSet.js';
import {
  itemElement,
  type ListForm,
  type MapForm,
  memberShape,
  InvalidListItem,
  type Shape,
  UNTYPED,
} from './shape.js';
import { formOf, isEmptyObject, itemsOf, membersOf, formFor } from './values.js';

/**
 * Merges an applied value into the live one (spec, "Updates: server-side apply"). Atomic values are replaced. Both must
 * match the schema. Neither is changed; the result shares parts of both.
 */
export function merge(shape: Shape, live: Json | undefined, config: Json | undefined): Json | undefined {
  if (config === undefined) return live;
  if (live === undefined) return config;
  const [a, b] = [formOf(live), formOf(config)];
  if (a && b && a !== b) return config;
  switch (formFor(shape, b ? config : live)) {
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
  if (!form || form.atomic || (isEmptyObject(old) && isEmptyObject(given))) return config;
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

/** Pairs items with their elements. The element of an item without keys is its position. */
function withElements(form: ListForm, items: readonly Json[]): Item[] {
  return items.map((value, i) => {
    try {
      return { name: itemElement(form, value), value };
    } catch (thrown) {
      if (!(thrown instanceof InvalidListItem)) throw thrown;
      return { name: `i:${i}`, value };
    }
  });
}

/**
 * Merges two lists. Applied items keep the order of the configuration. Items only in the live list stay after the item
 * that they followed, if that order permits it.
 */
function mergeList(form: ListForm | undefined, live: Json, config: Json): Json {
  const [old, given] = [itemsOf(live), itemsOf(config)];
  if (!form || form.atomic || (old.length === 0 && given.length === 0)) return config;
  const [ours, theirs] = [withElements(form, old), withElements(form, given)];
  const appliedNames = new Set(theirs.map(item => item.name));
  const before = new Map<string, Json>();
  // If several live items have the same element, the applied item replaces all of them.
  for (const { name, value } of ours) before.set(name, before.has(name) ? null : value);
  const shared = theirs.filter(item => before.has(item.name)).map(item => item.name);
  const emitted = new Set<string>();
  let matched = 0;
  const out: Json[] = [];
  const emitApplied = ({ name, value }: Item): void => {
    emitted.add(name);
    out.push(merge(form.of, before.get(name), value)!);
    if (shared[matched] === name) matched++;
  };
  let [at, next] = [0, 0];
  while (at < ours.length || next < theirs.length) {
    const [liveItem, appliedItem] = [ours[at], theirs[next]];
    if (liveItem && appliedItem && liveItem.name === appliedItem.name) {
      at++;
    } else if (
      liveItem &&
      appliedItem &&
      appliedNames.has(liveItem.name) &&
      matched < shared.length &&
      liveItem.name !== shared[matched]
    ) {
      at++;
      continue;
    } else if (liveItem && !appliedNames.has(liveItem.name)) {
      out.push(liveItem.value);
      at++;
      continue;
    } else if (liveItem && emitted.has(liveItem.name)) at++;
    if (appliedItem) {
      emitApplied(appliedItem);
      next++;
    }
  }
  return out;
}

/**
 * Removes the paths of a set, and everything below them, from a value. Emptied containers are kept, or become null with
 * `nullsEmptied`.
 */
export function removeFields(shape: Shape, value: Json, set: FieldSet, nullsEmptied = false): Json {
  if (isEmpty(set)) return value;
  if (Array.isArray(value)) {
    if (!shape.list || shape.list.atomic) return value;
    const items = removeFromItems(shape.list, value, set, nullsEmptied);
    return nullsEmptied && items.length === 0 ? null : items;
  }
  if (!isMembers(value) || !shape.map || shape.map.atomic) return value;
  const members = removeFromMembers(shape.map, value, set, nullsEmptied);
  return nullsEmptied && isEmptyObject(members) ? null : members;
}

function removeFromItems(form: ListForm, items: readonly Json[], set: FieldSet, nullsEmptied: boolean): Json[] {
  const out: Json[] = [];
  for (const { name, value } of withElements(form, items)) {
    const node = childOf(set, name);
    if (!node?.self) out.push(node ? removeFields(form.of, value, node.below, nullsEmptied) : value);
  }
  return out;
}

function removeFromMembers(form: MapForm, value: Members, set: FieldSet, nullsEmptied: boolean): Members {
  const out: Members = {};
  for (const name of Object.keys(value)) {
    const node = childOf(set, `f:${name}`);
    if (node?.self) continue;
    const [inner, shape] = [value[name]!, memberShape(form, name) ?? UNTYPED];
    setMember(out, name, node ? removeFields(shape, inner, node.below, nullsEmptied) : inner);
  }
  return out;
}

/**
 * Adds to a set those struct members of which it contains only nested fields: owning a field implies owning its parent.
 */
export function addParentStructs(shape: Shape | undefined, set: FieldSet): FieldSet {
  const out: MutableFieldSet = {};
  for (const name in set) {
    if (name === '.') continue;
    const node = childOf(set, name)!;
    const member = name.startsWith('f:') ? name.slice(2) : undefined;
    const inner = member === undefined ? shape?.list?.of : shape?.map && memberShape(shape.map, member);
    const isStruct = member !== undefined && (shape?.map?.members.has(member) ?? false);
    out[name] = makeElement(node.self || isStruct, addParentStructs(inner, node.below))!;
  }
  return sortElements(out);
}
