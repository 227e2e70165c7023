import protobuf from 'protobufjs';
import { describe, expect, it } from 'vitest';
import type { HttpDocument } from '../../core/api/index.js';
import { namingOf } from '../../core/naming.js';
import { encodeV2 } from '../../core/services/openapi/gnostic.js';
import { openApiDocuments, type Schema } from '../../core/services/openapi/index.js';
import { buildRegistry } from '../../core/schema/registry/registry.js';

const naming = namingOf('kubernetes');
const keys: HttpDocument = {
  path: '/openid/v1/jwks',
  contentType: 'application/jwk-set+json',
  headers: {},
  openApi: { operationId: 'getKeys', tag: 'openid' },
  body: () => '{}',
};
const silent: HttpDocument = { path: '/robots.txt', contentType: 'text/plain', headers: {}, body: () => '' };
const documents = openApiDocuments(buildRegistry({ naming, strategies: () => undefined, generation: 1 }), naming, {
  documents: [keys, silent],
});

interface Parameter {
  readonly $ref?: string;
  readonly in?: string;
  readonly name?: string;
}
interface Item {
  readonly parameters?: readonly Parameter[];
  readonly post?: { readonly parameters: readonly Parameter[] };
  readonly patch?: { readonly parameters: readonly Parameter[] };
}
interface Document {
  readonly info: { readonly version: string };
  readonly paths: { readonly [path: string]: Item };
  readonly parameters: { readonly [name: string]: Parameter };
  readonly components: { readonly schemas?: { readonly [name: string]: Schema } };
}
const read = (path: string): Document =>
  JSON.parse(Buffer.from(documents.answer(path, undefined, undefined, undefined)!.bytes).toString()) as Document;
const v2 = read('/openapi/v2');

describe('parameters of OpenAPI 2', () => {
  it('are shared, named after their content', () => {
    const { parameters } = v2.paths['/api/v1/namespaces/{namespace}/configmaps']!;
    const names = parameters!.map(({ $ref }) => $ref!.replace('#/parameters/', ''));
    expect(names).toEqual([expect.stringMatching(/^namespace-.{8}$/), expect.stringMatching(/^pretty-.{8}$/)]);
    expect(v2.parameters[names[0]!]).toMatchObject({ in: 'path', name: 'namespace', required: true });
    expect(Object.keys(v2.parameters)).toEqual(Object.keys(v2.parameters).sort());
  });

  it('stay in place if clients look for them there, or if they are the object of one kind', () => {
    const path = '/api/v1/namespaces/{namespace}/configmaps';
    const inline = v2.paths[path]!.post!.parameters.filter(({ $ref }) => $ref === undefined);
    expect(inline.map(({ name }) => name)).toEqual(['body', 'dryRun', 'fieldValidation']);
    const object = v2.paths[`${path}/{name}`]!;
    expect(object.parameters).toContainEqual(expect.objectContaining({ in: 'path', name: 'name' }));
    expect(object.patch!.parameters[0]!.$ref).toMatch(/^#\/parameters\/body-/);
  });

  it('are referred to in protobuf as well', () => {
    const { root } = protobuf.parse(`syntax = "proto3";
      message Any { string yaml = 2; }
      message Query { string in = 2; string name = 4; string type = 6; }
      message NonBody { Query query = 3; }
      message Parameter { NonBody non_body = 2; }
      message Reference { string ref = 1; }
      message Item { Parameter parameter = 1; Reference reference = 2; }
      message PathItem { repeated Item parameters = 9; }
      message NamedPath { string name = 1; PathItem value = 2; }
      message Paths { repeated NamedPath path = 2; }
      message NamedParameter { string name = 1; Parameter value = 2; }
      message Parameters { repeated NamedParameter entry = 1; }
      message Document { Paths paths = 8; Parameters parameters = 10; }`);
    const type = root.lookupType('Document');
    const decoded = type.toObject(type.decode(encodeV2(v2 as unknown as Schema))) as {
      paths: { path: { name: string; value: { parameters?: { reference?: { ref: string } }[] } }[] };
      parameters: { entry: { name: string; value: { nonBody?: { query?: object } } }[] };
    };
    expect(decoded.parameters.entry.map(({ name }) => name)).toEqual(Object.keys(v2.parameters));
    const pretty = decoded.parameters.entry.find(({ name }) => name.startsWith('pretty-'))!;
    expect(pretty.value.nonBody?.query).toEqual({ in: 'query', name: 'pretty', type: 'string' });
    const namespaces = decoded.paths.path.find(({ name }) => name === '/api/v1/namespaces')!;
    expect(namespaces.value.parameters).toEqual([{ reference: { ref: `#/parameters/${pretty.name}` } }]);
  });
});

describe('documents of plugins', () => {
  it('are described as text if they declare it, in both versions', () => {
    expect(v2.paths['/openid/v1/jwks/']).toEqual({
      get: {
        description: 'Reads the document /openid/v1/jwks/.',
        tags: ['openid'],
        produces: ['application/jwk-set+json'],
        schemes: ['https'],
        operationId: 'getKeys',
        responses: { 200: { description: 'OK', schema: { type: 'string' } }, 401: { description: 'Unauthorized' } },
      },
    });
    const v3 = read('/openapi/v3/openid/v1/jwks');
    expect(v3.paths['/openid/v1/jwks/']).toHaveProperty(['get', 'responses', '200', 'content'], {
      'application/jwk-set+json': { schema: { type: 'string' } },
    });
    expect(v3.components).not.toHaveProperty('schemas');
    expect(Object.keys(v2.paths)).not.toContain('/robots.txt/');
  });
});

describe('schemas and info', () => {
  it('name the release without its patch', () => {
    expect(v2.info.version).toBe('1.32');
    expect(read('/openapi/v3/api/v1').info.version).toBe('1.32');
  });

  it('refer directly to types of fields without description, and describe the others', () => {
    const name = 'io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSONSchemaProps';
    const { properties } = read('/openapi/v3/apis/apiextensions.k8s.io/v1').components.schemas![name] as {
      properties: { [name: string]: Schema };
    };
    for (const field of ['additionalItems', 'additionalProperties', 'example', 'externalDocs', 'items', 'not'])
      expect(Object.keys(properties[field]!)).toEqual(['$ref']);
    expect(properties['default']).toHaveProperty('allOf');
    expect(Object.keys(properties['dependencies']!.additionalProperties as Schema)).toEqual(['$ref']);
  });
});
