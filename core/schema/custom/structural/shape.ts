import type { StructuralSchema } from '../../../api/resource.js';
import { forbiddenField, invalid, required, type Violation } from '../../../model/refusal.js';
import { additionalSchema, propertySchema } from '../prune.js';
import { logicalSchemas, memberPath, propertyPath, requireType } from './paths.js';
import { patternError } from '../validate.js';

/** The position of a schema, for the message about a missing type. */
type Level = 'root' | 'field' | 'item';

const MISSING_TYPE: Readonly<Record<Level, string>> = {
  root: 'must not be empty at the root',
  field: 'must not be empty for specified object fields',
  item: 'must not be empty for specified array items',
};

/** Validates that a schema defines the type of every value, with upstream's messages. */
export const shapeViolations = (schema: StructuralSchema, path: string): Violation[] => [
  ...invariantViolations(schema, path, 'root'),
  ...completenessViolations(schema, schema, path, path),
];

function invariantViolations(schema: StructuralSchema, path: string, level: Level): Violation[] {
  const found: Violation[] = [];
  const values = additionalSchema(schema);
  if (schema.type === 'array' && !schema.items) found.push(required(memberPath(path, 'items'), 'must be specified'));
  if (schema.items) found.push(...invariantViolations(schema.items, memberPath(path, 'items'), 'item'));
  for (const [name, property] of Object.entries(schema.properties ?? {}))
    found.push(...invariantViolations(property, propertyPath(path, name), 'field'));
  if (values) found.push(...invariantViolations(values, memberPath(path, 'additionalProperties'), 'field'));
  if (schema['x-kubernetes-int-or-string'])
    for (const name of ['x-kubernetes-preserve-unknown-fields', 'x-kubernetes-embedded-resource'] as const)
      if (schema[name])
        found.push(invalid(memberPath(path, name), true, 'must be false if x-kubernetes-int-or-string is true'));
  found.push(...patternViolations(schema, path));
  for (const [below, belowPath] of logicalSchemas(schema, path))
    found.push(...logicalViolations(below, belowPath, isIntOrString(schema, belowPath, path)));
  return [...found, ...objectViolations(schema, path, level), ...envelopeViolations(schema, path, level)];
}

function patternViolations({ pattern }: StructuralSchema, path: string): Violation[] {
  const syntaxError = pattern === undefined ? undefined : patternError(pattern);
  if (syntaxError === undefined) return [];
  const text = `must be a valid regular expression, but isn't: ${syntaxError}`;
  return [invalid(memberPath(path, 'pattern'), pattern, text)];
}

function objectViolations(schema: StructuralSchema, path: string, level: Level): Violation[] {
  const found: Violation[] = [];
  const { type, additionalProperties } = schema;
  const isEmbedded = schema['x-kubernetes-embedded-resource'];
  const isUntyped = schema['x-kubernetes-int-or-string'] || schema['x-kubernetes-preserve-unknown-fields'];
  if (isEmbedded) found.push(...requireType(schema, path, 'object', 'x-kubernetes-embedded-resource is true'));
  else if (!type && !isUntyped) found.push(required(memberPath(path, 'type'), MISSING_TYPE[level]));
  const additionalPath = memberPath(path, 'additionalProperties');
  if (isEmbedded && additionalProperties !== undefined)
    found.push(forbiddenField(additionalPath, 'must not be used if x-kubernetes-embedded-resource is set'));
  if (level === 'root' && type && type !== 'object')
    found.push(invalid(memberPath(path, 'type'), type, 'must be object at the root'));
  if (level === 'root' && additionalProperties !== undefined)
    found.push(forbiddenField(additionalPath, 'must not be used at the root'));
  if (isEmbedded && !schema['x-kubernetes-preserve-unknown-fields'] && !Object.keys(schema.properties ?? {}).length)
    found.push(
      required(
        memberPath(path, 'properties'),
        'must not be empty if x-kubernetes-embedded-resource is true without x-kubernetes-preserve-unknown-fields',
      ),
    );
  return found;
}

/**
 * Validates apiVersion, kind and metadata of API objects, which the server defines. At the root, a schema may only
 * restrict the names in the metadata.
 */
function envelopeViolations(schema: StructuralSchema, path: string, level: Level): Violation[] {
  if (level !== 'root' && !schema['x-kubernetes-embedded-resource']) return [];
  const found: Violation[] = [];
  const requireOwnType = (name: string, type: string): void => {
    const property = propertySchema(schema, name);
    if (property && property.type !== type)
      found.push(invalid(memberPath(propertyPath(path, name), 'type'), property.type ?? '', `must be ${type}`));
  };
  requireOwnType('apiVersion', 'string');
  requireOwnType('kind', 'string');
  requireOwnType('metadata', 'object');
  const metadata = propertySchema(schema, 'metadata');
  if (level === 'root' && metadata && restrictsMore(metadata))
    found.push(
      forbiddenField(
        propertyPath(path, 'metadata'),
        'must not specify anything other than name and generateName, but metadata is implicitly specified',
      ),
    );
  return found;
}

