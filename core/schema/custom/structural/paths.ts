import type { StructuralSchema } from '../../../api/resource.js';
import { invalid, required, type Violation } from '../../../model/refusal.js';

/** The path of a keyword of a schema. */
export const memberPath = (path: string, member: string): string => `${path}.${member}`;
/** The path of the schema of a property. */
export const propertyPath = (path: string, name: string): string => `${path}.properties[${name}]`;

/** Violations if a schema does not have the type that another keyword requires. */
export function requireType(schema: StructuralSchema, path: string, type: string, why: string): Violation[] {
  if (schema.type === type) return [];
  const text = `must be ${type} if ${why}`;
  return [
    schema.type ? invalid(memberPath(path, 'type'), schema.type, text) : required(memberPath(path, 'type'), text),
  ];
}

/** The schemas in the logical keywords of a schema, with their paths. */
export const logicalSchemas = (schema: StructuralSchema, path: string): [StructuralSchema, string][] => [
  ...(['allOf', 'anyOf', 'oneOf'] as const).flatMap(keyword =>
    (schema[keyword] ?? []).map((part, i): [StructuralSchema, string] => [part, `${path}.${keyword}[${i}]`]),
  ),
  ...(schema.not ? [[schema.not, memberPath(path, 'not')] as [StructuralSchema, string]] : []),
];
