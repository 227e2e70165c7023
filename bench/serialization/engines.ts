import { Encoder } from 'cbor-x';
import { Packr } from 'msgpackr';
import type { Json } from '../../core/model/object.js';
import { decodeEnvelope, decodeMessage, encodeEnvelope, encodeMessage } from '../../core/schema/protobuf/protobuf.js';
import { decodeYaml } from '../../core/schema/yaml/yaml.js';
import { encodeYaml } from '../../core/schema/yaml/yamlText.js';
import type { Sample } from './samples.js';

/** The two directions of an encoding. */
export interface Codec {
  encode(value: Json): Uint8Array;
  decode(bytes: Uint8Array): unknown;
}

/** The directions, in the order they are shown. */
export type Operation = 'encode' | 'decode';

/** An encoding and the library that does it. */
export interface Engine {
  readonly name: string;
  /**
   * A codec for values like the sample. Protobuf needs their type; shared structures belong to one kind of value, as
   * they would in a program.
   */
  codecFor(sample: Sample): Codec;
}

/** The number of shared structures that a codec may learn: more than any sample has different sets of members. */
const STRUCTURES = 1024;

const textOf = (bytes: Uint8Array): string =>
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8');

const json: Codec = {
  encode: value => Buffer.from(JSON.stringify(value)),
  decode: bytes => JSON.parse(textOf(bytes)),
};

const yaml: Codec = {
  encode: value => Buffer.from(encodeYaml(value as object)),
  decode: decodeYaml,
};

/** Bodies as the server reads and writes them: the envelope, and the message by the kind's schema. */
const protobuf = ({ type, apiVersion, kind }: Sample): Codec => ({
  encode: value => encodeEnvelope(apiVersion, kind, encodeMessage(type, value)),
  decode: bytes => {
    const envelope = decodeEnvelope(bytes);
    const { value } = decodeMessage(type, envelope.raw);
    return { kind: envelope.kind, apiVersion: envelope.apiVersion, ...value };
  },
});

/**
 * The engines of a comparison. The results of the others are divided by those of the first one.
 *
 * "Shared structures" are lists of member names that both sides know, so that messages contain only values; they grow
 * with the first messages and are not counted in the bytes.
 */
export const ENGINES: readonly Engine[] = [
  { name: 'JSON', codecFor: () => json },
  { name: 'YAML (yaml)', codecFor: () => yaml },
  { name: 'protobuf (protobufjs)', codecFor: protobuf },
  { name: 'CBOR (cbor-x)', codecFor: () => new Encoder({ useRecords: false }) },
  {
    name: 'CBOR (cbor-x), shared structures',
    codecFor: () => new Encoder({ structures: [], maxSharedStructures: STRUCTURES }),
  },
  { name: 'MessagePack (msgpackr)', codecFor: () => new Packr({ useRecords: false }) },
  {
    name: 'MessagePack (msgpackr), shared structures',
    codecFor: () => new Packr({ structures: [], maxSharedStructures: STRUCTURES }),
  },
];

/** Calls that encode and decode a sample, and the encoded bytes. */
export interface Runs {
  readonly bytes: Uint8Array;
  readonly run: Readonly<Record<Operation, () => unknown>>;
}

/** Both operations of an engine on a sample. Shared structures know the sample already. */
export function runsOf(engine: Engine, sample: Sample): Runs {
  const codec = engine.codecFor(sample);
  codec.encode(sample.value);
  // Encoders may return views of a buffer to which they continue to write.
  const bytes = codec.encode(sample.value).slice();
  return { bytes, run: { encode: () => codec.encode(sample.value), decode: () => codec.decode(bytes) } };
}
