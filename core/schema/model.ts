/** Leaf types; JSON form and wire form of each are in scalars.ts. */
export type ScalarName =
  | 'string'
  | 'bool'
  | 'int32'
  | 'int64'
  | 'uint32'
  | 'double'
  | 'bytes'
  | 'any'
  | 'Time'
  | 'MicroTime'
  | 'Duration'
  | 'Quantity'
  | 'IntOrString'
  | 'FieldsV1'
  | 'RawExtension'
  | 'JSON';

/** A leaf. */
export interface Scalar {
  readonly is: 'scalar';
  readonly name: ScalarName;
  /** Closed set of values, where the type has one (documents show it, strategies enforce it). */
  readonly enum?: readonly string[];
}

/** A list; how its items merge stands on the field that holds it. */
export interface List {
  readonly is: 'list';
  readonly of: Type;
  /** Protobuf wraps the list into a message of this type id, its items being field 1. */
  readonly wrapper?: string;
}

/** A map from strings. */
export interface StringMap {
  readonly is: 'map';
  readonly of: Type;
}

/** How values below a field merge: apply and strategic merge patch read it (spec, "Merge strategy markers"). */
export interface Merge {
  readonly listType?: 'atomic' | 'set' | 'map';
  readonly keys?: readonly string[];
  readonly mapType?: 'atomic' | 'granular';
  readonly patchStrategy?: readonly ('merge' | 'replace' | 'retainKeys')[];
  readonly patchMergeKey?: string;
}

/** One member of a struct, in declaration order. */
export interface Field {
  readonly name: string;
  readonly type: Type;
  /** Absent differs from the zero value. */
  readonly pointer: boolean;
  /** Zero scalars, empty lists and maps are left out of JSON. Structs that are no pointers are always written. */
  readonly omitEmpty: boolean;
  readonly required: boolean;
  readonly default?: unknown;
  readonly merge: Merge;
  /** Protobuf: field number (0: no wire form) and the path of embedded messages that hold it. */
  readonly number: number;
  readonly protoName?: string;
  /** The field stands in an embedded struct: its Go type is inlined in JSON and nested in protobuf. */
  readonly inlinedFrom?: Embedded;
  /** Members of which at most one may be set share this name. */
  readonly oneOf?: string;
  /** Feature gate that guards the field. */
  readonly gate?: string;
}

/** An embedded message that holds a field on the wire; `inner` is the next one below it. `type` is a type id. */
export interface Embedded {
  readonly number: number;
  readonly protoName: string;
  readonly type: string;
  readonly inner?: Embedded;
}

/** Which member of a struct is valid for which value of the discriminating one (documents show it). */
export interface Union {
  readonly discriminator: string;
  /** Member name to the value that selects it. */
  readonly members: ReadonlyMap<string, string>;
}

/**
 * A struct. Its fields are filled after creation because types may refer to themselves; treat it as frozen afterwards.
 */
export interface Struct {
  readonly is: 'struct';
  /** `core.v1.Pod`: package and Go-like name. */
  readonly id: string;
  /** JSON begins with kind and apiVersion. */
  readonly typeMeta: boolean;
  readonly fields: readonly Field[];
  readonly field: ReadonlyMap<string, Field>;
  readonly mapType?: 'atomic' | 'granular';
  readonly union?: Union;
  /**
   * JSON form is not an object of these fields but the value of one of them: a schema or a list of schemas (`array`), a
   * boolean or a schema (`bool`), a schema or a list of strings (`strings`). Protobuf has the fields.
   */
  readonly alternatives?: 'array' | 'bool' | 'strings';
  /** The type has no protobuf form. */
  readonly noProto?: boolean;
  /** Members that are no fields are kept as they are: their structure is read off their values. */
  readonly open?: boolean;
}

/** The structural type model: everything that is generated per kind is generated from these. */
export type Type = Scalar | List | StringMap | Struct;
