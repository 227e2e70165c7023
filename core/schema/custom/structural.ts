import type { StructuralSchema } from '../../api/resource.js';
import type { Json } from '../../model/object.js';
import { forbiddenField, invalid, notSupported, required, type Violation } from '../../model/refusal.js';
import { Complaints } from '../complaints.js';
import { hasDefaults, isRec, prune, valuesOf } from './prune.js';
import { ruleTextViolations, ruleViolations } from './ruleChecks.js';
import { rulesOf } from './rules.js';
import { patternError, schemaViolations, WHOLE_OBJECT } from './validate.js';

const TYPES = ['array', 'boolean', 'integer', 'number', 'object', 'string'];
const SCALARS = new Set(['boolean', 'integer', 'number', 'string']);
/** Members of JSON schemas that structural ones do not have. */
const UNSUPPORTED = ['$ref', 'definitions', 'dependencies', 'patternProperties', 'id'] as const;

const at = (path: string, member: string): string => `${path}.${member}`;
const propertyAt = (path: string, name: string): string => `${path}.properties[${name}]`;

/**
 * Calls `visit` for the schema and for every schema below it, those of the logical keywords included where `everywhere`
 * says so.
 */
function walk(
  schema: StructuralSchema,
  path: string,
  visit: (schema: StructuralSchema, path: string) => void,
  everywhere = true,
): void {
  visit(schema, path);
  for (const [name, property] of Object.entries(schema.properties ?? {}))
    walk(property, propertyAt(path, name), visit, everywhere);
  const values = valuesOf(schema);
  if (values) walk(values, at(path, 'additionalProperties'), visit, everywhere);
  if (schema.items && !Array.isArray(schema.items)) walk(schema.items, at(path, 'items'), visit, everywhere);
  if (!everywhere) return;
  for (const [below, where] of nested(schema, path)) walk(below, where, visit, everywhere);
}

/** The schemas of the logical keywords. */
const nested = (schema: StructuralSchema, path: string): [StructuralSchema, string][] => [
  ...(['allOf', 'anyOf', 'oneOf'] as const).flatMap(keyword =>
    (schema[keyword] ?? []).map((one, i): [StructuralSchema, string] => [one, `${path}.${keyword}[${i}]`]),
  ),
  ...(schema.not ? [[schema.not, at(path, 'not')] as [StructuralSchema, string]] : []),
];

function keywordViolations(schema: StructuralSchema, path: string): Violation[] {
  const found: Violation[] = [];
  const { type } = schema;
  if (type && !TYPES.includes(type)) found.push(notSupported(at(path, 'type'), type, TYPES));
  if (type === 'null')
    found.push(forbiddenField(at(path, 'type'), 'type cannot be set to null, use nullable as an alternative'));
  for (const name of UNSUPPORTED)
    if (Object.hasOwn(schema, name)) found.push(forbiddenField(at(path, name), `${name} is not supported`));
  if (Array.isArray(schema.items))
    found.push(forbiddenField(at(path, 'items'), 'items must be a schema object and not an array'));
  if (schema.uniqueItems)
    found.push(
      forbiddenField(
        at(path, 'uniqueItems'),
        'uniqueItems cannot be set to true since the runtime complexity becomes quadratic',
      ),
    );
  if (Object.keys(schema.properties ?? {}).length > 0 && (schema.additionalProperties ?? true) !== true)
    found.push(
      forbiddenField(at(path, 'additionalProperties'), 'additionalProperties and properties are mutual exclusive'),
    );
  if (schema['x-kubernetes-preserve-unknown-fields'] === false)
    found.push(invalid(at(path, 'x-kubernetes-preserve-unknown-fields'), false, 'must be true or undefined'));
  return [...found, ...markerViolations(schema, path)];
}

/** Violations of a type that another member asks for. */
function typeAsked(schema: StructuralSchema, path: string, type: string, why: string): Violation[] {
  if (schema.type === type) return [];
  const text = `must be ${type} if ${why}`;
  return [schema.type ? invalid(at(path, 'type'), schema.type, text) : required(at(path, 'type'), text)];
}

