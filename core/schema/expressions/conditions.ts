import type * as Cel from '../../cel/index.js';
import { recordsAt, stringAt, type UnknownRecord } from '../../model/record.js';
import { monotonicTime } from '../../runtime/clock.js';
import {
  Budget,
  BudgetExhausted,
  type CompiledExpression,
  compileExpression,
  MATCH_CONDITIONS_BUDGET,
} from './budget.js';

/** Compiles the match conditions of a webhook or policy. */
export const matchConditionsOf = (env: Cel.Environment, owner: UnknownRecord): readonly CompiledExpression[] =>
  recordsAt(owner, 'matchConditions').map(condition => compileExpression(env, stringAt(condition, 'expression')));

/** The outcome of all match conditions; an error if the conditions cannot be decided. */
export type ConditionsOutcome = boolean | { readonly error: string };

/** Called with the duration of the evaluation of match conditions, and its result. */
export type ConditionsObserver = (seconds: number, outcome: 'included' | 'excluded' | 'error') => void;

/**
 * Evaluates match conditions. If one is false, the outcome is false. Otherwise, if there is an error, also of the
 * budget, it is the outcome, or false if failures are ignored.
 */
export async function evaluateConditions(
  cel: typeof Cel,
  conditions: readonly CompiledExpression[],
  activation: Cel.Activation,
  failurePolicy: string,
  observe?: ConditionsObserver,
): Promise<ConditionsOutcome> {
  if (conditions.length === 0) return true;
  const began = monotonicTime();
  const outcome = await evaluateAll(cel, conditions, activation);
  const seconds = (monotonicTime() - began) / 1000;
  observe?.(seconds, outcome === true ? 'included' : outcome === false ? 'excluded' : 'error');
  return typeof outcome !== 'boolean' && failurePolicy === 'Ignore' ? false : outcome;
}

async function evaluateAll(
  cel: typeof Cel,
  conditions: readonly CompiledExpression[],
  activation: Cel.Activation,
): Promise<ConditionsOutcome> {
  const budget = new Budget(cel, MATCH_CONDITIONS_BUDGET);
  const errors: string[] = [];
  for (const condition of conditions) {
    try {
      const { value, error } = await budget.evaluate(condition, activation);
      if (error !== undefined) errors.push(error);
      else if (value === false) return false;
    } catch (thrown) {
      if (!(thrown instanceof BudgetExhausted)) throw thrown;
      // All conditions share the budget: further ones cannot be evaluated, and earlier errors no longer matter.
      errors.splice(0, errors.length, thrown.message);
      break;
    }
  }
  if (errors.length === 0) return true;
  const different = [...new Set(errors)];
  return { error: different.length === 1 ? different[0]! : `[${different.join(', ')}]` };
}
