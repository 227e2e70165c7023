import type { Expr } from '../syntax/ast.js';
import type { Frame } from '../cost/meter.js';
import type { Value } from './values.js';

/** A compiled node. */
export type Code = (f: Frame) => Value;

/** Compiles nodes, each of which may have its own local variables. */
export interface Compiler {
  compile(e: Expr): Code;
  /** Compiles a part of the tree in the scope of new local variables; `run` gets their slots in `Frame.locals`. */
  withLocals<R>(names: readonly string[], run: (slots: readonly number[]) => R): R;
}
