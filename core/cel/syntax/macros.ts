/** Macros: calls that are rewritten while parsing. */
import type { Expr, LoopKind } from './ast.js';
import { Double, Uint } from '../evaluate/values.js';

/** Error reporting for macros. */
export interface MacroContext {
  error(at: number, message: string): void;
}
/** Rewrites a call. Returns `undefined` to keep it a call. */
export type Macro = (
  context: MacroContext,
  at: number,
  target: Expr | undefined,
  args: readonly Expr[],
) => Expr | undefined;

/** A set of macros by name, number of arguments (-1: any) and form. */
export class Macros {
  private readonly table = new Map<string, Macro>();
  constructor(
    ...groups: readonly (readonly (readonly [name: string, argc: number, member: boolean, macro: Macro])[])[]
  ) {
    for (const group of groups)
      for (const [name, argc, member, macro] of group) this.table.set(`${name}/${argc}/${member}`, macro);
  }
  find(name: string, argc: number, member: boolean): Macro | undefined {
    return this.table.get(`${name}/${argc}/${member}`) ?? this.table.get(`${name}/-1/${member}`);
  }
}

type Group = readonly [string, number, boolean, Macro][];

/** The name of a loop variable. Anything else is reported and gives a name that no expression can spell. */
function variableName(context: MacroContext, e: Expr, message = 'argument must be a simple name'): string {
  if (e.is === 'ident' && !e.name.startsWith('.')) return e.name;
  context.error(e.at, message);
  return '@bad';
}

/** The name of upstream's accumulator variable, which loop variables must not shadow. */
const ACCUMULATOR = '__result__';

/** A loop macro: variables, then an optional filter, then the body. */
const loop =
  (kind: LoopKind, count: 1 | 2, filtered = false): Macro =>
  (context, at, target, args) => {
    const message = kind === 'map' || kind === 'filter' ? 'argument is not an identifier' : undefined;
    const vars = args.slice(0, count).map(a => variableName(context, a, message));
    vars.forEach((name, i) => {
      if (count === 1 && name === ACCUMULATOR)
        context.error(args[i]!.at, 'iteration variable overwrites accumulator variable');
    });
    if (count === 2 && vars[0] === vars[1] && vars[0] !== '@bad') context.error(args[1]!.at, 'duplicate variable name');
    return {
      is: 'loop',
      at,
      kind,
      range: target!,
      vars,
      filter: filtered ? args[count] : undefined,
      body: args[filtered ? count + 1 : count]!,
    };
  };

const has: Macro = (context, at, _target, [arg]) => {
  if (arg?.is === 'select' && !arg.test) return { ...arg, at, test: true };
  context.error(arg!.at, 'invalid argument to has() macro');
  return arg;
};

/** The macros of the language itself. */
export const STANDARD_MACROS: Group = [
  ['has', 1, false, has],
  ['all', 2, true, loop('all', 1)],
  ['exists', 2, true, loop('exists', 1)],
  ['exists_one', 2, true, loop('exists_one', 1)],
  ['map', 2, true, loop('map', 1)],
  ['map', 3, true, loop('map', 1, true)],
  ['filter', 2, true, loop('filter', 1)],
];

/** `existsOne`, the spelling of newer releases. */
export const EXISTS_ONE_MACRO: Group = [['existsOne', 2, true, loop('exists_one', 1)]];

/** Comprehensions with two variables: index (or key) and value. */
export const TWO_VARIABLE_MACROS: Group = [
  ['all', 3, true, loop('all', 2)],
  ['exists', 3, true, loop('exists', 2)],
  ['existsOne', 3, true, loop('exists_one', 2)],
  ['exists_one', 3, true, loop('exists_one', 2)],
  ['transformList', 3, true, loop('transformList', 2)],
  ['transformList', 4, true, loop('transformList', 2, true)],
  ['transformMap', 3, true, loop('transformMap', 2)],
  ['transformMap', 4, true, loop('transformMap', 2, true)],
  ['transformMapEntry', 3, true, loop('transformMapEntry', 2)],
  ['transformMapEntry', 4, true, loop('transformMapEntry', 2, true)],
];

