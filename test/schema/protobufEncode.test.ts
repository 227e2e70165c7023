import fc from 'fast-check';
import protobuf from 'protobufjs';
import { describe, expect, test } from 'vitest';
import type { Json, JsonObject } from '../../core/model/object.js';
import type { Struct, Type } from '../../core/schema/model.js';
import { JsonTape } from '../../core/schema/json/jsonTape.js';
import { recordLength, unpackRecords } from '../../core/schema/packedEncodings.js';
import { encodeText, encodeTexts } from '../../core/schema/protobuf/protobufEncode.js';
import { messageIn } from '../../core/schema/protobuf/protobufList.js';
import { type Entry, wireEntries } from '../../core/schema/protobuf/protobufWire.js';
import { parseDuration } from '../../core/schema/decode/scalars.js';
import { typeOf, typesOfPackage } from '../../core/schema/table/types.js';
import { anyValueOf } from './values.js';

/** Scalars that are messages on the wire. */
const { root } = protobuf.parse(`
  syntax = "proto2";
  message Time { optional int64 seconds = 1; optional int32 nanos = 2; }
  message Duration { optional int64 duration = 1; }
  message Quantity { optional string string = 1; }
  message IntOrString { optional int64 type = 1; optional int32 intVal = 2; optional string strVal = 3; }
  message Raw { optional bytes raw = 1; }
`);
const SCALAR_TYPES = {
  string: 'string',
  bool: 'bool',
  int32: 'int64',
  int64: 'int64',
  uint32: 'int64',
  double: 'double',
  bytes: 'bytes',
  any: undefined,
  Time: 'Time',
  MicroTime: 'Time',
  Duration: 'Duration',
  Quantity: 'Quantity',
  IntOrString: 'IntOrString',
  FieldsV1: 'Raw',
  RawExtension: 'Raw',
  JSON: 'Raw',
} as const;

const idOf = (id: string): string => id.replaceAll('.', '_');

/** The name of the protobufjs type for values of a type, which is declared if it does not exist yet. */
function declare(type: Type): string | undefined {
  if (type.is === 'scalar') return SCALAR_TYPES[type.name];
  if (type.is !== 'struct') throw new Error('a list or map in a list or map');
  const name = idOf(type.id);
  if (root.get(name)) return name;
  const message = new protobuf.Type(name);
  root.add(message);
  if (type.alternatives) for (const field of type.fields) addField(message, { number: field.number, field });
  else for (const entry of wireEntries(type)) addField(message, entry);
  return name;
}

function addField(message: protobuf.Type, entry: Entry): void {
  const { number } = entry;
  const name = `f${number}`;
  if ('nested' in entry) {
    const nested = new protobuf.Type(`N${number}`);
    message.add(nested);
    for (const inner of entry.nested) addField(nested, inner);
    message.add(new protobuf.Field(name, number, nested.name));
    return;
  }
  const { type } = entry.field;
  if (type.is === 'map') message.add(new protobuf.MapField(name, number, 'string', declare(type.of)!));
  else if (type.is === 'list' && type.wrapper) {
    const wrapper = new protobuf.Type(`W${number}`);
    message.add(wrapper);
    wrapper.add(new protobuf.Field('f1', 1, declare(type.of)!, 'repeated'));
    message.add(new protobuf.Field(name, number, wrapper.name));
  } else if (type.is === 'list')
    message.add(new protobuf.Field(name, number, declare(type.of)!, 'repeated', undefined, { packed: false }));
  else if (declare(type)) message.add(new protobuf.Field(name, number, declare(type)!));
}

const raw = (value: Json): object => ({ raw: Buffer.from(JSON.stringify(value)).toString('base64') });

function timeOf(text: string): object {
  const nanos = Number(/\.(\d+)/.exec(text)?.[1]?.padEnd(9, '0') ?? 0);
  return { seconds: String(Math.floor(Date.parse(text) / 1000)), nanos };
}

/** A scalar as protobufjs shows it. */
function scalarOf(name: keyof typeof SCALAR_TYPES, value: Json): unknown {
  switch (name) {
    case 'Time':
    case 'MicroTime':
      return timeOf(value as string);
    case 'Duration':
      return { duration: String(parseDuration(value as string)) };
    case 'Quantity':
      return { string: value };
    case 'IntOrString':
      return typeof value === 'number'
        ? { type: '0', intVal: value, strVal: '' }
        : { type: '1', intVal: 0, strVal: value };
    case 'FieldsV1':
    case 'RawExtension':
    case 'JSON':
      return raw(value);
    case 'int32':
    case 'int64':
    case 'uint32':
      return String(value);
    default:
      return value;
  }
}

/** A value as protobufjs shows it. */
function shown(type: Type, value: Json): unknown {
  if (type.is === 'scalar') return scalarOf(type.name, value);
  if (type.is === 'list') {
    const items = (value as Json[]).map(item => shown(type.of, item));
    return type.wrapper ? { f1: items } : items;
  }
  if (type.is === 'map')
    return Object.fromEntries(Object.entries(value as JsonObject).map(([key, item]) => [key, shown(type.of, item!)]));
  if (type.alternatives === 'bool' && typeof value === 'boolean') return { f1: value };
  if (type.alternatives)
    return type.alternatives === 'bool'
      ? { f1: true, f2: shown(type.fields[1]!.type, value) }
      : { f1: shown(type.fields[0]!.type, value) };
  return membersOf(wireEntries(type), value as JsonObject);
}

function membersOf(entries: readonly Entry[], value: JsonObject): object {
  const members: { [name: string]: unknown } = {};
  for (const entry of entries) {
    if ('nested' in entry) members[`f${entry.number}`] = membersOf(entry.nested, value);
    else {
      const { name, type } = entry.field;
      if (value[name] !== undefined && declareable(type)) members[`f${entry.number}`] = shown(type, value[name]);
    }
  }
  return members;
}

