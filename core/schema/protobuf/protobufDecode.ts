import protobuf from 'protobufjs/minimal.js';
import { STRICT_ERRORS } from '../../limits.js';
import { integerValue } from '../../model/text/jsonText.js';
import type { Json, JsonObject } from '../../model/object.js';
import { badRequest } from '../../model/refusal.js';
import { parseJson } from '../json/json.js';
import { type Field, isStructScalar, type ScalarName, type Struct, type Type } from '../model.js';
import { UnreadableBody } from '../decode/unreadable.js';
import { BYTES, type Entry, isObject, MAGIC, ownMember, VARINT, wireEntries } from './protobufWire.js';
import { formatDuration } from '../decode/scalars.js';

type Reader = protobuf.Reader;

/** The largest nesting depth of messages, since types may be recursive. */
const MAX_DEPTH = 100;

const toNumber = (value: unknown): number => Number(String(value));

/** Reads the fields of a message up to `end`. `read` returns false for unknown fields, which are skipped. */
function readFields(reader: Reader, end: number, read: (number: number, wire: number) => boolean): void {
  while (reader.pos < end) {
    const key = reader.uint32();
    if (!read(key >>> 3, key & 7)) reader.skipType(key & 7);
  }
  if (reader.pos !== end) throw new RangeError('message ends inside a field');
}

const readEnd = (reader: Reader): number => {
  const length = reader.uint32();
  if (reader.pos + length > reader.len) throw new RangeError('message is cut short');
  return reader.pos + length;
};

/** Reads a scalar message: its fields by number. */
function readScalarFields(reader: Reader): Map<number, unknown> {
  const parts = new Map<number, unknown>();
  readFields(reader, readEnd(reader), (number, wire) => {
    if (wire === VARINT) parts.set(number, reader.int64());
    else if (wire === BYTES) parts.set(number, reader.bytes());
    else return false;
    return true;
  });
  return parts;
}

const toText = (value: unknown): string => (value instanceof Uint8Array ? Buffer.from(value).toString() : '');

function readTime(parts: Map<number, unknown>, micro: boolean): Json | undefined {
  const seconds = toNumber(parts.get(1) ?? 0);
  const nanoseconds = toNumber(parts.get(2) ?? 0);
  // An empty message is upstream's encoding of an absent time.
  if (seconds === 0 && nanoseconds === 0) return undefined;
  const read = new Date(seconds * 1000).toISOString().slice(0, 19);
  return micro ? `${read}.${String(Math.trunc(nanoseconds / 1000)).padStart(6, '0')}Z` : `${read}Z`;
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
      return toText(parts.get(1)) || '0';
    case 'IntOrString':
      return toNumber(parts.get(1) ?? 0) === 1 ? toText(parts.get(3)) : toNumber(parts.get(2) ?? 0);
    default: {
      const raw = parts.get(1);
      return raw instanceof Uint8Array && raw.length > 0 ? parseJson(raw) : undefined;
    }
  }
}

/** Unknown fields found by a decoder. */
interface UnknownFields {
  /** Descriptions of wire fields that the type does not have, up to a limit. */
  readonly unknown: string[];
}

class MessageReader {
  readonly #reader: Reader;
  constructor(
    bytes: Uint8Array,
    readonly sink: UnknownFields,
  ) {
    this.#reader = protobuf.Reader.create(bytes);
  }

  read(struct: Struct): JsonObject {
    const value = this.#struct(struct, this.#reader.len, 0);
    return isObject(value) ? value : {};
  }

