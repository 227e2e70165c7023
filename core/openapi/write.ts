import type { Naming } from '../naming.js';
import { METHODS, type Operation, type Parameter, type PathItem } from './operations.js';
import type { Schema, Schemas } from './schemas.js';

const PROTOBUF = 'application/vnd.orchestrator.protobuf';
const PATCHES = [
  'application/json-patch+json',
  'application/merge-patch+json',
  'application/strategic-merge-patch+json',
  'application/apply-patch+yaml',
];

/** Media types of bodies. */
function consumed({ body, forms }: Operation, naming: Naming): readonly string[] {
  if (body?.patch) return forms === 'custom' ? PATCHES.filter(type => !type.includes('strategic')) : PATCHES;
  if (forms === 'document') return ['application/json'];
  if (forms === 'discovery') return ['application/json', 'application/yaml', naming.mediaType(PROTOBUF)];
  return forms === 'custom' ? ['application/json', 'application/yaml'] : ['*/*'];
}

/** Media types of answers. */
function produced({ forms }: Operation, naming: Naming): readonly string[] {
  const protobuf = naming.mediaType(PROTOBUF);
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

const marks = (operation: Operation): Schema => ({
  ...(operation.action ? { 'x-kubernetes-action': operation.action } : {}),
  ...(operation.kind ? { 'x-kubernetes-group-version-kind': operation.kind } : {}),
});

const MEANING: Readonly<Record<number, string>> = { 200: 'OK', 201: 'Created', 202: 'Accepted' };

/** What parameters of collections do, for those who read the documents. */
const PURPOSE = new Map([
  ['fieldSelector', 'Narrows the list of returned objects by their fields; empty takes all.'],
  ['labelSelector', 'Narrows the list of returned objects by their labels; empty takes all.'],
  ['watch', 'Watch for changes to the described resources: a stream of events in place of a list.'],
  ['limit', 'Most objects of one answer; what is left is read with its continue token.'],
  ['continue', 'Token of an earlier answer: the list goes on where that one ended.'],
]);

const purpose = ({ in: place, name }: Parameter): Schema => {
  const description = place === 'query' ? PURPOSE.get(name) : undefined;
  return description ? { description } : {};
};

const required = (parameter: Parameter): Schema => (parameter.in === 'path' ? { required: true } : {});

/** One version's way of writing operations. */
export interface Writer {
  parameter(parameter: Parameter): Schema;
  operation(operation: Operation): Schema;
}

/** Version 3: bodies and answers by media type (OpenAPI 3.0.0, "Operation Object"). */
export const writerV3 = (naming: Naming, tag: string): Writer => ({
  parameter: parameter => ({
    in: parameter.in,
    name: parameter.name,
    ...purpose(parameter),
    ...required(parameter),
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
            content: content(consumed(operation, naming), operation.body.schema),
            ...(operation.body.required ? { required: true } : {}),
          },
        }
      : {}),
    responses: Object.fromEntries([
      ...operation.codes.map(code => [
        code,
        {
          description: MEANING[code],
          content: content(produced(operation, naming), operation.answer),
        },
      ]),
      [401, { description: 'Unauthorized' }],
    ]),
    ...marks(operation),
  }),
});

const content = (types: readonly string[], schema: Schema): Schema =>
  Object.fromEntries(types.map(type => [type, { schema }]));

/** Version 2: bodies among the parameters (OpenAPI 2.0, "Operation Object"). */
export const writerV2 = (naming: Naming, tag: string): Writer => ({
  parameter: parameter => ({
    in: parameter.in,
    name: parameter.name,
    ...purpose(parameter),
    ...required(parameter),
    type: parameter.type,
    uniqueItems: true,
  }),
  operation: operation => ({
    tags: [tag],
    consumes: consumed(operation, naming),
    produces: produced(operation, naming),
    schemes: ['https'],
    operationId: operation.id,
    parameters: [
      ...(operation.body
        ? [
            {
              in: 'body',
              name: 'body',
              ...(operation.body.required ? { required: true } : {}),
              schema: operation.body.schema,
            },
          ]
        : []),
      ...operation.parameters.map(p => writerV2(naming, tag).parameter(p)),
    ],
    responses: Object.fromEntries([
      ...operation.codes.map(code => [code, { description: MEANING[code], schema: operation.answer }]),
      [401, { description: 'Unauthorized' }],
    ]),
    ...marks(operation),
  }),
});

/** A path item in the version of the writer. */
export function writePath(item: PathItem, writer: Writer): Schema {
  const written: Schema = {};
  for (const method of METHODS) {
    const operation = item.operations.get(method);
    if (operation) written[method] = writer.operation(operation);
  }
  if (item.parameters.length) written.parameters = item.parameters.map(parameter => writer.parameter(parameter));
  return written;
}

/** What a document says of itself. */
export interface Info {
  readonly title: string;
  readonly version: string;
}

const SECURITY = {
  BearerToken: { type: 'apiKey', description: 'Bearer token', name: 'authorization', in: 'header' },
};

/** The whole document, version 3. As upstream, those of custom kinds say nothing of security. */
export const documentV3 = (paths: Schema, schemas: Schemas, info: Info, custom = false): Schema => ({
  openapi: '3.0.0',
  info,
  paths,
  components: { schemas: schemas.all(), ...(custom ? {} : { securitySchemes: SECURITY }) },
});

/** The whole document, version 2. */
export const documentV2 = (paths: Schema, schemas: Schemas, info: Info): Schema => ({
  swagger: '2.0',
  info,
  paths,
  definitions: schemas.all(),
  securityDefinitions: SECURITY,
  security: [{ BearerToken: [] }],
});
