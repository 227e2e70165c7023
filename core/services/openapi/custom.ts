import type { StructuralSchema } from '../../api/resource.js';
import type { Resource } from '../../schema/resource.js';
import type { Dialect, Schema } from './dialect.js';

/** Members that are not published. */
const UNPUBLISHED = new Set(['example', 'externalDocs']);
/** Members that OpenAPI 2 does not have or that its clients do not support. */
const UNSUPPORTED_IN_V2 = new Set(['anyOf', 'oneOf', 'allOf', 'not', 'nullable', 'default']);
/** Members that version 2 omits for values of several types, so that clients do not reject them. */
const OF_ONE_TYPE = new Set(['type', 'items', 'properties']);

const INT_OR_STRING = [{ type: 'integer' }, { type: 'string' }];

/** Whether the schema itself lists the types of an int-or-string. */
const listsTypes = ({ anyOf, allOf }: StructuralSchema): boolean =>
  anyOf !== undefined || (allOf ?? []).some(part => part.anyOf !== undefined);

/** Publishes schemas in one dialect. `metadata` is the schema of the metadata of embedded objects. */
class Publisher {
  constructor(
    readonly dialect: Dialect,
    readonly metadata: Schema,
  ) {}

  publish(schema: StructuralSchema): Schema {
    const written: Schema = {};
    for (const [member, value] of Object.entries(schema)) {
      if (value === undefined || UNPUBLISHED.has(member) || this.#omits(schema, member)) continue;
      if (member === 'properties') written.properties = this.#each(value as Properties);
      else if (member === 'items' || (member === 'additionalProperties' && typeof value === 'object'))
        written[member] = this.publish(value as StructuralSchema);
      else written[member] = value;
    }
    const required = this.#required(schema);
    if (required.length > 0) written.required = required;
    else delete written.required;
    if (this.dialect === 'v3' && schema['x-kubernetes-int-or-string'] && !listsTypes(schema))
      written.anyOf = INT_OR_STRING;
    return schema['x-kubernetes-embedded-resource'] ? this.#embedded(schema, written) : written;
  }

  #omits(schema: StructuralSchema, member: string): boolean {
    if (this.dialect === 'v3') return false;
    const several = schema.nullable || schema['x-kubernetes-preserve-unknown-fields'];
    return UNSUPPORTED_IN_V2.has(member) || (several === true && OF_ONE_TYPE.has(member));
  }

  /** The required properties. Version 2 has no nullable, so nullable properties are not required there. */
  #required(schema: StructuralSchema): readonly string[] {
    const { required = [], properties } = schema;
    if (this.dialect === 'v3' || this.#omits(schema, 'properties')) return required;
    const mayBeNull = (name: string): boolean =>
      properties !== undefined && Object.hasOwn(properties, name) && properties[name]!.nullable === true;
    return required.filter(name => !mayBeNull(name));
  }

  #each(schemas: Properties): Schema {
    return Object.fromEntries(Object.entries(schemas).map(([name, schema]) => [name, this.publish(schema)]));
  }

  /** Adds apiVersion, kind and metadata to the schema of an embedded object. */
  #embedded(schema: StructuralSchema, written: Schema): Schema {
    if (this.dialect === 'v2' && schema['x-kubernetes-preserve-unknown-fields']) return written;
    const type = { type: 'string' };
    return {
      ...written,
      required: [...new Set([...this.#required(schema), 'kind', 'apiVersion'])],
      properties: {
        ...(written.properties as Schema | undefined),
        apiVersion: { ...type, description: 'Group and version of the embedded object.' },
        kind: { ...type, description: 'Kind of the embedded object.' },
        metadata: this.metadata,
      },
    };
  }
}

type Properties = { readonly [name: string]: StructuralSchema };

/** The published schema of a custom kind in an OpenAPI version; undefined for built-in kinds. */
export const publishedSchema = ({ custom }: Resource, dialect: Dialect, metadata: Schema): Schema | undefined =>
  custom && new Publisher(dialect, metadata).publish(custom.schema);