const declareable = (type: Type): boolean => type.is !== 'scalar' || SCALAR_TYPES[type.name] !== undefined;

const textOf = (value: unknown): Uint8Array => new Uint8Array(Buffer.from(JSON.stringify(value)));

function decoded(struct: Struct, bytes: Uint8Array): unknown {
  const type = root.lookupType(declare(struct)!);
  return type.toObject(type.decode(bytes), { longs: String, bytes: String });
}

describe('messages', () => {
  const kinds = ['core.v1', 'apps.v1', 'batch.v1', 'networking.v1', 'apiextensions.v1']
    .flatMap(typesOfPackage)
    .filter(id => typeOf(id).typeMeta && !typeOf(id).noProto && !id.endsWith('List'));

  test.each(kinds)('%s of any value is decoded to the same value by protobufjs', id => {
    const struct = typeOf(id);
    fc.assert(
      fc.property(anyValueOf(struct), value => {
        expect(decoded(struct, encodeText(struct, textOf(value)))).toMatchObject(shown(struct, value) as object);
      }),
      { numRuns: 25 },
    );
  });
});

const POD = typeOf('core.v1.Pod');

test('the order of members, unknown members, spaces and escapes do not change the message', () => {
  const value = {
    metadata: { name: 'a"\\\u00e9\n', labels: { 'a\u00e9': '1', b: '\ud83d\ude00' } },
    spec: { nodeName: 'n' },
  };
  const other = `{ "x": [{"spec": 1}], "spec" : {"nodeName":"n"} ,\n"metadata": {"labels":{"b":"\\ud83d\\ude00",
    "a\\u00e9": "1"}, "y": null, "name": "a\\u0022\\\\\\u00e9\\n"}}`;
  expect(encodeText(POD, textOf(other && JSON.parse(other)))).toEqual(encodeText(POD, textOf(value)));
  expect(encodeText(POD, new Uint8Array(Buffer.from(other)))).toEqual(encodeText(POD, textOf(value)));
});

test('managed fields are copied unchanged, with any characters in their names', () => {
  const fieldsV1 = { 'k:{"name":"}\\"{"}': { '.': {} }, 'v:"\\\\"': {} };
  const value = { metadata: { managedFields: [{ manager: 'm', fieldsV1 }], name: 'n' } };
  expect(decoded(POD, encodeText(POD, textOf(value)))).toMatchObject(shown(POD, value) as object);
});

describe('records', () => {
  const unpack = (pieces: readonly Uint8Array[], texts: readonly Uint8Array[]) =>
    pieces.map((piece, i) => unpackRecords([piece], [texts[i]!], recordLength(piece)));

  test('that are encoded together are pieces of one buffer, each with its tag and length', () => {
    const texts = ['a', 'b'.repeat(300), 'c'.repeat(100_000)].map(name => textOf({ metadata: { name } }));
    const pieces = encodeTexts(POD, texts, 0x12, true);
    expect(new Set(pieces.map(piece => piece.buffer)).size).toBe(1);
    const reader = protobuf.Reader.create(Buffer.concat(unpack(pieces, texts)));
    for (const text of texts) {
      expect(reader.uint32()).toBe(0x12);
      expect(Buffer.from(reader.bytes())).toEqual(Buffer.from(encodeText(POD, text)));
    }
    expect(reader.pos).toBe(reader.len);
  });

  test('are unpacked together, in any number of pieces', () => {
    const texts = [1, 2, 3].map(i => textOf({ metadata: { name: 'n'.repeat(100 * i), uid: 'short' } }));
    const [one, two, three] = encodeTexts(POD, texts, 0x12, true) as [Uint8Array, Uint8Array, Uint8Array];
    const all = Buffer.concat(unpack([one, two, three], texts));
    expect(Buffer.from(unpackRecords([Buffer.concat([one, two]), three], texts, all.length))).toEqual(all);
  });

  test('are cached without the longer strings of their objects, unless these are from another text', () => {
    const shared = 'a text that stands in both: '.repeat(20);
    const texts = [textOf({ metadata: { name: 'n', annotations: { a: shared, escaped: `"${shared}`, b: shared } } })];
    const [packed] = encodeTexts(POD, texts, 0x12, true);
    const [whole] = encodeTexts(POD, texts, 0x12, false);
    expect(whole!.length - packed!.length).toBeGreaterThan(2 * shared.length - 20);
    expect(unpack([packed!], texts)).toEqual(unpack([whole!], [new Uint8Array()]));
  });

  test('of any object are unpacked to the message of the object', () => {
    const texts = fc.array(anyValueOf(POD), { minLength: 1, maxLength: 3 });
    fc.assert(
      fc.property(texts, fc.string({ minLength: 30, maxLength: 200 }), (values, long) => {
        const named = values.map(value => textOf({ ...(value as JsonObject), metadata: { name: long, uid: long } }));
        const records = unpack(encodeTexts(POD, named, 0x12, true), named);
        const messages = unpack(encodeTexts(POD, named, 0x12, false), named);
        expect(records).toEqual(messages);
        expect(records.map(record => Buffer.from(messageIn(record)))).toEqual(
          named.map(text => Buffer.from(encodeText(POD, text))),
        );
      }),
    );
  });
});

test.each(['', '{"a":"b', '{"a":[1}', '{"metadata":{"name":"\\', '}', '{"fieldsV1":{"a":{}'])(
  'the malformed text %j ends with an error',
  text => {
    expect(() => new JsonTape().read(new Uint8Array(Buffer.from(text)))).toThrow(SyntaxError);
  },
);
