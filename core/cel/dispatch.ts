/** Which overload of a function a call runs. */
import type { Overload } from './declarations.js';
import type { Code } from './plan.js';
import type { Type } from './types.js';
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

/** Whether a value may be passed where the type is declared. Members of aggregates are the function's own affair. */
function accepts(t: Type, v: Value): boolean {
  switch (t.kind) {
    case 'dyn':
    case 'param':
    case 'error':
      return true;
    case 'int':
      return typeof v === 'number' || typeof v === 'bigint';
    case 'bool':
      return typeof v === 'boolean';
    case 'string':
      return typeof v === 'string';
    case 'null':
      return v === null;
    case 'uint':
      return v instanceof Uint;
    case 'double':
      return v instanceof Double;
    case 'bytes':
      return v instanceof Uint8Array;
    case 'timestamp':
      return v instanceof Timestamp;
    case 'duration':
      return v instanceof Duration;
    case 'list':
      return v instanceof List;
    case 'map':
      return v instanceof Dict;
    case 'type':
      return v instanceof TypeValue;
    case 'wrapper':
      return v === null || accepts(t.of, v);
    case 'opaque':
      return t.name === 'optional_type' ? v instanceof Optional : v instanceof Opaque && v.typeName === t.name;
    case 'object':
      return typeNameOf(v) === t.name;
  }
}

/** Functions upstream implements by what the first argument can do, whatever the overload. */
const TRAIT_FUNCTIONS = new Map([
  ['size', new Set(['string', 'bytes', 'list', 'map'])],
  ['matches', new Set(['string'])],
]);

/** The error of a call no overload takes, as upstream words it. */
function refuse(fn: string, args: readonly Value[]): never {
  const types = TRAIT_FUNCTIONS.get(fn);
  if (types) return types.has(typeNameOf(args[0]!)) ? noOverload() : fail(`no such overload: ${fn}`);
  return fail(`no such overload: ${fn}(${args.map(typeNameOf).join(', ')})`);
}

/** A call: straight to the only overload when the static types settle it, else by the values. */
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
  return f => {
    f.charge(1);
    const values = [a ? a(f) : null, b ? b(f) : null, c ? c(f) : null, d ? d(f) : null] as const;
    for (const o of overloads) {
      if (o.args.every((t, i) => accepts(t, values[i]!))) return o.call(values[0], values[1], values[2], f, values[3]);
    }
    return refuse(fn, values.slice(0, args.length) as Value[]);
  };
}
