import type { Json } from '../../model/object.js';
import { equalJson, memberOf, type Members } from '../patch/members.js';
import { type FieldSet, type Growing, inOrder, LEAF, NONE, SELF } from './fieldSet.js';
import { itemElement, type ListForm, type MapForm, memberShape, NoElement, type Shape, UNTYPED } from './shape.js';
import { formOf, hasNone, itemsOf, membersOf, readAs } from './values.js';

/**
 * What differs between two objects of one shape: paths that only the second has, that only the first has, and whose
 * values differ.
 */
export interface Difference {
  readonly added: FieldSet;
  readonly removed: FieldSet;
  readonly modified: FieldSet;
}

/** Nothing differs. */
const SAME: Difference = { added: NONE, removed: NONE, modified: NONE };

/** Differences at one element; absent: none of the kind. */
interface Found {
  added?: FieldSet;
  removed?: FieldSet;
  modified?: FieldSet;
}

const KINDS = ['added', 'removed', 'modified'] as const;

/** Elements of one level, per kind of difference. */
class Level {
  #found: { added?: Growing; removed?: Growing; modified?: Growing } | undefined;

  take(name: string, kind: keyof Difference, node: FieldSet): void {
    this.#found ??= {};
    this.#found[kind] ??= {};
    this.#found[kind][name] = node;
  }

  /** What differs below the element of that name. */
  below(name: string, found: Found | undefined): void {
    if (found) for (const kind of KINDS) if (found[kind]) this.take(name, kind, found[kind]);
  }

  /** `sorted`: elements were taken in order. */
  found(sorted: boolean): Found | undefined {
    const found = this.#found;
    if (found && !sorted) for (const kind of KINDS) if (found[kind]) found[kind] = inOrder(found[kind]);
    return found;
  }
}

const MODIFIED: Found = { modified: LEAF };

/** The paths of a value that stands alone: itself and everything below it. */
export function wholly(shape: Shape, value: Json): FieldSet {
  if (typeof value !== 'object' || value === null) return LEAF;
  const out: Growing = { [SELF]: LEAF };
  return fill(shape, value, out) ? inOrder(out) : LEAF;
}

/** The paths below a value. */
function inside(shape: Shape, value: Json): FieldSet {
  const out: Growing = {};
  return fill(shape, value, out) ? inOrder(out) : NONE;
}

/** Adds the elements below a value; false if there are none. */
function fill(shape: Shape, value: Json, out: Growing): boolean {
  if (Array.isArray(value)) return shape.list !== undefined && !shape.list.atomic && fillItems(shape.list, value, out);
  const { map } = shape;
  return (
    typeof value === 'object' && value !== null && map !== undefined && !map.atomic && fillMembers(map, value, out)
  );
}

function fillMembers(form: MapForm, value: Members, out: Growing): boolean {
  let any = false;
  if (form.others) {
    for (const name in value) {
      out[`f:${name}`] = wholly(memberShape(form, name)!, value[name]!);
      any = true;
    }
    return any;
  }
  for (const { name, element, shape } of form.sorted) {
    const inner = memberOf(value, name);
    if (inner === undefined) continue;
    out[element] = wholly(shape, inner);
    any = true;
  }
  return any;
}

function fillItems(form: ListForm, items: readonly Json[], out: Growing): boolean {
  let any = false;
  for (const item of items) {
    const name = named(form, item);
    if (name === undefined) continue;
    out[name] = out[name] ? LEAF : wholly(form.of, item);
    any = true;
  }
  return any;
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
  if (a && b && a !== b)
    return { modified: LEAF, removed: kept(inside(shape, before)), added: kept(inside(shape, after)) };
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
  if (equalJson(before, after)) return undefined;
  if (!form || form.atomic || (old.length === 0 && now.length === 0)) return MODIFIED;
  const level = new Level();
  const [oldItems, nowItems] = [byElement(form, old), byElement(form, now)];
  for (const name of new Set([...oldItems.keys(), ...nowItems.keys()]))
    differItems(form, name, oldItems.get(name) ?? NO_ITEMS, nowItems.get(name) ?? NO_ITEMS, level);
  return level.found(false);
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
  if (form.others) {
    for (const name in now) differMember(form, `f:${name}`, name, memberOf(old, name), now[name], level);
    for (const name in old)
      if (memberOf(now, name) === undefined) differMember(form, `f:${name}`, name, old[name], undefined, level);
    return level.found(false);
  }
  for (const { name, element, shape } of form.sorted) {
    const [a, b] = [memberOf(old, name), memberOf(now, name)];
    if (a !== b) level.below(element, differ(shape, a, b));
  }
  return level.found(true);
}

function differMember(
  form: MapForm,
  element: string,
  name: string,
  a: Json | undefined,
  b: Json | undefined,
  level: Level,
): void {
  if (a !== b) level.below(element, differ(memberShape(form, name) ?? UNTYPED, a, b));
}

/** What differs between two objects, as paths below the objects themselves. */
export function compare(shape: Shape, before: Json, after: Json): Difference {
  const found = differ(shape, before, after);
  return found
    ? { added: found.added ?? NONE, removed: found.removed ?? NONE, modified: found.modified ?? NONE }
    : SAME;
}
