import type * as Cel from '../../cel/index.js';
import { stringAt, type UnknownRecord } from '../../model/record.js';
import { type CompiledExpression, compileExpression } from './budget.js';
import { admissionEnvironment, type ExpressionScope } from './environment.js';

/** A variable of a policy, compiled. */
export interface CompiledVariable {
  readonly name: string;
  /** Its type in other expressions: see `variableType`. */
  readonly type: Cel.Type;
  readonly expression: CompiledExpression;
}

/** Types of values whose variables have that type in other expressions. */
const KEPT: ReadonlySet<Cel.Type['kind']> = new Set<Cel.Type['kind']>([
  'bool',
  'bytes',
  'double',
  'duration',
  'int',
  'null',
  'string',
  'timestamp',
  'uint',
]);

/**
 * The type of a variable in other expressions, given the type of its own expression. As in upstream, the types of plain
 * values, lists and maps are kept: optionals, messages, types and the values of libraries (quantities, addresses,
 * authorizers) are only checked at run time.
 */
export function variableType(cel: typeof Cel, type: Cel.Type): Cel.Type {
  if (type.kind === 'list') return cel.listType(variableType(cel, type.of));
  if (type.kind === 'map') return cel.mapType(variableType(cel, type.key), variableType(cel, type.of));
  return KEPT.has(type.kind) ? type : cel.DYN;
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
    const { type: result = cel.DYN } = env.compile(stringAt(variable, 'expression'));
    const type = variableType(cel, result);
    compiled.push({ name, type, expression: compileExpression(env, stringAt(variable, 'expression'), asks) });
    types.set(name, type);
  }
  return compiled;
}

/** The values of variables for one request, and the cost of computing them. */
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
