/**
 * The syntax tree. Nodes know where they stand; macros are expanded by the parser, so comprehensions are nodes of their
 * own.
 */
import type { Value } from './values.js';
import type { Type } from './types.js';
import type { Overload } from './declarations.js';

/** Offset of a node in the source, in UTF-16 units; lines and columns are computed only for messages. */
interface Located {
  readonly at: number;
}

/** What the checker leaves on a node. */
interface Checked {
  type?: Type;
}

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

export interface ConstExpr extends Located, Checked {
  readonly is: 'const';
  readonly value: Value;
}
export interface IdentExpr extends Located, Checked {
  readonly is: 'ident';
  readonly name: string;
  /** The declared variable or constant this name means, with its container spelt out. */
  resolved?: string;
}
export interface SelectExpr extends Located, Checked {
  readonly is: 'select';
  readonly operand: Expr;
  readonly field: string;
  /** `has(operand.field)`. */
  readonly test: boolean;
  /** A dotted name that turned out to be one variable or type. */
  resolved?: string;
}
export interface CallExpr extends Located, Checked {
  readonly is: 'call';
  readonly fn: string;
  readonly target?: Expr;
  readonly args: readonly Expr[];
  /** The overloads that fit the static types; the evaluator chooses among them. */
  overloads?: readonly Overload[];
  /** The target was a namespace, part of the function's name. */
  qualified?: string;
}
export interface ListExpr extends Located, Checked {
  readonly is: 'list';
  readonly items: readonly Expr[];
  readonly optional: ReadonlySet<number>;
}
export interface MapEntry {
  readonly at: number;
  readonly key: Expr;
  readonly value: Expr;
  readonly optional: boolean;
}
export interface MapExpr extends Located, Checked {
  readonly is: 'map';
  readonly entries: readonly MapEntry[];
}
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

/** The parts that the checker visits: not those of a name that turned out to be one variable or function. */
export function checkedParts(e: Expr): readonly Expr[] {
  if (e.is === 'select' && e.resolved) return [];
  return e.is === 'call' && e.qualified ? e.args : children(e);
}

/** What a pass over the tree makes of each kind of node. */
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

/** Has a pass look at a node. */
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