  #struct(struct: Struct, end: number, depth: number): Json | undefined {
    if (depth > MAX_DEPTH) throw new RangeError('message is nested too deeply');
    const value: JsonObject = {};
    this.#entries(
      struct.alternatives ? struct.fields.map(field => ({ number: field.number, field })) : wireEntries(struct),
      value,
      end,
      depth,
      struct.id,
    );
    if (!struct.alternatives) return value as Json;
    const at = (number: number): Json | undefined =>
      ownMember(value, struct.fields.find(field => field.number === number)?.name ?? '');
    if (struct.alternatives === 'bool') return at(2) ?? at(1) ?? false;
    return at(2) ?? at(1);
  }

  #entries(entries: readonly Entry[], value: JsonObject, end: number, depth: number, id: string): void {
    readFields(this.#reader, end, number => {
      const entry = entries.find(candidate => candidate.number === number);
      if (!entry) {
        if (this.sink.unknown.length < STRICT_ERRORS) this.sink.unknown.push(`${id} field ${number}`);
        return false;
      }
      if ('nested' in entry) this.#entries(entry.nested, value, readEnd(this.#reader), depth + 1, id);
      else this.#field(entry.field, value, depth);
      return true;
    });
  }

  #field(field: Field, value: JsonObject, depth: number): void {
    const { type, name } = field;
    if (type.is === 'list') {
      const items = (value[name] ??= []) as Json[];
      if (!type.wrapper) items.push(this.#value(type.of, depth) ?? null);
      else readFields(this.#reader, readEnd(this.#reader), () => items.push(this.#value(type.of, depth) ?? null) > 0);
    } else if (type.is === 'map') this.#mapEntry(type.of, (value[name] ??= Object.create(null)) as JsonObject, depth);
    else {
      const read = this.#value(type, depth);
      // Protobuf writes zero values of such fields, which JSON omits. The result must not depend on the encoding.
      const dropped = !field.pointer && field.omitEmpty && (read === '' || read === 0 || read === false);
      if (read !== undefined && !dropped) value[name] = read;
    }
  }

  #mapEntry(of: Type, map: JsonObject, depth: number): void {
    let key = '';
    let item: Json | undefined;
    readFields(this.#reader, readEnd(this.#reader), number => {
      if (number === 1) key = this.#reader.string();
      else if (number === 2) item = this.#value(of, depth);
      return number === 1 || number === 2;
    });
    map[key] = item ?? (of.is === 'scalar' && of.name === 'string' ? '' : null);
  }

  #value(type: Type, depth: number): Json | undefined {
    const reader = this.#reader;
    if (type.is === 'struct') return this.#struct(type, readEnd(reader), depth + 1);
    if (type.is === 'list') {
      const items: Json[] = [];
      readFields(reader, readEnd(reader), () => items.push(this.#value(type.of, depth + 1) ?? null) > 0);
      return items;
    }
    if (type.is === 'map') throw new RangeError('a map cannot stand inside a list or map');
    if (isStructScalar(type.name)) return readMessageScalar(type.name, readScalarFields(reader));
    if (type.name === 'string') return reader.string();
    if (type.name === 'bytes') return Buffer.from(reader.bytes()).toString('base64');
    if (type.name === 'bool') return reader.bool();
    if (type.name === 'double') return reader.double();
    return integerValue(BigInt(String(reader.int64())));
  }
}

const throwMalformed = (error: unknown): never => {
  throw badRequest(
    `unable to decode the protobuf body: ${error instanceof Error ? error.message : 'malformed message'}`,
  );
};

/** Decodes a message to JSON, with its unknown fields. Throws a Refusal (400) for malformed bytes. */
export function decodeMessage(struct: Struct, raw: Uint8Array): { value: JsonObject; unknown: readonly string[] } {
  const sink: UnknownFields = { unknown: [] };
  try {
    return { value: new MessageReader(raw, sink).read(struct), unknown: sink.unknown };
  } catch (error) {
    return throwMalformed(error);
  }
}

/**
 * Decodes the envelope of a body. Throws a Refusal (400) if the magic bytes are missing or the envelope is malformed.
 */
export function decodeEnvelope(bytes: Uint8Array): { apiVersion: string; kind: string; raw: Uint8Array } {
  if (bytes.length === 0) throw new UnreadableBody('empty data');
  if (!MAGIC.every((byte, i) => bytes[i] === byte))
    throw new UnreadableBody('provided data does not appear to be a protobuf message, expected prefix [107 56 115 0]');
  try {
    const reader = protobuf.Reader.create(bytes.subarray(MAGIC.length));
    let types = new Map<number, unknown>();
    let raw: Uint8Array = new Uint8Array();
    readFields(reader, reader.len, (number, wire) => {
      if (wire !== BYTES || number > 2) return false;
      if (number === 1) types = readScalarFields(reader);
      else raw = reader.bytes();
      return true;
    });
    return { apiVersion: toText(types.get(1)), kind: toText(types.get(2)), raw };
  } catch (error) {
    return throwMalformed(error);
  }
}
