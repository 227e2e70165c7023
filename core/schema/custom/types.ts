import type { StructuralSchema } from '../../api/resource.js';
import type { Field, Merge, Scalar, ScalarName, Struct, Type } from '../model.js';
import { typeOf } from '../table/types.js';

const scalar = (name: ScalarName): Scalar => ({ is: 'scalar', name });
/** An untyped value. */
const UNTYPED = scalar('any');
const STRING = scalar('string');
/**
 * The formats with which server-side apply requires a string. With any other format, upstream's field management
 * accepts every scalar, such as a number, which validation refuses later.
 */
const STRING_FORMATS: readonly unknown[] = [undefined, '', 'byte'];
/** A scalar of any type in server-side apply. */
const ANY_SCALAR = scalar('IntOrString');
const SCALARS: Readonly<Record<string, Scalar>> = {
  string: STRING,
  boolean: scalar('bool'),
  integer: scalar('int64'),
  number: scalar('double'),
};

/** The merge strategy of a field by its markers (spec, "Merge strategy markers"). By default, lists are atomic. */
export function mergeOf(schema: StructuralSchema): Merge {
  const listType = schema['x-kubernetes-list-type'];
  const mapType = schema['x-kubernetes-map-type'];
  return {
    ...(schema.type === 'array' ? { listType: (listType as Merge['listType']) ?? 'atomic' } : {}),
    ...(schema['x-kubernetes-list-map-keys'] ? { keys: schema['x-kubernetes-list-map-keys'] } : {}),
    ...(mapType ? { mapType: mapType as Merge['mapType'] } : {}),
  };
}

function toField(name: string, type: Type, schema: StructuralSchema | undefined, required: boolean): Field {
  return {
    name,
    type,
    pointer: true,
    omitEmpty: true,
    required,
    ...(schema?.default === undefined || schema.default === null ? {} : { default: schema.default }),
    merge: schema ? mergeOf(schema) : {},
    number: 0,
  };
}

/**
 * `open`: an enclosing schema preserves unknown fields. Upstream's field management then treats the schemas in it as if
 * they did so as well.
 */
function toStruct(schema: StructuralSchema, id: string, embedded: boolean, open: boolean): Struct {
  const isOpen = open || schema['x-kubernetes-preserve-unknown-fields'] === true;
  const fields: Field[] = embedded ? [toField('metadata', typeOf('meta.v1.ObjectMeta'), undefined, false)] : [];
  const required = new Set(schema.required);
  for (const [name, property] of Object.entries(schema.properties ?? {})) {
    if (embedded && (name === 'metadata' || name === 'apiVersion' || name === 'kind')) continue;
    fields.push(toField(name, toType(property, `${id}.${name}`, isOpen), property, required.has(name)));
  }
  const mapType = schema['x-kubernetes-map-type'] as Struct['mapType'];
  return {
    is: 'struct',
    id,
    typeMeta: embedded,
    fields,
    field: new Map(fields.map(field => [field.name, field])),
    noProto: true,
    ...(mapType ? { mapType } : {}),
    ...(isOpen || schema.additionalProperties === true ? { open: true } : {}),
  };
}

function objectType(schema: StructuralSchema, id: string, open: boolean): Type {
  const values = schema.additionalProperties;
  if (schema['x-kubernetes-embedded-resource']) return toStruct(schema, id, true, open);
  if (schema.properties && Object.keys(schema.properties).length > 0) return toStruct(schema, id, false, open);
  if (typeof values === 'object') return { is: 'map', of: toType(values, `${id}.*`, open) };
  const isFree = values === true || schema['x-kubernetes-preserve-unknown-fields'];
  // An atomic object needs a type with that marker.
  if (isFree && schema['x-kubernetes-map-type'] !== 'atomic') return { is: 'map', of: UNTYPED };
  return toStruct(schema, id, false, open);
}

function toType(schema: StructuralSchema, id: string, open: boolean): Type {
  if (schema['x-kubernetes-int-or-string']) return UNTYPED;
  if (schema.type === 'array')
    return { is: 'list', of: schema.items ? toType(schema.items, `${id}.[]`, open) : UNTYPED };
  if (schema.type === 'object' || schema['x-kubernetes-embedded-resource']) return objectType(schema, id, open);
  if (schema.type === 'string' && !STRING_FORMATS.includes(schema.format)) return ANY_SCALAR;
  return SCALARS[schema.type ?? ''] ?? UNTYPED;
}

/** The type model of a custom kind, which generic code uses like that of a built-in kind. */
export const structForSchema = (schema: StructuralSchema, id: string): Struct => toStruct(schema, id, true, false);
