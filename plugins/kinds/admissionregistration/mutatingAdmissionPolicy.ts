import type {
  MatchResources,
  MutatingAdmissionPolicy,
  Mutation,
} from '../../../kinds/admissionregistration/v1alpha1.js';
import type { Type } from '../../../core/cel/index.js';
import { builtInKind } from '../../../core/api/resource.js';
import { invalid, notSupported, required, type Violation } from '../../../core/model/refusal.js';
import { engine, loadEngine } from '../../../core/schema/custom/engine.js';
import type { ExpressionScope } from '../../../core/schema/expressions/environment.js';
import { validateFailurePolicy } from '../shared/admission/admissionRules.js';
import { countColumn } from '../shared/columns.js';
import { ExpressionChecks, expressionsIn, validateMatchConditions } from '../shared/admission/expressions.js';
import { validateEach, validateOneOf } from '../shared/violations.js';
import { policyStrategy } from './validatingAdmissionPolicy/index.js';
import { validateConstraints, validateParamKind, validateVariables } from './validatingAdmissionPolicy/validation.js';

/** The member of a mutation that each patch type has, and the type of its expression. */
const PATCHES: ReadonlyMap<string, readonly [member: Exclude<keyof Mutation, 'patchType'>, type: () => Type]> = new Map(
  [
    ['ApplyConfiguration', ['applyConfiguration', () => engine().cel.OBJECT_TYPE]],
    ['JSONPatch', ['jsonPatch', () => engine().cel.listType(engine().cel.JSON_PATCH_TYPE)]],
  ],
);

function validateMutation(
  mutation: Mutation,
  field: string,
  scope: ExpressionScope,
  checks: ExpressionChecks,
): Violation[] {
  const patchType = mutation.patchType;
  const patch = PATCHES.get(patchType);
  if (patchType === '') return [required(`${field}.patchType`)];
  if (!patch) return [notSupported(`${field}.patchType`, patchType, [...PATCHES.keys()])];
  const [member, type] = patch;
  const others = [...PATCHES.values()].filter(([other]) => other !== member && mutation[other]);
  const found = others.map(([other]) =>
    invalid(`${field}.${other}`, `{${other}}`, `must not be specified when patchType is ${patchType}`),
  );
  const content = mutation[member];
  if (!content) return [...found, required(`${field}.${member}`, `must be specified when patchType is ${patchType}`)];
  const expression = content.expression ?? '';
  const at = `${field}.${member}.expression`;
  return expression.trim() === ''
    ? [...found, required(at)]
    : [...found, ...checks.validate(expression, [type()], at, scope)];
}

const OPERATIONS = ['*', 'CONNECT', 'CREATE', 'UPDATE'];

/**
 * Violations of the operations in the rules of a policy or binding: a deletion has no object that could be changed.
 * `field` is the field that contains the rules.
 */
export const operationViolations = (match: MatchResources | undefined, field: string): Violation[] =>
  (match?.resourceRules ?? []).flatMap(rule =>
    (rule.operations ?? [])
      .filter(operation => operation === 'DELETE')
      .map(operation => notSupported(`${field}.resourceRules.operations`, operation, OPERATIONS)),
  );

/** Violations of a MutatingAdmissionPolicy. */
function validatePolicy(object: MutatingAdmissionPolicy, checks: ExpressionChecks): Violation[] {
  const spec = object.spec;
  const paramKind = spec.paramKind;
  const scope = { params: paramKind !== undefined, authorizer: true };
  const { violations, types } = validateVariables(spec, scope, checks);
  // As in upstream, mutations have `variables` even where the policy has none.
  const inner = { ...scope, variables: types ?? new Map(), mutation: true };
  return [
    ...validateFailurePolicy(spec, 'spec'),
    ...(paramKind ? validateParamKind(paramKind) : []),
    ...validateConstraints(spec),
    ...operationViolations(spec.matchConstraints, 'spec.matchConstraints'),
    ...validateMatchConditions(spec, 'spec.matchConditions', scope, checks),
    ...violations,
    ...((spec.mutations ?? []).length === 0
      ? [required('spec.mutations', 'mutations must contain at least one item')]
      : validateEach(spec, 'mutations', 'spec.mutations', (mutation, field) =>
          validateMutation(mutation, field, inner, checks),
        )),
    ...((spec.reinvocationPolicy ?? '') === ''
      ? [required('spec.reinvocationPolicy')]
      : validateOneOf(spec, 'reinvocationPolicy', 'spec.reinvocationPolicy', ['IfNeeded', 'Never'])),
  ];
}

/** MutatingAdmissionPolicy. */
export const mutatingAdmissionPolicy = builtInKind<MutatingAdmissionPolicy>(
  'admissionregistration.orchestrator.io/mutatingadmissionpolicies',
  () => ({
    ...policyStrategy(countColumn('Mutations', (object: MutatingAdmissionPolicy) => object.spec.mutations)),
    load: loadEngine,
    validateCreate: object => validatePolicy(object, new ExpressionChecks()),
    validateUpdate: (object, old) => validatePolicy(object, new ExpressionChecks(expressionsIn(old.spec))),
  }),
);
