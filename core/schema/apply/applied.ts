import type { Json } from '../../model/object.js';
import { Complaints } from '../complaints.js';
import { element, type FieldSet, type Growing, inOrder, LEAF, NONE } from './fieldSet.js';
import { itemElement, type ListForm, type MapForm, memberShape, NoElement, type Shape } from './shape.js';
import { formOf, type Form, hasNone } from './values.js';
import { isMembers, type Members } from '../patch/members.js';

/**
 * The paths that an applied configuration names, and what about it does not fit the schema (`.spec.foo: field not
 * declared in schema`).
 */
export interface Applied {
  readonly set: FieldSet;
  readonly errors: readonly string[];
}

/**
 * Reads an applied configuration: a member of a struct is named by what is below it, keys of maps, items of lists and
 * whatever is atomic or empty by themselves.
 */
class Reader {
  readonly errors = new Complaints();

  /** `tolerant`: a value of the server's own, whose complaints nobody sees. */
  constructor(readonly tolerant: boolean) {}

  #complain(path: string, message: string): void {
    if (!this.tolerant) this.errors.add(path ? `${path}: ${message}` : message);
  }

  /** Paths below the value, or `LEAF` where the value is owned whole. */
  below(shape: Shape, value: Json, path: string): FieldSet | 'whole' {
    const form = formOf(value);
    if (form === undefined) return 'whole';
    if (!takes(shape, form, value)) {
      this.#complain(path, `expected ${expected(shape)}, got ${form === 'scalar' ? JSON.stringify(value) : form}`);
      return 'whole';
    }
    if (form === 'scalar') return 'whole';
    if (form === 'list')
      return shape.list!.atomic
        ? this.#unnamed(shape.list!.of, value, path)
        : this.#items(shape.list!, value as Json[], path);
    return shape.map!.atomic
      ? this.#wholeMap(shape.map!, value as Members, path)
      : this.#members(shape.map!, value as Members, path);
  }

  /** What an atomic list holds is only checked. */
  #unnamed(of: Shape, value: Json, path: string): 'whole' {
    for (const [i, item] of (value as Json[]).entries()) this.below(of, item, `${path}[${i}]`);
    return 'whole';
  }

  #wholeMap(form: MapForm, value: Members, path: string): 'whole' {
    this.#members(form, value, path);
    return 'whole';
  }

  #items(form: ListForm, items: readonly Json[], path: string): FieldSet {
    const out: Growing = {};
    items.forEach((item, i) => {
      const name = this.#element(form, item, i, path);
      if (name === undefined) return;
      if (name in out) {
        this.#complain(path, `duplicate entries for key ${name.slice(2)}`);
        out[name] = LEAF;
        return;
      }
      const found = this.below(form.of, item, `${path}[${name.slice(2)}]`);
      out[name] = found === 'whole' ? LEAF : element(true, found)!;
    });
    return inOrder(out);
  }

  #element(form: ListForm, item: Json, at: number, path: string): string | undefined {
    try {
      return itemElement(form, item);
    } catch (thrown) {
      if (!(thrown instanceof NoElement)) throw thrown;
      this.#complain(path, `element ${at}: ${thrown.message}`);
      return undefined;
    }
  }

  #members(form: MapForm, value: Members, path: string): FieldSet {
    const out: Growing = {};
    for (const name of Object.keys(value)) {
      const [inner, shape] = [value[name]!, memberShape(form, name)];
      if (!shape) {
        this.#complain(`${path}.${name}`, 'field not declared in schema');
        continue;
      }
      const found = this.below(shape, inner, `${path}.${name}`);
      const self = !form.members.has(name) || (isMembers(inner) && hasNone(inner));
      const node = found === 'whole' ? LEAF : element(self, found);
      if (node) out[`f:${name}`] = node;
    }
    return inOrder(out);
  }
}

function takes(shape: Shape, form: Form, value: Json): boolean {
  if (form === 'scalar') return shape.scalar === 'any' || shape.scalar === typeof value;
  return shape[form] !== undefined;
}

const expected = ({ scalar, list, map }: Shape): string =>
  [map && 'map', list && 'list', scalar && (scalar === 'any' ? 'scalar' : scalar)].filter(Boolean).join(' or ');

/** The paths of an applied configuration, checked against the schema. */
export function readApplied(shape: Shape, value: Json): Applied {
  const reader = new Reader(false);
  const set = reader.below(shape, value, '');
  return { set: set === 'whole' ? NONE : set, errors: reader.errors.texts };
}

/** The paths of an object of the server's own, by the same rule. */
export function fieldsOf(shape: Shape, value: Json): FieldSet {
  const set = new Reader(true).below(shape, value, '');
  return set === 'whole' ? NONE : set;
}
