const STRUCT_SCALAR_NAMES = [
  'Time',
  'MicroTime',
  'Duration',
  'Quantity',
  'IntOrString',
  'FieldsV1',
  'RawExtension',
  'JSON',
] as const;

/** Names of all scalar types. Their JSON forms are in decode/scalars.ts, their wire forms in protobuf/protobuf.ts. */
export const SCALAR_NAMES = [
  'string',
  'bool',
  'int32',
  'int64',
  'uint32',
  'double',
  'bytes',
  'any',
  ...STRUCT_SCALAR_NAMES,
] as const;

/** The name of a scalar type. */
export type ScalarName = (typeof SCALAR_NAMES)[number];

const STRUCT_SCALARS: ReadonlySet<ScalarName> = new Set(STRUCT_SCALAR_NAMES);

/** Whether a scalar is a Go struct: `omitempty` never omits it, and in protobuf it is a message. */
export const isStructScalar = (name: ScalarName): boolean => STRUCT_SCALARS.has(name);

/** A scalar type. */
export interface Scalar {
  readonly is: 'scalar';
  readonly name: ScalarName;
  /** Allowed values, if restricted. OpenAPI documents publish them; strategies enforce them. */
  readonly enum?: readonly string[];
  /** Package and name of the string type that has these values: `core.v1.Protocol`. */
  readonly enumId?: string;
}

/** A list type. Its merge strategy is part of the field. */
export interface List {
  readonly is: 'list';
  readonly of: Type;
  /** Id of the protobuf message that wraps the list, whose items are field 1. */
  readonly wrapper?: string;
}

/** A map type with string keys. */
export interface StringMap {
  readonly is: 'map';
  readonly of: Type;
}

/** The merge strategy of a field, for apply and strategic merge patch (spec, "Merge strategy markers"). */
export interface Merge {
  readonly listType?: 'atomic' | 'set' | 'map';
  readonly keys?: readonly string[];
  readonly mapType?: 'atomic' | 'granular';
  readonly patchStrategy?: readonly ('merge' | 'replace' | 'retainKeys')[];
  readonly patchMergeKey?: string;
}

/** A member of a struct. */
export interface Field {
  readonly name: string;
  readonly type: Type;
  /** Whether an absent value differs from the zero value. */
  readonly pointer: boolean;
  /**
   * Whether zero scalars, empty lists and empty maps are omitted in JSON. Structs without pointer are always written.
   */
  readonly omitEmpty: boolean;
  readonly required: boolean;
  readonly default?: unknown;
  readonly merge: Merge;
  /** Protobuf field number; 0 if the field has no wire form. */
  readonly number: number;
  readonly protoName?: string;
  /** The embedded struct of the field, which is inlined in JSON but a nested message in protobuf. */
  readonly inlinedFrom?: Embedded;
  /** Name of a group of fields of which at most one may be set. */
  readonly oneOf?: string;
  /** Feature gate of the field. */
  readonly gate?: string;
  /**
   * Whether an empty list differs from an absent one until the kind has validated the object; after that, the object
   * has no empty one.
   */
  readonly keepsEmpty?: boolean;
  /** Whether OpenAPI 3 documents refer to its type directly, without a description. */
  readonly bare?: boolean;
}

/** An embedded message that contains a field on the wire. `inner` is the next nested one. `type` is a type id. */
export interface Embedded {
  readonly number: number;
  readonly protoName: string;
  readonly type: string;
  readonly inner?: Embedded;
}

/** A discriminated union of members, published in OpenAPI documents. */
export interface Union {
  readonly discriminator: string;
  /** The discriminator value of each member, by member name. */
  readonly members: ReadonlyMap<string, string>;
}

/**
 * A struct type. Its fields are set after its creation, because types may be recursive, and do not change afterwards.
 */
export interface Struct {
  readonly is: 'struct';
  /** Package and name: `core.v1.Pod`. */
  readonly id: string;
  /** Whether its JSON begins with kind and apiVersion. */
  readonly typeMeta: boolean;
  readonly fields: readonly Field[];
  readonly field: ReadonlyMap<string, Field>;
  readonly mapType?: 'atomic' | 'granular';
  readonly union?: Union;
  /**
   * Set if its JSON is not an object but the value of one of its fields: a schema or a list of schemas (`array`), a
   * boolean or a schema (`bool`), a schema or a list of strings (`strings`). In protobuf it has the fields.
   */
  readonly alternatives?: 'array' | 'bool' | 'strings';
  /** Whether the type has no protobuf form. */
  readonly noProto?: boolean;
  /** Whether undeclared members are kept, as untyped values. */
  readonly open?: boolean;
}

/** A type of the model from which decoding, defaults, encodings, patches and documents are derived. */
export type Type = Scalar | List | StringMap | Struct;
