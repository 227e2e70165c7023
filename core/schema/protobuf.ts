import protobuf from 'protobufjs/minimal.js';
import { COMPLAINTS } from '../limits.js';
import type { Json, JsonObject } from '../model/object.js';
import { badRequest } from '../model/refusal.js';
import { parseJson } from './json.js';
import type { Embedded, Field, ScalarName, Struct, Type } from './model.js';
import { formatDuration, parseDuration } from './scalars.js';
import { findType } from './table/types.js';

/*
 * The protobuf form of built-in kinds, driven by the type table (spec, "Protobuf wrapper"). Wire types are those of proto2: fields that are neither
 * pointers, lists nor maps are always written. JSON in and out has the canonical form of the decoder, which runs after `decodeMessage`.
 */

type Writer = protobuf.Writer;
type Reader = protobuf.Reader;

/** Begins every body in this form. */
export const MAGIC: Uint8Array = Uint8Array.of(0x6b, 0x38, 0x73, 0x00);

/** Messages nested deeper are refused: schemas may contain themselves. */
const DEEPEST = 100;

/** One field on the wire: a member of the struct, or an embedded struct that holds some of its members. */
type Entry = { readonly number: number } & ({ readonly field: Field } | { readonly nested: readonly Entry[] });

const plans = new WeakMap<Struct, readonly Entry[]>();

function planOf(fields: readonly { field: Field; embedded: Embedded | undefined }[]): Entry[] {
  const entries: Entry[] = [];
  const groups = new Map<number, { field: Field; embedded: Embedded | undefined }[]>();
  for (const { field, embedded } of fields) {
    if (!embedded) {
      if (field.number > 0) entries.push({ number: field.number, field });
      continue;
    }
    const group = groups.get(embedded.number) ?? [];
    group.push({ field, embedded: embedded.inner });
    groups.set(embedded.number, group);
  }
  for (const [number, group] of groups) entries.push({ number, nested: planOf(group) });
  return entries.sort((a, b) => a.number - b.number);
}

function entriesOf(struct: Struct): readonly Entry[] {
  let plan = plans.get(struct);
  if (!plan) {
    plan = planOf(struct.fields.map(field => ({ field, embedded: field.inlinedFrom })));
    plans.set(struct, plan);
  }
  return plan;
}

const VARINT = 0;
const DOUBLE = 1;
const BYTES = 2;

const tag = (writer: Writer, number: number, wire: number): Writer => writer.uint32((number << 3) | wire);

const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const own = (value: unknown, key: string): Json | undefined =>
  isObject(value) && Object.hasOwn(value, key) ? value[key] : undefined;

/** A message of seconds and nanoseconds; empty for the zero time. */
function writeTime(writer: Writer, value: Json | undefined): void {
  const milliseconds = typeof value === 'string' ? Date.parse(value) : Number.NaN;
  if (Number.isNaN(milliseconds)) return;
  const seconds = Math.floor(milliseconds / 1000);
  const fraction = /\.(\d{1,9})/.exec(String(value))?.[1]?.padEnd(9, '0') ?? '0';
  tag(writer, 1, VARINT).int64(seconds);
  tag(writer, 2, VARINT).int32(Number(fraction));
}

function writeIntOrString(writer: Writer, value: Json | undefined): void {
  const text = typeof value === 'string';
  tag(writer, 1, VARINT).int64(text ? 1 : 0);
  tag(writer, 2, VARINT).int32(typeof value === 'number' ? value : 0);
  tag(writer, 3, BYTES).string(text ? value : '');
}

const writeRaw = (writer: Writer, value: Json | undefined): void => {
  if (value !== undefined) tag(writer, 1, BYTES).bytes(Buffer.from(JSON.stringify(value)));
};

/** A number of 64 bits as the codec takes it. */
const twoWords = (value: bigint): { low: number; high: number; unsigned: boolean } => ({
  low: Number(BigInt.asIntN(32, value)),
  high: Number(BigInt.asIntN(32, value >> 32n)),
  unsigned: false,
});

