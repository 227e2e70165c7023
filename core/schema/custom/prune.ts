import type { StructuralSchema } from '../../api/resource.js';
import type { Json } from '../../model/object.js';
import type { StrictErrors } from '../decode/strictErrors.js';
import { isMembers, type Members } from '../patch/members.js';

/** The schema of a property. Names come from clients, so only own members are found. */
export const propertySchema = (schema: StructuralSchema, name: string): StructuralSchema | undefined =>
  schema.properties && Object.hasOwn(schema.properties, name) ? schema.properties[name] : undefined;

/** The schema in `additionalProperties`; undefined if it is missing or a boolean. */
export const additionalSchema = (schema: StructuralSchema): StructuralSchema | undefined =>
  typeof schema.additionalProperties === 'object' ? schema.additionalProperties : undefined;

const ENVELOPE = new Set(['apiVersion', 'kind', 'metadata']);

/** Removes unknown fields in place and adds their paths to `dropped`. */
export function prune(
  value: Json,
  schema: StructuralSchema | undefined,
  path: string,
  dropped: StrictErrors,
  root = false,
): void {
  if (Array.isArray(value)) {
    const items = schema?.items;
    if (!items && schema?.['x-kubernetes-preserve-unknown-fields']) return;
    for (const [i, item] of value.entries()) prune(item, items, `${path}[${i}]`, dropped);
  } else if (isMembers(value)) pruneMembers(value, schema, path, dropped, root);
}

function pruneMembers(
  value: Members,
  schema: StructuralSchema | undefined,
  path: string,
  dropped: StrictErrors,
  root: boolean,
): void {
  const embedded = root || schema?.['x-kubernetes-embedded-resource'] === true;
  const preservesUnknown = schema?.['x-kubernetes-preserve-unknown-fields'] === true;
  const values = schema && additionalSchema(schema);
  for (const key of Object.keys(value)) {
    // These fields have a built-in type.
    if (embedded && ENVELOPE.has(key)) continue;
    const below = path ? `${path}.${key}` : key;
    const property = schema && propertySchema(schema, key);
    if (property) prune(value[key]!, property, below, dropped);
    else if (values) prune(value[key]!, values, below, dropped);
    // With a boolean, the member is kept or rejected by validation; fields below it are unknown.
    else if (schema?.additionalProperties !== undefined) prune(value[key]!, undefined, below, dropped);
    else if (preservesUnknown) continue;
    else {
      delete value[key];
      dropped.add(below);
    }
  }
}

/** Whether a value is a null that its schema does not allow. */
export const isForbiddenNull = (value: Json | undefined, schema: StructuralSchema | undefined): boolean =>
  value === null && schema !== undefined && !schema.nullable;

/** Removes nulls that the schema does not allow and that have no default, in place. Nulls in lists are kept. */
export function dropNulls(value: Json, schema: StructuralSchema | undefined): void {
  if (!schema) return;
  if (Array.isArray(value)) {
    for (const item of value) dropNulls(item, schema.items);
    return;
  }
  if (!isMembers(value)) return;
  for (const key of Object.keys(value)) {
    const below = propertySchema(schema, key) ?? additionalSchema(schema);
    if (!below) continue;
    if (!isForbiddenNull(value[key], below)) dropNulls(value[key]!, below);
    else if (below.default === undefined || below.default === null) delete value[key];
  }
}

/** Visits the embedded objects of a value. */
export function visitEmbedded(
  value: Json | undefined,
  schema: StructuralSchema | undefined,
  path: string,
  visit: (object: Members, path: string) => void,
): void {
  if (!schema) return;
  if (Array.isArray(value)) {
    for (const [i, item] of value.entries()) visitEmbedded(item, schema.items, `${path}[${i}]`, visit);
    return;
  }
  if (!isMembers(value)) return;
  if (schema['x-kubernetes-embedded-resource'] && path !== '') visit(value, path);
  for (const key of Object.keys(value)) {
    const property = propertySchema(schema, key);
    if (property) visitEmbedded(value[key], property, path ? `${path}.${key}` : key, visit);
    else visitEmbedded(value[key], additionalSchema(schema), `${path}[${key}]`, visit);
  }
}

/** Whether a schema has embedded objects. */
export function hasEmbedded(schema: StructuralSchema): boolean {
  if (schema['x-kubernetes-embedded-resource']) return true;
  const values = additionalSchema(schema);
  return (
    Object.values(schema.properties ?? {}).some(hasEmbedded) ||
    (schema.items !== undefined && hasEmbedded(schema.items)) ||
    (values !== undefined && hasEmbedded(values))
  );
}

/** Whether a predicate holds for a schema or a nested one, including those in logical keywords. */
function someSchema(schema: StructuralSchema, predicate: (schema: StructuralSchema) => boolean): boolean {
  const values = additionalSchema(schema);
  const below = [
    ...Object.values(schema.properties ?? {}),
    ...(schema.items ? [schema.items] : []),
    ...(values ? [values] : []),
    ...(schema.allOf ?? []),
    ...(schema.anyOf ?? []),
    ...(schema.oneOf ?? []),
    ...(schema.not ? [schema.not] : []),
  ];
  return predicate(schema) || below.some(one => someSchema(one, predicate));
}

/** Whether a schema or a nested one has validation rules. */
export const hasRules = (schema: StructuralSchema): boolean =>
  someSchema(schema, one => (one['x-kubernetes-validations']?.length ?? 0) > 0);

/** Whether validation against a schema needs the engine for rules and patterns. */
export const needsEngine = (schema: StructuralSchema): boolean =>
  someSchema(schema, one => one.pattern !== undefined || (one['x-kubernetes-validations']?.length ?? 0) > 0);
