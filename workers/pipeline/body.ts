import type { ApiObject, Json, ObjectMeta } from '../../core/model/object.js';
import { badRequest, invalid, invalidObject, Refusal, type Violation } from '../../core/model/refusal.js';
import {
  decodeAsKind,
  decodeObject,
  encode,
  normalize,
  parseJson,
  parseStrict,
  TypeMismatch,
} from '../../core/schema/decode.js';
import {
  type MetadataRules,
  validateMetadata as metadataViolations,
  validateMetadataUpdate as metadataUpdateViolations,
} from '../../core/schema/metadata.js';
import type { Struct } from '../../core/schema/model.js';
import { strictComplaints } from '../../core/schema/strict.js';
import type { Resource } from '../../core/schema/resource.js';
import { Unreadable } from '../../core/schema/unreadable.js';
import { decodeEnvelope, decodeMessage } from '../../core/schema/protobuf.js';
import { typeOf } from '../../core/schema/table/types.js';
import { deeplySorted, isMembers, treeText } from '../../core/schema/patch/members.js';
import { neutralMediaType } from '../../core/naming.js';
import { decodeYaml, decodeYamlStrict } from '../../core/schema/yaml.js';
import type { Context, Permitted } from './context.js';
import type { WriteOptions } from './options.js';

/** Body formats that carry an object. */
const isYaml = (mediaType: string): boolean => mediaType === 'application/yaml';
const mediaTypeOf = (contentType: string): string => contentType.split(';')[0]!.trim().toLowerCase();

/** Refuses or reports what the field validation level says about complaints (spec, "Field validation"). */
export function complain(
  level: WriteOptions['fieldValidation'],
  complaints: readonly string[],
  warnings: string[],
  refuse: (all: string) => Refusal,
): void {
  if (complaints.length === 0 || level === 'Ignore') return;
  if (level === 'Strict') throw refuse(complaints.join(', '));
  warnings.push(...complaints);
}

const PROTOBUF = 'application/vnd.orchestrator.protobuf';

/** A body in the protobuf envelope (spec, "Protobuf wrapper"), as the JSON value it stands for. */
function fromProtobuf({ route, resource, target }: Permitted, bytes: Uint8Array): Json {
  const { apiVersion, kind, raw } = decodeEnvelope(bytes);
  const deletes = target.verb === 'delete' || target.verb === 'deletecollection';
  const type = deletes ? typeOf('meta.v1.DeleteOptions') : (route.subresource?.type ?? resource.type);
  return { kind, apiVersion, ...(decodeMessage(type, raw).value as { [key: string]: Json }) };
}

const textOf = (bytes: Uint8Array): string =>
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8');

/**
 * Parses a body in the format its Content-Type names; what it gives twice goes to `permitted.duplicates`. Throws 400
 * and 415.
 */
export function parseBody(context: Context, permitted: Permitted, options: WriteOptions, body: Uint8Array): Json {
  const mediaType = mediaTypeOf(permitted.job.contentType);
  const patch = permitted.job.method === 'PATCH' && mediaType.endsWith('-patch+json');
  if (neutralMediaType(mediaType) === PROTOBUF && permitted.resource.builtIn) return fromProtobuf(permitted, body);
  const yaml = isYaml(mediaType);
  if (mediaType && mediaType !== 'application/json' && !yaml && !patch) {
    const accepted = ['application/json', 'application/yaml', PROTOBUF].map(context.naming.mediaType).join(', ');
    throw new Refusal(
      'UnsupportedMediaType',
      `the body of the request was in an unknown format - accepted media types include: ${accepted}`,
    );
  }
  if (options.fieldValidation === 'Ignore') return yaml ? decodeYaml(body) : parseJson(body);
  const { value, duplicates } = yaml ? decodeYamlStrict(body) : parseStrict(body);
  // They are told together with the unknown fields, which are found later.
  permitted.duplicates.push(...duplicates);
  return value;
}

/**
 * Complaints about a body of the type: of JSON in the order in which its members stand, what is given twice among what
 * is unknown.
 */
