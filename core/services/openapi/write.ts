import { writeJson } from '../../model/text/jsonText.js';
import type { Naming } from '../../naming.js';
import { describeOperation, describeParameter } from './describe.js';
import type { Schema } from './dialect.js';
import { METHODS, type Operation, type PathItem } from './operations.js';
import type { Parameter } from './parameters.js';
import type { Schemas } from './schemas.js';
import { shareParameters } from './sharedParameters.js';
import { PROTOBUF_TYPE } from '../../request/negotiate.js';

const PATCHES = [
  'application/json-patch+json',
  'application/merge-patch+json',
  'application/strategic-merge-patch+json',
  'application/apply-patch+yaml',
];

/** Media types of request bodies. */
function requestMediaTypes({ body, forms }: Operation, naming: Naming): readonly string[] {
  if (body?.patch) return forms === 'custom' ? PATCHES.filter(type => !type.includes('strategic')) : PATCHES;
  if (forms === 'document') return ['application/json'];
  if (forms === 'discovery') return ['application/json', 'application/yaml', naming.mediaType(PROTOBUF_TYPE)];
  return forms === 'custom' ? ['application/json', 'application/yaml'] : ['*/*'];
}

/** Media types of response bodies. */
function responseMediaTypes({ forms, produces }: Operation, naming: Naming): readonly string[] {
  if (produces !== undefined) return [produces];
  const protobuf = naming.mediaType(PROTOBUF_TYPE);
  const object = ['application/json', 'application/yaml', protobuf];
  switch (forms) {
    case 'document':
      return ['application/json'];
    case 'discovery':
    case 'object':
      return object;
    case 'stream':
      return [...object, 'application/json;stream=watch', `${protobuf};stream=watch`];
    case 'custom':
      return ['application/json', 'application/yaml'];
    case 'log':
      return ['text/plain', ...object];
    case 'connection':
      return ['*/*'];
  }
}

const extensions = (operation: Operation): Schema => ({
  ...(operation.action ? { 'x-kubernetes-action': operation.action } : {}),
  ...(operation.kind ? { 'x-kubernetes-group-version-kind': operation.kind } : {}),
});

const STATUS_TEXT: Readonly<Record<number, string>> = { 200: 'OK', 201: 'Created', 202: 'Accepted' };

const requiredOf = (parameter: Parameter): Schema => (parameter.in === 'path' ? { required: true } : {});

/** Writes parameters and operations in one OpenAPI version. */
export interface Writer {
  parameter(parameter: Parameter): Schema;
  operation(operation: Operation): Schema;
}

/** Writes OpenAPI 3, where bodies and responses have media types (OpenAPI 3.0.0, "Operation Object"). */
export const writerV3 = (naming: Naming, tag: string): Writer => ({
  parameter: parameter => ({
    in: parameter.in,
    name: parameter.name,
    description: describeParameter(parameter),
    ...requiredOf(parameter),
    schema: { type: parameter.type, uniqueItems: true },
  }),
  operation: operation => ({
    tags: [tag],
    operationId: operation.id,
    ...(operation.parameters.length
      ? { parameters: operation.parameters.map(p => writerV3(naming, tag).parameter(p)) }
      : {}),
    ...(operation.body
      ? {
          requestBody: {
            content: content(requestMediaTypes(operation, naming), operation.body.schema),
            ...(operation.body.required ? { required: true } : {}),
          },
        }
      : {}),
    responses: Object.fromEntries([
      ...operation.codes.map(code => [
        code,
        {
          description: STATUS_TEXT[code],
          content: content(responseMediaTypes(operation, naming), operation.response),
        },
      ]),
      [401, { description: 'Unauthorized' }],
    ]),
    ...extensions(operation),
  }),
});

const content = (types: readonly string[], schema: Schema): Schema =>
  Object.fromEntries(types.map(type => [type, { schema }]));

/** The member with the parameters of an operation in OpenAPI 2, if it has any. */
function parametersV2({ body, parameters }: Operation, writer: Writer): Schema {
  const sent = body
    ? [{ in: 'body', name: 'body', ...(body.required ? { required: true } : {}), schema: body.schema }]
    : [];
  const all = [...sent, ...parameters.map(parameter => writer.parameter(parameter))];
  return all.length > 0 ? { parameters: all } : {};
}

