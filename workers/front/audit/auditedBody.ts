import { isRecord, type UnknownRecord } from '../../../core/model/record.js';
import type { ApiObject, Json } from '../../../core/model/object.js';
import { neutralMediaType } from '../../../core/naming.js';
import type { Route } from '../../../core/request/route.js';
import { decodeCbor } from '../../../core/schema/cbor/cborDecode.js';
import { decodeAsKind, normalize } from '../../../core/schema/decode/decode.js';
import type { Struct } from '../../../core/schema/model.js';
import type { Subresource } from '../../../core/schema/resource.js';
import { decodeEnvelope, decodeMessage } from '../../../core/schema/protobuf/protobuf.js';
import { findType } from '../../../core/schema/table/types.js';
import { decodeYaml } from '../../../core/schema/yaml/yaml.js';
import { PROTOBUF_TYPE } from '../../../core/request/negotiate.js';

const OTHER_KINDS: ReadonlySet<string> = new Set([
  'Status',
  'DeleteOptions',
  'PartialObjectMetadata',
  'PartialObjectMetadataList',
]);

/** The type of a kind's objects in the bodies of a route. */
function typeOf({ resource, subresource }: Route, kind: string): Struct | undefined {
  if (kind === subresource?.kind && subresource.type) return subresource.type;
  if (kind === resource?.kind) return resource.type;
  if (kind === resource?.listKind) return resource.listType;
  return OTHER_KINDS.has(kind) ? findType(`meta.v1.${kind}`) : undefined;
}

function parseProtobuf(bytes: Uint8Array, route: Route): object | undefined {
  const { apiVersion, kind, raw } = decodeEnvelope(bytes);
  const type = typeOf(route, kind);
  return type && { kind, apiVersion, ...decodeMessage(type, raw).value };
}

function parse(bytes: Uint8Array, contentType: string, route: Route): unknown {
  const mediaType = neutralMediaType(contentType.split(';')[0]!.trim().toLowerCase());
  if (mediaType === PROTOBUF_TYPE) return parseProtobuf(bytes, route);
  if (mediaType.endsWith('cbor')) return decodeCbor(bytes);
  return mediaType.endsWith('yaml') ? decodeYaml(bytes) : JSON.parse(Buffer.from(bytes).toString('utf8'));
}

/** The object or list in a body, as JSON; undefined unless it is JSON, YAML, CBOR or protobuf of a known kind. */
export function parseAuditedBody(bytes: Uint8Array, contentType: string, route: Route): object | undefined {
  if (bytes.length === 0) return undefined;
  try {
    const value = parse(bytes, contentType, route);
    return typeof value === 'object' && value !== null ? value : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Whether an object is of a kind that requests of a route have, or names no kind, as in patches. Objects of other kinds
 * may be something that the policy does not expect here, such as a Secret sent to the path of another resource.
 */
export function isOfRoute(object: object, { resource, subresource }: Route): boolean {
  const { kind } = object as UnknownRecord;
  return !kind || [resource?.kind, subresource?.kind, 'DeleteOptions'].includes(kind as string);
}

/** Decodes an object of a create or update; undefined if it has fields that the request refuses. Throws. */
function decode(object: object, { resource, subresource, query }: Route): object | undefined {
  const members = object as { [member: string]: Json };
  const sink = { strictErrors: [] as string[] };
  const isOfSubresource = subresource?.type !== undefined && subresource.kind !== resource!.kind;
  const decoded = isOfSubresource
    ? { ...typeMetaOf(subresource, members), ...withoutTypeMeta(normalize(subresource.type!, members, sink)) }
    : decodeAsKind(resource!, members, sink);
  if (sink.strictErrors.length > 0 && query.get('fieldValidation')?.[0] === 'Strict') return undefined;
  if (!isOfSubresource) resource!.strategy.applyDefaults(decoded as ApiObject);
  return resource!.custom ? withCreationTimestamp(decoded as ApiObject) : decoded;
}

/** The kind and version that a body of a subresource has, even if it was sent without them. */
const typeMetaOf = (subresource: Subresource, sent: { readonly [member: string]: Json }) => ({
  kind: sent['kind'] || subresource.kind,
  apiVersion: sent['apiVersion'] || [subresource.group, subresource.version].filter(Boolean).join('/'),
});

const withoutTypeMeta = ({ kind: _kind, apiVersion: _apiVersion, ...members }: UnknownRecord): UnknownRecord => members;

/** Objects that are not stored yet have `creationTimestamp: null` in upstream's events, of custom kinds too. */
const withCreationTimestamp = (object: ApiObject): object => ({
  ...object,
  metadata: { creationTimestamp: null, ...object.metadata },
});

/**
 * The object that was sent, as the server has understood it. That of a create or update has its kind and defaults and
 * no unknown fields, and is undefined if it could not be decoded. A patch is returned as it is. `metaGroup` is the
 * group of delete options.
 */
export function understoodRequest(object: object, route: Route, metaGroup: string): object | undefined {
  const { resource, target } = route;
  if (!resource || !isOfRoute(object, route)) return undefined;
  const { verb } = target;
  if (verb === 'delete' || verb === 'deletecollection')
    return { ...object, kind: 'DeleteOptions', apiVersion: `${metaGroup}/__internal` };
  if (verb !== 'create' && verb !== 'update') return object;
  const { apiVersion } = object as UnknownRecord;
  if (!route.subresource && apiVersion && apiVersion !== resource.apiVersion) return undefined;
  try {
    return decode(object, route);
  } catch {
    return undefined;
  }
}

const withoutOwn = (object: unknown): unknown => {
  if (!isRecord(object) || !isRecord(object['metadata'])) return object;
  const { managedFields: _fields, ...metadata } = object['metadata'];
  return { ...object, metadata };
};

const rowWithoutOwn = (row: unknown): unknown => (isRecord(row) ? { ...row, object: withoutOwn(row['object']) } : row);

/** An object, a list and its items, or a Table and the objects of its rows, without managedFields. */
export function withoutManagedFields(object: object): object {
  const { kind, items, rows } = object as UnknownRecord;
  const whole = withoutOwn(object) as object;
  if (kind === 'Table' && Array.isArray(rows)) return { ...whole, rows: rows.map(rowWithoutOwn) };
  return Array.isArray(items) ? { ...whole, items: items.map(withoutOwn) } : whole;
}
