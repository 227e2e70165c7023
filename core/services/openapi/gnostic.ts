import { writeJson } from '../../model/text/jsonText.js';
import protobuf from 'protobufjs/minimal.js';
import type { Schema } from './dialect.js';

/*
 * The protobuf encoding of OpenAPI 2 documents: package openapi.v2 of the gnostic project, limited to the messages and
 * fields that this server's documents use.
 */

type Writer = protobuf.Writer;

const asObject = (value: unknown): Schema =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Schema) : {};
const asArray = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

const writeText = (writer: Writer, field: number, value: unknown): void => {
  if (typeof value === 'string' && value !== '') writer.uint32((field << 3) | 2).string(value);
};

const writeTexts = (writer: Writer, field: number, values: unknown): void => {
  for (const value of asArray(values)) if (typeof value === 'string') writer.uint32((field << 3) | 2).string(value);
};

const writeFlag = (writer: Writer, field: number, value: unknown): void => {
  if (value === true) writer.uint32(field << 3).bool(true);
};

/** Writes a nested message. */
const writeMessage = (writer: Writer, field: number, write: (writer: Writer) => void): void => {
  writer.uint32((field << 3) | 2).fork();
  write(writer);
  writer.ldelim();
};

/** Writes a value as gnostic's `Any`: as YAML text, of which JSON is a subset. */
const writeAny = (writer: Writer, field: number, value: unknown): void =>
  writeMessage(writer, field, w => writeText(w, 2, writeJson(value)));

/** Writes the `x-…` members. */
function writeExtensions(writer: Writer, field: number, value: Schema): void {
  for (const [name, member] of Object.entries(value)) {
    if (!name.startsWith('x-')) continue;
    writeMessage(writer, field, w => {
      writeText(w, 1, name);
      writeAny(w, 2, member);
    });
  }
}

const writeNamed = (writer: Writer, field: number, name: string, write: (writer: Writer) => void): void =>
  writeMessage(writer, field, w => {
    writeText(w, 1, name);
    writeMessage(w, 2, write);
  });

function writeSchema(writer: Writer, schema: Schema): void {
  writeText(writer, 1, schema.$ref);
  writeText(writer, 2, schema.format);
  writeText(writer, 4, schema.description);
  if (schema.default !== undefined) writeAny(writer, 5, schema.default);
  writeTexts(writer, 19, schema.required);
  for (const value of asArray(schema.enum)) writeAny(writer, 20, value);
  if (schema.additionalProperties !== undefined) {
    writeMessage(writer, 21, w => {
      if (typeof schema.additionalProperties === 'boolean') w.uint32(2 << 3).bool(schema.additionalProperties);
      else writeMessage(w, 1, inner => writeSchema(inner, asObject(schema.additionalProperties)));
    });
  }
  if (typeof schema.type === 'string') writeMessage(writer, 22, w => writeText(w, 1, schema.type));
  if (schema.items !== undefined)
    writeMessage(writer, 23, w => writeMessage(w, 1, inner => writeSchema(inner, asObject(schema.items))));
  if (schema.properties !== undefined) writeMessage(writer, 25, w => writeNamedSchemas(w, asObject(schema.properties)));
  writeExtensions(writer, 31, schema);
}

function writeNamedSchemas(writer: Writer, schemas: Schema): void {
  for (const [name, schema] of Object.entries(schemas))
    writeNamed(writer, 1, name, w => writeSchema(w, asObject(schema)));
}

function writeBodyParameter(writer: Writer, parameter: Schema): void {
  writeText(writer, 2, parameter.name);
  writeText(writer, 3, parameter.in);
  writeFlag(writer, 4, parameter.required);
  writeMessage(writer, 5, w => writeSchema(w, asObject(parameter.schema)));
}

/** Writes a query or path parameter. Query parameters have one field more, which shifts the numbers of the others. */
function writeNonBodyParameter(writer: Writer, parameter: Schema, shift: number): void {
  writeFlag(writer, 1, parameter.required);
  writeText(writer, 2, parameter.in);
  writeText(writer, 4, parameter.name);
  writeText(writer, 5 + shift, parameter.type);
  writeFlag(writer, 19 + shift, parameter.uniqueItems);
}

/** Writes the content of a `Parameter`. */
function writeParameter(writer: Writer, parameter: Schema): void {
  if (parameter.in === 'body') writeMessage(writer, 1, inner => writeBodyParameter(inner, parameter));
  else if (parameter.in === 'query')
    writeMessage(writer, 2, sub => writeMessage(sub, 3, inner => writeNonBodyParameter(inner, parameter, 1)));
  else writeMessage(writer, 2, sub => writeMessage(sub, 4, inner => writeNonBodyParameter(inner, parameter, 0)));
}

/** Writes a `ParametersItem`: a parameter, or a reference to a shared one. */
const writeParameterItem = (writer: Writer, field: number, parameter: Schema): void =>
  writeMessage(writer, field, entry => {
    if (parameter.$ref === undefined) writeMessage(entry, 1, w => writeParameter(w, parameter));
    else writeMessage(entry, 2, w => writeText(w, 1, parameter.$ref));
  });

function writeResponses(writer: Writer, responses: Schema): void {
  for (const [code, value] of Object.entries(responses)) {
    const response = asObject(value);
    writeNamed(writer, 1, code, entry =>
      writeMessage(entry, 1, w => {
        writeText(w, 1, response.description);
        if (response.schema !== undefined)
          writeMessage(w, 2, item => writeMessage(item, 1, inner => writeSchema(inner, asObject(response.schema))));
      }),
    );
  }
}

function writeOperation(writer: Writer, operation: Schema): void {
  writeTexts(writer, 1, operation.tags);
  writeText(writer, 3, operation.description);
  writeText(writer, 5, operation.operationId);
  writeTexts(writer, 6, operation.produces);
  writeTexts(writer, 7, operation.consumes);
  for (const parameter of asArray(operation.parameters)) writeParameterItem(writer, 8, asObject(parameter));
  writeMessage(writer, 9, w => writeResponses(w, asObject(operation.responses)));
  writeExtensions(writer, 13, operation);
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
    if (item[method] !== undefined) writeMessage(writer, field, w => writeOperation(w, asObject(item[method])));
  }
  for (const parameter of asArray(item.parameters)) writeParameterItem(writer, 9, asObject(parameter));
}

/** Encodes an OpenAPI 2 document as gnostic's `openapi.v2.Document`. */
export function encodeV2(document: Schema): Uint8Array {
  const writer = protobuf.Writer.create();
  const info = asObject(document.info);
  writeText(writer, 1, document.swagger);
  writeMessage(writer, 2, w => {
    writeText(w, 1, info.title);
    writeText(w, 2, info.version);
  });
  writeMessage(writer, 8, w => {
    for (const [path, item] of Object.entries(asObject(document.paths)))
      writeNamed(w, 2, path, inner => writePathItem(inner, asObject(item)));
  });
  writeMessage(writer, 9, w => writeNamedSchemas(w, asObject(document.definitions)));
  writeMessage(writer, 10, w => {
    for (const [name, parameter] of Object.entries(asObject(document.parameters)))
      writeNamed(w, 1, name, inner => writeParameter(inner, asObject(parameter)));
  });
  return writer.finish();
}
