import { writeJson } from '../../model/text/jsonText.js';
import protobuf from 'protobufjs/minimal.js';
import type { Schema } from './dialect.js';

/*
 * The protobuf encoding of OpenAPI 3 documents: package openapi.v3 of the gnostic project, limited to the messages and
 * fields that this server's documents use. Each message is a table of members with their field numbers.
 */

type Writer = protobuf.Writer;

/** Writes a member's value as field `number`. */
type Write = (writer: Writer, number: number, value: unknown) => void;

/** Members of an object with their field numbers. */
type Members = readonly (readonly [member: string, number: number, write: Write])[];

const VARINT = 0;
const DOUBLE = 1;
const BYTES = 2;

const writeTag = (writer: Writer, number: number, wire: number): Writer => writer.uint32((number << 3) | wire);
const asObject = (value: unknown): Schema =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Schema) : {};
const asArray = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

/** Writes a nested message. */
function writeNested(writer: Writer, number: number, write: (writer: Writer) => void): void {
  writeTag(writer, number, BYTES).fork();
  write(writer);
  writer.ldelim();
}

const text: Write = (writer, number, value) => {
  if (value !== '') writeTag(writer, number, BYTES).string(String(value));
};
const flag: Write = (writer, number, value) => {
  if (value === true) writeTag(writer, number, VARINT).bool(true);
};
const integer: Write = (writer, number, value) => {
  if (value !== 0) writeTag(writer, number, VARINT).int64(Number(value));
};
const double: Write = (writer, number, value) => {
  if (value !== 0) writeTag(writer, number, DOUBLE).double(Number(value));
};

const repeated =
  (write: Write): Write =>
  (writer, number, value) => {
    for (const item of asArray(value)) write(writer, number, item);
  };

/** A map: a message whose field `inner` repeats pairs of name and value. */
const mapOf =
  (write: Write, inner = 1): Write =>
  (writer, number, value) =>
    writeNested(writer, number, map => {
      for (const [name, item] of Object.entries(asObject(value)))
        writeNested(map, inner, pair => {
          text(pair, 1, name);
          write(pair, 2, item);
        });
    });

/** Gnostic's `Any`: a value as YAML text, of which JSON is a subset. */
const any: Write = (writer, number, value) => writeNested(writer, number, w => text(w, 2, writeJson(value)));

/** A message with these members; `x-…` members go to field `extensions`. `members` is lazy, since messages recurse. */
const messageOf =
  (members: () => Members, extensions?: number): Write =>
  (writer, number, value) =>
    writeNested(writer, number, w => writeMembers(w, asObject(value), members(), extensions));

function writeMembers(writer: Writer, value: Schema, members: Members, extensions?: number): void {
  for (const [member, number, write] of members) if (value[member] !== undefined) write(writer, number, value[member]);
  if (extensions === undefined) return;
  for (const [name, member] of Object.entries(value)) {
    if (!name.startsWith('x-')) continue;
    writeNested(writer, extensions, pair => {
      text(pair, 1, name);
      any(pair, 2, member);
    });
  }
}

/** Either the object (field 1) or a reference to one (field 2). */
const orReference =
  (write: Write): Write =>
  (writer, number, value) =>
    writeNested(writer, number, choice => {
      const { $ref } = asObject(value);
      if ($ref === undefined) write(choice, 1, value);
      else writeNested(choice, 2, reference => text(reference, 1, $ref));
    });

/** A default value. Objects and lists are omitted: the message has no field for them. */
const defaultValue: Write = (writer, number, value) => {
  if (typeof value === 'object') return;
  writeNested(writer, number, choice => {
    if (typeof value === 'number') writeTag(choice, 1, DOUBLE).double(value);
    else if (typeof value === 'boolean') writeTag(choice, 2, VARINT).bool(value);
    else writeTag(choice, 3, BYTES).string(String(value));
  });
};

const schema: Write = messageOf(() => SCHEMA, 36);
const schemaOrReference = orReference(schema);