function ordered(permitted: Permitted, type: Struct, duplicates: readonly string[], unknown: string[]): string[] {
  if (duplicates.length === 0) return unknown;
  const isJson = ['', 'application/json'].includes(mediaTypeOf(permitted.job.contentType));
  return isJson && permitted.job.body
    ? strictComplaints(textOf(permitted.job.body), type)
    : [...duplicates, ...unknown];
}

function strictRefusal({ route, resource }: Permitted, all: string): Refusal {
  const { kind, version } = route.subresource?.type ? route.subresource : resource;
  return badRequest(
    `${kind} in version ${JSON.stringify(version)} cannot be handled as a ${kind}: strict decoding error: ${all}`,
  );
}

/** Bytes of a body that a refusal shows. */
const SHOWN_BYTES = 30;

/** The beginning of a body: as text where that looks like an object, else in hexadecimal. */
function summary(body: Uint8Array): string {
  if (body.length === 0) return '<empty>';
  const start = Buffer.from(body.subarray(0, SHOWN_BYTES));
  return start.toString(start[0] === 0x7b ? 'utf8' : 'hex') + (body.length > SHOWN_BYTES ? ' ...' : '');
}

/**
 * What `read` makes of a body; if nobody can tell what the body is, the refusal says what it had to be, and how it
 * begins.
 */
function recognized<T>({ resource, route }: Permitted, body: Uint8Array, read: () => T): T {
  try {
    return read();
  } catch (cause) {
    if (!(cause instanceof Unreadable) || resource.custom) throw cause;
    const kind = route.subresource?.kind ?? resource.kind;
    throw badRequest(
      `the object provided is unrecognized (must be of type ${kind}): ${cause.message} (${summary(body)})`,
    );
  }
}

/**
 * Decodes the object of a create or update: kind and apiVersion may be left out, but may not differ from the path's.
 */
export function decodeBody(context: Context, permitted: Permitted, options: WriteOptions, body: Uint8Array): ApiObject {
  const { route, resource } = permitted;
  const sub = route.subresource;
  if (sub?.type && sub.kind !== resource.kind) return decodeSubresource(context, permitted, options, body);
  const value = recognized(permitted, body, () => envelope(permitted, parseBody(context, permitted, options, body)));
  return decodeValue(permitted, options, value);
}

/** The refusal of a body that is no object. */
const noEnvelope = (value: Json): Refusal =>
  new Unreadable(
    `couldn't get version/kind; json parse error: json: cannot unmarshal ${Array.isArray(value) ? 'array' : typeof value} into Go value of type struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }`,
  );

/** Checks the envelope and fills it in. */
function envelope({ resource, target }: Permitted, value: Json): { [key: string]: Json } {
  const object = value === null ? {} : value;
  if (!isMembers(object)) throw noEnvelope(object);
  const kind = envelopeText(object, 'kind');
  const apiVersion = envelopeText(object, 'apiVersion');
  if (resource.custom) customEnvelope(resource, target.verb === 'patch', object);
  if (kind !== '' && kind !== resource.kind) {
    throw badRequest(
      `${kind} in version ${JSON.stringify(versionOf(apiVersion || resource.apiVersion))} cannot be handled as a ${resource.kind}: no kind ${JSON.stringify(kind)} is registered for version ${JSON.stringify(apiVersion || resource.apiVersion)}`,
    );
  }
  if (apiVersion !== '' && apiVersion !== resource.apiVersion) {
    throw badRequest(
      `the API version in the data (${apiVersion}) does not match the expected API version (${resource.apiVersion})`,
    );
  }
  return object;
}

/** Custom kinds take no envelope from the path: version and kind must be there and right. */
function customEnvelope(
  { group, apiVersion, kind }: Resource,
  patched: boolean,
  object: { [key: string]: Json },
): void {
  const given = String(object['apiVersion'] ?? '');
  const named = String(object['kind'] ?? '');
  const metadata = object['metadata'];
  const name = isMembers(metadata ?? null) ? String((metadata as { name?: Json }).name ?? '') : '';
  if (given !== apiVersion && patched)
    throw invalidObject(group, named, name, [invalid('apiVersion', given, `must be ${apiVersion}`)]);
  if (given !== apiVersion)
    throw badRequest(`the API version in the data (${given}) does not match the expected API version (${apiVersion})`);
  if (named !== kind) throw invalidObject(group, named, name, [invalid('kind', named, `must be ${kind}`)]);
}

