import type { StructuralSchema } from '../../../api/resource.js';
import { goStrings } from '../../../model/text/goText.js';
import { forbiddenField, invalid, notSupported, required, type Violation } from '../../../model/refusal.js';
import { propertySchema } from '../prune.js';
import { memberPath, propertyPath, requireType } from './paths.js';

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
  if (listType === 'set' && schema.type === 'array' && schema.items)
    found.push(...setViolations(schema.items, memberPath(path, 'items')));
  if (listType !== undefined) found.push(...itemViolations(schema, listType, path));
  if (mapType !== undefined) {
    found.push(...requireType(schema, path, 'object', 'x-kubernetes-map-type is specified'));
    if (mapType !== 'atomic' && mapType !== 'granular')
      found.push(notSupported(memberPath(path, 'x-kubernetes-map-type'), mapType, ['atomic', 'granular']));
  }
  return found;
}

function setViolations(items: StructuralSchema, path: string): Violation[] {
  const text = 'must be atomic as item of a list with x-kubernetes-list-type=set';
  const [marker, name] =
    items.type === 'object'
      ? [items['x-kubernetes-map-type'], 'x-kubernetes-map-type']
      : [items['x-kubernetes-list-type'] ?? 'atomic', 'x-kubernetes-list-type'];
  return (items.type === 'object' || items.type === 'array') && marker !== 'atomic'
    ? [invalid(memberPath(path, name), items['x-kubernetes-list-type'], text)]
    : [];
}

function keyViolations(schema: StructuralSchema, keys: readonly string[], path: string): Violation[] {
  const keysPath = memberPath(path, 'x-kubernetes-list-map-keys');
  const found: Violation[] = [];
  if (keys.length === 0) found.push(required(keysPath, 'must not be empty if x-kubernetes-list-type is map'));
  const { items } = schema;
  const itemsPath = memberPath(path, 'items');
  if (!items) return [...found, required(itemsPath, 'must have a schema if x-kubernetes-list-type is map')];
  if (items.type !== 'object')
    return [
      ...found,
      invalid(
        memberPath(itemsPath, 'type'),
        items.type ?? '',
        "must be object if parent array's x-kubernetes-list-type is map",
      ),
    ];
  const shown = goStrings(keys);
  if (new Set(keys).size < keys.length) found.push(invalid(keysPath, shown, 'must not contain duplicate entries'));
  for (const key of keys) {
    const property = propertySchema(items, key);
    if (!property) found.push(invalid(keysPath, shown, 'entries must all be names of item properties'));
    else if (property.type === 'array' || property.type === 'object')
      found.push(
        invalid(
          memberPath(propertyPath(itemsPath, key), 'type'),
          property.type,
          "must be a scalar type if parent array's x-kubernetes-list-type is map",
        ),
      );
  }
  return found;
}

/** Validates that every item of a list of type set or map has a key. */
function itemViolations(schema: StructuralSchema, listType: string, path: string): Violation[] {
  const { items } = schema;
  if (!items || (listType !== 'set' && listType !== 'map')) return [];
  const itemsPath = memberPath(path, 'items');
  const found = items.nullable
    ? [
        forbiddenField(
          memberPath(itemsPath, 'nullable'),
          `cannot be nullable when x-kubernetes-list-type is ${listType}`,
        ),
      ]
    : [];
  if (listType === 'set') return found;
  const why = 'this property is in x-kubernetes-list-map-keys, so it';
  for (const key of schema['x-kubernetes-list-map-keys'] ?? []) {
    const property = propertySchema(items, key);
    if (!property) continue;
    const keyPath = propertyPath(itemsPath, key);
    if (property.default === undefined && !items.required?.includes(key))
      found.push(required(memberPath(keyPath, 'default'), `${why} must have a default or be a required property`));
    if (property.nullable) found.push(forbiddenField(memberPath(keyPath, 'nullable'), `${why} cannot be nullable`));
  }
  return found;
}
