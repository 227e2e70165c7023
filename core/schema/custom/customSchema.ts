import type { StructuralSchema } from '../../api/resource.js';
import type { ApiObject, Json, ObjectMeta } from '../../model/object.js';
import { goValue } from '../../model/text/goText.js';
import { dns1035Label, pathSegment } from '../../model/names.js';
import { invalid, invalidObject, required, type Violation } from '../../model/refusal.js';
import { StrictErrors } from '../decode/strictErrors.js';
import { normalize, TypeMismatch } from '../decode/decode.js';
import { validateMetadata } from '../decode/metadata.js';
import type { Field, Struct } from '../model.js';
import type { CustomSchema } from '../resource.js';
import { type Members, memberOf } from '../patch/members.js';
import { typeOf } from '../table/types.js';
import { applyDefaults, ExcessiveDefaults, Growth, hasDefaults } from './defaults.js';
import { dropNulls, visitEmbedded, hasEmbedded, prune } from './prune.js';

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
      noProto: true,
      fields: [metadata],
      field: new Map([['metadata', metadata]]),
    };
  }
  return metadataStruct;
}

function withoutNullTime(metadata: Members): ObjectMeta {
  if (metadata['creationTimestamp'] === null) delete metadata['creationTimestamp'];
  return metadata as unknown as ObjectMeta;
}

/** Decodes `metadata`. Throws TypeMismatch. */
function decodeMetadata(given: Json | undefined, strictErrors: StrictErrors): ObjectMeta {
  if (given === undefined || given === null) return {};
  const found: string[] = [];
  const decoded = normalize(metadataType(), { metadata: given }, { strictErrors: found }).metadata as Members;
  for (const text of found) strictErrors.add(text);
  return withoutNullTime(decoded);
}

const unknownField = (path: string): string => `unknown field ${JSON.stringify(path)}`;

/**
 * Removes unknown fields and nulls, and applies defaults if there may be any, in place. Adds the removed paths to
 * `dropped`. Throws ExcessiveDefaults.
 */
function normalizeMembers(
  object: Members,
  schema: StructuralSchema,
  dropped: StrictErrors,
  growth: Growth | undefined,
  keepsNulls = false,
): void {
  prune(object, schema, '', dropped, true);
  if (!keepsNulls) dropNulls(object, schema);
  growth?.begin();
  if (growth) applyDefaults(object, schema, growth);
}

/**
 * Returns the result of `work`. Throws Refusal 422 that names object and field if defaults would make the object too
 * large.
 */
export function withinGrowth<T>(apiVersion: string, kind: string, name: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (!(error instanceof ExcessiveDefaults)) throw error;
    throw invalidObject(apiVersion.split('/')[0]!, kind, name, [excessiveDefaults(error.field, error)]);
  }
}

/** The violation of the field at which the defaults of a definition exceed their bound. */
export const excessiveDefaults = (field: string, { most }: ExcessiveDefaults): Violation => ({
  reason: 'FieldValueTooLong',
  field,
  message: `Too long: the defaults of the definition add more than ${most} bytes`,
});

/**
 * Decodes and reads the objects of a version. Stored objects are read with the schema and defaults that `writtenAs`
 * returns for the version in which they were stored; then the fields that this version does not have are removed.
 */
export function customSchema(
  schema: StructuralSchema,
  writtenAs: (object: ApiObject) => StructuralSchema,
  apiVersion: string,
  kind: string,
): CustomSchema {
  const defaults = hasDefaults(schema);
  const known = new Map<StructuralSchema, boolean>();
  /** Whether a schema has defaults. There are as many schemas as versions. */
  const isDefaulted = (written: StructuralSchema): boolean => {
    let found = known.get(written);
    if (found === undefined) known.set(written, (found = hasDefaults(written)));
    return found;
  };
  const embedded = hasEmbedded(schema);
  const readAs = (
    { metadata, ...rest }: ApiObject,
    written: StructuralSchema,
    growth: Growth | undefined,
  ): ApiObject => {
    const members = structuredClone(rest) as unknown as Members;
    withinGrowth(apiVersion, kind, metadata.name ?? '', () =>
      normalizeMembers(members, written, new StrictErrors(), growth),
    );
    if (written !== schema) prune(members, schema, '', new StrictErrors(), true);
    return { ...members, apiVersion, kind, metadata };
  };
  return {
    schema,
    decode(value, strictErrors, keepsNulls = false) {
      const found = new StrictErrors();
      const { apiVersion: _apiVersion, kind: _kind, metadata, ...rest } = value;
      const decoded = decodeMetadata(metadata, found);
      const members = structuredClone(rest);
      const dropped = new StrictErrors();
      withinGrowth(apiVersion, kind, decoded.name ?? '', () =>
        normalizeMembers(members, schema, dropped, defaults ? new Growth() : undefined, keepsNulls),
      );
      for (const path of dropped.texts.sort()) found.add(unknownField(path));
      if (embedded) normalizeEmbedded(members, schema, found);
      strictErrors.push(...found.texts);
      return { apiVersion, kind, metadata: decoded, ...members };
    },
    read(object, growth = new Growth()) {
      const written = writtenAs(object);
      return readAs(object, written, isDefaulted(written) ? growth : undefined);
    },
    readOwn: (object, growth = new Growth()) => readAs(object, schema, defaults ? growth : undefined),
    convert: object => readAs(object, schema, undefined),
    accept: object => readAs(object, schema, undefined),
  };
}