/** A member of the envelope, '' where it is absent. Throws 400 where it is no text. */
function envelopeText(object: { [key: string]: Json }, name: string): string {
  const value = object[name] ?? '';
  if (typeof value === 'string') return value;
  const type = Array.isArray(value) ? 'array' : typeof value === 'boolean' ? 'bool' : typeof value;
  throw new Unreadable(
    `couldn't get version/kind; json parse error: json: cannot unmarshal ${type} into Go struct field .${name} of type string`,
  );
}

const versionOf = (apiVersion: string): string => apiVersion.slice(apiVersion.indexOf('/') + 1);

function decodeValue(permitted: Permitted, options: WriteOptions, value: { [key: string]: Json }): ApiObject {
  const { resource, warnings } = permitted;
  const duplicates = permitted.duplicates.splice(0);
  const complaints: string[] = [];
  const object = decodeObject(resource, value, { complaints });
  const all = resource.custom
    ? [...duplicates, ...complaints]
    : ordered(permitted, resource.type, duplicates, complaints);
  complain(options.fieldValidation, all, warnings, text => strictRefusal(permitted, text));
  return settled(resource, object);
}

function settled(resource: Resource, object: ApiObject): ApiObject {
  object.metadata = (object.metadata ?? {}) as ObjectMeta;
  resource.strategy.applyDefaults(object);
  return object;
}

/**
 * Decodes the result of a patch: as a body, with the object's own envelope. What the patch itself was complained about
 * comes before what is unknown. `type` is that of a subresource with an own kind. A `strategic` merge puts a tree
 * together: what is unknown is told in the order of its texts. One that leads to no object of the kind, or that has
 * unknown fields where these are refused, is a 422 that shows the patch or, of the other formats, what it led to.
 */
export function decodePatched(
  permitted: Permitted,
  options: WriteOptions,
  value: Json,
  type?: Struct,
  strategic = false,
): ApiObject {
  const { resource, warnings, job } = permitted;
  const complaints: string[] = [];
  const unfit = (why: string): Refusal => {
    const given = strategic && job.body ? treeText(parseJson(job.body)) : JSON.stringify(value);
    return invalidObject('', '', '', [invalid('patch', given, why)]);
  };
  let object: ApiObject;
  try {
    object = type
      ? decodeAs(permitted, type, value, complaints)
      : decodeAsKind(resource, envelope(permitted, value), { complaints, converts: strategic });
  } catch (error) {
    // A patch that leads to no object of the kind is well-formed, but cannot be carried out.
    const wrong = error instanceof TypeMismatch || (error instanceof Refusal && error.reason === 'BadRequest');
    throw wrong ? unfit(error.message) : error;
  }
  if (strategic) complaints.sort();
  const all = [...permitted.duplicates.splice(0), ...complaints];
  complain(options.fieldValidation, all, warnings, text => unfit(`strict decoding error: ${text}`));
  return type ? object : settled(resource, object);
}

/** Decodes the body of a subresource whose kind is not the resource's (Scale, Binding). */
export function decodeSubresource(
  context: Context,
  permitted: Permitted,
  options: WriteOptions,
  body: Uint8Array,
): ApiObject {
  const value = recognized(permitted, body, () => parseBody(context, permitted, options, body));
  const { route, resource } = permitted;
  const type = route.subresource?.type ?? resource.type;
  const duplicates = permitted.duplicates.splice(0);
  const unknown: string[] = [];
  const object = decodeAs(permitted, type, value, unknown);
  const all = ordered(permitted, type, duplicates, unknown);
  complain(options.fieldValidation, all, permitted.warnings, text => strictRefusal(permitted, text));
  return object;
}