function markerViolations(schema: StructuralSchema, path: string): Violation[] {
  const found: Violation[] = [];
  const listType = schema['x-kubernetes-list-type'];
  const keys = schema['x-kubernetes-list-map-keys'] ?? [];
  const mapType = schema['x-kubernetes-map-type'];
  const listPath = at(path, 'x-kubernetes-list-type');
  if (listType !== undefined) {
    found.push(...typeAsked(schema, path, 'array', 'x-kubernetes-list-type is specified'));
    if (!['atomic', 'set', 'map'].includes(listType))
      found.push(notSupported(listPath, listType, ['atomic', 'set', 'map']));
  }
  if (keys.length > 0 && listType !== 'map') {
    const text = 'must be map if x-kubernetes-list-map-keys is non-empty';
    found.push(listType === undefined ? required(listPath, text) : invalid(listPath, listType, text));
  }
  if (listType === 'map') found.push(...keyViolations(schema, keys, path));
  if (listType === 'set' && schema.items) found.push(...setViolations(schema.items, at(path, 'items')));
  if (mapType !== undefined) {
    found.push(...typeAsked(schema, path, 'object', 'x-kubernetes-map-type is specified'));
    if (mapType !== 'atomic' && mapType !== 'granular')
      found.push(notSupported(at(path, 'x-kubernetes-map-type'), mapType, ['atomic', 'granular']));
  }
  return found;
}

function setViolations(items: StructuralSchema, path: string): Violation[] {
  const found: Violation[] = [];
  const text = 'must be atomic as item of a list with x-kubernetes-list-type=set';
  if (items.nullable)
    found.push(forbiddenField(at(path, 'nullable'), 'cannot be nullable when x-kubernetes-list-type is set'));
  const [marker, name] =
    items.type === 'object'
      ? [items['x-kubernetes-map-type'], 'x-kubernetes-map-type']
      : [items['x-kubernetes-list-type'] ?? 'atomic', 'x-kubernetes-list-type'];
  if ((items.type === 'object' || items.type === 'array') && marker !== 'atomic')
    found.push(invalid(at(path, name), marker ?? 'null', text));
  return found;
}

function keyViolations(schema: StructuralSchema, keys: readonly string[], path: string): Violation[] {
  const keysPath = at(path, 'x-kubernetes-list-map-keys');
  const found: Violation[] = [];
  if (keys.length === 0) found.push(required(keysPath, 'must not be empty if x-kubernetes-list-type is map'));
  if (new Set(keys).size < keys.length) found.push(invalid(keysPath, keys, 'must not contain duplicate entries'));
  const { items } = schema;
  if (!items) return found;
  const itemsPath = at(path, 'items');
  if (items.type !== 'object')
    return [
      ...found,
      invalid(
        at(itemsPath, 'type'),
        items.type ?? '',
        "must be object if parent array's x-kubernetes-list-type is map",
      ),
    ];
  const known = keys.filter(key => Object.hasOwn(items.properties ?? {}, key));
  if (known.length < keys.length) found.push(invalid(keysPath, keys, 'entries must all be names of item properties'));
  for (const key of known) found.push(...keyField(items, key, propertyAt(itemsPath, key)));
  return found;
}

function keyField(items: StructuralSchema, key: string, path: string): Violation[] {
  const property = items.properties![key]!;
  const why = 'this property is in x-kubernetes-list-map-keys, so it';
  const found: Violation[] = [];
  if (!SCALARS.has(property.type ?? ''))
    found.push(
      invalid(
        at(path, 'type'),
        property.type ?? '',
        "must be a scalar type if parent array's x-kubernetes-list-type is map",
      ),
    );
  if (property.default === undefined && !items.required?.includes(key))
    found.push(required(at(path, 'default'), `${why} must have a default or be a required property`));
  if (property.nullable) found.push(forbiddenField(at(path, 'nullable'), `${why} cannot be nullable`));
  return found;
}