/** Scalars that are messages on the wire. */
const MESSAGES: Partial<Record<ScalarName, (writer: Writer, value: Json | undefined) => void>> = {
  Time: writeTime,
  MicroTime: writeTime,
  Duration: (writer, value) => {
    const nanoseconds = parseDuration(typeof value === 'string' ? value : '0s') ?? 0n;
    tag(writer, 1, VARINT).int64(twoWords(nanoseconds));
  },
  Quantity: (writer, value) => tag(writer, 1, BYTES).string(value === undefined ? '0' : String(value)),
  IntOrString: writeIntOrString,
  FieldsV1: writeRaw,
  RawExtension: writeRaw,
  JSON: writeRaw,
};

function writeScalar(writer: Writer, number: number, name: ScalarName, value: Json | undefined): void {
  const message = MESSAGES[name];
  if (message) {
    tag(writer, number, BYTES).fork();
    message(writer, value);
    writer.ldelim();
  } else if (name === 'string') tag(writer, number, BYTES).string(typeof value === 'string' ? value : '');
  else if (name === 'bytes')
    tag(writer, number, BYTES).bytes(Buffer.from(typeof value === 'string' ? value : '', 'base64'));
  else if (name === 'bool') tag(writer, number, VARINT).bool(value === true);
  else if (name === 'double') tag(writer, number, DOUBLE).double(Number(value ?? 0));
  else if (name !== 'any') tag(writer, number, VARINT).int64(Number(value ?? 0));
}

function writeMap(writer: Writer, number: number, of: Type, value: JsonObject): void {
  for (const [key, item] of Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))) {
    tag(writer, number, BYTES).fork();
    tag(writer, 1, BYTES).string(key);
    writeValue(writer, 2, of, item);
    writer.ldelim();
  }
}

/** Writes a value that is present, or the zero value for `undefined`. */
function writeValue(writer: Writer, number: number, type: Type, value: Json | undefined): void {
  if (type.is === 'scalar') writeScalar(writer, number, type.name, value);
  else if (type.is === 'struct') {
    tag(writer, number, BYTES).fork();
    writeStruct(writer, type, value);
    writer.ldelim();
  } else if (type.is === 'map') {
    if (isObject(value)) writeMap(writer, number, type.of, value);
  } else if (Array.isArray(value)) {
    if (type.wrapper) tag(writer, number, BYTES).fork();
    for (const item of value) writeValue(writer, type.wrapper ? 1 : number, type.of, item ?? undefined);
    if (type.wrapper) writer.ldelim();
  }
}

function writeEntries(writer: Writer, entries: readonly Entry[], value: Json | undefined): void {
  for (const entry of entries) {
    if ('nested' in entry) {
      tag(writer, entry.number, BYTES).fork();
      writeEntries(writer, entry.nested, value);
      writer.ldelim();
      continue;
    }
    const { field } = entry;
    const member = own(value, field.name) ?? undefined;
    const absent = member === undefined;
    const optional = field.pointer || field.type.is === 'list' || field.type.is === 'map' || isBytes(field.type);
    if (!absent || !optional) writeValue(writer, entry.number, field.type, member);
  }
}

const isBytes = (type: Type): boolean => type.is === 'scalar' && (type.name === 'bytes' || type.name === 'any');

/** Which field number holds a value that has several JSON forms. */
const alternative = (struct: Struct, value: Json | undefined): number => {
  if (struct.alternatives === 'bool') return typeof value === 'boolean' ? 1 : 2;
  return Array.isArray(value) ? 2 : 1;
};

function writeStruct(writer: Writer, struct: Struct, value: Json | undefined): void {
  if (!struct.alternatives) {
    writeEntries(writer, entriesOf(struct), value);
    return;
  }
  const number = alternative(struct, value);
  if (struct.alternatives === 'bool' && number === 2) tag(writer, 1, VARINT).bool(true);
  const field = struct.fields.find(candidate => candidate.number === number);
  if (field && value !== undefined) writeValue(writer, number, field.type, value);
}

/** The message of an object, list or options type; kind and apiVersion stand in the envelope. */
export function encodeMessage(struct: Struct, value: Json): Uint8Array {
  const writer = protobuf.Writer.create();
  writeStruct(writer, struct, value);
  return writer.finish();
}

