import type { StructuralSchema } from '../../api/resource.js';
import type { Json } from '../../model/object.js';
import type { Complaints } from '../complaints.js';
import { setMember } from '../patch/members.js';

type Rec = { [key: string]: Json };

/** True for a JSON object. */
export const isRec = (value: unknown): value is Rec =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The schema of a property, by own name only: names come from clients. */
export const propertyOf = (schema: StructuralSchema, name: string): StructuralSchema | undefined =>
  schema.properties && Object.hasOwn(schema.properties, name) ? schema.properties[name] : undefined;

/** The schema that values of a map have; undefined where there is none or any value is allowed. */
export const valuesOf = (schema: StructuralSchema): StructuralSchema | undefined =>
  typeof schema.additionalProperties === 'object' ? schema.additionalProperties : undefined;

const EMBEDDED = new Set(['apiVersion', 'kind', 'metadata']);

/** Members that the schema does not describe, dropped in place; their paths go to `dropped`. */
export function prune(
  value: Json,
  schema: StructuralSchema | undefined,
  path: string,
  dropped: Complaints,
  root = false,
): void {
  if (Array.isArray(value)) {
    const items = schema?.items;
    if (!items && schema?.['x-kubernetes-preserve-unknown-fields']) return;
    for (const [i, item] of value.entries()) prune(item, items, `${path}[${i}]`, dropped);
  } else if (isRec(value)) pruneMembers(value, schema, path, dropped, root);
}

function pruneMembers(
  value: Rec,
  schema: StructuralSchema | undefined,
  path: string,
  dropped: Complaints,
  root: boolean,
): void {
  const embedded = root || schema?.['x-kubernetes-embedded-resource'] === true;
  const open = schema?.['x-kubernetes-preserve-unknown-fields'] === true;
  const values = schema && valuesOf(schema);
  for (const key of Object.keys(value)) {
    // What every object has is described by its own type.
    if (embedded && EMBEDDED.has(key)) continue;
    const below = path ? `${path}.${key}` : key;
    const property = schema && propertyOf(schema, key);
    if (property) prune(value[key]!, property, below, dropped);
    else if (values) prune(value[key]!, values, below, dropped);
    // Other members are kept, or refused by validation where they are forbidden, but nothing describes what is below them.
    else if (schema?.additionalProperties !== undefined) prune(value[key]!, undefined, below, dropped);
    else if (open) continue;
    else {
      delete value[key];
      dropped.add(below);
    }
  }
}

const forbidsNull = (value: Json | undefined, schema: StructuralSchema | undefined): boolean =>
  value === null && schema !== undefined && !schema.nullable;

/**
 * Nulls that the schema does not allow and no default replaces are dropped in place, as if they had not been sent.
 * Nulls in lists stay.
 */
export function dropNulls(value: Json, schema: StructuralSchema | undefined): void {
  if (!schema) return;
  if (Array.isArray(value)) {
    for (const item of value) dropNulls(item, schema.items);
    return;
  }
  if (!isRec(value)) return;
  for (const key of Object.keys(value)) {
    const below = propertyOf(schema, key) ?? valuesOf(schema);
    if (!below) continue;
    if (!forbidsNull(value[key], below)) dropNulls(value[key]!, below);
    else if (below.default === undefined || below.default === null) delete value[key];
  }
}

/**
 * Fills absent members, and nulls that the schema does not allow, with the schema's defaults, in place and downwards.
 */
export function applyDefaults(value: Json, schema: StructuralSchema | undefined): void {
  if (!schema) return;
  if (Array.isArray(value)) {
    defaultItems(value, schema.items);
    return;
  }
  if (!isRec(value)) return;
  for (const [key, property] of Object.entries(schema.properties ?? {})) {
    if (property.default === undefined || property.default === null) continue;
    if (!Object.hasOwn(value, key) || forbidsNull(value[key], property))
      setMember(value, key, structuredClone(property.default));
  }
  const values = valuesOf(schema);
  for (const key of Object.keys(value)) {
    const property = propertyOf(schema, key);
    if (!property && forbidsNull(value[key], values) && values!.default != null)
      setMember(value, key, structuredClone(values!.default));
    applyDefaults(value[key]!, property ?? values);
  }
}

function defaultItems(list: Json[], items: StructuralSchema | undefined): void {
  list.forEach((item, i) => {
    if (forbidsNull(item, items) && items!.default != null) list[i] = structuredClone(items!.default);
    applyDefaults(list[i]!, items);
  });
}

/**
 * Whether any part of the schema has a default: the common schema has none, and then a pass over every object is saved.
 */
export function hasDefaults(schema: StructuralSchema): boolean {
  if (schema.default !== undefined) return true;
  const values = valuesOf(schema);
  return (
    Object.values(schema.properties ?? {}).some(hasDefaults) ||
    (schema.items !== undefined && hasDefaults(schema.items)) ||
    (values !== undefined && hasDefaults(values))
  );
}

/** Visits the embedded resources of a value that a schema describes. */
export function embeddedIn(
  value: Json | undefined,
  schema: StructuralSchema | undefined,
  path: string,
  visit: (object: Rec, path: string) => void,
): void {
  if (!schema) return;
  if (Array.isArray(value)) {
    for (const [i, item] of value.entries()) embeddedIn(item, schema.items, `${path}[${i}]`, visit);
    return;
  }
  if (!isRec(value)) return;
  if (schema['x-kubernetes-embedded-resource'] && path !== '') visit(value, path);
  for (const key of Object.keys(value)) {
    const below = propertyOf(schema, key) ?? valuesOf(schema);
    if (below) embeddedIn(value[key], below, path ? `${path}.${key}` : key, visit);
  }
}

/** Whether a schema describes embedded resources. */
export function hasEmbedded(schema: StructuralSchema): boolean {
  if (schema['x-kubernetes-embedded-resource']) return true;
  const values = valuesOf(schema);
  return (
    Object.values(schema.properties ?? {}).some(hasEmbedded) ||
    (schema.items !== undefined && hasEmbedded(schema.items)) ||
    (values !== undefined && hasEmbedded(values))
  );
}

/** Whether a condition holds for the schema or for one below it, those of the logical keywords included. */
function somewhere(schema: StructuralSchema, holds: (schema: StructuralSchema) => boolean): boolean {
  const values = valuesOf(schema);
  const below = [
    ...Object.values(schema.properties ?? {}),
    ...(schema.items ? [schema.items] : []),
    ...(values ? [values] : []),
    ...(schema.allOf ?? []),
    ...(schema.anyOf ?? []),
    ...(schema.oneOf ?? []),
    ...(schema.not ? [schema.not] : []),
  ];
  return holds(schema) || below.some(one => somewhere(one, holds));
}

/** Whether a schema has rules anywhere. */
export const hasRules = (schema: StructuralSchema): boolean =>
  somewhere(schema, one => (one['x-kubernetes-validations']?.length ?? 0) > 0);

/** Whether judging by a schema takes the engine of expressions and patterns. */
export const needsEngine = (schema: StructuralSchema): boolean =>
  somewhere(schema, one => one.pattern !== undefined || (one['x-kubernetes-validations']?.length ?? 0) > 0);
