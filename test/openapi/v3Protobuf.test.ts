import protobuf from 'protobufjs';
import { describe, expect, test } from 'vitest';
import { namingOf } from '../../core/naming.js';
import { openApiDocuments, type Schema } from '../../core/services/openapi/index.js';
import { encodeV3 } from '../../core/services/openapi/v3Protobuf.js';
import { registryOf } from '../kinds/builtIn.js';

const ASKED = 'application/com.github.proto-openapi.spec.v3@v1.0+protobuf';
const ANSWERED = 'application/com.github.proto-openapi.spec.v3.v1.0+protobuf';

/**
 * The published message definitions that documents use, for a decoder that is independent of the encoder's code.
 */
const { root } = protobuf.parse(
  `syntax = "proto3";
  message Any { string yaml = 2; }
  message NamedAny { string name = 1; Any value = 2; }
  message Reference { string ref = 1; }
  message DefaultType { oneof oneof { double number = 1; bool boolean = 2; string string = 3; } }
  message SchemaOrReference { oneof oneof { Schema schema = 1; Reference reference = 2; } }
  message NamedSchemaOrReference { string name = 1; SchemaOrReference value = 2; }
  message SchemasOrReferences { repeated NamedSchemaOrReference additional_properties = 1; }
  message ItemsItem { repeated SchemaOrReference schema_or_reference = 1; }
  message AdditionalPropertiesItem { oneof oneof { SchemaOrReference schema_or_reference = 1; bool boolean = 2; } }
  message Schema {
    double minimum = 13; int64 max_length = 15; bool unique_items = 20; repeated string required = 23;
    repeated Any enum = 24; string type = 25;
    repeated SchemaOrReference all_of = 26; repeated SchemaOrReference one_of = 27; Schema not = 29;
    ItemsItem items = 30;
    SchemasOrReferences properties = 31; AdditionalPropertiesItem additional_properties = 32; DefaultType default = 33;
    string description = 34;
    string format = 35; repeated NamedAny specification_extension = 36;
  }
  message MediaType { SchemaOrReference schema = 1; }
  message NamedMediaType { string name = 1; MediaType value = 2; }
  message MediaTypes { repeated NamedMediaType additional_properties = 1; }
  message Parameter {
    string name = 1; string in = 2; string description = 3; bool required = 4; SchemaOrReference schema = 10;
  }
  message ParameterOrReference { oneof oneof { Parameter parameter = 1; Reference reference = 2; } }
  message RequestBody { string description = 1; MediaTypes content = 2; bool required = 3; }
  message RequestBodyOrReference { oneof oneof { RequestBody request_body = 1; Reference reference = 2; } }
  message Response { string description = 1; MediaTypes content = 3; }
  message ResponseOrReference { oneof oneof { Response response = 1; Reference reference = 2; } }
  message NamedResponseOrReference { string name = 1; ResponseOrReference value = 2; }
  message Responses { repeated NamedResponseOrReference response_or_reference = 2; }
  message Operation {
    repeated string tags = 1; string description = 3; string operation_id = 5;
    repeated ParameterOrReference parameters = 6;
    RequestBodyOrReference request_body = 7; Responses responses = 8; repeated NamedAny specification_extension = 13;
  }
  message PathItem {
    Operation get = 4; Operation put = 5; Operation post = 6; Operation delete = 7; Operation patch = 10;
    repeated ParameterOrReference parameters = 13;
  }
  message NamedPathItem { string name = 1; PathItem value = 2; }
  message Paths { repeated NamedPathItem path = 1; }
  message Components { SchemasOrReferences schemas = 1; }
  message Info { string title = 1; string version = 6; }
  message Document { string openapi = 1; Info info = 2; Paths paths = 4; Components components = 5; }`,
  { keepCase: true },
);

interface Read {
  readonly [member: string]: Read & readonly Read[] & string;
}
const read = (bytes: Uint8Array): Read =>
  root.lookupType('Document').toObject(root.lookupType('Document').decode(bytes), { longs: Number }) as Read;

