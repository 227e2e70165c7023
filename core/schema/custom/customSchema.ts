import type { StructuralSchema } from '../../api/resource.js';
import type { ApiObject, Json, ObjectMeta } from '../../model/object.js';
import { invalid, required, type Violation } from '../../model/refusal.js';
import { Complaints } from '../complaints.js';
import { normalize } from '../decode.js';
import { validateMetadata } from '../metadata.js';
import type { Field, Struct } from '../model.js';
import type { CustomSchema } from '../resource.js';
import { typeOf } from '../table/types.js';
import { applyDefaults, dropNulls, embeddedIn, hasDefaults, hasEmbedded, prune } from './prune.js';

type Rec = { [key: string]: Json };

let envelope: Struct | undefined;

/** A struct of metadata alone: the only part of a custom object that has a type of the table. */
function envelopeType(): Struct {
  if (!envelope) {
    const metadata: Field = {
      name: 'metadata',
      type: typeOf('meta.v1.ObjectMeta'),
      pointer: true,
      omitEmpty: true,
      required: false,
      merge: {},
      number: 0,
    };
    envelope = {
      is: 'struct',
      id: 'meta.v1.Object',
      typeMeta: false,
      fields: [metadata],
      field: new Map([['metadata', metadata]]),
    };
  }
  return envelope;
}

/** Decodes `metadata`; complaints name fields below `prefix`. Throws TypeMismatch. */
function decodeMetadata(given: Json | undefined, prefix: string, complaints: Complaints): ObjectMeta | undefined {
  if (given === undefined || given === null) return undefined;
  const found: string[] = [];
  const decoded = normalize(envelopeType(), { metadata: given }, { complaints: found })
    .metadata as unknown as ObjectMeta;
  if (decoded.creationTimestamp === null) delete decoded.creationTimestamp;
  for (const text of found) complaints.add(prefix ? text.replace('field "', `field "${prefix}.`) : text);
  return decoded;
}

const unknownField = (path: string): string => `unknown field ${JSON.stringify(path)}`;

/**
 * Settles what an object of the schema says: members it does not know, nulls, defaults. In place; `dropped` gets paths.
 */
function settle(object: Rec, schema: StructuralSchema, dropped: Complaints, defaults: boolean): void {
  prune(object, schema, '', dropped, true);
  dropNulls(object, schema);
  if (defaults) applyDefaults(object, schema);
}

/**
 * Reading and writing of the objects of one version. What is stored is read by the schema of the `stored` version,
 * whose defaults count, and then shown without what this version does not know.
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
  return {
    schema,
    decode(value, complaints) {
      const found = new Complaints();
      const { apiVersion: _apiVersion, kind: _kind, metadata, ...rest } = value;
      const decoded = decodeMetadata(metadata, '', found) ?? {};
      const members = structuredClone(rest);
      const dropped = new Complaints();
      settle(members, schema, dropped, defaults);
      for (const path of dropped.texts.sort()) found.add(unknownField(path));
      if (embedded)
        embeddedIn(members, schema, '', (object, path) => {
          const inner = decodeMetadata(object.metadata, path, found);
          if (inner) object.metadata = inner as Json;
          else delete object.metadata;
        });
      complaints.push(...found.texts);
      return { apiVersion, kind, metadata: decoded, ...members };
    },
    read(object) {
      const { metadata, ...rest } = object;
      const members = structuredClone(rest) as unknown as Rec;
      settle(members, stored, new Complaints(), storedDefaults);
      if (stored !== schema) prune(members, schema, '', new Complaints(), true);
      return { ...members, apiVersion, kind, metadata };
    },
  };
}

/** What is wrong with the metadata and the type of embedded objects. */
export function embeddedViolations(object: ApiObject, schema: StructuralSchema): Violation[] {
  if (!hasEmbedded(schema)) return [];
  const found: Violation[] = [];
  embeddedIn(object as unknown as Json, schema, '', (inner, path) => {
    const { apiVersion, kind, metadata } = inner;
    if (!apiVersion) found.push(required(`${path}.apiVersion`, 'must not be empty'));
    else if (typeof apiVersion === 'string' && apiVersion.split('/').length > 2)
      found.push(invalid(`${path}.apiVersion`, apiVersion, `unexpected GroupVersion string: ${apiVersion}`));
    if (!kind) found.push(required(`${path}.kind`, 'must not be empty'));
    if (metadata) found.push(...embeddedMetadata(inner as unknown as ApiObject, path));
  });
  return found;
}

/** An embedded object needs no name, and its namespace is its own affair. */
const NAMES = new Set(['metadata.name', 'metadata.namespace', 'metadata.generateName']);

const embeddedMetadata = (object: ApiObject, path: string): Violation[] =>
  validateMetadata(object, { namespaced: true, checkName: () => [], finalizers: 'any' })
    .filter(violation => !NAMES.has(violation.field))
    .map(violation => ({ ...violation, field: `${path}.${violation.field}` }));