/** Whether the schema of the metadata restricts more than the type and the names. */
function restrictsMore({ type: _type, default: _default, properties = {}, ...others }: StructuralSchema): boolean {
  const isName = (name: string): boolean => name === 'name' || name === 'generateName';
  return !Object.keys(properties).every(isName) || Object.keys(others).length > 0;
}

/**
 * Whether a schema belongs to the list of types of an int-or-string, `anyOf: [{type: integer}, {type: string}]`, which
 * may be in `anyOf` or in the first schema of `allOf`.
 */
function isIntOrString(schema: StructuralSchema, partPath: string, path: string): boolean {
  const listsBothTypes = (of: readonly StructuralSchema[] | undefined): boolean =>
    of?.length === 2 && of[0]!.type === 'integer' && of[1]!.type === 'string';
  if (partPath.startsWith(`${path}.anyOf`)) return listsBothTypes(schema.anyOf);
  return partPath === `${path}.allOf[0]` && listsBothTypes(schema.allOf?.[0]?.anyOf);
}

/** Keywords that are not allowed in schemas of logical keywords, with the word for the required state. */
const FORBIDDEN_IN_LOGICAL: readonly (readonly [keyof StructuralSchema, string])[] = [
  ['type', 'empty'],
  ['title', 'empty'],
  ['description', 'empty'],
  ['default', 'undefined'],
  ['additionalProperties', 'undefined'],
  ['nullable', 'false'],
  ['x-kubernetes-preserve-unknown-fields', 'false'],
  ['x-kubernetes-embedded-resource', 'false'],
  ['x-kubernetes-int-or-string', 'false'],
  ['x-kubernetes-list-map-keys', 'empty'],
  ['x-kubernetes-list-type', 'undefined'],
  ['x-kubernetes-map-type', 'undefined'],
  ['x-kubernetes-validations', 'empty'],
];

const isSet = (value: unknown): boolean =>
  Array.isArray(value) ? value.length > 0 : value !== undefined && value !== null && value !== '' && value !== false;

/** Validates a schema in a logical keyword, which may only restrict values. */
function logicalViolations(schema: StructuralSchema, path: string, typeAllowed: boolean): Violation[] {
  const found: Violation[] = [];
  for (const [member, word] of FORBIDDEN_IN_LOGICAL) {
    if (isSet(schema[member]) && !(typeAllowed && member === 'type'))
      found.push(forbiddenField(memberPath(path, member), `must be ${word} to be structural`));
  }
  found.push(...patternViolations(schema, path));
  if (propertySchema(schema, 'metadata'))
    found.push(forbiddenField(propertyPath(path, 'metadata'), 'must not be specified in a nested context'));
  for (const [name, property] of Object.entries(schema.properties ?? {}))
    found.push(...logicalViolations(property, propertyPath(path, name), false));
  if (schema.items) found.push(...logicalViolations(schema.items, memberPath(path, 'items'), false));
  for (const [below, belowPath] of logicalSchemas(schema, path))
    found.push(...logicalViolations(below, belowPath, typeAllowed));
  return found;
}

/**
 * Validates that every property in the logical keywords of a schema is defined by the `structural` schema. Upstream
 * validates this for the keywords of the root only.
 */
function completenessViolations(
  schema: StructuralSchema,
  structural: StructuralSchema | undefined,
  structuralPath: string,
  path: string,
): Violation[] {
  const found: Violation[] = [];
  for (const [below, belowPath] of logicalSchemas(schema, path))
    found.push(...nestedCompleteness(below, structural, structuralPath, belowPath));
  return found;
}

function nestedCompleteness(
  schema: StructuralSchema,
  structural: StructuralSchema | undefined,
  structuralPath: string,
  path: string,
): Violation[] {
  if (!structural) return [required(structuralPath, `because it is defined in ${path}`)];
  const found = completenessViolations(schema, structural, structuralPath, path);
  const check = (below: StructuralSchema, defined: StructuralSchema | undefined, place: (base: string) => string) =>
    void found.push(...nestedCompleteness(below, defined, place(structuralPath), place(path)));
  if (schema.items) check(schema.items, structural.items, base => memberPath(base, 'items'));
  for (const [name, property] of Object.entries(schema.properties ?? {}))
    check(property, propertySchema(structural, name), base => propertyPath(base, name));
  return found;
}
