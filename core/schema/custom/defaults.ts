import type { StructuralSchema } from '../../api/resource.js';
import { DEFAULTS_AT_ONCE_BYTES, DEFAULTS_BYTES } from '../../limits.js';
import { writeJson } from '../../model/text/jsonText.js';
import type { Json } from '../../model/object.js';
import { deepCopy, isMembers, type Members, setMember } from '../patch/members.js';
import { additionalSchema, isForbiddenNull, propertySchema } from './prune.js';

/** Thrown if defaults would make an object too large. */
export class ExcessiveDefaults extends Error {
  constructor(
    /** The path of the field whose default exceeded the bound. */
    readonly field: string,
    /** The bound, in bytes. */
    readonly most: number,
  ) {
    super(`${field}: defaults add more than ${most} bytes`);
  }
}

/** The size of a value in addition to its text: even a short one takes memory and time. */
const VALUE_BYTES = 16;

const valuesIn = (value: Json): number =>
  typeof value === 'object' && value !== null
    ? Object.values(value as Members).reduce<number>((sum, inner) => sum + valuesIn(inner), 1)
    : 1;

const sizes = new WeakMap<StructuralSchema, number>();

/** Returns the size of the default of a schema. */
function sizeOf(schema: StructuralSchema): number {
  let size = sizes.get(schema);
  if (size === undefined) {
    const value = schema.default!;
    sizes.set(schema, (size = writeJson(value).length + VALUE_BYTES * valuesIn(value)));
  }
  return size;
}

/**
 * Counts how much defaults have added to objects that are in memory at once. A few bytes of a schema or an object may
 * multiply: a list of ten empty objects whose members have such a list as their default, and so on.
 */
export class Growth {
  #added = 0;
  #before = 0;
  readonly #path: string[] = [];

  /** Begins a new object. */
  begin(): void {
    this.#before = this.#added;
    this.#path.length = 0;
  }

  /** A copy of the default of a field. Throws ExcessiveDefaults if it exceeds the bound. */
  defaultOf(schema: StructuralSchema, field: string): Json {
    this.#added += sizeOf(schema);
    const isTooMuch = this.#added > DEFAULTS_AT_ONCE_BYTES;
    if (isTooMuch || this.#added - this.#before > DEFAULTS_BYTES)
      throw new ExcessiveDefaults(
        [...this.#path, field].join('').replace(/^\./, ''),
        isTooMuch ? DEFAULTS_AT_ONCE_BYTES : DEFAULTS_BYTES,
      );
    return deepCopy(schema.default as Json);
  }

  /** Descends into a field, until `leave` is called. */
  enter(field: string): void {
    this.#path.push(field);
  }

  leave(): void {
    this.#path.pop();
  }
}

/**
 * Sets missing members, and nulls that the schema does not allow, to their defaults, recursively and in place. Throws
 * ExcessiveDefaults.
 */
export function applyDefaults(value: Json, schema: StructuralSchema | undefined, growth: Growth): void {
  if (!schema) return;
  if (Array.isArray(value)) {
    applyItemDefaults(value, schema.items, growth);
    return;
  }
  if (!isMembers(value)) return;
  for (const [key, property] of Object.entries(schema.properties ?? {})) {
    if (property.default === undefined || property.default === null) continue;
    if (!Object.hasOwn(value, key) || isForbiddenNull(value[key], property))
      setMember(value, key, growth.defaultOf(property, `.${key}`));
  }
  const values = additionalSchema(schema);
  for (const key of Object.keys(value)) {
    const property = propertySchema(schema, key);
    if (!property && isForbiddenNull(value[key], values) && values!.default != null)
      setMember(value, key, growth.defaultOf(values!, `[${key}]`));
    const below = property ?? values;
    if (!below || typeof value[key] !== 'object') continue;
    growth.enter(property ? `.${key}` : `[${key}]`);
    applyDefaults(value[key]!, below, growth);
    growth.leave();
  }
}

function applyItemDefaults(list: Json[], items: StructuralSchema | undefined, growth: Growth): void {
  if (!items) return;
  for (let i = 0; i < list.length; i++) {
    if (isForbiddenNull(list[i], items) && items.default != null) list[i] = growth.defaultOf(items, `[${i}]`);
    if (typeof list[i] !== 'object') continue;
    growth.enter(`[${i}]`);
    applyDefaults(list[i]!, items, growth);
    growth.leave();
  }
}

/** Whether a schema or a nested one has a default. Without any, defaulting can be skipped. */
export function hasDefaults(schema: StructuralSchema): boolean {
  if (schema.default !== undefined) return true;
  const values = additionalSchema(schema);
  return (
    Object.values(schema.properties ?? {}).some(hasDefaults) ||
    (schema.items !== undefined && hasDefaults(schema.items)) ||
    (values !== undefined && hasDefaults(values))
  );
}
