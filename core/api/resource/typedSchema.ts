import type { Json, ObjectMeta } from '../../model/object.js';
import type { StructuralSchema } from '../resource.js';

declare const valueType: unique symbol;

/**
 * A schema that knows the TypeScript type of its values. It is plain JSON like any other schema.
 *
 * @example
 * const cups: TypedSchema<number> = t.integer({ minimum: 0 });
 */
export interface TypedSchema<T> extends StructuralSchema {
  /** Only for inference: it is never set. */
  readonly [valueType]?: T;
}

/**
 * The type of the values of a schema; unknown for one that was not made by `t`.
 *
 * @example
 * type Order = ValueOf<typeof orderSchema>;
 */
export type ValueOf<Schema> = Schema extends TypedSchema<infer T> ? T : unknown;

/**
 * A member that may be absent.
 *
 * @example
 * const sugar: OptionalMember<boolean> = t.optional(t.boolean());
 */
export interface OptionalMember<T> {
  readonly optional: TypedSchema<T>;
}

type Member = TypedSchema<unknown> | OptionalMember<unknown>;
interface Members {
  readonly [name: string]: Member;
}

type OptionalNames<M> = { [Name in keyof M]: M[Name] extends OptionalMember<unknown> ? Name : never }[keyof M];
type ObjectValue<M> = {
  -readonly [Name in Exclude<keyof M, OptionalNames<M>>]: ValueOf<M[Name]>;
} & {
  -readonly [Name in OptionalNames<M>]?: M[Name] extends OptionalMember<infer T> ? T : never;
};
/** Shows the members of an intersection in messages and editors. */
type Flat<T> = { [Name in keyof T]: T[Name] };

/** All members of a schema except those that a function of `t` sets. */
type Rest<Given extends keyof StructuralSchema = never> = Omit<StructuralSchema, 'type' | Given>;

const isOptional = (member: Member): member is OptionalMember<unknown> => 'optional' in member;

function objectSchema(members: Members, rest: StructuralSchema): StructuralSchema {
  const all = Object.entries(members);
  const isRequired = ([, member]: readonly [string, Member]): boolean =>
    !isOptional(member) && member.default === undefined;
  const required = all.filter(isRequired).map(([name]) => name);
  return {
    ...rest,
    type: 'object',
    properties: Object.fromEntries(
      all.map(([name, member]) => [name, isOptional(member) ? member.optional : member] as const),
    ),
    ...(required.length > 0 ? { required } : {}),
  };
}

/**
 * Builds structural schemas from which the types of their values follow. The last argument of each function has the
 * other members of the schema: limits, `description`, `default`, rules. With `defineResource`, the functions of the
 * kind get objects of the type of its schema.
 *
 * A member of an object is required unless it is `t.optional` or has a default; one with a default is always there when
 * a function sees the object. An integer that is not safe as a number arrives as a bigint: give a `maximum`.
 *
 * @example
 * const order = t.object({
 *   spec: t.object({ cups: t.integer({ default: 1 }), notes: t.optional(t.list(t.string())) }),
 * });
 */
export const t = {
  string: (rest: Rest = {}): TypedSchema<string> => ({ ...rest, type: 'string' }),
  /** One of the given texts. */
  enum: <const Values extends readonly string[]>(
    values: Values,
    rest: Rest<'enum'> = {},
  ): TypedSchema<Values[number]> => ({
    ...rest,
    type: 'string',
    enum: values,
  }),
  integer: (rest: Rest = {}): TypedSchema<number> => ({ ...rest, type: 'integer' }),
  number: (rest: Rest = {}): TypedSchema<number> => ({ ...rest, type: 'number' }),
  boolean: (rest: Rest = {}): TypedSchema<boolean> => ({ ...rest, type: 'boolean' }),
  /** An integer or a text, such as a port or a percentage. */
  intOrString: (rest: Rest = {}): TypedSchema<number | string> => ({ ...rest, 'x-kubernetes-int-or-string': true }),
  list: <T>(items: TypedSchema<T>, rest: Rest<'items'> = {}): TypedSchema<T[]> => ({ ...rest, type: 'array', items }),
  /** A list without duplicates, which apply merges. */
  set: <T extends string | number | boolean>(
    items: TypedSchema<T>,
    rest: Rest<'items' | 'x-kubernetes-list-type'> = {},
  ): TypedSchema<T[]> => ({ ...rest, type: 'array', items, 'x-kubernetes-list-type': 'set' }),
  /** A list whose items are identified by members, which apply merges. */
  keyedList: <T>(
    keys: readonly (keyof T & string)[],
    items: TypedSchema<T>,
    rest: Rest<'items' | 'x-kubernetes-list-type' | 'x-kubernetes-list-map-keys'> = {},
  ): TypedSchema<T[]> => ({
    ...rest,
    type: 'array',
    items,
    'x-kubernetes-list-type': 'map',
    'x-kubernetes-list-map-keys': keys,
  }),
  /** An object with any names. */
  map: <T>(values: TypedSchema<T>, rest: Rest<'additionalProperties'> = {}): TypedSchema<{ [name: string]: T }> => ({
    ...rest,
    type: 'object',
    additionalProperties: values,
  }),
  object: <const M extends Members>(
    members: M,
    rest: Rest<'properties' | 'required'> = {},
  ): TypedSchema<Flat<ObjectValue<M>>> => objectSchema(members, rest),
  /** An object of any kind, with all of its members. */
  embedded: (rest: Rest = {}): TypedSchema<EmbeddedObject> => ({
    ...rest,
    type: 'object',
    'x-kubernetes-embedded-resource': true,
    'x-kubernetes-preserve-unknown-fields': true,
  }),
  /** Any value. */
  any: (rest: Rest = {}): TypedSchema<Json> => ({ ...rest, 'x-kubernetes-preserve-unknown-fields': true }),
  nullable: <T>(schema: TypedSchema<T>): TypedSchema<T | null> => ({ ...(schema as StructuralSchema), nullable: true }),
  /** A member of an object that may be absent. */
  optional: <T>(schema: TypedSchema<T>): OptionalMember<T> => ({ optional: schema }),
} as const;

/**
 * An object inside of another.
 *
 * @example
 * const template: EmbeddedObject = { apiVersion: 'v1', kind: 'Pod', spec: {} };
 */
export interface EmbeddedObject {
  apiVersion: string;
  kind: string;
  metadata?: ObjectMeta;
  [member: string]: unknown;
}
