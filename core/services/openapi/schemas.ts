import type { Naming } from '../../naming.js';
import type { Field, Scalar, ScalarName, Struct, Type, Union } from '../../schema/model.js';
import type { Resource } from '../../schema/resource.js';
import { describeField, describeType } from '../../schema/table/descriptions.js';
import { typeOf } from '../../schema/table/types.js';
import { publishedSchema } from './custom.js';
import type { Dialect, Schema } from './dialect.js';
import { kindName, NAMED_SCALARS, PATCH, schemaName } from './names.js';

/** The kind that a schema describes (`x-kubernetes-group-version-kind`). */
export interface GroupVersionKind {
  readonly group: string;
  readonly kind: string;
  readonly version: string;
}

/** Lookups that schemas depend on. */
export interface SchemaSource {
  readonly naming: Naming;
  /** A built-in type by id (`meta.v1.Status`). */
  type(id: string): Struct | undefined;
  /** Kinds by schema name. */
  kinds(name: string): readonly GroupVersionKind[];
}

const REFERENCE: Readonly<Record<Dialect, string>> = { v2: '#/definitions/', v3: '#/components/schemas/' };

const INLINE_SCALARS: Partial<Record<ScalarName, Schema>> = {
  string: { type: 'string' },
  bool: { type: 'boolean' },
  int32: { type: 'integer', format: 'int32' },
  int64: { type: 'integer', format: 'int64' },
  uint32: { type: 'integer', format: 'int64' },
  double: { type: 'number', format: 'double' },
  bytes: { type: 'string', format: 'byte' },
};

const SHARED_SCALARS: Readonly<Record<Dialect, Partial<Record<ScalarName, Schema>>>> = {
  v2: {
    Time: { type: 'string', format: 'date-time' },
    MicroTime: { type: 'string', format: 'date-time' },
    Duration: { type: 'string' },
    Quantity: { type: 'string' },
    IntOrString: { type: 'string', format: 'int-or-string' },
    FieldsV1: { type: 'object' },
    RawExtension: { type: 'object' },
  },
  v3: {
    Time: { type: 'string', format: 'date-time' },
    MicroTime: { type: 'string', format: 'date-time' },
    Duration: { type: 'string' },
    Quantity: { oneOf: [{ type: 'string' }, { type: 'number' }] },
    IntOrString: { format: 'int-or-string', oneOf: [{ type: 'integer' }, { type: 'string' }] },
    FieldsV1: { type: 'object' },
    RawExtension: { type: 'object' },
  },
};

const ZERO_VALUES: Partial<Record<ScalarName, unknown>> = {
  string: '',
  bool: false,
  int32: 0,
  int64: 0,
  uint32: 0,
  double: 0,
};

/** Descriptions of the scalars that have a schema of their own in documents. */
const SCALAR_DESCRIPTIONS: Partial<Record<ScalarName, string>> = {
  Time: 'A point in time as RFC 3339 writes it, to the second, such as "2024-05-06T07:08:09Z".',
  MicroTime: 'A point in time as RFC 3339 writes it, to the microsecond.',
  Duration: 'A length of time with units, such as "1h30m" or "300ms".',
  Quantity:
    'A number with an optional suffix: a power of 1000 (m, k, M, G, T, P, E), of 1024 (Ki, Mi, Gi, Ti, Pi, Ei) or of ten (e3).',
  IntOrString: 'An integer or a string, such as a number or name of a port, or a number or percentage.',
  FieldsV1: 'A set of fields as a tree: "f:NAME" for a field, "k:KEYS" and "v:VALUE" for elements of lists.',
  RawExtension: 'An object of any kind, in its own form.',
  JSON: 'Any value that JSON has.',
};

const TYPE_META: Readonly<Record<string, Schema>> = {
  apiVersion: {
    type: 'string',
    description:
      'APIVersion defines the group and version that the object is written in, such as "apps/v1". A request may use any served version.',
  },
  kind: {
    type: 'string',
    description:
      'Kind is a string value in CamelCase that names the schema of the object, such as "Pod". It cannot be changed.',
  },
};

const OPEN = 'x-kubernetes-preserve-unknown-fields';

/** Fields of a custom kind that field selectors may name. */
const selectableFields = ({ strategy }: Resource): Schema => ({
  'x-kubernetes-selectable-fields': Array.from(strategy.selectableFields.keys(), fieldPath => ({ fieldPath })),
});

const sortByKey = (value: Schema): Schema =>
  Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)));