const optionalBinding =
  (kind: 'optMap' | 'optFlatMap'): Macro =>
  (context, at, target, [name, body]) => ({
    is: 'bind',
    at,
    kind,
    name: variableName(context, name!, `${kind}() variable name must be a simple identifier`),
    init: target!,
    body: body!,
  });

/** Macros of optional values. */
export const OPTIONAL_MACROS: Group = [
  ['optMap', 2, true, optionalBinding('optMap')],
  ['optFlatMap', 2, true, optionalBinding('optFlatMap')],
];

const isNamespace = (target: Expr | undefined, name: string): boolean => target?.is === 'ident' && target.name === name;

/** `cel.bind`. */
export const BIND_MACROS: Group = [
  [
    'bind',
    3,
    true,
    (context, at, target, [name, init, body]) => {
      if (!isNamespace(target, 'cel')) return undefined;
      const id = variableName(context, name!, 'cel.bind() variable names must be simple identifiers');
      return { is: 'bind', at, kind: 'bind', name: id, init: init!, body: body! };
    },
  ],
];

const constantInt = (e: Expr | undefined): number | undefined =>
  e?.is === 'const' && typeof e.value === 'number' ? e.value : undefined;

/** `cel.block`, the form common subexpressions take after optimisation. */
export const BLOCK_MACROS: Group = [
  [
    'block',
    2,
    true,
    (context, at, target, [slots, body]) => {
      if (!isNamespace(target, 'cel')) return undefined;
      if (slots?.is !== 'list') {
        context.error(slots!.at, 'cel.block requires the first arg to be a list literal');
        return body;
      }
      return slots.items.reduceRight<Expr>(
        (inner, init, i) => ({ is: 'bind', at, kind: 'bind', name: `@index${i}`, init, body: inner }),
        body!,
      );
    },
  ],
  [
    'index',
    1,
    true,
    (_context, at, target, [n]) =>
      isNamespace(target, 'cel') ? { is: 'ident', at, name: `@index${constantInt(n) ?? 'bad'}` } : undefined,
  ],
  [
    'iterVar',
    2,
    true,
    (_context, at, target, [a, b]) =>
      isNamespace(target, 'cel') ? { is: 'ident', at, name: `@it:${constantInt(a)}:${constantInt(b)}` } : undefined,
  ],
  [
    'accuVar',
    2,
    true,
    (_context, at, target, [a, b]) =>
      isNamespace(target, 'cel') ? { is: 'ident', at, name: `@ac:${constantInt(a)}:${constantInt(b)}` } : undefined,
  ],
];

function isNumericArgument(e: Expr): boolean {
  if (e.is === 'const')
    return (
      typeof e.value === 'number' || typeof e.value === 'bigint' || e.value instanceof Double || e.value instanceof Uint
    );
  return e.is !== 'list' && e.is !== 'map' && e.is !== 'struct';
}

const extreme =
  (name: string, fn: string): Macro =>
  (context, at, target, args) => {
    if (!isNamespace(target, 'math')) return undefined;
    const call = (list: readonly Expr[]): Expr => ({ is: 'call', at, fn, args: list });
    if (args.length === 0) {
      context.error(target!.at, `${name}() requires at least one argument`);
      return call([]);
    }
    const first = args[0]!;
    if (args.length === 1) {
      const list = first.is === 'list';
      if (list ? first.items.length === 0 || !first.items.every(isNumericArgument) : !isNumericArgument(first)) {
        context.error(first.at, `${name}() invalid single argument value`);
      }
      return call(args);
    }
    const bad = args.find(a => !isNumericArgument(a));
    if (bad) context.error(bad.at, `${name}() simple literal arguments must be numeric`);
    return args.length === 2 ? call(args) : call([{ is: 'list', at, items: args, optional: new Set() }]);
  };

/** `math.greatest` and `math.least`. */
export const MATH_MACROS: Group = [
  ['greatest', -1, true, extreme('math.greatest', 'math.@max')],
  ['least', -1, true, extreme('math.least', 'math.@min')],
];
