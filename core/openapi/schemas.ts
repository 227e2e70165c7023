import type { Naming } from '../naming.js';
import type { Field, Scalar, ScalarName, Struct, Type, Union } from '../schema/model.js';
import type { Resource } from '../schema/resource.js';
import { publishedSchema } from './custom.js';
import { kindName, NAMED_SCALARS, PATCH, schemaName } from './names.js';

/** A schema object of either version; built here and only written out afterwards. */
export interface Schema {
  [member: string]: unknown;
}

/** A kind that a schema describes (`x-kubernetes-group-version-kind`). */
export interface GroupVersionKind {
  readonly group: string;
  readonly kind: string;
  readonly version: string;
}

/** The two versions differ in references, defaults and unions of types. */
export type Dialect = 'v2' | 'v3';

/** Everything a document needs to know beyond the registry. */
export interface SchemaSource {
  readonly naming: Naming;
  /** A type of the table by id (`meta.v1.Status`). */
  type(id: string): Struct | undefined;
  /** Kinds by schema name. */
  kinds(name: string): readonly GroupVersionKind[];
}

const REFERENCE: Readonly<Record<Dialect, string>> = { v2: '#/definitions/', v3: '#/components/schemas/' };

const PLAIN: Partial<Record<ScalarName, Schema>> = {
  string: { type: 'string' },
  bool: { type: 'boolean' },
  int32: { type: 'integer', format: 'int32' },
  int64: { type: 'integer', format: 'int64' },
  uint32: { type: 'integer', format: 'int64' },
  double: { type: 'number', format: 'double' },
  bytes: { type: 'string', format: 'byte' },
};