/** A body: magic, then the envelope with kind, apiVersion and the message. */
export function encodeEnvelope(apiVersion: string, kind: string, raw: Uint8Array): Uint8Array {
  const writer = protobuf.Writer.create();
  tag(writer, 1, BYTES).fork();
  tag(writer, 1, BYTES).string(apiVersion);
  tag(writer, 2, BYTES).string(kind);
  writer.ldelim();
  tag(writer, 2, BYTES).bytes(raw);
  tag(writer, 3, BYTES).string('');
  tag(writer, 4, BYTES).string('');
  return Buffer.concat([MAGIC, writer.finish()]);
}

const long = (value: unknown): number => Number(String(value));

/** Reads a message field by field; `read` returns false for fields it does not know. */
function readFields(reader: Reader, end: number, read: (number: number, wire: number) => boolean): void {
  while (reader.pos < end) {
    const key = reader.uint32();
    if (!read(key >>> 3, key & 7)) reader.skipType(key & 7);
  }
  if (reader.pos !== end) throw new RangeError('message ends inside a field');
}

const endOf = (reader: Reader): number => {
  const length = reader.uint32();
  if (reader.pos + length > reader.len) throw new RangeError('message is cut short');
  return reader.pos + length;
};

/** Fields of a scalar message by number. */
function readParts(reader: Reader): Map<number, unknown> {
  const parts = new Map<number, unknown>();
  readFields(reader, endOf(reader), (number, wire) => {
    if (wire === VARINT) parts.set(number, reader.int64());
    else if (wire === BYTES) parts.set(number, reader.bytes());
    else return false;
    return true;
  });
  return parts;
}

const utf8 = (value: unknown): string => (value instanceof Uint8Array ? Buffer.from(value).toString() : '');

function readTime(parts: Map<number, unknown>, micro: boolean): Json | undefined {
  const seconds = long(parts.get(1) ?? 0);
  const nanoseconds = long(parts.get(2) ?? 0);
  if (seconds === 0 && nanoseconds === 0) return undefined;
  const whole = new Date(seconds * 1000).toISOString().slice(0, 19);
  return micro ? `${whole}.${String(Math.trunc(nanoseconds / 1000)).padStart(6, '0')}Z` : `${whole}Z`;
}

function readMessageScalar(name: ScalarName, parts: Map<number, unknown>): Json | undefined {
  switch (name) {
    case 'Time':
      return readTime(parts, false);
    case 'MicroTime':
      return readTime(parts, true);
    case 'Duration':
      return formatDuration(BigInt(String(parts.get(1) ?? 0)));
    case 'Quantity':
      return utf8(parts.get(1)) || '0';
    case 'IntOrString':
      return long(parts.get(1) ?? 0) === 1 ? utf8(parts.get(3)) : long(parts.get(2) ?? 0);
    default: {
      const raw = parts.get(1);
      return raw instanceof Uint8Array && raw.length > 0 ? parseJson(raw) : undefined;
    }
  }
}

/** What a decoder reports beside the value. */
interface Sink {
  /** Fields of the wire that the type does not have, a bounded number of them. */
  readonly unknown: string[];
}

class MessageReader {
  readonly #reader: Reader;
  constructor(
    bytes: Uint8Array,
    readonly sink: Sink,
  ) {
    this.#reader = protobuf.Reader.create(bytes);
  }

  whole(struct: Struct): JsonObject {
    const value = this.#struct(struct, this.#reader.len, 0);
    return isObject(value) ? value : {};
  }