/** Writes OpenAPI 2, where bodies are parameters (OpenAPI 2.0, "Operation Object"). */
export const writerV2 = (naming: Naming, tag: string): Writer => ({
  parameter: parameter => ({
    in: parameter.in,
    name: parameter.name,
    description: describeParameter(parameter),
    ...requiredOf(parameter),
    type: parameter.type,
    uniqueItems: true,
  }),
  operation: operation => ({
    tags: [tag],
    ...(operation.produces === undefined ? { consumes: requestMediaTypes(operation, naming) } : {}),
    produces: responseMediaTypes(operation, naming),
    schemes: ['https'],
    operationId: operation.id,
    ...parametersV2(operation, writerV2(naming, tag)),
    responses: Object.fromEntries([
      ...operation.codes.map(code => [code, { description: STATUS_TEXT[code], schema: operation.response }]),
      [401, { description: 'Unauthorized' }],
    ]),
    ...extensions(operation),
  }),
});

/** Writes a path item. */
export function writePath(item: PathItem, writer: Writer): Schema {
  const written: Schema = {};
  for (const method of METHODS) {
    const operation = item.operations.get(method);
    if (operation)
      written[method] = {
        description: describeOperation(operation, method, item.path),
        ...writer.operation(operation),
      };
  }
  if (item.parameters.length) written.parameters = item.parameters.map(parameter => writer.parameter(parameter));
  return written;
}

/** The info object of a document. */
export interface Info {
  readonly title: string;
  readonly version: string;
}

const SECURITY = {
  BearerToken: { type: 'apiKey', description: 'Bearer token', name: 'authorization', in: 'header' },
};

/** An OpenAPI 3 document. Documents of custom kinds declare no security schemes, like those of upstream. */
export function documentV3(paths: Schema, schemas: Schemas, info: Info, custom = false): Schema {
  const all = schemas.all();
  const components = {
    ...(Object.keys(all).length > 0 ? { schemas: all } : {}),
    ...(custom ? {} : { securitySchemes: SECURITY }),
  };
  return { openapi: '3.0.0', info, paths, components };
}

/** A part of an OpenAPI 2 document, as JSON: members of the document's objects by name. */
export interface PartV2 {
  readonly paths: Texts;
  readonly parameters: Texts;
  readonly definitions: Texts;
}

type Texts = ReadonlyMap<string, string>;

const textsOf = (members: Schema): Texts =>
  new Map(Object.entries(members).map(([name, value]) => [name, writeJson(value)]));

/** A part with these paths and the schemas that they use. */
export function partV2(all: Schema, schemas: Schemas): PartV2 {
  const { paths, parameters } = shareParameters(all);
  return { paths: textsOf(paths), parameters: textsOf(parameters), definitions: textsOf(schemas.all()) };
}

const objectOf = (members: Iterable<readonly [string, string]>): string =>
  `{${Array.from(members, ([name, text]) => `${JSON.stringify(name)}:${text}`).join(',')}}`;

/** An object with the members of all parts, sorted. Members of the same name are equal. */
const sortedUnion = (all: readonly Texts[]): string =>
  objectOf([...new Map(all.flatMap(texts => [...texts]))].sort(([a], [b]) => (a < b ? -1 : 1)));

/** An OpenAPI 2 document, as JSON. It is assembled from texts, because it is large and few parts of it change. */
export const documentV2 = (parts: readonly PartV2[], info: Info): string =>
  objectOf([
    ['swagger', '"2.0"'],
    ['info', writeJson(info)],
    ['paths', objectOf(parts.flatMap(({ paths }) => [...paths]))],
    ['parameters', sortedUnion(parts.map(({ parameters }) => parameters))],
    ['definitions', sortedUnion(parts.map(({ definitions }) => definitions))],
    ['securityDefinitions', writeJson(SECURITY)],
    ['security', '[{"BearerToken":[]}]'],
  ]);
