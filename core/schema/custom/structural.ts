import type { StructuralSchema } from '../../api/resource.js';
import type { Json } from '../../model/object.js';
import { forbiddenField, invalid, notSupported, required, type Violation } from '../../model/refusal.js';
import { StrictErrors } from '../strictErrors.js';
import { isMembers } from '../patch/members.js';
import { additionalSchema, hasDefaults, prune } from './prune.js';
import { ruleTextViolations, ruleViolations } from './ruleChecks.js';
import { compileRules } from './rules.js';
import { markerViolations, memberPath, propertyPath, requireType } from './structuralMarkers.js';
import { patternError, schemaViolations, WHOLE_OBJECT } from './validate.js';

const TYPES = ['array', 'boolean', 'integer', 'number', 'object', 'string'];
/** Keywords of JSON schemas that are not supported. */
const UNSUPPORTED = ['$ref', 'definitions', 'dependencies', 'patternProperties', 'id', 'additionalItems'] as const;

/** Calls `visit` for a schema and all nested ones. `includeLogical`: also for those in logical keywords. */
function walk(
  schema: StructuralSchema,
  path: string,
  visit: (schema: StructuralSchema, path: string) => void,
  includeLogical = true,
): void {
  visit(schema, path);
  for (const [name, property] of Object.entries(schema.properties ?? {}))
    walk(property, propertyPath(path, name), visit, includeLogical);
  const values = additionalSchema(schema);
  if (values) walk(values, memberPath(path, 'additionalProperties'), visit, includeLogical);
  if (schema.items && !Array.isArray(schema.items))
    walk(schema.items, memberPath(path, 'items'), visit, includeLogical);
  if (!includeLogical) return;
  for (const [below, partPath] of logicalSchemas(schema, path)) walk(below, partPath, visit, includeLogical);
}

/** The schemas in the logical keywords of a schema, with their paths. */
const logicalSchemas = (schema: StructuralSchema, path: string): [StructuralSchema, string][] => [
  ...(['allOf', 'anyOf', 'oneOf'] as const).flatMap(keyword =>
    (schema[keyword] ?? []).map((part, i): [StructuralSchema, string] => [part, `${path}.${keyword}[${i}]`]),
  ),
  ...(schema.not ? [[schema.not, memberPath(path, 'not')] as [StructuralSchema, string]] : []),
];

function keywordViolations(schema: StructuralSchema, path: string): Violation[] {
  const found: Violation[] = [];
  const { type } = schema;
  if (type && !TYPES.includes(type)) found.push(notSupported(memberPath(path, 'type'), type, TYPES));
  if (type === 'null')
    found.push(forbiddenField(memberPath(path, 'type'), 'type cannot be set to null, use nullable as an alternative'));
  for (const name of UNSUPPORTED)
    if (Object.hasOwn(schema, name)) found.push(forbiddenField(memberPath(path, name), `${name} is not supported`));
  if (Array.isArray(schema.items))
    found.push(forbiddenField(memberPath(path, 'items'), 'items must be a schema object and not an array'));
  if (schema.uniqueItems)
    found.push(
      forbiddenField(
        memberPath(path, 'uniqueItems'),
        'uniqueItems cannot be set to true since the runtime complexity becomes quadratic',
      ),
    );
  if (Object.keys(schema.properties ?? {}).length > 0 && (schema.additionalProperties ?? true) !== true)
    found.push(
      forbiddenField(
        memberPath(path, 'additionalProperties'),
        'additionalProperties and properties are mutual exclusive',
      ),
    );
  if (schema['x-kubernetes-preserve-unknown-fields'] === false)
    found.push(invalid(memberPath(path, 'x-kubernetes-preserve-unknown-fields'), false, 'must be true or undefined'));
  return [...found, ...markerViolations(schema, path)];
}

/**
 * Validates the types of a schema and its nested ones. `place` is the word for its position in error messages. As
 * upstream, only the logical keywords of the root may not define fields of their own.
 */