function decodeAs(permitted: Permitted, type: Struct, value: Json, complaints: string[]): ApiObject {
  const { kind, version } = permitted.route.subresource ?? permitted.resource;
  try {
    const object = normalize(type, subresourceEnvelope(permitted, value), { complaints }) as unknown as ApiObject;
    object.metadata ??= {};
    return object;
  } catch (error) {
    if (!(error instanceof TypeMismatch)) throw error;
    throw badRequest(`${kind} in version ${JSON.stringify(version)} cannot be handled as a ${kind}: ${error.message}`);
  }
}

/**
 * Checks the envelope of a subresource's body, which may be left out. What is only created is taken in every version of
 * its group.
 */
function subresourceEnvelope({ route, resource, target }: Permitted, value: Json): { [key: string]: Json } {
  const object = value === null ? {} : value;
  if (!isMembers(object)) throw noEnvelope(object);
  const { kind, group, version } = route.subresource ?? resource;
  const named = envelopeText(object, 'kind') || kind;
  const expected = group === '' ? version : `${group}/${version}`;
  const given = envelopeText(object, 'apiVersion') || expected;
  const known = target.verb === 'create' ? given === expected || given.startsWith(`${group}/`) : given === expected;
  if (named === kind && known) return object;
  throw badRequest(
    named === kind
      ? `the API version in the data (${given}) does not match the expected API version (${expected})`
      : `${named} in version ${JSON.stringify(versionOf(given))} cannot be handled as a ${kind}: no kind ${JSON.stringify(named)} is registered for version ${JSON.stringify(given)}`,
  );
}

const OPTIONS_KIND = 'DeleteOptions';

/** The body of a DELETE as delete options, undefined without one. */
export function decodeOptions(context: Context, permitted: Permitted): { [member: string]: unknown } | undefined {
  const { job } = permitted;
  if (!job.body || job.body.length === 0) return undefined;
  const value = parseBody(context, permitted, { dryRun: false, fieldValidation: 'Ignore' }, job.body) ?? {};
  if (!isMembers(value)) throw noEnvelope(value);
  const kind = value['kind'] ?? '';
  if (kind !== '' && kind !== OPTIONS_KIND)
    throw badRequest(
      `no kind ${JSON.stringify(kind)} is registered for version ${JSON.stringify(value['apiVersion'] ?? '')}`,
    );
  try {
    return normalize(typeOf('meta.v1.DeleteOptions'), value, { complaints: [] }) as { [member: string]: unknown };
  } catch (error) {
    throw error instanceof TypeMismatch ? badRequest(error.message) : error;
  }
}

/**
 * Canonical text of an object in the version of `resource`: what is stored and sent. Members stand in declaration
 * order, whoever set them.
 */
export const encodeObject = (resource: Resource, object: ApiObject): string =>
  encode(
    resource.builtIn ? decodeObject(resource, object as unknown as Json, { complaints: [] }) : customOrder(object),
  );

/**
 * The envelope first, and in metadata the members before `resourceVersion`, which only hold strings; all else by name.
 */
function customOrder({ apiVersion, kind, metadata, ...rest }: ApiObject): object {
  const { name, generateName, namespace, uid, resourceVersion, ...others } = metadata;
  return {
    apiVersion,
    kind,
    metadata: { name, generateName, namespace, uid, resourceVersion, ...(deeplySorted(others as Json) as object) },
    ...(deeplySorted(rest as Json) as object),
  };
}

/** Complaints about the metadata of a new object. */
export const validateMetadata = (object: ApiObject, resource: Resource): readonly Violation[] =>
  metadataViolations(object, metadataRules(resource));

/** Complaints about changes of metadata. */
export const validateMetadataUpdate = (object: ApiObject, old: ApiObject, resource: Resource): readonly Violation[] =>
  metadataUpdateViolations(object, old, metadataRules(resource));

const metadataRules = ({ namespaced, strategy }: Resource): MetadataRules => ({
  namespaced,
  checkName: strategy.checkName,
  ...(strategy.allowAnyFinalizer ? { finalizers: 'any' } : {}),
});
