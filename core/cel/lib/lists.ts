/** List functions: those of the server (`sum`, `min`, …) and the extended ones (`sort`, `slice`, …). */
import { declare, declareGlobal, type Overload } from '../check/declarations.js';
import type { Library } from '../library.js';
import type { Meter } from '../cost/meter.js';
import { add, compare, equal, weight } from '../evaluate/ops.js';
import {
  ArrayList,
  Double,
  Duration,
  fail,
  type Int,
  iterate,
  List,
  Optional,
  toArray,
  Uint,
  type Value,
} from '../evaluate/values.js';

const COMPARABLE = ['int', 'uint', 'double', 'bool', 'duration', 'timestamp', 'string', 'bytes'];

function isSorted(v: Value, _b: Value, _c: Value, m: Meter): Value {
  const l = v as List;
  m.charge(l.size);
  for (let i = 1; i < l.size; i++) if (compareOrEqual(l.at(i - 1), l.at(i), m) > 0) return false;
  return true;
}

function compareCharged(a: Value, b: Value, m: Meter): number {
  m.traverse(Math.min(weight(a), weight(b)));
  return compare(a, b);
}

/** Like `compareCharged`, but NaN is equal to every value. */
function compareOrEqual(a: Value, b: Value, m: Meter): number {
  if (isNaNValue(a) || isNaNValue(b)) return 0;
  return compareCharged(a, b, m);
}
const isNaNValue = (v: Value): boolean => v instanceof Double && Number.isNaN(v.value);

const sum =
  (zero: Value) =>
  (v: Value, _b: Value, _c: Value, m: Meter): Value => {
    const l = v as List;
    m.charge(l.size);
    let total = zero;
    for (const item of iterate(l)) total = add(total, item);
    return total;
  };

const extreme =
  (name: string, sign: number) =>
  (v: Value, _b: Value, _c: Value, m: Meter): Value => {
    const l = v as List;
    m.charge(l.size);
    if (l.size === 0) return fail(`${name} called on empty list`);
    let best = l.at(0);
    for (let i = 1; i < l.size; i++) if (compareOrEqual(l.at(i), best, m) * sign > 0) best = l.at(i);
    return best;
  };

function indexOf(v: Value, wanted: Value, _c: Value, m: Meter): Value {
  const l = v as List;
  for (let i = 0; i < l.size; i++) {
    m.charge(1 + weight(wanted) * 0.1);
    if (equal(l.at(i), wanted)) return i;
  }
  return -1;
}
function lastIndexOf(v: Value, wanted: Value, _c: Value, m: Meter): Value {
  const l = v as List;
  for (let i = l.size - 1; i >= 0; i--) {
    m.charge(1 + weight(wanted) * 0.1);
    if (equal(l.at(i), wanted)) return i;
  }
  return -1;
}

const ZEROS: readonly [string, Value][] = [
  ['int', 0],
  ['uint', new Uint(0)],
  ['double', new Double(0)],
  ['duration', new Duration(0n)],
];

/** The server's list library. */
export const LISTS: Library = {
  name: 'lists',
  functions: [
    ...COMPARABLE.map(t => declare(`list(${t}).isSorted(): bool`, isSorted)),
    ...COMPARABLE.map(t => declare(`list(${t}).min(): ${t}`, extreme('min', -1))),
    ...COMPARABLE.map(t => declare(`list(${t}).max(): ${t}`, extreme('max', 1))),
    ...ZEROS.map(([t, zero]) => declare(`list(${t}).sum(): ${t}`, sum(zero))),
    declare('list(A).indexOf(A): int', indexOf),
    declare('list(A).lastIndexOf(A): int', lastIndexOf),
  ],
};

function slice(v: Value, from: Value, to: Value, m: Meter): Value {
  const l = v as List;
  const [start, end] = [from as Int, to as Int];
  m.charge(l.size);
  if (start < 0 || end < 0) fail(`cannot slice(${start}, ${end}), negative indexes not supported`);
  if (start > end) fail(`cannot slice(${start}, ${end}), start index must be less than or equal to end index`);
  if (end > l.size) fail(`cannot slice(${start}, ${end}), list is length ${l.size}`);
  return new ArrayList(toArray(l).slice(Number(start), Number(end)));
}

function flatten(v: Value, depth: Value, _c: Value, m: Meter): Value {
  const levels = depth === null ? 1 : (depth as Int);
  if (levels < 0) fail('level must be non-negative');
  const out: Value[] = [];
  const walk = (l: List, left: number) => {
    for (const item of iterate(l)) {
      m.charge(1);
      if (item instanceof List && left > 0) walk(item, left - 1);
      else out.push(item);
    }
  };
  walk(v as List, Math.min(Number(levels), 1000));
  return new ArrayList(out);
}