/** Where a schema stands decides how its missing type is worded. */
function typeViolations(schema: StructuralSchema, path: string, place: string): Violation[] {
  const found: Violation[] = [];
  const anything = schema['x-kubernetes-int-or-string'] || schema['x-kubernetes-preserve-unknown-fields'];
  if (schema['x-kubernetes-embedded-resource']) found.push(...embeddedViolations(schema, path));
  else if (!schema.type && !anything)
    found.push(required(at(path, 'type'), `must not be empty for specified ${place}`));
  if (schema.type === 'array' && !schema.items) found.push(required(at(path, 'items'), 'must be specified'));
  if (schema['x-kubernetes-int-or-string'])
    for (const name of ['x-kubernetes-preserve-unknown-fields', 'x-kubernetes-embedded-resource'] as const)
      if (schema[name])
        found.push(invalid(at(path, name), true, 'must be false if x-kubernetes-int-or-string is true'));
  const broken = schema.pattern === undefined ? undefined : patternError(schema.pattern);
  if (broken !== undefined)
    found.push(
      invalid(at(path, 'pattern'), schema.pattern, `must be a valid regular expression, but isn't: ${broken}`),
    );
  for (const [below, where] of nested(schema, path))
    found.push(...valueOnly(below, where, schema, path, isIntOrString(schema, where, path)));
  for (const [name, property] of Object.entries(schema.properties ?? {}))
    found.push(...typeViolations(property, propertyAt(path, name), 'object fields'));
  const values = valuesOf(schema);
  if (values) found.push(...typeViolations(values, at(path, 'additionalProperties'), 'object fields'));
  if (schema.items) found.push(...typeViolations(schema.items, at(path, 'items'), 'array items'));
  return found;
}

function embeddedViolations(schema: StructuralSchema, path: string): Violation[] {
  const found = typeAsked(schema, path, 'object', 'x-kubernetes-embedded-resource is true');
  if (schema.additionalProperties !== undefined)
    found.push(
      forbiddenField(at(path, 'additionalProperties'), 'must not be used if x-kubernetes-embedded-resource is set'),
    );
  if (!schema['x-kubernetes-preserve-unknown-fields'] && Object.keys(schema.properties ?? {}).length === 0)
    found.push(
      required(
        at(path, 'properties'),
        'must not be empty if x-kubernetes-embedded-resource is true without x-kubernetes-preserve-unknown-fields',
      ),
    );
  return found;
}

/**
 * `anyOf: [{type: integer}, {type: string}]`: the types of an int-or-string may be spelled out, at `anyOf` or first in
 * `allOf`.
 */
function isIntOrString(schema: StructuralSchema, where: string, path: string): boolean {
  const spelled = (of: readonly StructuralSchema[] | undefined): boolean =>
    of?.length === 2 && of[0]!.type === 'integer' && of[1]!.type === 'string';
  if (where.startsWith(`${path}.anyOf`)) return spelled(schema.anyOf);
  return where === `${path}.allOf[0]` && spelled(schema.allOf?.[0]?.anyOf);
}

