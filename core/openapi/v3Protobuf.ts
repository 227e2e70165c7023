import protobuf from 'protobufjs';
import type { Schema } from './schemas.js';

/*
 * The protobuf form of an OpenAPI 3 document: package openapi.v3 of the gnostic project, only the messages and fields that our own documents use. A
 * message is a table of the document's members; field numbers are its wire format.
 */

type Writer = protobuf.Writer;

/** Writes one member's value as field `number`; absent members are not written. */
type Write = (writer: Writer, number: number, value: unknown) => void;

/** Members of an object with their field numbers, in the order of these. */
type Members = readonly (readonly [member: string, number: number, write: Write])[];

const VARINT = 0;
const DOUBLE = 1;
const BYTES = 2;

const tag = (writer: Writer, number: number, wire: number): Writer => writer.uint32((number << 3) | wire);
const record = (value: unknown): Schema =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Schema) : {};
const items = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

/** A nested message with these contents. */
function nested(writer: Writer, number: number, write: (writer: Writer) => void): void {
  tag(writer, number, BYTES).fork();
  write(writer);
  writer.ldelim();
}

const text: Write = (writer, number, value) => {
  if (value !== '') tag(writer, number, BYTES).string(String(value));
};
const flag: Write = (writer, number, value) => {
  if (value === true) tag(writer, number, VARINT).bool(true);
};
const integer: Write = (writer, number, value) => {
  if (value !== 0) tag(writer, number, VARINT).int64(Number(value));
};
const double: Write = (writer, number, value) => {
  if (value !== 0) tag(writer, number, DOUBLE).double(Number(value));
};

const each =
  (write: Write): Write =>
  (writer, number, value) => {
    for (const item of items(value)) write(writer, number, item);
  };

/** A map is a message whose field `inner` repeats pairs of name and value. */
const pairs =
  (write: Write, inner = 1): Write =>
  (writer, number, value) =>
    nested(writer, number, map => {
      for (const [name, item] of Object.entries(record(value)))
        nested(map, inner, pair => {
          text(pair, 1, name);
          write(pair, 2, item);
        });
    });

/** Values of any kind travel as YAML text; JSON is YAML. */
const any: Write = (writer, number, value) => nested(writer, number, w => text(w, 2, JSON.stringify(value)));

/**
 * A message with these members; `x-…` members go to field `extensions`. The table is asked for late: messages hold each
 * other.
 */
const message =
  (members: () => Members, extensions?: number): Write =>
  (writer, number, value) =>
    nested(writer, number, w => writeMembers(w, record(value), members(), extensions));

function writeMembers(writer: Writer, value: Schema, members: Members, extensions?: number): void {
  for (const [member, number, write] of members) if (value[member] !== undefined) write(writer, number, value[member]);
  if (extensions === undefined) return;
  for (const [name, member] of Object.entries(value)) {
    if (!name.startsWith('x-')) continue;
    nested(writer, extensions, pair => {
      text(pair, 1, name);
      any(pair, 2, member);
    });
  }
}

/** Either the thing itself (field 1) or a reference to it (field 2). */
const orReference =
  (write: Write): Write =>
  (writer, number, value) =>
    nested(writer, number, choice => {
      const { $ref } = record(value);
      if ($ref === undefined) write(choice, 1, value);
      else nested(choice, 2, reference => text(reference, 1, $ref));
    });

/** Defaults that are objects or lists have no message and are left out, as the publisher's own converter does. */
const standard: Write = (writer, number, value) => {
  if (typeof value === 'object') return;
  nested(writer, number, choice => {
    if (typeof value === 'number') tag(choice, 1, DOUBLE).double(value);
    else if (typeof value === 'boolean') tag(choice, 2, VARINT).bool(value);
    else tag(choice, 3, BYTES).string(String(value));
  });
};

const schema: Write = message(() => SCHEMA, 36);
const schemaOrReference = orReference(schema);

/** One schema for all items, though the message could hold several. */
const itemsItem: Write = (writer, number, value) => nested(writer, number, w => schemaOrReference(w, 1, value));

const additionalProperties: Write = (writer, number, value) =>
  nested(writer, number, choice => {
    if (typeof value === 'boolean') tag(choice, 2, VARINT).bool(value);
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
  ['required', 23, each(text)],
  ['enum', 24, each(any)],
  ['type', 25, text],
  ['allOf', 26, each(schemaOrReference)],
  ['oneOf', 27, each(schemaOrReference)],
  ['anyOf', 28, each(schemaOrReference)],
  ['not', 29, schema],
  ['items', 30, itemsItem],
  ['properties', 31, pairs(schemaOrReference)],
  ['additionalProperties', 32, additionalProperties],
  ['default', 33, standard],
  ['description', 34, text],
  ['format', 35, text],
];

const mediaTypes = pairs(message(() => [['schema', 1, schemaOrReference]], 5));

const parameter = orReference(
  message(
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
  message(() => [
    ['description', 1, text],
    ['content', 2, mediaTypes],
    ['required', 3, flag],
  ]),
);

const response = orReference(
  message(() => [
    ['description', 1, text],
    ['content', 3, mediaTypes],
  ]),
);

const operation = message(
  () => [
    ['tags', 1, each(text)],
    ['description', 3, text],
    ['operationId', 5, text],
    ['parameters', 6, each(parameter)],
    ['requestBody', 7, requestBody],
    ['responses', 8, pairs(response, 2)],
    ['deprecated', 10, flag],
  ],
  13,
);

const pathItem = message(() => [
  ['get', 4, operation],
  ['put', 5, operation],
  ['post', 6, operation],
  ['delete', 7, operation],
  ['options', 8, operation],
  ['head', 9, operation],
  ['patch', 10, operation],
  ['parameters', 13, each(parameter)],
]);

const securityScheme = orReference(
  message(() => [
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
    message(() => [
      ['title', 1, text],
      ['description', 2, text],
      ['version', 6, text],
    ]),
  ],
  ['paths', 4, pairs(pathItem)],
  [
    'components',
    5,
    message(() => [
      ['schemas', 1, pairs(schemaOrReference)],
      ['securitySchemes', 7, pairs(securityScheme)],
    ]),
  ],
];

/** Encodes an OpenAPI 3 document as gnostic's `openapi.v3.Document`. */
export function encodeV3(document: Schema): Uint8Array {
  const writer = protobuf.Writer.create();
  writeMembers(writer, document, DOCUMENT, 9);
  return writer.finish();
}
