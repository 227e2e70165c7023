import type { StructuralSchema } from '../../../api/resource.js';
import { additionalSchema } from '../prune.js';
import { logicalSchemas } from './paths.js';

/** Keywords that upstream's model of structural schemas does not have. */
const UNREPRESENTED = ['id', '$schema', '$ref', 'definitions', 'dependencies', 'patternProperties', 'additionalItems'];

/** The schemas directly below a schema. */
function schemasBelow(schema: StructuralSchema): StructuralSchema[] {
  const values = additionalSchema(schema);
  return [
    ...(schema.items ? [schema.items] : []),
    ...Object.values(schema.properties ?? {}),
    ...(values ? [values] : []),
    ...logicalSchemas(schema, '').map(([part]) => part),
  ];
}

/**
 * The keyword, in a schema or a nested one, that structural schemas cannot represent; undefined if there is none.
 * Nothing that depends on the structure of such a schema is validated.
 */
export function unrepresentedKeyword(schema: StructuralSchema): string | undefined {
  const own = UNREPRESENTED.find(name => Object.hasOwn(schema, name));
  if (own !== undefined) return own;
  if (Array.isArray(schema.items)) return 'items';
  if (schema['x-kubernetes-preserve-unknown-fields'] === false) return 'x-kubernetes-preserve-unknown-fields';
  for (const below of schemasBelow(schema)) {
    const found = unrepresentedKeyword(below);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Whether a schema or a nested one has a default. */
export const hasDefault = (schema: StructuralSchema): boolean =>
  schema.default !== undefined || schemasBelow(schema).some(hasDefault);

/** Upstream's message for a keyword that structural schemas do not have. */
export const unrepresentedText = (keyword: string): string =>
  keyword.startsWith('x-')
    ? `internal error: '${keyword}' must be true or undefined`
    : `OpenAPIV3Schema '${keyword.replace('$', '')}' is not supported`;
