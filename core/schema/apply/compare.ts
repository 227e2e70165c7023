import type { Json } from '../../model/object.js';
import { equalJson, type Members } from '../patch/members.js';
import { element, type FieldSet, type Growing, inOrder, LEAF, NONE } from './fieldSet.js';
import { itemElement, type ListForm, type MapForm, memberShape, NoElement, type Shape, UNTYPED } from './shape.js';
import { formOf, hasNone, itemsOf, membersOf, readAs } from './values.js';

/** What differs between two objects of one shape: paths that only the second has, that only the first has, and whose values differ. */
export interface Difference {
  readonly added: FieldSet;
  readonly removed: FieldSet;
  readonly modified: FieldSet;
}

/** Nothing differs. */
export const SAME: Difference = { added: NONE, removed: NONE, modified: NONE };

/** Elements of one level, per kind of difference. */
class Level {
  readonly added: Growing = {};
  readonly removed: Growing = {};
  readonly modified: Growing = {};
  #any = false;

  take(name: string, kind: keyof Difference, node: FieldSet): void {
    this[kind][name] = node;
    this.#any = true;
  }

  /** What differs below the element of that name. */
  below(name: string, found: Found | undefined): void {
    if (!found) return;
    if (found.added) this.take(name, 'added', found.added);
    if (found.removed) this.take(name, 'removed', found.removed);
    if (found.modified) this.take(name, 'modified', found.modified);
  }

  get found(): Found | undefined {
    if (!this.#any) return undefined;
    return { added: grown(this.added), removed: grown(this.removed), modified: grown(this.modified) };
  }
}

/** Differences at one element; absent: none of the kind. */
type Found = { readonly [kind in keyof Difference]?: FieldSet | undefined };

function grown(set: Growing): FieldSet | undefined {
  for (const _ in set) return inOrder(set);
  return undefined;
}

const MODIFIED: Found = { modified: LEAF };

/** The paths of a value that stands alone: itself and everything below it. */
export function wholly(shape: Shape, value: Json): FieldSet {
  if (typeof value !== 'object' || value === null) return LEAF;
  return element(true, inside(shape, value))!;
}

/** The paths below a value. */
function inside(shape: Shape, value: Json): FieldSet {
  if (Array.isArray(value)) return shape.list && !shape.list.atomic ? insideList(shape.list, value) : NONE;
  return typeof value === 'object' && value !== null && shape.map && !shape.map.atomic ? insideMap(shape.map, value) : NONE;
}

function insideMap(form: MapForm, value: Members): FieldSet {
  const out: Growing = {};
  for (const name in value) {
    const inner = value[name]!;
    out[`f:${name}`] = typeof inner === 'object' && inner !== null ? wholly(memberShape(form, name) ?? UNTYPED, inner) : LEAF;
  }
  return inOrder(out);
}

function insideList(form: ListForm, items: readonly Json[]): FieldSet {
  const out: Growing = {};
  for (const item of items) {
    const name = named(form, item);
    if (name !== undefined) out[name] = out[name] ? LEAF : wholly(form.of, item);
  }
  return inOrder(out);
}

/** Stored lists may hold items that cannot be told apart: nobody owns those. */
function named(form: ListForm, item: Json): string | undefined {
  try {
    return itemElement(form, item);
  } catch (thrown) {
    if (thrown instanceof NoElement) return undefined;
    throw thrown;
  }
}

function differ(shape: Shape, before: Json | undefined, after: Json | undefined): Found | undefined {
  if (before === after) return undefined;
  if (before === undefined) return { added: wholly(shape, after!) };
  if (after === undefined) return { removed: wholly(shape, before) };
  const [a, b] = [formOf(before), formOf(after)];
  if (a && b && a !== b) return { modified: LEAF, removed: kept(inside(shape, before)), added: kept(inside(shape, after)) };
  switch (readAs(shape, b ? after : before)) {
    case 'scalar':
      return MODIFIED;
    case 'list':
      return differList(shape.list, before, after);
    case 'map':
      return differMap(shape.map, before, after);
  }
}

const kept = (set: FieldSet): FieldSet | undefined => (set === NONE ? undefined : set);

function differList(form: ListForm | undefined, before: Json, after: Json): Found | undefined {
  const [old, now] = [itemsOf(before), itemsOf(after)];
  if (!form || form.atomic || (old.length === 0 && now.length === 0)) return equalJson(before, after) ? undefined : MODIFIED;
  const level = new Level();
  const [oldItems, nowItems] = [byElement(form, old), byElement(form, now)];
  for (const name of new Set([...oldItems.keys(), ...nowItems.keys()]))
    differItems(form, name, oldItems.get(name) ?? NO_ITEMS, nowItems.get(name) ?? NO_ITEMS, level);
  return level.found;
}

const NO_ITEMS: readonly Json[] = [];

function byElement(form: ListForm, items: readonly Json[]): Map<string, Json[]> {
  const found = new Map<string, Json[]>();
  for (const item of items) {
    const name = named(form, item);
    if (name === undefined) continue;
    const same = found.get(name);
    if (same) same.push(item);
    else found.set(name, [item]);
  }
  return found;
}

/** Items of one element. More than one on a side cannot be owned one by one: the element stands for them all. */
function differItems(form: ListForm, name: string, old: readonly Json[], now: readonly Json[], level: Level): void {
  if (old.length <= 1 && now.length <= 1) {
    level.below(name, differ(form.of, old[0], now[0]));
  } else if (old.length > 1 && now.length > 1) {
    if (!equalJson(old as Json[], now as Json[])) level.take(name, 'modified', LEAF);
  } else if (old.length > 1) {
    level.take(name, now.length ? 'added' : 'removed', now.length ? wholly(form.of, now[0]!) : LEAF);
  } else {
    if (old.length) level.take(name, 'removed', wholly(form.of, old[0]!));
    level.take(name, 'added', LEAF);
  }
}

function differMap(form: MapForm | undefined, before: Json, after: Json): Found | undefined {
  const [old, now] = [membersOf(before), membersOf(after)];
  if (!form || form.atomic || (hasNone(old) && hasNone(now))) return equalJson(before, after) ? undefined : MODIFIED;
  const level = new Level();
  for (const name in now) {
    const [a, b] = [Object.hasOwn(old, name) ? old[name] : undefined, now[name]!];
    if (a !== b) level.below(`f:${name}`, differ(memberShape(form, name) ?? UNTYPED, a, b));
  }
  for (const name in old) {
    if (!Object.hasOwn(now, name)) level.take(`f:${name}`, 'removed', wholly(memberShape(form, name) ?? UNTYPED, old[name]!));
  }
  return level.found;
}

/** What differs between two objects, as paths below the objects themselves. */
export function compare(shape: Shape, before: Json, after: Json): Difference {
  const found = differ(shape, before, after);
  return found ? { added: found.added ?? NONE, removed: found.removed ?? NONE, modified: found.modified ?? NONE } : SAME;
}
