import type { StructuralSchema } from '../../api/resource.js';
import { goStrings } from '../../model/goText.js';
import { forbiddenField, invalid, notSupported, required, type Violation } from '../../model/refusal.js';

const SCALARS = new Set(['boolean', 'integer', 'number', 'string']);

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

/** Validates the list and map markers of a schema. */
export function markerViolations(schema: StructuralSchema, path: string): Violation[] {
  const found: Violation[] = [];
  const listType = schema['x-kubernetes-list-type'];
  const keys = schema['x-kubernetes-list-map-keys'] ?? [];
  const mapType = schema['x-kubernetes-map-type'];
  const listPath = memberPath(path, 'x-kubernetes-list-type');
  if (listType !== undefined) {
    found.push(...requireType(schema, path, 'array', 'x-kubernetes-list-type is specified'));
    if (!['atomic', 'set', 'map'].includes(listType))
      found.push(notSupported(listPath, listType, ['atomic', 'set', 'map']));
  }
  if (keys.length > 0 && listType !== 'map') {
    const text = 'must be map if x-kubernetes-list-map-keys is non-empty';
    found.push(listType === undefined ? required(listPath, text) : invalid(listPath, listType, text));
  }
  if (listType === 'map') found.push(...keyViolations(schema, keys, path));
  if (listType === 'set' && schema.items) found.push(...setViolations(schema.items, memberPath(path, 'items')));
  if (mapType !== undefined) {
    found.push(...requireType(schema, path, 'object', 'x-kubernetes-map-type is specified'));
    if (mapType !== 'atomic' && mapType !== 'granular')
      found.push(notSupported(memberPath(path, 'x-kubernetes-map-type'), mapType, ['atomic', 'granular']));
  }
  return found;
}

function setViolations(items: StructuralSchema, path: string): Violation[] {
  const found: Violation[] = [];
  const text = 'must be atomic as item of a list with x-kubernetes-list-type=set';
  if (items.nullable)
    found.push(forbiddenField(memberPath(path, 'nullable'), 'cannot be nullable when x-kubernetes-list-type is set'));
  const [marker, name] =
    items.type === 'object'
      ? [items['x-kubernetes-map-type'], 'x-kubernetes-map-type']
      : [items['x-kubernetes-list-type'] ?? 'atomic', 'x-kubernetes-list-type'];
  if ((items.type === 'object' || items.type === 'array') && marker !== 'atomic')
    found.push(invalid(memberPath(path, name), marker ?? 'null', text));
  return found;
}

function keyViolations(schema: StructuralSchema, keys: readonly string[], path: string): Violation[] {
  const keysPath = memberPath(path, 'x-kubernetes-list-map-keys');
  const found: Violation[] = [];
  if (keys.length === 0) found.push(required(keysPath, 'must not be empty if x-kubernetes-list-type is map'));
  if (new Set(keys).size < keys.length)
    found.push(invalid(keysPath, goStrings(keys), 'must not contain duplicate entries'));
  const { items } = schema;
  if (!items) return found;
  const itemsPath = memberPath(path, 'items');
  if (items.type !== 'object')
    return [
      ...found,
      invalid(
        memberPath(itemsPath, 'type'),
        items.type ?? '',
        "must be object if parent array's x-kubernetes-list-type is map",
      ),
    ];
  const known = keys.filter(key => Object.hasOwn(items.properties ?? {}, key));
  if (known.length < keys.length) found.push(invalid(keysPath, keys, 'entries must all be names of item properties'));
  for (const key of known) found.push(...keyPropertyViolations(items, key, propertyPath(itemsPath, key)));
  return found;
}

function keyPropertyViolations(items: StructuralSchema, key: string, path: string): Violation[] {
  const property = items.properties![key]!;
  const why = 'this property is in x-kubernetes-list-map-keys, so it';
  const found: Violation[] = [];
  if (!SCALARS.has(property.type ?? ''))
    found.push(
      invalid(
        memberPath(path, 'type'),
        property.type ?? '',
        "must be a scalar type if parent array's x-kubernetes-list-type is map",
      ),
    );
  if (property.default === undefined && !items.required?.includes(key))
    found.push(required(memberPath(path, 'default'), `${why} must have a default or be a required property`));
  if (property.nullable) found.push(forbiddenField(memberPath(path, 'nullable'), `${why} cannot be nullable`));
  return found;
}
