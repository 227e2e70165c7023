import type { Json } from '../../model/object.js';
import { equalJson, memberOf, type Members } from '../patch/members.js';
import { type FieldSet, type MutableFieldSet, sortElements, LEAF, NONE, SELF } from './fieldSet.js';
import { itemElement, type ListForm, type MapForm, memberShape, type Shape, UNTYPED } from './shape.js';
import { formOf, isEmptyObject, itemsOf, membersOf, formFor } from './values.js';

/**
 * The difference between two objects: paths only in the second, paths only in the first, and paths with different
 * values.
 */
export interface Difference {
  readonly added: FieldSet;
  readonly removed: FieldSet;
  readonly modified: FieldSet;
}

const NO_DIFFERENCE: Difference = { added: NONE, removed: NONE, modified: NONE };

/** The difference of two values, without empty sets. */
interface PartialDifference {
  added?: FieldSet;
  removed?: FieldSet;
  modified?: FieldSet;
}

const KINDS = ['added', 'removed', 'modified'] as const;

/** Collects the differences of the elements of a value. */
class DifferenceBuilder {
  #found: { added?: MutableFieldSet; removed?: MutableFieldSet; modified?: MutableFieldSet } | undefined;

  set(name: string, kind: keyof Difference, node: FieldSet): void {
    this.#found ??= {};
    this.#found[kind] ??= {};
    this.#found[kind][name] = node;
  }

  /** Sets the difference of an element. */
  setBelow(name: string, found: PartialDifference | undefined): void {
    if (found) for (const kind of KINDS) if (found[kind]) this.set(name, kind, found[kind]);
  }

  /** The difference, or undefined if there is none. `sorted`: elements were set in order. */
  build(sorted: boolean): PartialDifference | undefined {
    const found = this.#found;
    if (found && !sorted) for (const kind of KINDS) if (found[kind]) found[kind] = sortElements(found[kind]);
    return found;
  }
}

const MODIFIED: PartialDifference = { modified: LEAF };

/** All paths of a value, including its own. */
export function allFields(shape: Shape, value: Json): FieldSet {
  if (typeof value !== 'object' || value === null) return LEAF;
  const out: MutableFieldSet = { [SELF]: LEAF };
  return addFields(shape, value, out) ? sortElements(out) : LEAF;
}

/** All paths below a value. */
function fieldsBelow(shape: Shape, value: Json): FieldSet {
  const out: MutableFieldSet = {};
  return addFields(shape, value, out) ? sortElements(out) : NONE;
}

/** Adds the elements below a value. Returns false if there are none. */
function addFields(shape: Shape, value: Json, out: MutableFieldSet): boolean {
  if (Array.isArray(value)) return shape.list !== undefined && !shape.list.atomic && addItems(shape.list, value, out);
  const { map } = shape;
  return typeof value === 'object' && value !== null && map !== undefined && !map.atomic && addMembers(map, value, out);
}

function addMembers(form: MapForm, value: Members, out: MutableFieldSet): boolean {
  let any = false;
  if (form.additional) {
    for (const name in value) {
      out[`f:${name}`] = allFields(memberShape(form, name)!, value[name]!);
      any = true;
    }
    return any;
  }
  for (const { name, element, shape } of form.sorted) {
    const inner = memberOf(value, name);
    if (inner === undefined) continue;
    out[element] = allFields(shape, inner);
    any = true;
  }
  return any;
}

function addItems(form: ListForm, items: readonly Json[], out: MutableFieldSet): boolean {
  let any = false;
  for (const item of items) {
    const name = itemElement(form, item);
    out[name] = out[name] ? LEAF : allFields(form.of, item);
    any = true;
  }
  return any;
}