/** The schema of a list's items. */
const itemsItem: Write = (writer, number, value) => writeNested(writer, number, w => schemaOrReference(w, 1, value));

const additionalProperties: Write = (writer, number, value) =>
  writeNested(writer, number, choice => {
    if (typeof value === 'boolean') writeTag(choice, 2, VARINT).bool(value);
    else schemaOrReference(choice, 1, value);
  });

const SCHEMA: Members = [
  ['nullable', 1, flag],
  ['example', 7, any],
  ['title', 9, text],
  ['multipleOf', 10, double],
  ['maximum', 11, double],
  ['exclusiveMaximum', 12, flag],
  ['minimum', 13, double],
  ['exclusiveMinimum', 14, flag],
  ['maxLength', 15, integer],
  ['minLength', 16, integer],
  ['pattern', 17, text],
  ['maxItems', 18, integer],
  ['minItems', 19, integer],
  ['uniqueItems', 20, flag],
  ['maxProperties', 21, integer],
  ['minProperties', 22, integer],
  ['required', 23, repeated(text)],
  ['enum', 24, repeated(any)],
  ['type', 25, text],
  ['allOf', 26, repeated(schemaOrReference)],
  ['oneOf', 27, repeated(schemaOrReference)],
  ['anyOf', 28, repeated(schemaOrReference)],
  ['not', 29, schema],
  ['items', 30, itemsItem],
  ['properties', 31, mapOf(schemaOrReference)],
  ['additionalProperties', 32, additionalProperties],
  ['default', 33, defaultValue],
  ['description', 34, text],
  ['format', 35, text],
];

const mediaTypes = mapOf(messageOf(() => [['schema', 1, schemaOrReference]], 5));

const parameter = orReference(
  messageOf(
    () => [
      ['name', 1, text],
      ['in', 2, text],
      ['description', 3, text],
      ['required', 4, flag],
      ['schema', 10, schemaOrReference],
    ],
    14,
  ),
);

const requestBody = orReference(
  messageOf(() => [
    ['description', 1, text],
    ['content', 2, mediaTypes],
    ['required', 3, flag],
  ]),
);

const response = orReference(
  messageOf(() => [
    ['description', 1, text],
    ['content', 3, mediaTypes],
  ]),
);

const operation = messageOf(
  () => [
    ['tags', 1, repeated(text)],
    ['description', 3, text],
    ['operationId', 5, text],
    ['parameters', 6, repeated(parameter)],
    ['requestBody', 7, requestBody],
    ['responses', 8, mapOf(response, 2)],
    ['deprecated', 10, flag],
  ],
  13,
);

const pathItem = messageOf(() => [
  ['get', 4, operation],
  ['put', 5, operation],
  ['post', 6, operation],
  ['delete', 7, operation],
  ['options', 8, operation],
  ['head', 9, operation],
  ['patch', 10, operation],
  ['parameters', 13, repeated(parameter)],
]);

const securityScheme = orReference(
  messageOf(() => [
    ['type', 1, text],
    ['description', 2, text],
    ['name', 3, text],
    ['in', 4, text],
  ]),
);

const DOCUMENT: Members = [
  ['openapi', 1, text],
  [
    'info',
    2,
    messageOf(() => [
      ['title', 1, text],
      ['description', 2, text],
      ['version', 6, text],
    ]),
  ],
  ['paths', 4, mapOf(pathItem)],
  [
    'components',
    5,
    messageOf(() => [
      ['schemas', 1, mapOf(schemaOrReference)],
      ['securitySchemes', 7, mapOf(securityScheme)],
    ]),
  ],
];

/** Encodes an OpenAPI 3 document as gnostic's `openapi.v3.Document`. */
export function encodeV3(document: Schema): Uint8Array {
  const writer = protobuf.Writer.create();
  writeMembers(writer, document, DOCUMENT, 9);
  return writer.finish();
}
