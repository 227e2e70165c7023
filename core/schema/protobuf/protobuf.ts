import protobuf from 'protobufjs/minimal.js';
import { writeJson } from '../../model/text/jsonText.js';
import type { Json } from '../../model/object.js';
import type { Struct } from '../model.js';
import { encodeText } from './protobufEncode.js';
import { BYTES, MAGIC } from './protobufWire.js';
import { findType } from '../table/types.js';

export { decodeEnvelope, decodeMessage } from './protobufDecode.js';
export { MAGIC } from './protobufWire.js';

/*
 * The protobuf encoding of built-in kinds, driven by the type model (spec, "Protobuf wrapper"). As in proto2, fields
 * that are neither pointers, lists nor maps are always written. `encodeMessage` expects JSON in canonical form; the
 * result of `decodeMessage` must still be normalized.
 */

type Writer = protobuf.Writer;

const writeTag = (writer: Writer, number: number, wire: number): Writer => writer.uint32((number << 3) | wire);

/** Encodes an object, list or options type. Kind and apiVersion are part of the envelope, not of the message. */
export function encodeMessage(struct: Struct, value: Json): Uint8Array {
  return encodeText(struct, Buffer.from(writeJson(value)));
}

/** Makes a body: the magic bytes, then the envelope with kind, apiVersion and the message. */
export function encodeEnvelope(apiVersion: string, kind: string, raw: Uint8Array): Uint8Array {
  const writer = protobuf.Writer.create();
  writeTag(writer, 1, BYTES).fork();
  writeTag(writer, 1, BYTES).string(apiVersion);
  writeTag(writer, 2, BYTES).string(kind);
  writer.ldelim();
  writeTag(writer, 2, BYTES).bytes(raw);
  writeTag(writer, 3, BYTES).string('');
  writeTag(writer, 4, BYTES).string('');
  return Buffer.concat([MAGIC, writer.finish()]);
}

/**
 * Encodes an object of the meta group (Status, PartialObjectMetadata, discovery documents) or of another package as a
 * body. Returns undefined if its kind has no protobuf form.
 */
export function encodeCommon(
  object: { readonly kind: string; readonly apiVersion?: string },
  packageName = 'meta.v1',
): Uint8Array | undefined {
  const struct = findType(`${packageName}.${object.kind}`);
  if (!struct || struct.noProto) return undefined;
  return encodeEnvelope(object.apiVersion ?? 'v1', object.kind, encodeMessage(struct, object as unknown as Json));
}