function compareValues(shape: Shape, before: Json | undefined, after: Json | undefined): PartialDifference | undefined {
  if (before === after) return undefined;
  if (before === undefined) return { added: allFields(shape, after!) };
  if (after === undefined) return { removed: allFields(shape, before) };
  const [a, b] = [formOf(before), formOf(after)];
  // A list has replaced a map, or the reverse: nothing below corresponds, so all fields differ.
  if (a && b && a !== b)
    return {
      modified: LEAF,
      removed: nonEmpty(fieldsBelow(shape, before)),
      added: nonEmpty(fieldsBelow(shape, after)),
    };
  switch (formFor(shape, b ? after : before)) {
    case 'scalar':
      return MODIFIED;
    case 'list':
      return compareLists(shape.list, before, after);
    case 'map':
      return compareMaps(shape.map, before, after);
  }
}

const nonEmpty = (set: FieldSet): FieldSet | undefined => (set === NONE ? undefined : set);

function compareLists(form: ListForm | undefined, before: Json, after: Json): PartialDifference | undefined {
  const [old, now] = [itemsOf(before), itemsOf(after)];
  if (equalJson(before, after)) return undefined;
  if (!form || form.atomic || (old.length === 0 && now.length === 0)) return MODIFIED;
  const builder = new DifferenceBuilder();
  const [oldItems, nowItems] = [groupByElement(form, old), groupByElement(form, now)];
  for (const name of new Set([...oldItems.keys(), ...nowItems.keys()]))
    compareItems(form, name, oldItems.get(name) ?? NO_ITEMS, nowItems.get(name) ?? NO_ITEMS, builder);
  return builder.build(false);
}

const NO_ITEMS: readonly Json[] = [];

function groupByElement(form: ListForm, items: readonly Json[]): Map<string, Json[]> {
  const found = new Map<string, Json[]>();
  for (const item of items) {
    const name = itemElement(form, item);
    const same = found.get(name);
    if (same) same.push(item);
    else found.set(name, [item]);
  }
  return found;
}

/** Compares the items of one element. Duplicates cannot be owned separately, so they are compared as a whole. */
function compareItems(
  form: ListForm,
  name: string,
  old: readonly Json[],
  now: readonly Json[],
  builder: DifferenceBuilder,
): void {
  if (old.length <= 1 && now.length <= 1) {
    builder.setBelow(name, compareValues(form.of, old[0], now[0]));
  } else if (old.length > 1 && now.length > 1) {
    if (!equalJson(old as Json[], now as Json[])) builder.set(name, 'modified', LEAF);
  } else if (old.length > 1) {
    builder.set(name, now.length ? 'added' : 'removed', now.length ? allFields(form.of, now[0]!) : LEAF);
  } else {
    if (old.length) builder.set(name, 'removed', allFields(form.of, old[0]!));
    builder.set(name, 'added', LEAF);
  }
}

function compareMaps(form: MapForm | undefined, before: Json, after: Json): PartialDifference | undefined {
  const [old, now] = [membersOf(before), membersOf(after)];
  if (!form || form.atomic || (isEmptyObject(old) && isEmptyObject(now)))
    return equalJson(before, after) ? undefined : MODIFIED;
  const builder = new DifferenceBuilder();
  // A map without a fixed set of members has them in any order; those of a struct are compared in sorted order.
  if (form.additional) {
    for (const name in now) compareMember(form, `f:${name}`, name, memberOf(old, name), now[name], builder);
    for (const name in old)
      if (memberOf(now, name) === undefined) compareMember(form, `f:${name}`, name, old[name], undefined, builder);
    return builder.build(false);
  }
  for (const { name, element, shape } of form.sorted) {
    const [a, b] = [memberOf(old, name), memberOf(now, name)];
    if (a !== b) builder.setBelow(element, compareValues(shape, a, b));
  }
  return builder.build(true);
}

function compareMember(
  form: MapForm,
  element: string,
  name: string,
  a: Json | undefined,
  b: Json | undefined,
  builder: DifferenceBuilder,
): void {
  if (a !== b) builder.setBelow(element, compareValues(memberShape(form, name) ?? UNTYPED, a, b));
}

/** Compares two objects. Throws InvalidListItem for an item without the keys of its list. */
export function compare(shape: Shape, before: Json, after: Json): Difference {
  const found = compareValues(shape, before, after);
  return found
    ? { added: found.added ?? NONE, removed: found.removed ?? NONE, modified: found.modified ?? NONE }
    : NO_DIFFERENCE;
}