const schemaIn = (schema: Schema): Read => {
  const bytes = encodeV3({ components: { schemas: { S: schema } } });
  return read(bytes)['components']!['schemas']!['additional_properties']![0]!['value']!['schema']!;
};

describe('OpenAPI 3 in protobuf', () => {
  test('schemas keep references, items, maps, enums, limits, defaults and extensions', () => {
    const ref = { $ref: '#/components/schemas/T' };
    expect(
      schemaIn({
        type: 'object',
        required: ['a'],
        properties: {
          a: ref,
          b: { type: 'array', items: ref },
          n: { not: { type: 'string' }, minimum: 1.5, maxLength: 3 },
        },
        additionalProperties: { type: 'integer', format: 'int32', default: 3 },
        enum: ['x', 1],
        'x-kubernetes-map-type': 'atomic',
        allOf: [ref],
      }),
    ).toEqual({
      type: 'object',
      required: ['a'],
      properties: {
        additional_properties: [
          { name: 'a', value: { reference: { ref: ref.$ref } } },
          {
            name: 'b',
            value: { schema: { type: 'array', items: { schema_or_reference: [{ reference: { ref: ref.$ref } }] } } },
          },
          { name: 'n', value: { schema: { not: { type: 'string' }, minimum: 1.5, max_length: 3 } } },
        ],
      },
      additional_properties: {
        schema_or_reference: { schema: { type: 'integer', format: 'int32', default: { number: 3 } } },
      },
      enum: [{ yaml: '"x"' }, { yaml: '1' }],
      specification_extension: [{ name: 'x-kubernetes-map-type', value: { yaml: '"atomic"' } }],
      all_of: [{ reference: { ref: ref.$ref } }],
    });
    expect(schemaIn({ additionalProperties: false, default: {} })).toEqual({
      additional_properties: { boolean: false },
    });
  });

  test('every served document has the paths, operations and schemas of its JSON, under its hash', () => {
    const naming = namingOf('kubernetes');
    const documents = openApiDocuments(registryOf('kubernetes'), naming);
    const index = documents.answer('/openapi/v3', undefined, undefined, undefined)!;
    const { paths } = JSON.parse(Buffer.from(index.bytes).toString()) as {
      paths: { [name: string]: { serverRelativeURL: string } };
    };
    for (const name of Object.keys(paths)) {
      const json = documents.answer(`/openapi/v3/${name}`, undefined, undefined, undefined)!;
      const answer = documents.answer(`/openapi/v3/${name}`, undefined, ASKED, undefined)!;
      expect([answer.contentType, answer.etag]).toEqual([ANSWERED, json.etag]);
      const document = JSON.parse(Buffer.from(json.bytes).toString()) as {
        paths: Schema;
        components?: { schemas: Schema };
      };
      const decoded = read(answer.bytes);
      expect(decoded['paths']!['path']!.map(path => path['name'])).toEqual(Object.keys(document.paths));
      const schemas = decoded['components']!['schemas']?.['additional_properties'] ?? [];
      expect(schemas.map(schema => schema['name'])).toEqual(Object.keys(document.components?.schemas ?? {}));
      const ids = Object.values(document.paths).map(
        item => (item as { get?: { operationId: string } }).get?.operationId,
      );
      expect(decoded['paths']!['path']!.map(path => path['value']!['get']?.['operation_id'])).toEqual(ids);
    }
  });

  test('a client with the tag gets 304, one that accepts neither media type 406', () => {
    const documents = openApiDocuments(registryOf('kubernetes'), namingOf('kubernetes'));
    const { etag } = documents.answer('/openapi/v3/api/v1', undefined, ASKED, undefined)!;
    expect(documents.answer('/openapi/v3/api/v1', undefined, ASKED, etag)!.status).toBe(304);
    expect(documents.answer('/openapi/v3/api/v1', undefined, 'text/html', undefined)!.status).toBe(406);
  });
});
