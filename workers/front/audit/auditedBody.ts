import { isRecord, type UnknownRecord } from '../../../core/model/record.js';
import { neutralMediaType } from '../../../core/naming.js';
import type { Route } from '../../../core/request/route.js';
import { decodeCbor } from '../../../core/schema/cbor/cborDecode.js';
import type { Struct } from '../../../core/schema/model.js';
import { decodeEnvelope, decodeMessage } from '../../../core/schema/protobuf/protobuf.js';
import { findType } from '../../../core/schema/table/types.js';
import { decodeYaml } from '../../../core/schema/yaml/yaml.js';
import { PROTOBUF_TYPE } from '../../../core/request/negotiate.js';

const OTHER_KINDS: ReadonlyMap<string, string> = new Map([
  ['Status', 'meta.v1.Status'],
  ['DeleteOptions', 'meta.v1.DeleteOptions'],
]);

/** The type of the objects of a kind in the bodies of a route. */
function typeOf({ resource, subresource }: Route, kind: string): Struct | undefined {
  if (kind === subresource?.kind && subresource.type) return subresource.type;
  if (kind === resource?.kind) return resource.type;
  const id = OTHER_KINDS.get(kind);
  return id === undefined ? undefined : findType(id);
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
 * Whether an object is of a kind that requests of a route have, or says no kind, as patches do. Others may be what the
 * policy does not expect here, such as a Secret that is sent to another address.
 */
export function isOfRoute(object: object, { resource, subresource }: Route): boolean {
  const { kind } = object as UnknownRecord;
  return !kind || [resource?.kind, subresource?.kind, 'DeleteOptions'].includes(kind as string);
}

const withoutOwn = (object: unknown): unknown => {
  if (!isRecord(object) || !isRecord(object['metadata'])) return object;
  const { managedFields: _fields, ...metadata } = object['metadata'];
  return { ...object, metadata };
};

/** An object, or a list and its items, without managedFields. */
export function withoutManagedFields(object: object): object {
  const { items } = object as UnknownRecord;
  const whole = withoutOwn(object) as object;
  return Array.isArray(items) ? { ...whole, items: items.map(withoutOwn) } : whole;
}
