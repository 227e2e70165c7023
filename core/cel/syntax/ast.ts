/** The syntax tree. The parser expands macros, so comprehensions and bindings are node types of their own. */
import type { Value } from '../evaluate/values.js';
import type { Type } from '../check/types.js';
import type { Overload } from '../check/declarations.js';

/** Offset of a node in the source, in UTF-16 units; lines and columns are computed only for messages. */
interface Located {
  readonly at: number;
}

/** Set by the checker. */
interface Checked {
  type?: Type;
}

/** A node, told apart by `is`. */
export type Expr =
  | ConstExpr
  | IdentExpr
  | SelectExpr
  | CallExpr
  | ListExpr
  | MapExpr
  | StructExpr
  | ComprehensionExpr
  | BindExpr;

/** A literal. */
export interface ConstExpr extends Located, Checked {
  readonly is: 'const';
  readonly value: Value;
}
/** A name. */
export interface IdentExpr extends Located, Checked {
  readonly is: 'ident';
  readonly name: string;
  /** The fully qualified name of the variable or constant; set by the checker. */
  resolved?: string;
}
/** `operand.field`. */
export interface SelectExpr extends Located, Checked {
  readonly is: 'select';
  readonly operand: Expr;
  readonly field: string;
  /** Whether this is the test `has(operand.field)`. */
  readonly test: boolean;
  /** The qualified name, if the whole dotted name is one variable or type; set by the checker. */
  resolved?: string;
}
/** A call of a function, an operator (`_+_`) or a member function. */
export interface CallExpr extends Located, Checked {
  readonly is: 'call';
  readonly fn: string;
  readonly target?: Expr;
  readonly args: readonly Expr[];
  /** The overloads that match the static types; the evaluator chooses among them at run time. */
  overloads?: readonly Overload[];
  /** The function's qualified name, if `target` is a namespace (`math` in `math.abs(x)`) and not a value. */
  qualified?: string;
}
/** A list literal. */
export interface ListExpr extends Located, Checked {
  readonly is: 'list';
  readonly items: readonly Expr[];
  /** Indexes of the optional items: `[?x]`. */
  readonly optional: ReadonlySet<number>;
}
/** An entry of a map literal. */
export interface MapEntry {
  readonly at: number;
  readonly key: Expr;
  readonly value: Expr;
  readonly optional: boolean;
}
/** A map literal. */
export interface MapExpr extends Located, Checked {
  readonly is: 'map';
  readonly entries: readonly MapEntry[];
}
/** A message literal: `a.b.C{field: value}`. */
export interface StructExpr extends Located, Checked {
  readonly is: 'struct';
  readonly name: string;
  readonly fields: readonly {
    readonly at: number;
    readonly name: string;
    readonly value: Expr;
    readonly optional: boolean;
  }[];
}

/**
 * The macros that iterate. Each kind has its own loop in the evaluator; `map` with a filter, and the `transform` forms,
 * share one.
 */
export type LoopKind =
  | 'all'
  | 'exists'
  | 'exists_one'
  | 'map'
  | 'filter'
  | 'transformList'
  | 'transformMap'
  | 'transformMapEntry';
/** A comprehension: `range.all(x, body)` and its relatives. */
export interface ComprehensionExpr extends Located, Checked {
  readonly is: 'loop';
  readonly kind: LoopKind;
  readonly range: Expr;
  /** One variable, or index/key and value. */
  readonly vars: readonly string[];
  readonly filter?: Expr;
  readonly body: Expr;
}

/** `cel.bind`, `optMap` and `optFlatMap`: a local variable. */
export interface BindExpr extends Located, Checked {
  readonly is: 'bind';
  readonly kind: 'bind' | 'optMap' | 'optFlatMap';
  readonly name: string;
  readonly init: Expr;
  readonly body: Expr;
}

/** The direct parts of a node, in evaluation order. */
export function children(e: Expr): readonly Expr[] {
  switch (e.is) {
    case 'const':
    case 'ident':
      return [];
    case 'select':
      return [e.operand];
    case 'call':
      return e.target ? [e.target, ...e.args] : e.args;
    case 'list':
      return e.items;
    case 'map':
      return e.entries.flatMap(entry => [entry.key, entry.value]);
    case 'struct':
      return e.fields.map(f => f.value);
    case 'loop':
      return e.filter ? [e.range, e.filter, e.body] : [e.range, e.body];
    case 'bind':
      return [e.init, e.body];
  }
}

/** The children that have types. Parts of a dotted name that the checker resolved as a whole have none. */
export function checkedChildren(e: Expr): readonly Expr[] {
  if (e.is === 'select' && e.resolved) return [];
  return e.is === 'call' && e.qualified ? e.args : children(e);
}

/** One method for each kind of node. */
export interface Visitor<R> {
  constant(e: ConstExpr): R;
  ident(e: IdentExpr): R;
  select(e: SelectExpr): R;
  call(e: CallExpr): R;
  list(e: ListExpr): R;
  map(e: MapExpr): R;
  struct(e: StructExpr): R;
  loop(e: ComprehensionExpr): R;
  bind(e: BindExpr): R;
}

/** Calls the visitor's method for the node. */
export function visit<R>(e: Expr, visitor: Visitor<R>): R {
  switch (e.is) {
    case 'const':
      return visitor.constant(e);
    case 'ident':
      return visitor.ident(e);
    case 'select':
      return visitor.select(e);
    case 'call':
      return visitor.call(e);
    case 'list':
      return visitor.list(e);
    case 'map':
      return visitor.map(e);
    case 'struct':
      return visitor.struct(e);
    case 'loop':
      return visitor.loop(e);
    case 'bind':
      return visitor.bind(e);
  }
}
