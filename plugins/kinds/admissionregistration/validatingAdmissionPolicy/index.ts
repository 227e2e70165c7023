import type { MutatingAdmissionPolicy } from '../../../../kinds/admissionregistration/v1alpha1.js';
import type { ValidatingAdmissionPolicy } from '../../../../kinds/admissionregistration/v1.js';
import { builtInKind } from '../../../../core/api/resource.js';
import type { Column, Strategy } from '../../../../core/api/strategy.js';
import { isAbsent } from '../../../../core/model/record.js';
import { loadEngine } from '../../../../core/schema/custom/engine.js';
import { validatePolicy, validatePolicyStatus } from './validation.js';
import { setIfAbsent } from '../../shared/values/defaults.js';
import { ExpressionChecks, expressionsIn } from '../../shared/admission/expressions.js';
import { setMatchDefaults } from '../../shared/admission/admissionRules.js';
import { AGE, type Cell, column, countColumn, NAME } from '../../shared/columns.js';
import { WRITABLE_METADATA } from '../../shared/metadata.js';

/** Fields common to both kinds of policy. */
type Policy = ValidatingAdmissionPolicy | MutatingAdmissionPolicy;

const paramKindCell: Cell<Policy> = policy => {
  const kind = policy.spec.paramKind;
  return isAbsent(kind) ? '<unset>' : `${kind.apiVersion ?? ''}/${kind.kind ?? ''}`;
};

/** The common strategy of both kinds of policy; `content` is the column with the number of parts of the policy. */
export const policyStrategy = <T extends Policy>(content: Column<T>): Partial<Strategy<T>> => ({
  // Its expressions are compiled.
  weight: 16,
  hasGeneration: true,
  allowAnyFinalizer: true,
  allowUnconditionalUpdate: false,
  applyDefaults: object => {
    const spec = object.spec;
    setIfAbsent(spec, 'failurePolicy', 'Fail');
    const match = spec.matchConstraints;
    if (match) setMatchDefaults(match);
  },
  columns: [NAME, content, column('ParamKind', paramKindCell), AGE],
});

/** ValidatingAdmissionPolicy. */
export const validatingAdmissionPolicy = builtInKind<ValidatingAdmissionPolicy>(
  'admissionregistration.orchestrator.io/validatingadmissionpolicies',
  () => ({
    ...policyStrategy(countColumn('Validations', (object: ValidatingAdmissionPolicy) => object.spec.validations)),
    revalidatesName: true,
    hasStatus: true,
    keptInStatus: WRITABLE_METADATA,
    load: loadEngine,
    validateCreate: object => validatePolicy(object, new ExpressionChecks()),
    validateStatus: validatePolicyStatus,
    validateUpdate: (object, old) => validatePolicy(object, new ExpressionChecks(expressionsIn(old.spec))),
  }),
);
