/**
 * Run-time values. An int is a JavaScript number if it is a safe integer and a bigint otherwise, so that the common
 * case is cheap; doubles and uints are boxed. Maps and lists are accessed through two abstract classes, which read own
 * properties only: no expression can reach a prototype.
 */

/** A value of an expression. */
export type Value =
  | null
  | boolean
  | number
  | bigint
  | string
  | Uint8Array
  | Uint
  | Double
  | List
  | Dict
  | Timestamp
  | Duration
  | TypeValue
  | Optional
  | Opaque;

/** An int in canonical form: a number if it is a safe integer, otherwise a bigint. */
export type Int = number | bigint;

/** The largest int. */
export const INT_MAX = 9223372036854775807n;
/** The smallest int. */
export const INT_MIN = -9223372036854775808n;
/** The largest uint. */
export const UINT_MAX = 18446744073709551615n;

/** The canonical form of an integer. */
export const canonical = (n: bigint): Int => (n >= -9007199254740991n && n <= 9007199254740991n ? Number(n) : n);

/** A 64-bit unsigned integer. */
export class Uint {
  constructor(readonly value: Int) {}
}
/** A double. */
export class Double {
  constructor(readonly value: number) {}
}
/** An evaluation error. Not an `Error`: capturing a stack for each of a million failed steps would be too slow. */
export class CelError {
  constructor(readonly message: string) {}
}
/** Thrown when a value is not known yet. It takes precedence over errors, but not over a deciding operand. */
export class Unknown {
  constructor(readonly names: readonly string[]) {}
}

/** Throws an evaluation error. */
export function fail(message: string): never {
  throw new CelError(message);
}
/** Throws the error of a call that matches no overload. */
export function noOverload(): never {
  throw new CelError('no such overload');
}

/** A list. `at` may only be called with an index within bounds. */
export abstract class List {
  abstract readonly size: number;
  /** Only ints are valid indexes; other lists also accept uints, and doubles without fraction. */
  readonly intIndexOnly?: boolean;
  abstract at(index: number): Value;
  /** Overridden by lists with their own equality and concatenation: sets and keyed lists. */
  equals?(other: Value, equal: (a: Value, b: Value) => boolean): boolean;
  concat?(other: List, equal: (a: Value, b: Value) => boolean): List;
}
/** A list of values in an array. */
export class ArrayList extends List {
  readonly size: number;
  constructor(readonly items: readonly Value[]) {
    super();
    this.size = items.length;
  }
  at(index: number): Value {
    return this.items[index]!;
  }
}
/** The concatenation of two lists. */
export function concatLists(a: List, b: List): List {
  if (a.size === 0) return b;
  if (b.size === 0) return a;
  return new ArrayList([...iterate(a), ...iterate(b)]);
}
/** The items of a list. */
export function* iterate(list: List): Iterable<Value> {
  for (let i = 0; i < list.size; i++) yield list.at(i);
}
/** A list as an array. */
export function toArray(list: List): readonly Value[] {
  if (list instanceof ArrayList) return list.items;
  const out = new Array<Value>(list.size);
  for (let i = 0; i < out.length; i++) out[i] = list.at(i);
  return out;
}

/** A map or an object with fields. */
export abstract class Dict {
  abstract readonly size: number;
  /** The value of a key; `undefined` if absent. */
  abstract get(key: Value): Value | undefined;
  abstract keys(): readonly Value[];
  /** The name that `type()` returns. */
  get typeName(): string {
    return 'map';
  }
}
/** A map key in the form that makes equal keys identical. */
export type MapKey = string | Int | boolean | null;
/** The `MapKey` of a value: equal for numbers that are equal across types. `undefined` if the value cannot be a key. */
export function keyOf(key: Value): MapKey | undefined {
  if (typeof key === 'string' || typeof key === 'number' || typeof key === 'bigint' || typeof key === 'boolean')
    return key;
  if (key === null) return null;
  if (key instanceof Uint) return key.value;
  if (key instanceof Double) return Number.isInteger(key.value) ? canonical(BigInt(key.value)) : key.value;
  return undefined;
}
/** A map of values. */
export class MapDict extends Dict {
  constructor(readonly entries: ReadonlyMap<MapKey, readonly [Value, Value]>) {
    super();
  }
  get size(): number {
    return this.entries.size;
  }
  get(key: Value): Value | undefined {
    const k = keyOf(key);
    return k === undefined ? undefined : this.entries.get(k)?.[1];
  }
  keys(): readonly Value[] {
    return Array.from(this.entries.values(), e => e[0]);
  }
  /** Makes a map of pairs. The last of several equal keys wins. Throws `CelError` for values that cannot be keys. */
  static of(pairs: Iterable<readonly [Value, Value]>): MapDict {
    const entries = new Map<MapKey, readonly [Value, Value]>();
    for (const pair of pairs) {
      const k = keyOf(pair[0]);
      if (k === undefined) fail('unsupported key type');
      entries.set(k, pair);
    }
    return new MapDict(entries);
  }
}

