import { isRecord, recordAt, recordsAt, stringAt, stringsAt, type UnknownRecord } from '../../../model/record.js';
import type { ApiField, ApiKind, ApiVersion } from './api.js';

/** Upstream's text for a deprecated version, which names the releases. */
const RELEASES = /deprecated in v(\d{1,9}\.\d{1,9})\+(?:, unavailable in v(\d{1,9}\.\d{1,9})\+)?/;

/** The part of a schema that must not change, as text. */
function typeOf(schema: UnknownRecord): string {
  const type = schema['x-kubernetes-int-or-string'] === true ? 'integer or string' : stringAt(schema, 'type') || 'any';
  const markers = ['format', 'x-kubernetes-list-type', 'x-kubernetes-map-type'].map(name => stringAt(schema, name));
  const keys = stringsAt(schema, 'x-kubernetes-list-map-keys').join(',');
  return [type, ...markers, keys].filter(text => text !== '').join(' ');
}

const fieldOf = (schema: UnknownRecord, isRequired: boolean): ApiField => ({
  type: typeOf(schema),
  isRequired,
  hasDefault: schema['default'] !== undefined,
  values: Array.isArray(schema['enum']) ? new Set(schema['enum'].map(value => JSON.stringify(value))) : undefined,
  isOpen: schema['x-kubernetes-preserve-unknown-fields'] === true,
});

/** The places of fields in the schema, by their paths in objects. */
type Places = Map<string, string>;

/** Adds the fields below a schema. Recursive, because the nesting of files is limited. */
function addFields(
  schema: UnknownRecord,
  path: string,
  place: string,
  found: Map<string, ApiField>,
  places: Places,
): void {
  const add = (inner: unknown, innerPath: string, innerPlace: string, isRequired: boolean): void => {
    if (!isRecord(inner)) return;
    found.set(innerPath, fieldOf(inner, isRequired));
    places.set(innerPath, innerPlace);
    addFields(inner, innerPath, innerPlace, found, places);
  };
  const required = new Set(stringsAt(schema, 'required'));
  for (const [name, inner] of Object.entries(recordAt(schema, 'properties') ?? {}))
    add(inner, path === '' ? name : `${path}.${name}`, `${place}.properties[${name}]`, required.has(name));
  add(schema['items'], `${path}[*]`, `${place}.items`, false);
  add(schema['additionalProperties'], `${path}.*`, `${place}.additionalProperties`, false);
}

function versionOf(version: UnknownRecord, field: string): ApiVersion {
  const fields = new Map<string, ApiField>();
  const places: Places = new Map();
  const place = `${field}.schema.openAPIV3Schema`;
  const schema = recordAt(version, 'schema', 'openAPIV3Schema') ?? {};
  fields.set('', fieldOf(schema, false));
  addFields(schema, '', place, fields, places);
  // Every object has these, whatever the schema says.
  for (const name of ['apiVersion', 'kind', 'metadata']) fields.delete(name);
  const [, deprecatedIn, removedIn] = RELEASES.exec(stringAt(version, 'deprecationWarning')) ?? [];
  return {
    name: stringAt(version, 'name'),
    field,
    isServed: version['served'] === true,
    isStored: version['storage'] === true,
    isDeprecated: version['deprecated'] === true,
    introducedIn: undefined,
    deprecatedIn,
    removedIn,
    fields,
    fieldPath: path => places.get(path) ?? place,
  };
}

/** The kind that a CustomResourceDefinition of v1 defines. */
export const kindOfDefinition = (definition: UnknownRecord): ApiKind => ({
  name: stringAt(definition, 'metadata', 'name'),
  group: stringAt(definition, 'spec', 'group'),
  kind: stringAt(definition, 'spec', 'names', 'kind'),
  scope: stringAt(definition, 'spec', 'scope'),
  versions: recordsAt(definition, 'spec', 'versions').map((version, i) => versionOf(version, `spec.versions[${i}]`)),
  convertsByName: stringAt(definition, 'spec', 'conversion', 'strategy') !== 'Webhook',
});
