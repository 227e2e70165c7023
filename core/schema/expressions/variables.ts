import type * as Cel from '../../cel/index.js';
import { stringAt, type UnknownRecord } from '../../model/record.js';
import { type CompiledExpression, compileExpression } from './budget.js';
import { admissionEnvironment, type ExpressionScope } from './environment.js';

/** A variable of a policy, compiled. */
export interface CompiledVariable {
  readonly name: string;
  readonly type: Cel.Type;
  readonly expression: CompiledExpression;
}

/** Compiles the variables of a policy, each of which may use those before it. */
export function compileVariables(
  cel: typeof Cel,
  variables: readonly UnknownRecord[],
  scope: ExpressionScope,
): readonly CompiledVariable[] {
  const compiled: CompiledVariable[] = [];
  const types = new Map<string, Cel.Type>();
  for (const variable of variables) {
    const name = stringAt(variable, 'name');
    const env = admissionEnvironment(cel, { ...scope, variables: types });
    const asks = compiled.some(({ expression }) => expression.asksAuthorizer);
    const { type = cel.DYN } = env.compile(stringAt(variable, 'expression'));
    compiled.push({ name, type, expression: compileExpression(env, stringAt(variable, 'expression'), asks) });
    types.set(name, type);
  }
  return compiled;
}

/** The values of variables for one request, and what computing them has cost. */
export interface VariableValues {
  /** The value of `variables`: each is computed when it is first read. */
  readonly value: Cel.Value;
  /** Returns the cost of variables since the last call. */
  spent(): number;
}

/** Makes the values of variables; `activation` has the other variables that their expressions use. */
export function variableValues(
  cel: typeof Cel,
  variables: readonly CompiledVariable[],
  activation: Readonly<Record<string, unknown>>,
): VariableValues {
  const known = new Map<string, Cel.Outcome>();
  const byName = new Map(variables.map(variable => [variable.name, variable]));
  let cost = 0;
  const evaluate = ({ expression: { program, error } }: CompiledVariable): Cel.Outcome => {
    if (!program) return { error: error!, cost: 0 };
    const outcome = program.evaluate({ ...activation, variables: value }, { budget: cel.CALL_BUDGET });
    cost += outcome.cost;
    return outcome;
  };
  class Variables extends cel.Dict {
    readonly size = byName.size;
    get(key: Cel.Value): Cel.Value | undefined {
      const variable = byName.get(key as string);
      if (!variable) return undefined;
      let outcome = known.get(variable.name);
      if (!outcome) known.set(variable.name, (outcome = evaluate(variable)));
      if (outcome.error === undefined) return outcome.value ?? null;
      throw new cel.CelError(`composited variable "${variable.name}" fails to evaluate: ${outcome.error}`);
    }
    keys(): readonly Cel.Value[] {
      return [...byName.keys()];
    }
  }
  const value = new Variables();
  return {
    value,
    spent() {
      const spent = cost;
      cost = 0;
      return spent;
    },
  };
}