  #struct(struct: Struct, end: number, depth: number): Json | undefined {
    if (depth > DEEPEST) throw new RangeError('message is nested too deeply');
    const value: JsonObject = {};
    this.#entries(
      struct.alternatives ? struct.fields.map(field => ({ number: field.number, field })) : entriesOf(struct),
      value,
      end,
      depth,
      struct.id,
    );
    if (!struct.alternatives) return value as Json;
    const at = (number: number): Json | undefined =>
      own(value, struct.fields.find(field => field.number === number)?.name ?? '');
    if (struct.alternatives === 'bool') return at(2) ?? at(1) ?? false;
    return at(2) ?? at(1);
  }

  #entries(entries: readonly Entry[], value: JsonObject, end: number, depth: number, id: string): void {
    readFields(this.#reader, end, number => {
      const entry = entries.find(candidate => candidate.number === number);
      if (!entry) {
        if (this.sink.unknown.length < COMPLAINTS) this.sink.unknown.push(`${id} field ${number}`);
        return false;
      }
      if ('nested' in entry) this.#entries(entry.nested, value, endOf(this.#reader), depth + 1, id);
      else this.#field(entry.field, value, depth);
      return true;
    });
  }

  #field(field: Field, value: JsonObject, depth: number): void {
    const { type, name } = field;
    if (type.is === 'list') {
      const items = (value[name] ??= []) as Json[];
      if (!type.wrapper) items.push(this.#value(type.of, depth) ?? null);
      else readFields(this.#reader, endOf(this.#reader), () => items.push(this.#value(type.of, depth) ?? null) > 0);
    } else if (type.is === 'map') this.#mapEntry(type.of, (value[name] ??= Object.create(null)) as JsonObject, depth);
    else {
      const read = this.#value(type, depth);
      const dropped = !field.pointer && field.omitEmpty && (read === '' || read === 0 || read === false);
      if (read !== undefined && !dropped) value[name] = read;
    }
  }

  #mapEntry(of: Type, map: JsonObject, depth: number): void {
    let key = '';
    let item: Json | undefined;
    readFields(this.#reader, endOf(this.#reader), number => {
      if (number === 1) key = this.#reader.string();
      else if (number === 2) item = this.#value(of, depth);
      return number === 1 || number === 2;
    });
    map[key] = item ?? (of.is === 'scalar' && of.name === 'string' ? '' : null);
  }

  #value(type: Type, depth: number): Json | undefined {
    const reader = this.#reader;
    if (type.is === 'struct') return this.#struct(type, endOf(reader), depth + 1);
    if (type.is === 'list') {
      const items: Json[] = [];
      readFields(reader, endOf(reader), () => items.push(this.#value(type.of, depth + 1) ?? null) > 0);
      return items;
    }
    if (type.is === 'map') throw new RangeError('a map cannot stand inside a list or map');
    if (MESSAGES[type.name]) return readMessageScalar(type.name, readParts(reader));
    if (type.name === 'string') return reader.string();
    if (type.name === 'bytes') return Buffer.from(reader.bytes()).toString('base64');
    if (type.name === 'bool') return reader.bool();
    if (type.name === 'double') return reader.double();
    return long(reader.int64());
  }
}

const malformed = (error: unknown): never => {
  throw badRequest(
    `unable to decode the protobuf body: ${error instanceof Error ? error.message : 'malformed message'}`,
  );
};

/**
 * The JSON value of a message and what was in it that the type does not have. Throws a 400 for bytes that are no such
 * message.
 */
export function decodeMessage(struct: Struct, raw: Uint8Array): { value: JsonObject; unknown: readonly string[] } {
  const sink: Sink = { unknown: [] };
  try {
    return { value: new MessageReader(raw, sink).whole(struct), unknown: sink.unknown };
  } catch (error) {
    return malformed(error);
  }
}

/** Opens a body. Throws a 400 where it does not begin with the magic or is no envelope. */
export function decodeEnvelope(bytes: Uint8Array): { apiVersion: string; kind: string; raw: Uint8Array } {
  if (!MAGIC.every((byte, i) => bytes[i] === byte))
    throw badRequest('provided data does not appear to be a protobuf message');
  try {
    const reader = protobuf.Reader.create(bytes.subarray(MAGIC.length));
    let types = new Map<number, unknown>();
    let raw: Uint8Array = new Uint8Array();
    readFields(reader, reader.len, (number, wire) => {
      if (wire !== BYTES || number > 2) return false;
      if (number === 1) types = readParts(reader);
      else raw = reader.bytes();
      return true;
    });
    return { apiVersion: utf8(types.get(1)), kind: utf8(types.get(2)), raw };
  } catch (error) {
    return malformed(error);
  }
}

/**
 * An object of the common metadata types (Status, PartialObjectMetadata, discovery lists) as a body; undefined where
 * its kind has no message.
 */
export function encodeCommon(object: { readonly kind: string; readonly apiVersion?: string }): Uint8Array | undefined {
  const struct = findType(`meta.v1.${object.kind}`);
  if (!struct || struct.noProto) return undefined;
  return encodeEnvelope(object.apiVersion ?? 'v1', object.kind, encodeMessage(struct, object as unknown as Json));
}
