/** The choice of an overload for a call at run time. */
import type { Code } from './code.js';
import type { Overload } from '../check/declarations.js';
import { isInt } from './ops.js';
import type { Type } from '../check/types.js';
import {
  Dict,
  Double,
  Duration,
  fail,
  List,
  noOverload,
  Opaque,
  Optional,
  Timestamp,
  TypeValue,
  typeNameOf,
  Uint,
  type Value,
} from './values.js';

type Accepts = (v: Value) => boolean;
const anything: Accepts = () => true;
const isA =
  (type: abstract new (...args: never[]) => unknown): Accepts =>
  v =>
    v instanceof type;

/** Tests of argument values by declared type. Members of lists and maps are not tested; the function does that. */
const ACCEPTED: { readonly [K in Exclude<Type['kind'], 'wrapper' | 'opaque' | 'object'>]: Accepts } = {
  dyn: anything,
  param: anything,
  error: anything,
  int: isInt,
  bool: v => typeof v === 'boolean',
  string: v => typeof v === 'string',
  null: v => v === null,
  uint: isA(Uint),
  double: isA(Double),
  bytes: isA(Uint8Array),
  timestamp: isA(Timestamp),
  duration: isA(Duration),
  list: isA(List),
  map: isA(Dict),
  type: isA(TypeValue),
};

/** The test of argument values for a declared type. */
function acceptorOf(t: Type): Accepts {
  switch (t.kind) {
    case 'wrapper': {
      const of = acceptorOf(t.of);
      return v => v === null || of(v);
    }
    case 'opaque':
      return t.name === 'optional_type' ? isA(Optional) : v => v instanceof Opaque && v.typeName === t.name;
    case 'object':
      return v => typeNameOf(v) === t.name;
    default:
      return ACCEPTED[t.kind];
  }
}

/** Functions that upstream dispatches on a trait of the first argument, and the types with that trait. */
const TRAIT_FUNCTIONS = new Map([
  ['size', new Set(['string', 'bytes', 'list', 'map'])],
  ['matches', new Set(['string'])],
]);

/** Throws upstream's error of a call that matches no overload. */
function failNoOverload(fn: string, args: readonly Value[]): never {
  const types = TRAIT_FUNCTIONS.get(fn);
  if (types) return types.has(typeNameOf(args[0]!)) ? noOverload() : fail(`no such overload: ${fn}`);
  return fail(`no such overload: ${fn}(${args.map(typeNameOf).join(', ')})`);
}

/** Compiles a call: directly to the overload if the static types determine it, otherwise chosen by the values. */
export function dispatch(
  fn: string,
  overloads: readonly Overload[],
  args: readonly Code[],
  types: readonly (Type | undefined)[],
): Code {
  const [a, b, c, d] = args;
  const only = overloads.length === 1 ? overloads[0]! : undefined;
  const single = only?.args.every((t, i) => t.kind === 'param' || (t.kind !== 'dyn' && t.kind === types[i]?.kind))
    ? only.call
    : undefined;
  if (single && a && !b)
    return f => {
      f.charge(1);
      return single(a(f), null, null, f, null);
    };
  if (single && a && b && !c)
    return f => {
      f.charge(1);
      return single(a(f), b(f), null, f, null);
    };
  const choices = overloads.map(o => ({ call: o.call, accepts: o.args.map(acceptorOf) }));
  return f => {
    f.charge(1);
    const values = [a ? a(f) : null, b ? b(f) : null, c ? c(f) : null, d ? d(f) : null] as const;
    for (const { call, accepts } of choices) {
      if (accepts.every((takes, i) => takes(values[i]!))) return call(values[0], values[1], values[2], f, values[3]);
    }
    return failNoOverload(fn, values.slice(0, args.length) as Value[]);
  };
}
