import protobuf from 'protobufjs/minimal.js';
import { writeJson } from '../model/jsonText.js';
import type { Json, JsonObject } from '../model/object.js';
import type { ScalarName, Struct, Type } from './model.js';
import { BYTES, DOUBLE, type Entry, isObject, MAGIC, ownMember, VARINT, wireEntries } from './protobufWire.js';
import { parseDuration } from './scalars.js';
import { findType } from './table/types.js';

export { decodeEnvelope, decodeMessage } from './protobufDecode.js';
export { MAGIC } from './protobufWire.js';

/*
 * The protobuf encoding of built-in kinds, driven by the type model (spec, "Protobuf wrapper"). As in proto2, fields
 * that are neither pointers, lists nor maps are always written. `encodeMessage` expects JSON in canonical form; the
 * result of `decodeMessage` must still be normalized.
 */

type Writer = protobuf.Writer;

const writeTag = (writer: Writer, number: number, wire: number): Writer => writer.uint32((number << 3) | wire);

/** Writes a time as seconds and nanoseconds; nothing for the zero time. */
function writeTime(writer: Writer, value: Json | undefined): void {
  const milliseconds = typeof value === 'string' ? Date.parse(value) : Number.NaN;
  if (Number.isNaN(milliseconds)) return;
  const seconds = Math.floor(milliseconds / 1000);
  const fraction = /\.(\d{1,9})/.exec(String(value))?.[1]?.padEnd(9, '0') ?? '0';
  writeTag(writer, 1, VARINT).int64(seconds);
  writeTag(writer, 2, VARINT).int32(Number(fraction));
}

function writeIntOrString(writer: Writer, value: Json | undefined): void {
  const text = typeof value === 'string';
  writeTag(writer, 1, VARINT).int64(text ? 1 : 0);
  writeTag(writer, 2, VARINT).int32(typeof value === 'number' ? value : 0);
  writeTag(writer, 3, BYTES).string(text ? value : '');
}

const writeRaw = (writer: Writer, value: Json | undefined): void => {
  if (value !== undefined) writeTag(writer, 1, BYTES).bytes(Buffer.from(writeJson(value)));
};

/** A 64-bit number in the representation of protobufjs. */
const toLong = (value: bigint): { low: number; high: number; unsigned: boolean } => ({
  low: Number(BigInt.asIntN(32, value)),
  high: Number(BigInt.asIntN(32, value >> 32n)),
  unsigned: false,
});

/** Writers of scalars that are messages on the wire. */
const MESSAGE_SCALARS: Partial<Record<ScalarName, (writer: Writer, value: Json | undefined) => void>> = {
  Time: writeTime,
  MicroTime: writeTime,
  Duration: (writer, value) => {
    const nanoseconds = parseDuration(typeof value === 'string' ? value : '0s') ?? 0n;
    writeTag(writer, 1, VARINT).int64(toLong(nanoseconds));
  },
  Quantity: (writer, value) => writeTag(writer, 1, BYTES).string(value === undefined ? '0' : String(value)),
  IntOrString: writeIntOrString,
  FieldsV1: writeRaw,
  RawExtension: writeRaw,
  JSON: writeRaw,
};

function writeScalar(writer: Writer, number: number, name: ScalarName, value: Json | undefined): void {
  const message = MESSAGE_SCALARS[name];
  if (message) {
    writeTag(writer, number, BYTES).fork();
    message(writer, value);
    writer.ldelim();
  } else if (name === 'string') writeTag(writer, number, BYTES).string(typeof value === 'string' ? value : '');
  else if (name === 'bytes')
    writeTag(writer, number, BYTES).bytes(Buffer.from(typeof value === 'string' ? value : '', 'base64'));
  else if (name === 'bool') writeTag(writer, number, VARINT).bool(value === true);
  else if (name === 'double') writeTag(writer, number, DOUBLE).double(Number(value ?? 0));
  else if (name !== 'any')
    writeTag(writer, number, VARINT).int64(typeof value === 'bigint' ? toLong(value) : Number(value ?? 0));
}

function writeMap(writer: Writer, number: number, of: Type, value: JsonObject): void {
  for (const [key, item] of Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))) {
    writeTag(writer, number, BYTES).fork();
    writeTag(writer, 1, BYTES).string(key);
    writeValue(writer, 2, of, item);
    writer.ldelim();
  }
}

/** Writes a value, or the zero value for `undefined`. */
function writeValue(writer: Writer, number: number, type: Type, value: Json | undefined): void {
  if (type.is === 'scalar') writeScalar(writer, number, type.name, value);
  else if (type.is === 'struct') {
    writeTag(writer, number, BYTES).fork();
    writeStruct(writer, type, value);
    writer.ldelim();
  } else if (type.is === 'map') {
    if (isObject(value)) writeMap(writer, number, type.of, value);
  } else if (Array.isArray(value)) {
    if (type.wrapper) writeTag(writer, number, BYTES).fork();
    for (const item of value) writeValue(writer, type.wrapper ? 1 : number, type.of, item ?? undefined);
    if (type.wrapper) writer.ldelim();
  }
}

function writeEntries(writer: Writer, entries: readonly Entry[], value: Json | undefined): void {
  for (const entry of entries) {
    if ('nested' in entry) {
      writeTag(writer, entry.number, BYTES).fork();
      writeEntries(writer, entry.nested, value);
      writer.ldelim();
      continue;
    }
    const { field } = entry;
    const member = ownMember(value, field.name) ?? undefined;
    const absent = member === undefined;
    const optional = field.pointer || field.type.is === 'list' || field.type.is === 'map' || isBytes(field.type);
    if (!absent || !optional) writeValue(writer, entry.number, field.type, member);
  }
}

const isBytes = (type: Type): boolean => type.is === 'scalar' && (type.name === 'bytes' || type.name === 'any');

/** The field number for a value of a type with several JSON forms. */
const alternativeNumber = (struct: Struct, value: Json | undefined): number => {
  if (struct.alternatives === 'bool') return typeof value === 'boolean' ? 1 : 2;
  return Array.isArray(value) ? 2 : 1;
};

function writeStruct(writer: Writer, struct: Struct, value: Json | undefined): void {
  if (!struct.alternatives) {
    writeEntries(writer, wireEntries(struct), value);
    return;
  }
  const number = alternativeNumber(struct, value);
  if (struct.alternatives === 'bool' && number === 2) writeTag(writer, 1, VARINT).bool(true);
  const field = struct.fields.find(candidate => candidate.number === number);
  if (field && value !== undefined) writeValue(writer, number, field.type, value);
}

/** Encodes an object, list or options type. Kind and apiVersion are part of the envelope, not of the message. */
export function encodeMessage(struct: Struct, value: Json): Uint8Array {
  const writer = protobuf.Writer.create();
  writeStruct(writer, struct, value);
  return writer.finish();
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
