/** Views of decoded data as values of a schema: lists, sets, keyed lists, maps and objects. */
import { escapeName } from './names.js';
import type { equal as equalValues } from '../evaluate/ops.js';
import type { SchemaType } from './schemaType.js';
import { ArrayList, Dict, Double, iterate, keyOf, List, noOverload, toArray, type Value } from '../evaluate/values.js';

/** A list, whose items are converted when read. */
export class SchemaList extends List {
  readonly size: number;
  override readonly intIndexOnly = true;
  constructor(
    readonly raw: readonly unknown[],
    readonly of: SchemaType,
  ) {
    super();
    this.size = raw.length;
  }
  at(index: number): Value {
    return this.of.view(this.raw[index]);
  }
}

/** A list of type `set`: equal regardless of order, concatenated as a union. */
export class SetList extends ArrayList {
  override readonly intIndexOnly = true;
  /** Equal size, and all items of the other list are in this one. As in upstream, duplicates are not detected. */
  override equals(other: Value, equal: typeof equalValues): boolean {
    return (
      other instanceof List && other.size === this.size && toArray(other).every(y => this.items.some(x => equal(x, y)))
    );
  }
  override concat(other: List, equal: typeof equalValues): List {
    const out = [...this.items];
    const seen = new Set<unknown>();
    for (const x of out) seen.add(keyOf(x));
    for (const x of iterate(other)) {
      const key = keyOf(x);
      if (key !== undefined ? seen.has(key) : out.some(y => equal(x, y))) continue;
      seen.add(key);
      out.push(x);
    }
    return new SetList(out);
  }
}

/** A list of type `map`: items are identified by keys; concatenation replaces items with equal keys. */
export class KeyedList extends ArrayList {
  override readonly intIndexOnly = true;
  constructor(
    items: readonly Value[],
    private readonly keys: readonly string[],
  ) {
    super(items);
  }
  private keyOf(v: Value): string {
    return JSON.stringify(this.keys.map(k => (v instanceof Dict ? keyPart(v.get(k)) : null)));
  }
  override equals(other: Value, equal: typeof equalValues): boolean {
    if (!(other instanceof List) || other.size !== this.size) return false;
    const mine = new Map(this.items.map(x => [this.keyOf(x), x]));
    return toArray(other).every(y => {
      const x = mine.get(this.keyOf(y));
      return x !== undefined && equal(x, y);
    });
  }
  override concat(other: List): List {
    const out = new Map(this.items.map(x => [this.keyOf(x), x]));
    for (const y of iterate(other)) out.set(this.keyOf(y), y);
    return new KeyedList([...out.values()], this.keys);
  }
}
const keyPart = (v: Value | undefined): unknown =>
  v === undefined ? null : typeof v === 'bigint' ? `${v}n` : v instanceof Double ? ['d', v.value] : v;

/** A map with string keys, whose values are converted when read. */
export class SchemaMap extends Dict {
  constructor(
    readonly raw: Record<string, unknown>,
    readonly of: SchemaType,
  ) {
    super();
  }
  get size(): number {
    return Object.keys(this.raw).length;
  }
  get(key: Value): Value | undefined {
    if (typeof key !== 'string') return noOverload();
    return Object.hasOwn(this.raw, key) ? this.of.view(this.raw[key]) : undefined;
  }
  keys(): readonly Value[] {
    return Object.keys(this.raw);
  }
}

/** A declared property: its key in the data, and its schema. */
export interface Property {
  readonly key: string;
  readonly schema: SchemaType;
  /** Whether the name exists on `Object.prototype`, so that only own properties count. */
  readonly inherited: boolean;
}

/** An object with declared properties; at run time a map. Properties that are null count as absent. */
export class SchemaObject extends Dict {
  constructor(
    readonly raw: Readonly<Record<string, unknown>>,
    readonly properties: ReadonlyMap<string, Property>,
  ) {
    super();
  }
  get size(): number {
    return this.keys().length;
  }
  private data(p: Property): unknown {
    return p.inherited && !Object.hasOwn(this.raw, p.key) ? undefined : this.raw[p.key];
  }
  get(key: Value): Value | undefined {
    if (typeof key !== 'string') return noOverload();
    const p = this.properties.get(key);
    if (!p) return undefined;
    const data = this.data(p);
    return data === null || data === undefined ? undefined : p.schema.view(data);
  }
  keys(): readonly Value[] {
    const out: string[] = [];
    for (const [name, p] of this.properties) {
      const data = this.data(p);
      if (name === escapeName(p.key) && data !== null && data !== undefined) out.push(name);
    }
    return out;
  }
}
