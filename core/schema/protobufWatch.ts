import protobuf from 'protobufjs/minimal.js';
import { MAGIC } from './protobuf.js';

/*
 * What surrounds encoded objects on the way out: the frames of a watch, and the place of the version in the answer to a write (spec, "Protobuf wrapper").
 */

/** Bytes of a frame's length. */
export const FRAME_LENGTH = 4;

/** Field numbers with wire type 2. */
const FIRST = (1 << 3) | 2;
const SECOND = (2 << 3) | 2;
/** `ObjectMeta.resourceVersion`. */
const REVISION = (6 << 3) | 2;

/** One event of a watch: its length in four bytes, most significant first, then type and the enveloped object. */
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

/** A length-delimited field: where its key, its content and its end stand. */
interface Span {
  readonly key: number;
  readonly start: number;
  readonly end: number;
}

/** The first field of a message with that key; undefined where it has none. */
function find(bytes: Uint8Array, from: number, to: number, key: number): Span | undefined {
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

const field = (key: number, ...content: readonly Uint8Array[]): Buffer => {
  const writer = protobuf.Writer.create();
  writer.uint32(key).uint32(content.reduce((sum, part) => sum + part.length, 0));
  return Buffer.concat([writer.finish(), ...content]);
};

/**
 * The same enveloped object with another resourceVersion in its metadata, which is field 1 of every kind. Other
 * messages come back as they are.
 */
export function withEnvelopeRevision(body: Uint8Array, revision: number): Uint8Array {
  const raw = find(body, MAGIC.length, body.length, SECOND);
  const metadata = raw && find(body, raw.start, raw.end, FIRST);
  const version = metadata && find(body, metadata.start, metadata.end, REVISION);
  if (!version) return body;
  const inner = field(
    FIRST,
    body.subarray(metadata.start, version.key),
    field(REVISION, Buffer.from(String(revision))),
    body.subarray(version.end, metadata.end),
  );
  return Buffer.concat([
    body.subarray(0, raw.key),
    field(SECOND, body.subarray(raw.start, metadata.key), inner, body.subarray(metadata.end, raw.end)),
    body.subarray(raw.end),
  ]);
}