function sortBy(list: List, keys: readonly Value[], m: Meter): Value {
  m.charge(Math.ceil(list.size * Math.log2(list.size + 1)));
  if (keys.length > 1) {
    const first = keys[0]!;
    if (typeof first === 'object' && (first === null || first instanceof List))
      fail('list elements must be comparable');
  }
  const order = keys.map((_, i) => i).sort((a, b) => compareCharged(keys[a]!, keys[b]!, m) || a - b);
  return new ArrayList(order.map(i => list.at(i)));
}

function distinct(v: Value, _b: Value, _c: Value, m: Meter): Value {
  const out: Value[] = [];
  for (const item of iterate(v as List)) {
    m.charge(1 + out.length * Math.ceil(weight(item) * 0.1));
    if (!out.some(o => equal(o, item))) out.push(item);
  }
  return new ArrayList(out);
}

function range(n: Value, _b: Value, _c: Value, m: Meter): Value {
  const size = n as Int;
  m.charge(Math.max(0, Number(size)));
  if (size > 1_000_000) fail('lists.range() too large');
  return new ArrayList(Array.from({ length: Math.max(0, Number(size)) }, (_, i) => i));
}

const elementAt =
  (index: (size: number) => number) =>
  (v: Value): Value => {
    const l = v as List;
    return l.size ? new Optional(l.at(index(l.size))) : Optional.none;
  };

const extended: Overload[] = [
  declare('list(A).slice(int, int): list(A)', slice),
  declare('list(list(A)).flatten(): list(A)', flatten),
  declare('list(dyn).flatten(int): list(dyn)', flatten),
  declare('list(A).distinct(): list(A)', distinct),
  declare('list(A).reverse(): list(A)', (v, _b, _c, m) => {
    m.charge((v as List).size);
    return new ArrayList([...toArray(v as List)].reverse());
  }),
  ...COMPARABLE.map(t =>
    declare(`list(${t}).sort(): list(${t})`, (v, _b, _c, m) => sortBy(v as List, toArray(v as List), m)),
  ),
  ...COMPARABLE.map(t =>
    declare(`list(A).@sortByAssociatedKeys(list(${t})): list(A)`, (v, keys, _c, m) =>
      sortBy(v as List, toArray(keys as List), m),
    ),
  ),
  declareGlobal('lists.range(int): list(int)', range),
  declare(
    'list(A).first(): optional(A)',
    elementAt(() => 0),
  ),
  declare(
    'list(A).last(): optional(A)',
    elementAt(size => size - 1),
  ),
];

/** The extended list functions. `sortBy` evaluates its key once per item. */
export const EXTENDED_LISTS: Library = {
  name: 'extended-lists',
  functions: extended,
  macros: [
    [
      'sortBy',
      2,
      true,
      (context, position, target, [name, key]) => {
        if (name?.is !== 'ident') {
          context.error(name!.at, 'sortBy can only be called with a simple name');
          return target;
        }
        const bound = '@sortBy';
        const input = { is: 'ident', at: target!.at, name: bound } as const;
        const keys = { is: 'loop', at: position, kind: 'map', range: input, vars: [name.name], body: key! } as const;
        const call = { is: 'call', at: position, fn: '@sortByAssociatedKeys', target: input, args: [keys] } as const;
        return { is: 'bind', at: position, kind: 'bind', name: bound, init: target!, body: call };
      },
    ],
  ],
};

const containsAll = (a: List, b: List, m: Meter): boolean => toArray(b).every(x => has(a, x, m));
function has(l: List, wanted: Value, m: Meter): boolean {
  for (const item of iterate(l)) {
    m.charge(1 + Math.ceil(Math.min(weight(item), weight(wanted)) * 0.1));
    if (equal(item, wanted)) return true;
  }
  return false;
}

/** Set functions on lists. */
export const SETS: Library = {
  name: 'sets',
  functions: [
    declareGlobal('sets.contains(list(A), list(A)): bool', (a, b, _c, m) => containsAll(a as List, b as List, m)),
    declareGlobal(
      'sets.equivalent(list(A), list(A)): bool',
      (a, b, _c, m) => containsAll(a as List, b as List, m) && containsAll(b as List, a as List, m),
    ),
    declareGlobal('sets.intersects(list(A), list(A)): bool', (a, b, _c, m) =>
      toArray(b as List).some(x => has(a as List, x, m)),
    ),
  ],
};