const SPECIAL: Readonly<Record<Dialect, Partial<Record<ScalarName, Schema>>>> = {
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

const ZERO: Partial<Record<ScalarName, unknown>> = {
  string: '',
  bool: false,
  int32: 0,
  int64: 0,
  uint32: 0,
  double: 0,
};

/** `restartPolicy` as words: names are all the prose there is. */
const words = (name: string): string =>
  name
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .replace(/([A-Z]+)([A-Z][a-z])/g, '$1 $2')
    .split(' ')
    .map(word => (/^[A-Z0-9]+s?$/.test(word) ? word : word.toLowerCase()))
    .join(' ');

const sentence = (text: string): string => `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;

const TYPE_META: Readonly<Record<string, Schema>> = {
  apiVersion: { type: 'string', description: 'Group and version of this form of the object.' },
  kind: { type: 'string', description: 'Kind of the object.' },
};

const OPEN = 'x-kubernetes-preserve-unknown-fields';

/** Fields of a custom kind that field selectors may name. */
const selectableFields = ({ strategy }: Resource): Schema => ({
  'x-kubernetes-selectable-fields': Array.from(strategy.selectableFields.keys(), fieldPath => ({ fieldPath })),
});

const sortedByKey = (value: Schema): Schema =>
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
    return sortedByKey(Object.fromEntries(this.#built));
  }

  /** A reference to a type of the table; the type joins the document. */
  struct(struct: Struct): Schema {
    const name = schemaName(struct.id, this.source.naming);
    if (!this.#built.has(name)) {
      // Entered before its fields, because types refer to themselves.
      const schema: Schema = {};
      this.#built.set(name, schema);
      Object.assign(schema, this.#structSchema(name, struct));
    }
    return this.#reference(name);
  }

  /** A reference to a type of the table by id, undefined where the table has none. */
  byId(id: string): Schema | undefined {
    const struct = this.source.type(id);
    return struct && this.struct(struct);
  }

  /** A reference to the answer at `/version`. */
  version(): Schema {
    const fields = [
      'buildDate',
      'compiler',
      'gitCommit',
      'gitTreeState',
      'gitVersion',
      'goVersion',
      'major',
      'minor',
      'platform',
    ];
    return this.#named(this.source.naming.typeName('io.orchestrator.apimachinery.pkg.version.Info'), {
      type: 'object',
      description: 'Release and build of the server.',
      required: fields,
      properties: Object.fromEntries(
        fields.map(field => [
          field,
          { type: 'string', description: sentence(words(field)), ...(this.dialect === 'v3' ? { default: '' } : {}) },
        ]),
      ),
    });
  }

  /** A reference to the body of patches. */
  patch(): Schema {
    return this.#named(this.source.naming.typeName(PATCH), {
      type: 'object',
      description: 'A patch in one of the supported formats.',
    });
  }

  /** A reference to the kind of a resource. */
  kind(resource: Resource): Schema {
    if (resource.builtIn) return this.struct(resource.type);
    const name = kindName(resource, resource.kind, this.source.naming);
    const metadata = this.byId('meta.v1.ObjectMeta') ?? {};
    const described = this.#described(metadata, 'Metadata of the embedded object.', undefined);
    const schema = publishedSchema(resource, this.dialect, described) ?? { type: 'object', [OPEN]: true };
    return this.#named(name, {
      ...this.#custom(schema, metadata),
      ...this.#kindsOf(name),
      ...selectableFields(resource),
    });
  }

  /** A reference to the list kind of a resource. */
  list(resource: Resource): Schema {
    const name = kindName(resource, resource.listKind, this.source.naming);
    const item = this.kind(resource);
    const metadata = this.byId('meta.v1.ListMeta');
    return this.#named(name, {
      type: 'object',
      description: `List of ${resource.plural}.`,
      required: ['items'],
      properties: {
        apiVersion: TYPE_META.apiVersion,
        items: {
          type: 'array',
          description: 'Objects of the list.',
          items: resource.builtIn ? this.#item(item, true) : item,
        },
        kind: TYPE_META.kind,
        ...(metadata
          ? { metadata: this.#described(metadata, 'Metadata of the list.', resource.builtIn ? {} : undefined) }
          : {}),
      },
      ...this.#kindsOf(name),
      ...(resource.builtIn ? {} : selectableFields(resource)),
    });
  }

  /**
   * A custom kind's schema with what every object has beside the properties that it describes. Version 2 shows any object where
   * unknown fields are kept.
   */
  #custom(schema: Schema, metadata: Schema): Schema {
    if (this.dialect === 'v2' && schema[OPEN])
      return { type: 'object', ...(schema.description === undefined ? {} : { description: schema.description }) };
    const properties = {
      ...(schema.properties as Schema | undefined),
      ...TYPE_META,
      metadata: this.#described(metadata, 'Metadata of the object.', undefined),
    };
    return { ...schema, properties: sortedByKey(properties) };
  }

  #named(name: string, schema: Schema): Schema {
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
    // Such a value is not an object of the type's fields, so that only its meaning can be said.
    if (struct.alternatives) return { description: sentence(words(struct.id.slice(struct.id.lastIndexOf('.') + 1))) };
    const properties: Schema = struct.typeMeta ? { ...TYPE_META } : {};
    for (const field of struct.fields) properties[field.name] = this.#field(field);
    const required = struct.fields.filter(field => field.required).map(field => field.name);
    return {
      type: 'object',
      description: sentence(words(struct.id.slice(struct.id.lastIndexOf('.') + 1))),
      ...(required.length ? { required: required.sort() } : {}),
      ...(Object.keys(properties).length ? { properties: sortedByKey(properties) } : {}),
      ...(struct.mapType ? { 'x-kubernetes-map-type': struct.mapType } : {}),
      ...(struct.union ? { 'x-kubernetes-unions': [unionMarker(struct.union)] } : {}),
      ...this.#kindsOf(name),
    };
  }

  #field(field: Field): Schema {
    const { type } = field;
    const description = sentence(words(field.name));
    const schema = this.#type(type);
    const merge = mergeMarkers(field);
    if (this.dialect === 'v2') return { ...schema, description, ...merge };
    const standard = field.default ?? this.#zero(field);
    if (schema.$ref !== undefined) return { ...this.#described(schema, description, standard), ...merge };
    return { ...schema, description, ...(standard === undefined ? {} : { default: standard }), ...merge };
  }

  /** What stands for an absent value of a field that always has one. */
  #zero(field: Field): unknown {
    if (field.pointer) return undefined;
    if (field.type.is === 'struct') return {};
    return field.type.is === 'scalar' && !field.omitEmpty ? ZERO[field.type.name] : undefined;
  }

  /** References may have no siblings in version 3, so that they are wrapped; version 2 ignores that rule. */
  #described(reference: Schema, description: string, standard: unknown): Schema {
    if (this.dialect === 'v2') return { ...reference, description };
    return { description, allOf: [reference], ...(standard === undefined ? {} : { default: standard }) };
  }

  #item(schema: Schema, struct: boolean): Schema {
    if (this.dialect === 'v2') return schema;
    if (schema.$ref !== undefined) return struct ? { default: {}, allOf: [schema] } : schema;
    return schema;
  }

  #element(type: Type): Schema {
    const schema = this.#type(type);
    if (this.dialect === 'v2') return schema;
    if (type.is === 'struct') return this.#item(schema, true);
    const zero = type.is === 'scalar' ? ZERO[type.name] : undefined;
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
      const schema = { description: sentence(words(scalar.name)), ...SPECIAL[this.dialect][scalar.name] };
      return this.#named(this.source.naming.typeName(name), schema);
    }
    const schema = PLAIN[scalar.name] ?? {};
    return scalar.enum ? { ...schema, enum: [...scalar.enum].sort() } : schema;
  }
}

const unionMarker = (union: Union): Schema => ({
  discriminator: union.discriminator,
  'fields-to-discriminateBy': Object.fromEntries(union.members),
});

/** The markers that apply and strategic merge read. */
function mergeMarkers({ merge }: Field): Schema {
  return {
    ...(merge.keys?.length ? { 'x-kubernetes-list-map-keys': [...merge.keys].sort() } : {}),
    ...(merge.listType ? { 'x-kubernetes-list-type': merge.listType } : {}),
    ...(merge.mapType ? { 'x-kubernetes-map-type': merge.mapType } : {}),
    ...(merge.patchMergeKey ? { 'x-kubernetes-patch-merge-key': merge.patchMergeKey } : {}),
    ...(merge.patchStrategy?.length ? { 'x-kubernetes-patch-strategy': merge.patchStrategy.join(',') } : {}),
  };
}
