import { isNumber, writeJson } from '../../model/text/jsonText.js';
import type { Json } from '../../model/object.js';
import { StrictErrors } from '../decode/strictErrors.js';
import {
  formatElement,
  makeElement,
  type FieldSet,
  type MutableFieldSet,
  sortElements,
  LEAF,
  NONE,
} from './fieldSet.js';
import { itemElement, type ListForm, type MapForm, memberShape, InvalidListItem, type Shape } from './shape.js';
import { formOf, type ValueForm, isEmptyObject } from './values.js';
import { isMembers, type Members } from '../patch/members.js';

/** The fields of an applied configuration, and its schema errors (`.spec.foo: field not declared in schema`). */
export interface AppliedFields {
  readonly set: FieldSet;
  readonly errors: readonly string[];
}

/**
 * Determines the fields of a configuration. Scalars, atomic and empty values, map keys and list items are fields
 * themselves; other struct members only contribute the fields below them.
 */
class ConfigurationReader {
  readonly errors = new StrictErrors();

  /** With `tolerant`, errors are ignored. */
  constructor(readonly tolerant: boolean) {}

  #report(path: string, message: string): void {
    if (!this.tolerant) this.errors.add(path ? `${path}: ${message}` : message);
  }

  /** The paths below a value, or 'whole' if the value is a field itself. */
  fieldsBelow(shape: Shape, value: Json, path: string): FieldSet | 'whole' {
    const form = formOf(value);
    if (form === undefined) return 'whole';
    if (!accepts(shape, form, value)) {
      this.#report(path, `expected ${expectedForms(shape)}, got ${form === 'scalar' ? writeJson(value) : form}`);
      return 'whole';
    }
    if (form === 'scalar') return 'whole';
    if (form === 'list')
      return shape.list!.atomic
        ? this.#atomicList(shape.list!.of, value, path)
        : this.#items(shape.list!, value as Json[], path);
    return shape.map!.atomic
      ? this.#atomicMap(shape.map!, value as Members, path)
      : this.#members(shape.map!, value as Members, path);
  }

  /** Checks the items of an atomic list. */
  #atomicList(of: Shape, value: Json, path: string): 'whole' {
    for (const [i, item] of (value as Json[]).entries()) this.fieldsBelow(of, item, `${path}[${i}]`);
    return 'whole';
  }

  #atomicMap(form: MapForm, value: Members, path: string): 'whole' {
    this.#members(form, value, path);
    return 'whole';
  }

  #items(form: ListForm, items: readonly Json[], path: string): FieldSet {
    const out: MutableFieldSet = {};
    items.forEach((item, i) => {
      const name = this.#element(form, item, i, path);
      if (name === undefined) return;
      if (name in out) {
        this.#report(path, `duplicate entries for key ${formatElement(name)}`);
        out[name] = LEAF;
        return;
      }
      const found = this.fieldsBelow(form.of, item, path + formatElement(name));
      out[name] = found === 'whole' ? LEAF : makeElement(true, found)!;
    });
    return sortElements(out);
  }

  #element(form: ListForm, item: Json, at: number, path: string): string | undefined {
    try {
      return itemElement(form, item);
    } catch (thrown) {
      if (!(thrown instanceof InvalidListItem)) throw thrown;
      this.#report(path, `element ${at}: ${thrown.message}`);
      return undefined;
    }
  }

  #members(form: MapForm, value: Members, path: string): FieldSet {
    const out: MutableFieldSet = {};
    for (const name of Object.keys(value)) {
      const [inner, shape] = [value[name]!, memberShape(form, name)];
      if (!shape) {
        this.#report(`${path}.${name}`, 'field not declared in schema');
        continue;
      }
      const found = this.fieldsBelow(shape, inner, `${path}.${name}`);
      const self = !form.members.has(name) || (isMembers(inner) && isEmptyObject(inner));
      const node = found === 'whole' ? LEAF : makeElement(self, found);
      if (node) out[`f:${name}`] = node;
    }
    return sortElements(out);
  }
}

const scalarForm = (value: Json): string => (isNumber(value) ? 'number' : typeof value);

function accepts(shape: Shape, form: ValueForm, value: Json): boolean {
  if (form === 'scalar') return shape.scalar === 'any' || shape.scalar === scalarForm(value);
  return shape[form] !== undefined;
}

/** The forms that a shape accepts, in the words of upstream's errors. */
export const expectedForms = ({ scalar, list, map }: Shape): string =>
  [map && 'map', list && 'list', scalar && (scalar === 'any' ? 'scalar' : scalar)].filter(Boolean).join(' or ');

/** The fields of an applied configuration, with its schema errors. */
export function readConfiguration(shape: Shape, value: Json): AppliedFields {
  const reader = new ConfigurationReader(false);
  const set = reader.fieldsBelow(shape, value, '');
  return { set: set === 'whole' ? NONE : set, errors: reader.errors.texts };
}

/** The fields of a stored object, ignoring schema errors. */
export function objectFields(shape: Shape, value: Json): FieldSet {
  const set = new ConfigurationReader(true).fieldsBelow(shape, value, '');
  return set === 'whole' ? NONE : set;
}

/**
 * Whether a value matches the schema: its members are declared and have the declared forms, and its list items have
 * their keys.
 */
export function matches(shape: Shape, value: Json): boolean {
  const form = formOf(value);
  if (form === undefined) return true;
  if (!accepts(shape, form, value)) return false;
  if (form === 'list') return (value as Json[]).every(item => itemMatches(shape.list!, item));
  if (form === 'scalar') return true;
  for (const name in value as Members) {
    const inner = memberShape(shape.map!, name);
    if (!inner || !matches(inner, (value as Members)[name]!)) return false;
  }
  return true;
}

function itemMatches(form: ListForm, item: Json): boolean {
  if (form.atomic) return matches(form.of, item);
  try {
    itemElement(form, item);
  } catch (thrown) {
    if (thrown instanceof InvalidListItem) return false;
    throw thrown;
  }
  return matches(form.of, item);
}