/** Members that a schema of a logical keyword must leave to the schema around it, with the word for it. */
const LEFT_OUT: readonly (readonly [keyof StructuralSchema, string])[] = [
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

/** A schema that only restricts values: it says nothing else, and what it names is described outside. */
function valueOnly(
  schema: StructuralSchema,
  path: string,
  outside: StructuralSchema | undefined,
  outer: string,
  mayType: boolean,
): Violation[] {
  const found: Violation[] = [];
  for (const [member, word] of LEFT_OUT)
    if (schema[member] && !(mayType && member === 'type'))
      found.push(forbiddenField(at(path, member), `must be ${word} to be structural`));
  for (const [name, property] of Object.entries(schema.properties ?? {})) {
    const described =
      outside?.properties && Object.hasOwn(outside.properties, name) ? outside.properties[name] : undefined;
    if (!described) found.push(required(propertyAt(outer, name), `because it is defined in ${propertyAt(path, name)}`));
    found.push(...valueOnly(property, propertyAt(path, name), described, propertyAt(outer, name), false));
  }
  if (schema.items) {
    if (!outside?.items) found.push(required(at(outer, 'items'), `because it is defined in ${at(path, 'items')}`));
    found.push(...valueOnly(schema.items, at(path, 'items'), outside?.items, at(outer, 'items'), false));
  }
  for (const [below, where] of nested(schema, path)) found.push(...valueOnly(below, where, outside, outer, mayType));
  return found;
}

/** The envelope of an object is described by the server; a schema may only restrict its names. */
function envelopeViolations(schema: StructuralSchema, path: string): Violation[] {
  const found: Violation[] = [];
  for (const name of ['apiVersion', 'kind']) {
    const property = schema.properties?.[name];
    if (property && property.type !== 'string')
      found.push(invalid(at(propertyAt(path, name), 'type'), property.type ?? '', 'must be string'));
  }
  const metadata = schema.properties?.metadata;
  const metadataPath = propertyAt(path, 'metadata');
  if (!metadata) return found;
  if (metadata.type !== 'object') found.push(invalid(at(metadataPath, 'type'), metadata.type ?? '', 'must be object'));
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
        forbiddenField(at(propertyAt(metadataPath, name), 'default'), 'must not be set in top-level metadata'),
      );
  return found;
}

/** Defaults must be values of their own schema. */
function defaultViolations(schema: StructuralSchema, path: string): Violation[] {
  if (!hasDefaults(schema)) return [];
  const found: Violation[] = [];
  walk(
    schema,
    path,
    (one, where) => void (one.default == null || found.push(...badDefault(one, at(where, 'default')))),
    false,
  );
  return found;
}

function badDefault(schema: StructuralSchema, path: string): Violation[] {
  const value = structuredClone(schema.default) as Json;
  const dropped = new Complaints();
  prune(value, schema, '', dropped);
  const found = dropped.texts.length > 0 ? [invalid(path, schema.default, 'must not have unknown fields')] : [];
  const underDefault = (violation: Violation): Violation => {
    const { field } = violation;
    return { ...violation, field: field === '' || field === WHOLE_OBJECT ? path : `${path}.${field}` };
  };
  const below = schemaViolations(value, schema).map(underDefault);
  if (below.length > 0) return [...found, ...below];
  const rules = rulesOf(schema, false)?.(value, undefined, () => undefined) ?? [];
  return [...found, ...rules.map(underDefault)];
}

function rootViolations(schema: StructuralSchema, path: string): Violation[] {
  if (!schema.type) return [required(at(path, 'type'), 'must not be empty at the root')];
  const found: Violation[] = [];
  if (schema.type !== 'object') found.push(invalid(at(path, 'type'), schema.type, 'must be object at the root'));
  if (schema.nullable) found.push(forbiddenField(at(path, 'nullable'), 'nullable cannot be true at the root'));
  if (schema.additionalProperties !== undefined)
    found.push(forbiddenField(at(path, 'additionalProperties'), 'must not be used at the root'));
  return found;
}

/** A schema of a client is judged only as far as it has the shape of one. */
const isSchema = (value: unknown): value is StructuralSchema => isRec(value);

/**
 * What keeps a schema from being structural, in upstream's words; `path` names the schema in refusals. Later findings
 * need earlier ones to be settled: a schema with bad keywords is not judged as a whole.
 */
export function structuralViolations(schema: StructuralSchema, path: string): Violation[] {
  if (!isSchema(schema)) return [required(path, 'schemas are required')];
  const keywords: Violation[] = [];
  walk(schema, path, (one, where) => void keywords.push(...keywordViolations(one, where)));
  walk(schema, path, (one, where) => void keywords.push(...ruleTextViolations(one, where)), false);
  if (keywords.length > 0) return keywords;
  const root = rootViolations(schema, path);
  const structure = typeViolations({ ...schema, type: schema.type || 'object' }, path, 'object fields');
  const found = [...root, ...structure, ...envelopeViolations(schema, path)];
  return found.length > 0 ? found : [...ruleViolations(schema, path), ...defaultViolations(schema, path)];
}
