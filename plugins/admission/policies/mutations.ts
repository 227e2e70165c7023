import type { MutatingAdmissionPolicy } from '../../../kinds/admissionregistration/v1alpha1.js';
import type * as Cel from '../../../core/cel/index.js';
import { JSON_PATCH_OPERATIONS } from '../../../core/limits.js';
import type { ApiObject, Json } from '../../../core/model/object.js';
import { isRecord, isAbsent, type UnknownRecord } from '../../../core/model/record.js';
import { Refusal } from '../../../core/model/refusal.js';
import { compileExpression, type CompiledExpression } from '../../../core/schema/expressions/budget.js';
import { matchConditionsOf } from '../../../core/schema/expressions/conditions.js';
import { admissionEnvironment } from '../../../core/schema/expressions/environment.js';
import { type CompiledVariable, compileVariables } from '../../../core/schema/expressions/variables.js';
import { applyJsonPatch, UnappliedPatch } from '../../../core/schema/patch/jsonPatch.js';

/** Thrown for a mutation that cannot be applied. */
export class MutationError extends Error {}

/** Merges a configuration into the current object. Throws an Error that describes its fault. */
type Merge = (configuration: UnknownRecord) => ApiObject;

/** A mutation of a policy, compiled. */
export interface CompiledMutation {
  readonly expression: CompiledExpression;
  /** Applies the value of the expression to an object, and returns the resulting object. Throws MutationError. */
  apply(value: Cel.Value, object: ApiObject, merge: Merge): ApiObject;
}

/** A MutatingAdmissionPolicy, compiled. */
export interface CompiledMutations {
  readonly conditions: readonly CompiledExpression[];
  readonly variables: readonly CompiledVariable[];
  readonly mutations: readonly CompiledMutation[];
}

/** The JSON of a value. Throws MutationError for a value that JSON cannot express. */
function jsonOf(cel: typeof Cel, value: Cel.Value): Json {
  try {
    return cel.toJson(value) as Json;
  } catch (error) {
    if (error instanceof cel.CelError) throw new MutationError(error.message);
    throw error;
  }
}

function mergeObject(cel: typeof Cel, value: Cel.Value, merge: Merge): ApiObject {
  const wrong = cel.wrongTypeName(value);
  if (wrong !== undefined) throw new MutationError(`type mismatch: ${wrong}`);
  try {
    return merge(jsonOf(cel, value) as UnknownRecord);
  } catch (error) {
    if (error instanceof MutationError) throw error;
    throw new MutationError(`error applying patch: ${(error as Error).message}`);
  }
}

/** The name of an operation, which may be missing. */
function nameOf(operation: Json): string {
  const { op } = (isRecord(operation) ? operation : {}) as { readonly [member: string]: Json };
  return typeof op === 'string' ? op : '';
}

const KNOWN_OPERATIONS = new Set(['add', 'copy', 'move', 'remove', 'replace', 'test']);

/**
 * Applies operations, as one patch, because the size of copies is limited for each patch. If a `test` operation finds
 * another value than its own, none of them is applied.
 */
function patchObject(operations: Json, object: ApiObject): ApiObject {
  if (!Array.isArray(operations) || operations.length > JSON_PATCH_OPERATIONS)
    throw new MutationError(`JSON Patch: there may be at most ${JSON_PATCH_OPERATIONS} operations`);
  const unknown = operations.find(operation => !KNOWN_OPERATIONS.has(nameOf(operation)));
  const known = unknown === undefined ? operations : operations.slice(0, operations.indexOf(unknown));
  const patch = known.map(operation => ({ path: '', ...(operation as { [member: string]: Json }) }));
  let patched: Json;
  try {
    patched = applyJsonPatch(object as unknown as Json, patch, JSON_PATCH_OPERATIONS);
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    if (error instanceof UnappliedPatch && error.isFailedTest) return object;
    throw new MutationError(`JSON Patch: ${error instanceof UnappliedPatch ? error.why : error.message}`);
  }
  if (unknown !== undefined) throw new MutationError(`JSON Patch: Unexpected kind: ${nameOf(unknown)}`);
  return patched as unknown as ApiObject;
}

/** Compiles the expressions of a policy. An expression that does not compile is an error when it is evaluated. */
export function compileMutations(cel: typeof Cel, { spec }: MutatingAdmissionPolicy): CompiledMutations {
  const scope = { params: !isAbsent(spec.paramKind), authorizer: true };
  const variables = compileVariables(cel, spec.variables ?? [], scope);
  const types = new Map(variables.map(({ name, type }) => [name, type]));
  const asks = variables.some(({ expression }) => expression.asksAuthorizer);
  const env = admissionEnvironment(cel, { ...scope, variables: types, mutation: true });
  return {
    conditions: matchConditionsOf(admissionEnvironment(cel, scope), spec),
    variables,
    mutations: (spec.mutations ?? []).map((mutation): CompiledMutation => {
      const isMerge = mutation.patchType === 'ApplyConfiguration';
      const text = mutation[isMerge ? 'applyConfiguration' : 'jsonPatch']?.expression ?? '';
      return {
        expression: compileExpression(env, text, asks),
        apply: (value, object, merge) =>
          isMerge ? mergeObject(cel, value, merge) : patchObject(jsonOf(cel, value), object),
      };
    }),
  };
}
