import type { StructuralSchema } from '../api/resource.js';
import type { Resource } from '../schema/resource.js';
import type { Dialect, Schema } from './schemas.js';

/** Members that version 2 cannot say, or that its clients trip over. */
const NOT_IN_V2 = new Set(['anyOf', 'oneOf', 'allOf', 'not', 'nullable', 'default', 'example', 'externalDocs']);
/** What a value that may be null, or of more than one type, keeps in version 2: a type would have clients refuse it. */
const KEPT = new Set(['description', 'title']);

const each = (schemas: { readonly [name: string]: StructuralSchema }, dialect: Dialect): Schema =>
  Object.fromEntries(Object.entries(schemas).map(([name, schema]) => [name, published(schema, dialect)]));

function published(schema: StructuralSchema, dialect: Dialect): Schema {
  const loose = schema.nullable === true || schema['x-kubernetes-int-or-string'] === true;
  const open = schema['x-kubernetes-preserve-unknown-fields'] === true;
  const written: Schema = {};
  for (const [member, value] of Object.entries(schema)) {
    if (dialect === 'v2') {
      if (NOT_IN_V2.has(member) || (loose && !KEPT.has(member) && !member.startsWith('x-'))) continue;
      if (open && (member === 'properties' || member === 'items' || member === 'additionalProperties')) continue;
    }
    if (value === undefined) continue;
    if (member === 'properties') written.properties = each(value as StructuralSchema['properties'] & object, dialect);
    else if (member === 'items' || (member === 'additionalProperties' && typeof value === 'object'))
      written[member] = published(value as StructuralSchema, dialect);
    else written[member] = value;
  }
  return written;
}

/** The schema of a custom kind as the documents of either version show it; undefined for built-in kinds. */
export const publishedSchema = ({ own }: Resource, dialect: Dialect): Schema | undefined =>
  own && published(own.schema, dialect);
