/** Field and index access: plain, `has()` and optional. */
import type { Code } from './code.js';
import { goFloat } from './text.js';
import { Dict, Double, fail, List, Optional, typeNameOf, Uint, type Value } from './values.js';

/** Throws the error of an absent field or entry. */
function failMissing(key: Value): never {
  return fail(`no such key: ${displayKey(key)}`);
}
const displayKey = (v: Value): string =>
  v instanceof Double
    ? goFloat(v.value)
    : v instanceof Uint
      ? String(v.value)
      : typeof v === 'object'
        ? typeNameOf(v)
        : String(v);

/** Compiles `operand.field`. */
export function compileField(operand: Code, field: string): Code {
  return f => {
    f.cost++;
    const v = operand(f);
    if (v instanceof Optional) return selectOptional(v, field);
    const found = v instanceof Dict ? v.get(field) : listElementOf(v, field);
    return found === undefined ? failMissing(field) : found;
  };
}

/** Compiles `has(operand.field)`. As in upstream, nothing is charged for the test itself. */
export function compileHas(operand: Code, field: string): Code {
  return f => {
    const v = operand(f);
    if (v instanceof Dict) return v.get(field) !== undefined;
    if (v instanceof Optional) return v.value instanceof Dict && v.value.get(field) !== undefined;
    return listElementOf(v, field) !== undefined;
  };
}

/** Field access on anything but a map: a list reports its index type; other values have no fields. */
const listElementOf = (v: Value, field: string): Value | undefined =>
  v instanceof List ? listElement(v, field) : undefined;

/** The field of an optional value: empty for null and for other values without fields. */
function selectOptional(v: Optional, field: string): Value {
  if (v.value === undefined) return v;
  if (v.value instanceof Optional) return selectOptional(v.value, field);
  const found = v.value instanceof Dict ? v.value.get(field) : listElementOf(v.value, field);
  return found === undefined ? Optional.none : new Optional(found);
}

/** Compiles `operand.?field`. */
export function compileOptionalField(operand: Code, field: string): Code {
  return f => {
    f.charge(1);
    const v = operand(f);
    return selectOptional(v instanceof Optional ? v : new Optional(v), field);
  };
}

/** The element at an index; `undefined` outside the list. Uints, and doubles without fraction, are valid indexes. */
function listElement(list: List, index: Value): Value | undefined {
  if (typeof index === 'number') return index >= 0 && index < list.size ? list.at(index) : undefined;
  if (typeof index === 'bigint') return undefined;
  if (!(index instanceof Uint || index instanceof Double))
    return fail(`unsupported index type '${typeNameOf(index)}' in list`);
  const n = index.value;
  if (typeof n === 'bigint' || !Number.isSafeInteger(n))
    return fail(`unsupported index value ${displayKey(index)} in list`);
  if (n < 0 || n >= list.size) return undefined;
  return list.intIndexOnly ? fail(`unsupported index: ${displayKey(index)}`) : list.at(n);
}

/** The element of a list or map; `undefined` if it is absent or the value is neither. */
function element(container: Value, index: Value): Value | undefined {
  if (container instanceof Dict) return container.get(index);
  return container instanceof List ? listElement(container, index) : undefined;
}

/** Compiles `a[b]`. */
export const compileIndex =
  (a: Code, b: Code): Code =>
  f => {
    f.charge(1);
    const container = a(f);
    const index = b(f);
    if (container instanceof Optional) return optionalElement(container, index);
    const found = element(container, index);
    if (found !== undefined) return found;
    return container instanceof List ? fail(`index out of bounds: ${displayKey(index)}`) : failMissing(index);
  };

function optionalElement(container: Optional, index: Value): Value {
  if (container.value === undefined) return container;
  const found = element(container.value, index);
  return found === undefined ? Optional.none : new Optional(found);
}

/** Compiles `a[?b]`. */
export const compileOptionalIndex =
  (a: Code, b: Code): Code =>
  f => {
    f.charge(1);
    const container = a(f);
    return optionalElement(container instanceof Optional ? container : new Optional(container), b(f));
  };
