import type { Compiled } from '../../../cel/index.js';
import { engine } from '../engine.js';

/** The reasons that a rule may give. */
export const REASONS: readonly string[] = [
  'FieldValueDuplicate',
  'FieldValueForbidden',
  'FieldValueInvalid',
  'FieldValueRequired',
];

/** A CEL environment. */
export interface Compiler {
  compile(text: string): Compiled;
}

/**
 * Compiles a rule, first without `oldSelf` and then, if that fails, with it. `usesOldSelf`: it compiles only with
 * `oldSelf`.
 */
export function compileRule(
  withoutOldSelf: Compiler,
  withOldSelf: Compiler,
  text: string,
): { compiled: Compiled; usesOldSelf: boolean } {
  const compiled = withoutOldSelf.compile(text);
  if (compiled.program) return { compiled, usesOldSelf: false };
  const compiledWithOld = withOldSelf.compile(text);
  return compiledWithOld.program
    ? { compiled: compiledWithOld, usesOldSelf: true }
    : { compiled: compiledWithOld, usesOldSelf: false };
}

/** Returns the message about an expression that could not be compiled. `planning`: the name of the last step in it. */
export const compileError = ({ planError, errors }: Compiled, planning = 'program instantiation'): string =>
  planError === undefined ? `compilation failed: ${errors}` : `${planning} failed: ${planError}`;

/** Whether a compiled expression has the type bool. */
export const isBoolean = ({ type }: Compiled): boolean =>
  type !== undefined && engine().cel.formatType(type) === 'bool';
