import { writeJson } from '../../model/text/jsonText.js';
import type { Json } from '../../model/object.js';
import { SCALAR_ZEROS } from '../decode/scalars.js';
import type { List, Merge, ScalarName, Struct, Type } from '../model.js';

/**
 * The properties of a type that matter to field management, compiled once per type. Untyped values may have several
 * forms.
 */
export interface Shape {
  readonly scalar?: ScalarForm;
  readonly list?: ListForm;
  readonly map?: MapForm;
}

/** The accepted JSON scalars. */
export type ScalarForm = 'any' | 'string' | 'number' | 'boolean';

/** A list. An atomic list is owned as a whole; others by item, which is identified by `keys` or else by its value. */
export interface ListForm {
  readonly atomic: boolean;
  /** Sorted keys with their default values. */
  readonly keys: readonly { readonly name: string; readonly defaultValue: Json | undefined }[];
  readonly of: Shape;
}

/** A declared member of an object. */
export interface Member {
  readonly name: string;
  /** Its element in field sets: `f:name`. */
  readonly element: string;
  readonly shape: Shape;
}

/** An object. An atomic one is owned as a whole. */
export interface MapForm {
  readonly atomic: boolean;
  /** Declared members by name. */
  readonly members: ReadonlyMap<string, Member>;
  /** Declared members sorted by name. */
  readonly sorted: readonly Member[];
  /** The shape of all other members; undefined if they are not allowed. */
  readonly additional?: Shape;
}

const NO_MEMBERS: ReadonlyMap<string, Member> = new Map();

/** An untyped value. Its objects are granular, its lists atomic. */
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
const UNTYPED_MAP: MapForm = { atomic: false, members: NO_MEMBERS, sorted: [], additional: UNTYPED };
const ATOMIC_OBJECT: Shape = { map: { ...UNTYPED_MAP, atomic: true } };

const SCALAR_FORMS: Partial<Record<ScalarName, ScalarForm>> = {
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
  if (name === 'RawExtension' || name === 'FieldsV1') return ATOMIC_OBJECT;
  return { scalar: SCALAR_FORMS[name] ?? 'any' };
}

/** The keys of a list's items; undefined for an atomic list (spec, "Merge strategy markers"). */
function keysOf(merge: Merge): readonly string[] | undefined {
  if (merge.listType === 'map') return merge.keys ?? [];
  if (merge.listType) return merge.listType === 'set' ? [] : undefined;
  if (!merge.patchStrategy?.includes('merge')) return undefined;
  return merge.patchMergeKey ? [merge.patchMergeKey] : [];
}

/** The value of a key that an item does not have: its default, or the zero value of a member that is always written. */
function defaultKeyValue(of: Type, name: string): Json | undefined {
  const field = of.is === 'struct' ? of.field.get(name) : undefined;
  if (!field || field.default !== undefined) return field?.default as Json | undefined;
  const isWritten = !field.pointer && !field.omitEmpty && field.type.is === 'scalar';
  return isWritten ? SCALAR_ZEROS[field.type.name] : undefined;
}

function listShape(type: List, merge: Merge): Shape {
  const names = type.wrapper ? undefined : keysOf(merge);
  const keys = [...(names ?? [])].sort().map(name => ({ name, defaultValue: defaultKeyValue(type.of, name) }));
  return { list: { atomic: names === undefined, keys, of: shapeOf(type.of) } };
}

const ENVELOPE = ['apiVersion', 'kind'] as const;
const STRING: Shape = { scalar: 'string' };

const toMember = (name: string, shape: Shape): Member => ({ name, element: `f:${name}`, shape });

/** The form of a struct. Its members are compiled lazily, because types may be recursive. */
class StructForm implements MapForm {
  readonly additional: Shape | undefined;
  readonly #struct: Struct;
  #sorted: readonly Member[] | undefined;
  #members: ReadonlyMap<string, Member> | undefined;

  constructor(
    struct: Struct,
    readonly atomic: boolean,
  ) {
    this.#struct = struct;
    // An object for which nothing is declared may have any members: pruning, not field management, removes them.
    this.additional = struct.open || (struct.fields.length === 0 && !struct.typeMeta) ? UNTYPED : undefined;
  }

  get sorted(): readonly Member[] {
    this.#sorted ??= [
      ...(this.#struct.typeMeta ? ENVELOPE.map(name => toMember(name, STRING)) : []),
      ...this.#struct.fields.map(field => toMember(field.name, compileShape(field.type, field.merge))),
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
  let compiled = structs.get(struct);
  if (!compiled) structs.set(struct, (compiled = {}));
  const which = atomic ? 'atomic' : 'granular';
  compiled[which] ??= { map: new StructForm(struct, atomic) };
  return compiled[which];
}

function compileShape(type: Type, merge: Merge): Shape {
  switch (type.is) {
    case 'scalar':
      return scalarShape(type.name);
    case 'list':
      return listShape(type, merge);
    case 'map':
      return {
        map: { atomic: merge.mapType === 'atomic', members: NO_MEMBERS, sorted: [], additional: shapeOf(type.of) },
      };
    case 'struct':
      return structShape(type, (merge.mapType ?? type.mapType) === 'atomic');
  }
}

const NO_MARKERS: Merge = {};

/** The shape of a type. */
export const shapeOf = (type: Type): Shape => compileShape(type, NO_MARKERS);

/** The shape of a member; undefined if the schema does not allow it. */
export const memberShape = (form: MapForm, name: string): Shape | undefined =>
  form.members.get(name)?.shape ?? form.additional;

/** Thrown for an item without the keys that identify it. */
export class InvalidListItem extends Error {}

/** The element of a list item (`k:{"name":"c"}`, `v:"x"`). Throws `InvalidListItem`. */
export function itemElement(form: ListForm, item: Json): string {
  if (form.keys.length === 0) {
    if (typeof item === 'object')
      throw new InvalidListItem(
        item === null
          ? "associative list without keys has an element that's an explicit null"
          : `associative list without keys has an element that's a ${Array.isArray(item) ? 'list' : 'map'} type`,
      );
    return `v:${writeJson(item)}`;
  }
  if (typeof item !== 'object' || item === null || Array.isArray(item))
    throw new InvalidListItem(
      `associative list with keys may not have ${item === null ? 'a null element' : 'non-map elements'}`,
    );
  let text = 'k:{';
  for (const { name, defaultValue } of form.keys) {
    const value = Object.hasOwn(item, name) ? item[name] : defaultValue;
    if (value === undefined)
      throw new InvalidListItem(
        `associative list with keys has an element that omits key field ${JSON.stringify(name)} (and doesn't have ` +
          'default value)',
      );
    text += `${text.length > 3 ? ',' : ''}${JSON.stringify(name)}:${writeJson(value)}`;
  }
  return `${text}}`;
}
