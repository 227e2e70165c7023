import type { ValidatingAdmissionPolicy } from '../../../kinds/admissionregistration/v1.js';
import type * as Cel from '../../../core/cel/index.js';
import { isAbsent } from '../../../core/model/record.js';
import { compileExpression, type CompiledExpression } from '../../../core/schema/expressions/budget.js';
import { matchConditionsOf } from '../../../core/schema/expressions/conditions.js';
import { admissionEnvironment } from '../../../core/schema/expressions/environment.js';
import { compileVariables, type CompiledVariable } from '../../../core/schema/expressions/variables.js';

/** A validation of a policy, compiled. */
export interface Validation {
  readonly expression: CompiledExpression;
  readonly message: string;
  readonly messageExpression?: CompiledExpression;
  readonly reason: string;
}

/** A ValidatingAdmissionPolicy, compiled. */
export interface CompiledPolicy {
  readonly conditions: readonly CompiledExpression[];
  readonly variables: readonly CompiledVariable[];
  readonly validations: readonly Validation[];
  readonly auditAnnotations: readonly { readonly key: string; readonly expression: CompiledExpression }[];
}

/** Compiles the expressions of a policy. An expression that does not compile is an error when it is evaluated. */
export function compilePolicy(cel: typeof Cel, { spec }: ValidatingAdmissionPolicy): CompiledPolicy {
  const params = !isAbsent(spec.paramKind);
  const variables = compileVariables(cel, spec.variables ?? [], { params, authorizer: true });
  const types = variables.length > 0 ? new Map(variables.map(({ name, type }) => [name, type])) : undefined;
  const asks = variables.some(({ expression }) => expression.asksAuthorizer);
  const env = admissionEnvironment(cel, { params, authorizer: true, variables: types });
  const messageEnv = admissionEnvironment(cel, { params, variables: types });
  return {
    conditions: matchConditionsOf(admissionEnvironment(cel, { params, authorizer: true }), spec),
    variables,
    validations: (spec.validations ?? []).map(validation => {
      const messageText = validation.messageExpression ?? '';
      return {
        expression: compileExpression(env, validation.expression, asks),
        message: (validation.message ?? '').trim(),
        ...(messageText ? { messageExpression: compileExpression(messageEnv, messageText, asks) } : {}),
        reason: validation.reason || 'Invalid',
      };
    }),
    auditAnnotations: (spec.auditAnnotations ?? []).map(annotation => ({
      key: annotation.key,
      expression: compileExpression(env, annotation.valueExpression, asks),
    })),
  };
}
