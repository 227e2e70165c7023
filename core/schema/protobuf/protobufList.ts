import type { Json } from '../../model/object.js';
import type { Struct } from '../model.js';
import { encodeEnvelope, encodeMessage } from './protobuf.js';
import { encodeTexts } from './protobufEncode.js';
import { BYTES } from './protobufWire.js';
import type { Resource } from '../resource.js';
import { typeOf } from '../table/types.js';

/**
 * Lists in protobuf, assembled from the encodings of their items (spec, "Protobuf wrapper"). A record is an item as it
 * is encoded in its list: the tag of the field, the length, and the message of the object. All lists have the same two
 * fields, the items after the metadata.
 */

/** The tag of the field `items`. */
const ITEMS = (2 << 3) | BYTES;
/** The tags of the fields of an envelope: the message, content encoding and content type. */
const RAW = (2 << 3) | BYTES;
const ENVELOPE_END = Uint8Array.of((3 << 3) | BYTES, 0, (4 << 3) | BYTES, 0);

/** The content of a record: the whole object, or its metadata. */
export type MessageForm = 'object' | 'partial';

/** The type of the messages in records. Throws an Error for kinds without a protobuf form. */
export function recordType(resource: Resource, form: MessageForm): Struct {
  if (form === 'partial') return typeOf('meta.v1.PartialObjectMetadata');
  if (!resource.builtIn) throw new Error(`${resource.kind} has no protobuf form`);
  return resource.type;
}

function varint(value: number): number[] {
  const bytes: number[] = [];
  let rest = value;
  for (; rest >= 0x80; rest = Math.floor(rest / 0x80)) bytes.push((rest % 0x80) | 0x80);
  bytes.push(rest);
  return bytes;
}

/**
 * Encodes the JSON texts of objects, in canonical form, as records. All are in one buffer, in order. If `isPacked`,
 * they omit the parts that they share with the texts (`packedEncodings.ts`).
 */
export const encodeRecords = (type: Struct, texts: readonly Uint8Array[], isPacked = false): Uint8Array[] =>
  encodeTexts(type, texts, ITEMS, isPacked);

/** The message in a record. */
export function messageIn(record: Uint8Array): Uint8Array {
  let at = 1;
  while (record[at]! >= 0x80) at++;
  return record.subarray(at + 1);
}

/**
 * The bytes of a list before and after its records; `length` is the total length of the records. `listType` is the type
 * of the list, whose members are those of `list`, without items.
 */
export function listEnvelope(
  listType: Struct,
  list: { readonly kind: string; readonly apiVersion: string },
  length: number,
): { readonly head: Uint8Array; readonly tail: Uint8Array } {
  const fields = encodeMessage(listType, list as unknown as Json);
  // Only the part of an empty message's envelope before the message can be used.
  const empty = encodeEnvelope(list.apiVersion, list.kind, new Uint8Array(0));
  const start = empty.subarray(0, empty.length - ENVELOPE_END.length - 2);
  const head = Buffer.concat([start, Uint8Array.of(RAW, ...varint(fields.length + length)), fields]);
  return { head, tail: ENVELOPE_END };
}
