import protobuf from 'protobufjs/minimal.js';
import { MAGIC } from './protobuf.js';

/*
 * Operations on encoded bodies: the frames of a watch, and the replacement of the resourceVersion (spec, "Protobuf
 * wrapper").
 */

/** Bytes of the length of a frame. */
export const FRAME_LENGTH = 4;

/** Field numbers with wire type 2. */
const FIRST = (1 << 3) | 2;
const SECOND = (2 << 3) | 2;
/** `ObjectMeta.resourceVersion`. */
const REVISION = (6 << 3) | 2;

/** The frame of a watch event: its length in four big-endian bytes, then type and enveloped object. */
export function watchFrame(type: string, envelope: Uint8Array): Uint8Array {
  const writer = protobuf.Writer.create();
  writer.uint32(FIRST).string(type);
  writer.uint32(SECOND).fork();
  writer.uint32(FIRST).bytes(envelope);
  writer.ldelim();
  const message = writer.finish();
  const frame = Buffer.allocUnsafe(FRAME_LENGTH + message.length);
  frame.writeUInt32BE(message.length);
  frame.set(message, FRAME_LENGTH);
  return frame;
}

/** Positions of a length-delimited field: of its key, its content and its end. */
interface Span {
  readonly key: number;
  readonly start: number;
  readonly end: number;
}

/** The first field of a message with a key; undefined if there is none. */
function findField(bytes: Uint8Array, from: number, to: number, key: number): Span | undefined {
  const reader = protobuf.Reader.create(bytes.subarray(0, to));
  reader.pos = from;
  while (reader.pos < to) {
    const at = reader.pos;
    const found = reader.uint32();
    if (found !== key) {
      reader.skipType(found & 7);
      continue;
    }
    const length = reader.uint32();
    return { key: at, start: reader.pos, end: reader.pos + length };
  }
  return undefined;
}

const writeField = (key: number, ...content: readonly Uint8Array[]): Buffer => {
  const writer = protobuf.Writer.create();
  writer.uint32(key).uint32(content.reduce((sum, part) => sum + part.length, 0));
  return Buffer.concat([writer.finish(), ...content]);
};

/**
 * Replaces the resourceVersion of an enveloped object. Metadata is field 1 of every kind. Messages without a
 * resourceVersion are returned unchanged.
 */
export function withEnvelopeRevision(body: Uint8Array, revision: number): Uint8Array {
  const raw = findField(body, MAGIC.length, body.length, SECOND);
  const metadata = raw && findField(body, raw.start, raw.end, FIRST);
  const version = metadata && findField(body, metadata.start, metadata.end, REVISION);
  if (!version) return body;
  const inner = writeField(
    FIRST,
    body.subarray(metadata.start, version.key),
    writeField(REVISION, Buffer.from(String(revision))),
    body.subarray(version.end, metadata.end),
  );
  return Buffer.concat([
    body.subarray(0, raw.key),
    writeField(SECOND, body.subarray(raw.start, metadata.key), inner, body.subarray(metadata.end, raw.end)),
    body.subarray(raw.end),
  ]);
}