function typeViolations(schema: StructuralSchema, path: string, place: string, isRoot = false): Violation[] {
  const found: Violation[] = [];
  const isUntyped = schema['x-kubernetes-int-or-string'] || schema['x-kubernetes-preserve-unknown-fields'];
  const structural = isRoot ? { schema, path } : undefined;
  for (const [below, partPath] of logicalSchemas(schema, path))
    found.push(...valueValidationViolations(below, partPath, structural, isIntOrString(schema, partPath, path)));
  if (schema['x-kubernetes-embedded-resource']) found.push(...embeddedViolations(schema, path));
  else if (!schema.type && !isUntyped)
    found.push(required(memberPath(path, 'type'), `must not be empty for specified ${place}`));
  if (schema.type === 'array' && !schema.items) found.push(required(memberPath(path, 'items'), 'must be specified'));
  if (schema['x-kubernetes-int-or-string'])
    for (const name of ['x-kubernetes-preserve-unknown-fields', 'x-kubernetes-embedded-resource'] as const)
      if (schema[name])
        found.push(invalid(memberPath(path, name), true, 'must be false if x-kubernetes-int-or-string is true'));
  const syntaxError = schema.pattern === undefined ? undefined : patternError(schema.pattern);
  if (syntaxError !== undefined)
    found.push(
      invalid(
        memberPath(path, 'pattern'),
        schema.pattern,
        `must be a valid regular expression, but isn't: ${syntaxError}`,
      ),
    );
  for (const [name, property] of Object.entries(schema.properties ?? {}))
    found.push(...typeViolations(property, propertyPath(path, name), 'object fields'));
  const values = additionalSchema(schema);
  if (values) found.push(...typeViolations(values, memberPath(path, 'additionalProperties'), 'object fields'));
  if (schema.items) found.push(...typeViolations(schema.items, memberPath(path, 'items'), 'array items'));
  return found;
}

function embeddedViolations(schema: StructuralSchema, path: string): Violation[] {
  const found: Violation[] = [];
  if (schema.additionalProperties !== undefined)
    found.push(
      forbiddenField(
        memberPath(path, 'additionalProperties'),
        'must not be used if x-kubernetes-embedded-resource is set',
      ),
    );
  if (!schema['x-kubernetes-preserve-unknown-fields'] && Object.keys(schema.properties ?? {}).length === 0)
    found.push(
      required(
        memberPath(path, 'properties'),
        'must not be empty if x-kubernetes-embedded-resource is true without x-kubernetes-preserve-unknown-fields',
      ),
    );
  return [
    ...found,
    ...requireType(schema, path, 'object', 'x-kubernetes-embedded-resource is true'),
    ...envelopeViolations(schema, path),
  ];
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
  ['x-kubernetes-validations', 'empty'],
  ['default', 'undefined'],
  ['additionalProperties', 'undefined'],
  ['nullable', 'false'],
  ['x-kubernetes-preserve-unknown-fields', 'false'],
  ['x-kubernetes-embedded-resource', 'false'],
  ['x-kubernetes-int-or-string', 'false'],
];

/** A schema, and its path in messages. */
interface PlacedSchema {
  /** Undefined where nothing is defined. */
  readonly schema: StructuralSchema | undefined;
  readonly path: string;
}

/**
 * Validates a schema in a logical keyword: it may only restrict values. Every property in it must exist in the
 * `structural` schema, if one is given.
 */
function valueValidationViolations(
  schema: StructuralSchema,
  path: string,
  structural: PlacedSchema | undefined,
  typeAllowed: boolean,
): Violation[] {
  const found: Violation[] = [];
  for (const [member, word] of FORBIDDEN_IN_LOGICAL)
    if (schema[member] && !(typeAllowed && member === 'type'))
      found.push(forbiddenField(memberPath(path, member), `must be ${word} to be structural`));
  const checkNested = (nested: StructuralSchema, nestedPath: string, described: PlacedSchema | undefined): void => {
    if (described && !described.schema) found.push(required(described.path, `because it is defined in ${nestedPath}`));
    found.push(...valueValidationViolations(nested, nestedPath, described, false));
  };
  for (const [name, property] of Object.entries(schema.properties ?? {}))
    checkNested(
      property,
      propertyPath(path, name),
      structural && {
        schema: ownProperty(structural.schema, name),
        path: propertyPath(structural.path, name),
      },
    );
  if (schema.items)
    checkNested(
      schema.items,
      memberPath(path, 'items'),
      structural && { schema: structural.schema?.items, path: memberPath(structural.path, 'items') },
    );
  for (const [below, partPath] of logicalSchemas(schema, path))
    found.push(...valueValidationViolations(below, partPath, structural, typeAllowed));
  return found;
}

const ownProperty = (schema: StructuralSchema | undefined, name: string): StructuralSchema | undefined =>
  schema?.properties && Object.hasOwn(schema.properties, name) ? schema.properties[name] : undefined;