/** Thrown for an embedded object whose apiVersion, kind or metadata have a wrong type. */
export class EmbeddedMismatch extends TypeMismatch {
  constructor(
    /** The path, the value there, and the problem with it. */
    readonly field: string,
    readonly value: Json,
    readonly why: string,
  ) {
    super(`${field}: ${invalid(field, goValue(value), why).message}`);
  }
}

/** Decodes the metadata of the embedded objects of a value, in place. Throws EmbeddedMismatch. */
export const normalizeEmbedded = (value: Json, schema: StructuralSchema, found: StrictErrors): void =>
  visitEmbedded(value, schema, '', (object, path) => decodeEmbedded(object, path ? `${path}.` : '', found));

/** Decodes the metadata of an embedded object, in place. Throws EmbeddedMismatch. */
function decodeEmbedded(object: Members, prefix: string, strictErrors: StrictErrors): void {
  for (const member of ['apiVersion', 'kind']) {
    const value = memberOf(object, member);
    if (value !== undefined && typeof value !== 'string')
      throw new EmbeddedMismatch(prefix + member, value, 'must be a string');
  }
  const given = memberOf(object, 'metadata');
  delete object['metadata'];
  if (given === undefined || given === null) return;
  const found: string[] = [];
  try {
    const decoded = normalize(typeOf('meta.v1.ObjectMeta'), given, { strictErrors: found });
    object['metadata'] = withoutNullTime(decoded) as Json;
  } catch (error) {
    if (!(error instanceof TypeMismatch)) throw error;
    throw new EmbeddedMismatch(`${prefix}metadata`, given, error.message);
  }
  for (const text of found) strictErrors.add(text.replace('field "', `field "${prefix}metadata.`));
}

/** Validates apiVersion, kind and metadata of embedded objects. */
export function embeddedViolations(object: ApiObject, schema: StructuralSchema): Violation[] {
  if (!hasEmbedded(schema)) return [];
  const found: Violation[] = [];
  visitEmbedded(object as unknown as Json, schema, '', (inner, path) => {
    const { metadata } = inner;
    for (const member of ['apiVersion', 'kind'] as const)
      if (inner[member] === undefined) found.push(required(joinField(path, member), 'must not be empty'));
    found.push(
      ...nameViolations(inner, 'apiVersion', path, text =>
        text.split('/').length > 2 ? [`unexpected GroupVersion string: ${text}`] : [],
      ),
      ...nameViolations(inner, 'kind', path, text =>
        dns1035Label(text.toLowerCase()).map(why => `may have mixed case, but should otherwise match: ${why}`),
      ),
    );
    if (metadata) found.push(...embeddedMetadata(inner as unknown as ApiObject, path));
  });
  return found;
}

const joinField = (path: string, member: string): string => (path ? `${path}.${member}` : member);

/** Violations of `apiVersion` or `kind` of an embedded object, if it is present. */
function nameViolations(
  object: Members,
  member: 'apiVersion' | 'kind',
  path: string,
  check: (text: string) => readonly string[],
): Violation[] {
  const field = joinField(path, member);
  const value = object[member];
  if (value === undefined) return [];
  if (typeof value !== 'string') return [invalid(field, goValue(value), 'must be a string')];
  if (value === '') return [invalid(field, value, 'must not be empty')];
  return check(value).map(why => invalid(field, value, why));
}

/** Violations of the metadata of an embedded object, which may lack a name and a namespace. */
function embeddedMetadata(object: ApiObject, path: string): Violation[] {
  const { metadata } = object;
  const named = metadata.name ? object : { ...object, metadata: { ...metadata, name: 'unnamed' } };
  const namespaced = Boolean(metadata.namespace);
  return validateMetadata(named, { namespaced, checkName: pathSegment, finalizers: 'any' }).map(violation => ({
    ...violation,
    field: `${path}.${violation.field}`,
  }));
}
