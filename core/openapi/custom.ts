import type { StructuralSchema } from '../api/resource.js';
import type { Resource } from '../schema/resource.js';
import type { Dialect, Schema } from './schemas.js';

/** Members that no document shows. */
const UNPUBLISHED = new Set(['example', 'externalDocs']);
/** Members that version 2 cannot express, or that its clients do not understand. */
const NOT_IN_V2 = new Set(['anyOf', 'oneOf', 'allOf', 'not', 'nullable', 'default']);
/** What a value of several types has no single one of: version 2 leaves these out, as clients would refuse values. */
const OF_ONE_TYPE = new Set(['type', 'items', 'properties']);

const INT_OR_STRING = [{ type: 'integer' }, { type: 'string' }];

/** Whether the schema itself says already that a value is an integer or a string. */
const listsTypes = ({ anyOf, allOf }: StructuralSchema): boolean =>
  anyOf !== undefined || (allOf ?? []).some(part => part.anyOf !== undefined);

/** Publishes schemas in one dialect; `metadata` is what stands for the metadata of an embedded object. */
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
    return NOT_IN_V2.has(member) || (several === true && OF_ONE_TYPE.has(member));
  }

  /** Version 2 cannot say that a value may be null, so that its clients must not ask for one. */
  #required(schema: StructuralSchema): readonly string[] {
    const { required = [], properties } = schema;
    if (this.dialect === 'v3' || this.#omits(schema, 'properties')) return required;
    return required.filter(name => !properties?.[name]?.nullable);
  }

  #each(schemas: Properties): Schema {
    return Object.fromEntries(Object.entries(schemas).map(([name, schema]) => [name, this.publish(schema)]));
  }

  /** An object within an object has what every object has, whatever its own schema says of these members. */
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

/** The schema of a custom kind as the documents of either version show it; undefined for built-in kinds. */
export const publishedSchema = ({ own }: Resource, dialect: Dialect, metadata: Schema): Schema | undefined =>
  own && new Publisher(dialect, metadata).publish(own.schema);
