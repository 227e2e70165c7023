import type { Json } from '../../model/object.js';
import type { List, Merge, ScalarName, Struct, Type } from '../model.js';

/**
 * How values of a type are owned: what the type model says, reduced to what field management asks. Schemas without
 * structure take several forms (a value decides which); compiled once per type.
 */
export interface Shape {
  readonly scalar?: ScalarForm;
  readonly list?: ListForm;
  readonly map?: MapForm;
}

/** Which JSON scalars are taken. */
export type ScalarForm = 'any' | 'string' | 'number' | 'boolean';

/**
 * A list: `atomic` ones are owned whole, others by items, which are told apart by `keys` or, without any, by their
 * value.
 */
export interface ListForm {
  readonly atomic: boolean;
  /** Sorted, each with the value it has where an item leaves it out. */
  readonly keys: readonly { readonly name: string; readonly absent: Json | undefined }[];
  readonly of: Shape;
}

/** A member that the schema names. */
export interface Member {
  readonly name: string;
  /** What stands for it in a set of fields, `f:name`. */
  readonly element: string;
  readonly shape: Shape;
}

/** An object: `atomic` ones are owned whole. */
export interface MapForm {
  readonly atomic: boolean;
  /** Members that the schema names. */
  readonly members: ReadonlyMap<string, Member>;
  /** The same, in the order of their names. */
  readonly sorted: readonly Member[];
  /** All other members; undefined: there may be none. */
  readonly others?: Shape;
}

const NO_MEMBERS: ReadonlyMap<string, Member> = new Map();

/** A value that no schema describes: its objects are owned by member, its lists whole. */
export const UNTYPED: Shape = {
  scalar: 'any',
  get list() {
    return UNTYPED_LIST;
  },
  get map() {
    return UNTYPED_MAP;
  },
};
const UNTYPED_LIST: ListForm = { atomic: true, keys: [], of: UNTYPED };
const UNTYPED_MAP: MapForm = { atomic: false, members: NO_MEMBERS, sorted: [], others: UNTYPED };
const UNTYPED_OBJECT: Shape = { map: UNTYPED_MAP };

const FORMS: Partial<Record<ScalarName, ScalarForm>> = {
  string: 'string',
  bytes: 'string',
  bool: 'boolean',
  int32: 'number',
  int64: 'number',
  uint32: 'number',
  double: 'number',
};

function scalarShape(name: ScalarName): Shape {
  if (name === 'any' || name === 'JSON') return UNTYPED;
  if (name === 'RawExtension' || name === 'FieldsV1') return UNTYPED_OBJECT;
  return { scalar: FORMS[name] ?? 'any' };
}

/** Keys of the items of a list; undefined: the list is owned whole (spec, "Merge strategy markers"). */
function keysOf(merge: Merge): readonly string[] | undefined {
  if (merge.listType === 'map') return merge.keys ?? [];
  if (merge.listType) return merge.listType === 'set' ? [] : undefined;
  if (!merge.patchStrategy?.includes('merge')) return undefined;
  return merge.patchMergeKey ? [merge.patchMergeKey] : [];
}

function absentKey(of: Type, name: string): Json | undefined {
  const field = of.is === 'struct' ? of.field.get(name) : undefined;
  return field?.default as Json | undefined;
}

function listShape(type: List, merge: Merge): Shape {
  const names = type.wrapper ? undefined : keysOf(merge);
  const keys = [...(names ?? [])].sort().map(name => ({ name, absent: absentKey(type.of, name) }));
  return { list: { atomic: names === undefined, keys, of: shapeOf(type.of) } };
}

const ENVELOPE = ['apiVersion', 'kind'] as const;
const STRING: Shape = { scalar: 'string' };

const memberOf = (name: string, shape: Shape): Member => ({ name, element: `f:${name}`, shape });

/** The members of a struct are compiled when they are first asked for: types refer to themselves. */
class StructForm implements MapForm {
  readonly others: Shape | undefined;
  readonly #struct: Struct;
  #sorted: readonly Member[] | undefined;
  #members: ReadonlyMap<string, Member> | undefined;

  constructor(
    struct: Struct,
    readonly atomic: boolean,
  ) {
    this.#struct = struct;
    this.others = struct.open ? UNTYPED : undefined;
  }

  get sorted(): readonly Member[] {
    this.#sorted ??= [
      ...(this.#struct.typeMeta ? ENVELOPE.map(name => memberOf(name, STRING)) : []),
      ...this.#struct.fields.map(field => memberOf(field.name, compile(field.type, field.merge))),
    ].sort((a, b) => (a.name < b.name ? -1 : 1));
    return this.#sorted;
  }

  get members(): ReadonlyMap<string, Member> {
    this.#members ??= new Map(this.sorted.map(member => [member.name, member]));
    return this.#members;
  }
}

const structs = new WeakMap<Struct, { granular?: Shape; atomic?: Shape }>();

function structShape(struct: Struct, atomic: boolean): Shape {
  if (struct.alternatives) return UNTYPED;
  let known = structs.get(struct);
  if (!known) structs.set(struct, (known = {}));
  const which = atomic ? 'atomic' : 'granular';
  known[which] ??= { map: new StructForm(struct, atomic) };
  return known[which];
}

function compile(type: Type, merge: Merge): Shape {
  switch (type.is) {
    case 'scalar':
      return scalarShape(type.name);
    case 'list':
      return listShape(type, merge);
    case 'map':
      return { map: { atomic: merge.mapType === 'atomic', members: NO_MEMBERS, sorted: [], others: shapeOf(type.of) } };
    case 'struct':
      return structShape(type, (merge.mapType ?? type.mapType) === 'atomic');
  }
}

const NO_MARKERS: Merge = {};

/** How values of the type are owned. */
export const shapeOf = (type: Type): Shape => compile(type, NO_MARKERS);

/** The shape of a member; undefined: the schema allows none of that name. */
export const memberShape = (form: MapForm, name: string): Shape | undefined =>
  form.members.get(name)?.shape ?? form.others;

/** An item of a list that is owned by items cannot be told apart from others. */
export class NoElement extends Error {}

/** The element that stands for an item of a list (`k:{"name":"c"}`, `v:"x"`). Throws `NoElement`. */
export function itemElement(form: ListForm, item: Json): string {
  if (form.keys.length === 0) {
    if (typeof item === 'object')
      throw new NoElement(
        item === null
          ? "associative list without keys has an element that's an explicit null"
          : `associative list without keys has an element that's a ${Array.isArray(item) ? 'list' : 'map'} type`,
      );
    return `v:${JSON.stringify(item)}`;
  }
  if (typeof item !== 'object' || item === null || Array.isArray(item))
    throw new NoElement(
      `associative list with keys may not have ${item === null ? 'a null element' : 'non-map elements'}`,
    );
  let text = 'k:{';
  for (const { name, absent } of form.keys) {
    const value = Object.hasOwn(item, name) ? item[name] : absent;
    if (value === undefined)
      throw new NoElement(
        `associative list with keys has an element that omits key field ${JSON.stringify(name)} (and doesn't have default value)`,
      );
    text += `${text.length > 3 ? ',' : ''}${JSON.stringify(name)}:${JSON.stringify(value)}`;
  }
  return `${text}}`;
}