/** Collects the schemas that one document refers to. */
export class Schemas {
  readonly #built = new Map<string, Schema>();
  constructor(
    readonly dialect: Dialect,
    readonly source: SchemaSource,
  ) {}

  /** All schemas by name, sorted. */
  all(): Schema {
    return sortByKey(Object.fromEntries(this.#built));
  }

  /** A reference to a built-in type, which is added to the document. */
  struct(struct: Struct): Schema {
    const name = schemaName(struct.id, this.source.naming);
    if (!this.#built.has(name)) {
      // Registered before its fields, because types may refer to themselves.
      const schema: Schema = {};
      this.#built.set(name, schema);
      Object.assign(schema, this.#structSchema(name, struct));
    }
    return this.#reference(name);
  }

  /** A reference to a built-in type by id; undefined if there is none. */
  byId(id: string): Schema | undefined {
    const struct = this.source.type(id);
    return struct && this.struct(struct);
  }

  /** A reference to the response of `/version`. */
  version(): Schema {
    const info = typeOf('version.Info');
    return this.#register(this.source.naming.typeName('io.orchestrator.apimachinery.pkg.version.Info'), {
      type: 'object',
      description: describeType(info),
      required: info.fields.map(({ name }) => name),
      properties: Object.fromEntries(
        info.fields.map(field => [
          field.name,
          {
            type: 'string',
            description: describeField(info, field),
            ...(this.dialect === 'v3' ? { default: '' } : {}),
          },
        ]),
      ),
    });
  }

  /** A reference to the schema of patch bodies. */
  patch(): Schema {
    return this.#register(this.source.naming.typeName(PATCH), {
      type: 'object',
      description: 'A patch in one of the supported formats.',
    });
  }

  /** A reference to the schema of a resource's kind. */
  kind(resource: Resource): Schema {
    if (resource.builtIn) return this.struct(resource.type);
    const name = kindName(resource, resource.kind, this.source.naming);
    // Every operation of the kind needs it.
    if (this.#built.has(name)) return this.#reference(name);
    const metadata = this.byId('meta.v1.ObjectMeta') ?? {};
    const described = this.#describe(metadata, 'Name, labels and annotations of the embedded object.', undefined);
    const schema = publishedSchema(resource, this.dialect, described) ?? { type: 'object', [OPEN]: true };
    return this.#register(name, {
      ...this.#custom(schema, metadata),
      ...this.#kindsOf(name),
      ...selectableFields(resource),
    });
  }

  /** A reference to the schema of a resource's list kind. */
  list(resource: Resource): Schema {
    const name = kindName(resource, resource.listKind, this.source.naming);
    if (this.#built.has(name)) return this.#reference(name);
    const item = this.kind(resource);
    const metadata = this.byId('meta.v1.ListMeta');
    return this.#register(name, {
      type: 'object',
      description: `List of ${resource.plural}, with the version of the state that it shows.`,
      required: ['items'],
      properties: {
        apiVersion: TYPE_META.apiVersion,
        items: {
          type: 'array',
          description: 'List of returned objects, one for each that matches.',
          items: resource.builtIn ? this.#item(item, true) : item,
        },
        kind: TYPE_META.kind,
        ...(metadata
          ? {
              metadata: this.#describe(
                metadata,
                'Resource version and paging of the list.',
                resource.builtIn ? {} : undefined,
              ),
            }
          : {}),
      },
      ...this.#kindsOf(name),
      ...(resource.builtIn ? {} : selectableFields(resource)),
    });
  }

  /**
   * A custom kind's schema with the properties that every object has. In version 2, a schema that preserves unknown
   * fields describes any object.
   */
  #custom(schema: Schema, metadata: Schema): Schema {
    if (this.dialect === 'v2' && schema[OPEN])
      return { type: 'object', ...(schema.description === undefined ? {} : { description: schema.description }) };
    const properties = {
      ...(schema.properties as Schema | undefined),
      ...TYPE_META,
      metadata: this.#describe(
        metadata,
        'Name, namespace, labels, annotations and the bookkeeping of the server.',
        undefined,
      ),
    };
    return { ...schema, properties: sortByKey(properties) };
  }

  #register(name: string, schema: Schema): Schema {
    if (!this.#built.has(name)) this.#built.set(name, schema);
    return this.#reference(name);
  }

  #reference(name: string): Schema {
    return { $ref: REFERENCE[this.dialect] + name };
  }

  #kindsOf(name: string): Schema {
    const kinds = this.source.kinds(name);
    return kinds.length ? { 'x-kubernetes-group-version-kind': kinds } : {};
  }

  #structSchema(name: string, struct: Struct): Schema {
    // The JSON of such a type is not an object with its fields, so the schema has a description only.
    if (struct.alternatives) return { description: describeType(struct) };
    const properties: Schema = struct.typeMeta ? { ...TYPE_META } : {};
    for (const field of struct.fields) properties[field.name] = this.#field(struct, field);
    const required = struct.fields.filter(field => field.required).map(field => field.name);
    return {
      type: 'object',
      description: describeType(struct),
      ...(required.length ? { required } : {}),
      ...(Object.keys(properties).length ? { properties: sortByKey(properties) } : {}),
      ...(struct.mapType ? { 'x-kubernetes-map-type': struct.mapType } : {}),
      ...(struct.union ? { 'x-kubernetes-unions': [unionMarker(struct.union)] } : {}),
      ...this.#kindsOf(name),
    };
  }

  #field(struct: Struct, field: Field): Schema {
    const { type } = field;
    const description = describeField(struct, field);
    const schema = this.#type(type);
    const merge = mergeMarkers(field);
    if (this.dialect === 'v2') return { ...schema, description, ...merge };
    if (field.bare) return { ...schema, ...merge };
    const defaultValue = field.default ?? this.#zeroValue(field);
    if (schema.$ref !== undefined) return { ...this.#describe(schema, description, defaultValue), ...merge };
    return { ...schema, description, ...(defaultValue === undefined ? {} : { default: defaultValue }), ...merge };
  }

  /** The default of a field that always has a value; undefined for other fields. */
  #zeroValue(field: Field): unknown {
    if (field.pointer) return undefined;
    if (field.type.is === 'struct') return {};
    return field.type.is === 'scalar' && !field.omitEmpty ? ZERO_VALUES[field.type.name] : undefined;
  }

  /** A reference with a description. References may not have siblings, so version 3 wraps them; version 2 does not. */
  #describe(reference: Schema, description: string, defaultValue: unknown): Schema {
    if (this.dialect === 'v2') return { ...reference, description };
    return { description, allOf: [reference], ...(defaultValue === undefined ? {} : { default: defaultValue }) };
  }

  #item(schema: Schema, struct: boolean): Schema {
    if (this.dialect === 'v2') return schema;
    if (schema.$ref !== undefined) return struct ? { default: {}, allOf: [schema] } : schema;
    return schema;
  }

  #element(type: Type): Schema {
    const schema = this.#type(type);
    if (this.dialect === 'v2') return schema;
    if (type.is === 'struct') return this.#item(schema, type.alternatives === undefined);
    const zero = type.is === 'scalar' ? ZERO_VALUES[type.name] : undefined;
    return zero === undefined ? schema : { ...schema, default: zero };
  }

  #type(type: Type): Schema {
    if (type.is === 'struct') return this.struct(type);
    if (type.is === 'list') return { type: 'array', items: this.#element(type.of) };
    if (type.is === 'map') return { type: 'object', additionalProperties: this.#element(type.of) };
    return this.#scalar(type);
  }

  #scalar(scalar: Scalar): Schema {
    const name = NAMED_SCALARS.get(scalar.name);
    if (name !== undefined) {
      const schema = { description: SCALAR_DESCRIPTIONS[scalar.name], ...SHARED_SCALARS[this.dialect][scalar.name] };
      return this.#register(this.source.naming.typeName(name), schema);
    }
    const schema = INLINE_SCALARS[scalar.name] ?? {};
    return scalar.enum ? { ...schema, enum: [...scalar.enum].sort() } : schema;
  }
}

const unionMarker = (union: Union): Schema => ({
  discriminator: union.discriminator,
  'fields-to-discriminateBy': Object.fromEntries(union.members),
});

/** The markers for server-side apply and strategic merge patches. */
function mergeMarkers({ merge }: Field): Schema {
  return {
    ...(merge.keys?.length ? { 'x-kubernetes-list-map-keys': [...merge.keys].sort() } : {}),
    ...(merge.listType ? { 'x-kubernetes-list-type': merge.listType } : {}),
    ...(merge.mapType ? { 'x-kubernetes-map-type': merge.mapType } : {}),
    ...(merge.patchMergeKey ? { 'x-kubernetes-patch-merge-key': merge.patchMergeKey } : {}),
    ...(merge.patchStrategy?.length ? { 'x-kubernetes-patch-strategy': merge.patchStrategy.join(',') } : {}),
  };
}
