import type { StructuralSchema } from '../../api/resource.js';
import type { ApiObject, Json, ObjectMeta } from '../../model/object.js';
import { invalid, required, type Violation } from '../../model/refusal.js';
import { StrictErrors } from '../strictErrors.js';
import { normalize } from '../decode.js';
import { validateMetadata } from '../metadata.js';
import type { Field, Struct } from '../model.js';
import type { CustomSchema } from '../resource.js';
import type { Members } from '../patch/members.js';
import { typeOf } from '../table/types.js';
import { applyDefaults, dropNulls, visitEmbedded, hasDefaults, hasEmbedded, prune } from './prune.js';

let metadataStruct: Struct | undefined;

/** A struct with the field metadata only, which has the same type in all kinds. */
function metadataType(): Struct {
  if (!metadataStruct) {
    const metadata: Field = {
      name: 'metadata',
      type: typeOf('meta.v1.ObjectMeta'),
      pointer: true,
      omitEmpty: true,
      required: false,
      merge: {},
      number: 0,
    };
    metadataStruct = {
      is: 'struct',
      id: 'meta.v1.Object',
      typeMeta: false,
      fields: [metadata],
      field: new Map([['metadata', metadata]]),
    };
  }
  return metadataStruct;
}

/** Decodes `metadata`. The paths in errors begin with `prefix`. Throws TypeMismatch. */
function decodeMetadata(given: Json | undefined, prefix: string, strictErrors: StrictErrors): ObjectMeta | undefined {
  if (given === undefined || given === null) return undefined;
  const found: string[] = [];
  const decoded = normalize(metadataType(), { metadata: given }, { strictErrors: found })
    .metadata as unknown as ObjectMeta;
  if (decoded.creationTimestamp === null) delete decoded.creationTimestamp;
  for (const text of found) strictErrors.add(prefix ? text.replace('field "', `field "${prefix}.`) : text);
  return decoded;
}

const unknownField = (path: string): string => `unknown field ${JSON.stringify(path)}`;

/** Removes unknown fields and nulls, and applies defaults, in place. Adds the removed paths to `dropped`. */
function normalizeMembers(object: Members, schema: StructuralSchema, dropped: StrictErrors, defaults: boolean): void {
  prune(object, schema, '', dropped, true);
  dropNulls(object, schema);
  if (defaults) applyDefaults(object, schema);
}

/**
 * Decoding and reading of the objects of a version. Stored objects are read with the schema and the defaults of the
 * `stored` version; then the fields that this version does not have are removed.
 */
export function customSchema(
  schema: StructuralSchema,
  stored: StructuralSchema,
  apiVersion: string,
  kind: string,
): CustomSchema {
  const defaults = hasDefaults(schema);
  const storedDefaults = hasDefaults(stored);
  const embedded = hasEmbedded(schema);
  const readAs = ({ metadata, ...rest }: ApiObject, written: StructuralSchema, isDefaulted: boolean): ApiObject => {
    const members = structuredClone(rest) as unknown as Members;
    normalizeMembers(members, written, new StrictErrors(), isDefaulted);
    if (written !== schema) prune(members, schema, '', new StrictErrors(), true);
    return { ...members, apiVersion, kind, metadata };
  };
  return {
    schema,
    decode(value, strictErrors) {
      const found = new StrictErrors();
      const { apiVersion: _apiVersion, kind: _kind, metadata, ...rest } = value;
      const decoded = decodeMetadata(metadata, '', found) ?? {};
      const members = structuredClone(rest);
      const dropped = new StrictErrors();
      normalizeMembers(members, schema, dropped, defaults);
      for (const path of dropped.texts.sort()) found.add(unknownField(path));
      if (embedded)
        visitEmbedded(members, schema, '', (object, path) => {
          const inner = decodeMetadata(object.metadata, path, found);
          if (inner) object.metadata = inner as Json;
          else delete object.metadata;
        });
      strictErrors.push(...found.texts);
      return { apiVersion, kind, metadata: decoded, ...members };
    },
    read: object => readAs(object, stored, storedDefaults),
    readOwn: object => readAs(object, schema, defaults),
    accept: object => readAs(object, schema, false),
  };
}

/** Validates apiVersion, kind and metadata of embedded objects. */
export function embeddedViolations(object: ApiObject, schema: StructuralSchema): Violation[] {
  if (!hasEmbedded(schema)) return [];
  const found: Violation[] = [];
  visitEmbedded(object as unknown as Json, schema, '', (inner, path) => {
    const { apiVersion, kind, metadata } = inner;
    if (!apiVersion) found.push(required(`${path}.apiVersion`, 'must not be empty'));
    else if (typeof apiVersion === 'string' && apiVersion.split('/').length > 2)
      found.push(invalid(`${path}.apiVersion`, apiVersion, `unexpected GroupVersion string: ${apiVersion}`));
    if (!kind) found.push(required(`${path}.kind`, 'must not be empty'));
    if (metadata) found.push(...embeddedMetadata(inner as unknown as ApiObject, path));
  });
  return found;
}

/** Fields that are not validated in embedded objects. */
const IGNORED_FIELDS = new Set(['metadata.name', 'metadata.namespace', 'metadata.generateName']);

const embeddedMetadata = (object: ApiObject, path: string): Violation[] =>
  validateMetadata(object, { namespaced: true, checkName: () => [], finalizers: 'any' })
    .filter(violation => !IGNORED_FIELDS.has(violation.field))
    .map(violation => ({ ...violation, field: `${path}.${violation.field}` }));
