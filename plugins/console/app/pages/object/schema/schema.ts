import { sendJson } from '../../../api/http.js';
import type { Kind } from '../../../api/kinds.js';

/** The members of an OpenAPI v3 schema that the console reads. */
export interface Schema {
  readonly type?: string;
  readonly format?: string;
  readonly description?: string;
  readonly default?: unknown;
  readonly enum?: readonly unknown[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly items?: Schema;
  readonly additionalProperties?: Schema | boolean;
  readonly allOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly anyOf?: readonly Schema[];
  readonly nullable?: boolean;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly pattern?: string;
  readonly $ref?: string;
  readonly 'x-kubernetes-group-version-kind'?: readonly {
    readonly group: string;
    readonly version: string;
    readonly kind: string;
  }[];
  readonly 'x-kubernetes-int-or-string'?: boolean;
  readonly 'x-kubernetes-preserve-unknown-fields'?: boolean;
  readonly 'x-kubernetes-embedded-resource'?: boolean;
  readonly 'x-kubernetes-list-type'?: string;
  readonly 'x-kubernetes-list-map-keys'?: readonly string[];
  readonly 'x-kubernetes-map-type'?: string;
}

interface OpenApi {
  readonly components?: { readonly schemas?: Readonly<Record<string, Schema>> };
}

const REFERENCE = '#/components/schemas/';

/** The schemas of the kinds of an API version. */
export class Schemas {
  readonly #all: Readonly<Record<string, Schema>>;

  constructor({ components }: OpenApi) {
    this.#all = components?.schemas ?? {};
  }

  /** A schema with its reference resolved. Its own description and default take precedence. */
  resolve(schema: Schema): Schema {
    const [only] = schema.allOf?.length === 1 ? schema.allOf : [];
    const name = (schema.$ref ?? only?.$ref)?.slice(REFERENCE.length);
    if (name === undefined) return schema;
    const { $ref, allOf, ...own } = schema;
    const target = Object.hasOwn(this.#all, name) ? this.#all[name]! : {};
    return { ...target, ...own };
  }

  /** The schema of a kind; undefined if there is none. */
  ofKind({ group, version, kind }: Pick<Kind, 'group' | 'version' | 'kind'>): Schema | undefined {
    return Object.values(this.#all).find(
      schema =>
        schema.properties !== undefined &&
        schema['x-kubernetes-group-version-kind']?.some(
          of => of.group === group && of.version === version && of.kind === kind,
        ),
    );
  }

  /** The schema of a child: of a property, a value of a map, or an item of a list. */
  child(schema: Schema, part: string | number): Schema | undefined {
    const { properties, additionalProperties, items } = schema;
    if (typeof part === 'number') return items && this.resolve(items);
    if (properties && Object.hasOwn(properties, part)) return this.resolve(properties[part]!);
    return typeof additionalProperties === 'object' ? this.resolve(additionalProperties) : undefined;
  }

  /** The schema at a path below another one; undefined where nothing is known. */
  at(schema: Schema, path: readonly (string | number)[]): Schema | undefined {
    return path.reduce<Schema | undefined>((found, part) => found && this.child(found, part), this.resolve(schema));
  }
}

/** The documents that were read, by address, which changes with the content. */
const read = new Map<string, Promise<Schemas>>();

/** Reads the schemas of the version of a kind. Throws ApiError. */
export async function readSchemas({ group, version }: Pick<Kind, 'group' | 'version'>): Promise<Schemas> {
  const { paths } = await sendJson<{ readonly paths: Readonly<Record<string, { serverRelativeURL: string }>> }>(
    'GET',
    '/openapi/v3',
  );
  const url = paths[group === '' ? `api/${version}` : `apis/${group}/${version}`]?.serverRelativeURL;
  if (url === undefined) throw new Error(`the server has no OpenAPI document of ${group || 'core'}/${version}`);
  let schemas = read.get(url);
  if (!schemas) {
    schemas = sendJson<OpenApi>('GET', url).then(document => new Schemas(document));
    schemas.catch(() => read.delete(url));
    read.set(url, schemas);
  }
  return await schemas;
}

/** The type of a schema's values, in a word or two. */
export function typeText(schema: Schema): string {
  if (isIntOrString(schema)) return 'integer or string';
  if (schema.type === 'array') return 'list';
  if (schema.type === 'object' && !schema.properties && schema.additionalProperties) return 'map';
  const { type, format } = schema;
  return type ? (format ? `${type} (${format})` : type) : 'any value';
}

/** Whether a value may be an integer as well as a text: ports, percentages, quantities. */
export const isIntOrString = (schema: Schema): boolean =>
  schema['x-kubernetes-int-or-string'] === true ||
  schema.format === 'int-or-string' ||
  [...(schema.oneOf ?? []), ...(schema.anyOf ?? [])].some(({ type }) => type === 'integer' || type === 'number');

/** Largest depth of a skeleton: schemas can contain themselves. */
const DEEPEST = 8;

/** The smallest value of a schema: required fields, and the spec. */
export function skeletonOf(schemas: Schemas, given: Schema, depth = 0): unknown {
  const schema = schemas.resolve(given);
  if (schema.enum?.length) return schema.enum.find(value => value !== '') ?? '';
  if (schema.type === 'boolean') return false;
  if (schema.type === 'integer' || schema.type === 'number') return schema.minimum ?? 0;
  if (schema.type === 'array')
    return depth < DEEPEST && schema.items ? [skeletonOf(schemas, schema.items, depth + 1)] : [];
  if (schema.type !== 'object') return '';
  const wanted = [...new Set([...(schema.required ?? []), ...(schema.properties?.['spec'] ? ['spec'] : [])])];
  const fields = wanted.map((name): [string, unknown] => {
    const of = schemas.child(schema, name);
    return [name, of && depth < DEEPEST ? skeletonOf(schemas, of, depth + 1) : {}];
  });
  return Object.fromEntries(fields);
}
