import protobuf from 'protobufjs';
import type { Schema } from './schemas.js';

/*
 * The protobuf form of an OpenAPI 2 document: package openapi.v2 of the gnostic project, only the messages and fields that our own documents use.
 * Field numbers are its wire format.
 */

type Writer = protobuf.Writer;

const record = (value: unknown): Schema =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Schema) : {};
const items = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

const text = (writer: Writer, field: number, value: unknown): void => {
  if (typeof value === 'string' && value !== '') writer.uint32((field << 3) | 2).string(value);
};

const texts = (writer: Writer, field: number, values: unknown): void => {
  for (const value of items(values)) if (typeof value === 'string') writer.uint32((field << 3) | 2).string(value);
};

const flag = (writer: Writer, field: number, value: unknown): void => {
  if (value === true) writer.uint32(field << 3).bool(true);
};

/** A nested message. */
const message = (writer: Writer, field: number, write: (writer: Writer) => void): void => {
  writer.uint32((field << 3) | 2).fork();
  write(writer);
  writer.ldelim();
};

/** Values of any kind travel as YAML text; JSON is YAML. */
const any = (writer: Writer, field: number, value: unknown): void =>
  message(writer, field, w => text(w, 2, JSON.stringify(value)));

/** `x-…` members as named values. */
function extensions(writer: Writer, field: number, value: Schema): void {
  for (const [name, member] of Object.entries(value)) {
    if (!name.startsWith('x-')) continue;
    message(writer, field, w => {
      text(w, 1, name);
      any(w, 2, member);
    });
  }
}

const named = (writer: Writer, field: number, name: string, write: (writer: Writer) => void): void =>
  message(writer, field, w => {
    text(w, 1, name);
    message(w, 2, write);
  });

function writeSchema(writer: Writer, schema: Schema): void {
  text(writer, 1, schema.$ref);
  text(writer, 2, schema.format);
  text(writer, 4, schema.description);
  if (schema.default !== undefined) any(writer, 5, schema.default);
  texts(writer, 19, schema.required);
  for (const value of items(schema.enum)) any(writer, 20, value);
  if (schema.additionalProperties !== undefined) {
    message(writer, 21, w => {
      if (typeof schema.additionalProperties === 'boolean') w.uint32(2 << 3).bool(schema.additionalProperties);
      else message(w, 1, inner => writeSchema(inner, record(schema.additionalProperties)));
    });
  }
  if (typeof schema.type === 'string') message(writer, 22, w => text(w, 1, schema.type));
  if (schema.items !== undefined)
    message(writer, 23, w => message(w, 1, inner => writeSchema(inner, record(schema.items))));
  if (schema.properties !== undefined) message(writer, 25, w => writeNamedSchemas(w, record(schema.properties)));
  extensions(writer, 31, schema);
}

function writeNamedSchemas(writer: Writer, schemas: Schema): void {
  for (const [name, schema] of Object.entries(schemas)) named(writer, 1, name, w => writeSchema(w, record(schema)));
}

function writeBody(writer: Writer, parameter: Schema): void {
  text(writer, 2, parameter.name);
  text(writer, 3, parameter.in);
  flag(writer, 4, parameter.required);
  message(writer, 5, w => writeSchema(w, record(parameter.schema)));
}

/** Query and path parameters differ by one field, which moves the rest. */
function writePlain(writer: Writer, parameter: Schema, shift: number): void {
  flag(writer, 1, parameter.required);
  text(writer, 2, parameter.in);
  text(writer, 4, parameter.name);
  text(writer, 5 + shift, parameter.type);
  flag(writer, 19 + shift, parameter.uniqueItems);
}

/** ParametersItem: a parameter, of the body or not. */
const writeParameter = (writer: Writer, field: number, parameter: Schema): void =>
  message(writer, field, entry =>
    message(entry, 1, w => {
      if (parameter.in === 'body') message(w, 1, inner => writeBody(inner, parameter));
      else if (parameter.in === 'query')
        message(w, 2, sub => message(sub, 3, inner => writePlain(inner, parameter, 1)));
      else message(w, 2, sub => message(sub, 4, inner => writePlain(inner, parameter, 0)));
    }),
  );

function writeResponses(writer: Writer, responses: Schema): void {
  for (const [code, value] of Object.entries(responses)) {
    const response = record(value);
    named(writer, 1, code, entry =>
      message(entry, 1, w => {
        text(w, 1, response.description);
        if (response.schema !== undefined)
          message(w, 2, item => message(item, 1, inner => writeSchema(inner, record(response.schema))));
      }),
    );
  }
}

function writeOperation(writer: Writer, operation: Schema): void {
  texts(writer, 1, operation.tags);
  text(writer, 3, operation.description);
  text(writer, 5, operation.operationId);
  texts(writer, 6, operation.produces);
  texts(writer, 7, operation.consumes);
  for (const parameter of items(operation.parameters)) writeParameter(writer, 8, record(parameter));
  message(writer, 9, w => writeResponses(w, record(operation.responses)));
  extensions(writer, 13, operation);
}

const METHOD_FIELDS: readonly (readonly [string, number])[] = [
  ['get', 2],
  ['put', 3],
  ['post', 4],
  ['delete', 5],
  ['options', 6],
  ['head', 7],
  ['patch', 8],
];

function writePathItem(writer: Writer, item: Schema): void {
  for (const [method, field] of METHOD_FIELDS) {
    if (item[method] !== undefined) message(writer, field, w => writeOperation(w, record(item[method])));
  }
  for (const parameter of items(item.parameters)) writeParameter(writer, 9, record(parameter));
}

/** Encodes an OpenAPI 2 document as gnostic's `openapi.v2.Document`. */
export function encodeV2(document: Schema): Uint8Array {
  const writer = protobuf.Writer.create();
  const info = record(document.info);
  text(writer, 1, document.swagger);
  message(writer, 2, w => {
    text(w, 1, info.title);
    text(w, 2, info.version);
  });
  message(writer, 8, w => {
    for (const [path, item] of Object.entries(record(document.paths)))
      named(w, 2, path, inner => writePathItem(inner, record(item)));
  });
  message(writer, 9, w => writeNamedSchemas(w, record(document.definitions)));
  return writer.finish();
}