/** A message: a value of a nominal type with the fields that are set. */
export class Message extends Dict {
  constructor(
    readonly name: string,
    readonly fields: ReadonlyMap<string, Value>,
  ) {
    super();
  }
  get size(): number {
    return this.fields.size;
  }
  get(key: Value): Value | undefined {
    return this.fields.get(key as string);
  }
  keys(): readonly Value[] {
    return [...this.fields.keys()];
  }
  override get typeName(): string {
    return this.name;
  }
}

/** A type as a value. */
export class TypeValue {
  constructor(readonly name: string) {}
}
/** An optional value; `value` is `undefined` if it is empty. */
export class Optional {
  constructor(readonly value: Value | undefined) {}
  static readonly none = new Optional(undefined);
}
/** A value of a library's nominal type. */
export abstract class Opaque {
  abstract readonly typeName: string;
  abstract equals(other: Opaque): boolean;
}

/** An instant with nanoseconds. `offset` is the zone it was parsed with, in minutes; it matters for printing only. */
export class Timestamp {
  constructor(
    readonly seconds: number,
    readonly nanos: number,
    readonly offset = 0,
  ) {}
}
/** A duration in nanoseconds, within an int64. */
export class Duration {
  constructor(readonly nanos: bigint) {}
}

/** The run-time type name of a value. */
export function typeNameOf(v: Value): string {
  switch (typeof v) {
    case 'boolean':
      return 'bool';
    case 'number':
    case 'bigint':
      return 'int';
    case 'string':
      return 'string';
  }
  if (v === null) return 'null_type';
  if (v instanceof Uint) return 'uint';
  if (v instanceof Double) return 'double';
  if (v instanceof Uint8Array) return 'bytes';
  if (v instanceof List) return 'list';
  if (v instanceof Dict || v instanceof Opaque) return v.typeName;
  if (v instanceof Timestamp) return 'google.protobuf.Timestamp';
  if (v instanceof Duration) return 'google.protobuf.Duration';
  if (v instanceof Optional) return 'optional_type';
  return 'type';
}

/** Converts decoded JSON to a value of dynamic type. Numbers without fraction become ints. */
export function fromPlain(data: unknown): Value {
  switch (typeof data) {
    case 'string':
    case 'boolean':
      return data;
    case 'number':
      return Number.isSafeInteger(data) ? (data === 0 ? 0 : data) : new Double(data);
    case 'bigint':
      return canonical(data);
    case 'undefined':
      return null;
  }
  if (data === null) return null;
  if (Array.isArray(data)) return new PlainList(data);
  if (isValueObject(data)) return data;
  if (typeof data === 'object') return new PlainDict(data as Record<string, unknown>);
  return fail('unsupported value');
}

const isValueObject = (data: unknown): data is Exclude<Value, null> =>
  data instanceof Dict ||
  data instanceof List ||
  data instanceof Uint ||
  data instanceof Double ||
  data instanceof Uint8Array ||
  data instanceof Timestamp ||
  data instanceof Duration ||
  data instanceof TypeValue ||
  data instanceof Optional ||
  data instanceof Opaque;

/** A decoded array; its items are converted when read. */
class PlainList extends List {
  readonly size: number;
  constructor(readonly raw: readonly unknown[]) {
    super();
    this.size = raw.length;
  }
  at(index: number): Value {
    return fromPlain(this.raw[index]);
  }
}
/** A decoded object as a map; its values are converted when read. */
class PlainDict extends Dict {
  constructor(readonly raw: Record<string, unknown>) {
    super();
  }
  get size(): number {
    return Object.keys(this.raw).length;
  }
  get(key: Value): Value | undefined {
    return typeof key === 'string' && Object.hasOwn(this.raw, key) ? fromPlain(this.raw[key]) : undefined;
  }
  keys(): readonly Value[] {
    return Object.keys(this.raw);
  }
}