/** Validates apiVersion, kind and metadata, which are defined by the server. A schema may only restrict the names. */
function envelopeViolations(schema: StructuralSchema, path: string): Violation[] {
  const found: Violation[] = [];
  for (const name of ['apiVersion', 'kind']) {
    const property = schema.properties?.[name];
    if (property && property.type !== 'string')
      found.push(invalid(memberPath(propertyPath(path, name), 'type'), property.type ?? '', 'must be string'));
  }
  const metadata = schema.properties?.metadata;
  const metadataPath = propertyPath(path, 'metadata');
  if (!metadata) return found;
  if (metadata.type !== 'object')
    found.push(invalid(memberPath(metadataPath, 'type'), metadata.type ?? '', 'must be object'));
  const { type: _type, properties = {}, description: _description, title: _title, ...others } = metadata;
  if (
    Object.keys(others).length > 0 ||
    Object.keys(properties).some(name => name !== 'name' && name !== 'generateName')
  )
    found.push(
      forbiddenField(
        metadataPath,
        'must not specify anything other than name and generateName, but metadata is implicitly specified',
      ),
    );
  for (const [name, property] of Object.entries(properties))
    if (property.default !== undefined)
      found.push(
        forbiddenField(
          memberPath(propertyPath(metadataPath, name), 'default'),
          'must not be set in top-level metadata',
        ),
      );
  return found;
}

/** Validates the defaults against their schemas; as upstream, not those in `additionalProperties`. */
function defaultViolations(schema: StructuralSchema, path: string): Violation[] {
  if (!hasDefaults(schema)) return [];
  return [
    ...(schema.default == null ? [] : defaultValueViolations(schema, memberPath(path, 'default'))),
    ...Object.entries(schema.properties ?? {}).flatMap(([name, property]) =>
      defaultViolations(property, propertyPath(path, name)),
    ),
    ...(schema.items ? defaultViolations(schema.items, memberPath(path, 'items')) : []),
  ];
}

function defaultValueViolations(schema: StructuralSchema, path: string): Violation[] {
  const value = structuredClone(schema.default) as Json;
  const dropped = new StrictErrors();
  prune(value, schema, '', dropped);
  const found = dropped.texts.length > 0 ? [invalid(path, schema.default, 'must not have unknown fields')] : [];
  const prefixField = (violation: Violation): Violation => {
    const { field } = violation;
    return { ...violation, field: field === '' || field === WHOLE_OBJECT ? path : `${path}.${field}` };
  };
  const below = schemaViolations(value, schema).map(prefixField);
  if (below.length > 0) return [...found, ...below];
  const rules = compileRules(schema, false)?.(value, undefined, () => undefined) ?? [];
  return [...found, ...rules.map(prefixField)];
}

function rootViolations(schema: StructuralSchema, path: string): Violation[] {
  if (!schema.type) return [required(memberPath(path, 'type'), 'must not be empty at the root')];
  const found: Violation[] = [];
  if (schema.type !== 'object')
    found.push(invalid(memberPath(path, 'type'), schema.type, 'must be object at the root'));
  if (schema.nullable) found.push(forbiddenField(memberPath(path, 'nullable'), 'nullable cannot be true at the root'));
  if (schema.additionalProperties !== undefined)
    found.push(forbiddenField(memberPath(path, 'additionalProperties'), 'must not be used at the root'));
  return found;
}

/** Whether a schema or a nested one has `$schema`, for which upstream's error names no path. */
function hasSchemaKeyword(schema: StructuralSchema, path: string): boolean {
  let found = false;
  walk(schema, path, part => void (found ||= Object.hasOwn(part, '$schema')));
  return found;
}

/** Whether a client's value may be a schema. */
const isSchema = (value: unknown): value is StructuralSchema => isMembers(value);

/**
 * Validates that a schema is structural, with upstream's messages. `path` is the path of the schema in violations. A
 * schema with invalid keywords is not validated further.
 */
export function structuralViolations(schema: StructuralSchema, path: string): Violation[] {
  if (!isSchema(schema)) return [required(path, 'schemas are required')];
  const keywords: Violation[] = [];
  walk(schema, path, (part, partPath) => void keywords.push(...keywordViolations(part, partPath)));
  walk(schema, path, (part, partPath) => void keywords.push(...ruleTextViolations(part, partPath)), false);
  if (keywords.length > 0) return keywords;
  if (hasSchemaKeyword(schema, path)) return [invalid(path, '', "OpenAPIV3Schema 'schema' is not supported")];
  const root = rootViolations(schema, path);
  const structure = typeViolations({ ...schema, type: schema.type || 'object' }, path, 'object fields', true);
  const found = [...root, ...structure, ...envelopeViolations(schema, path)];
  return found.length > 0 ? found : [...ruleViolations(schema, path), ...defaultViolations(schema, path)];
}
