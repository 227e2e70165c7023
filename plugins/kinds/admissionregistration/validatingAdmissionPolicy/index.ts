import { builtInKind } from '../../../../core/api/resource.js';
import type { Column, Strategy } from '../../../../core/api/strategy.js';
import { isAbsent, recordAt, specOf, stringAt, valueAt } from '../../../../core/model/record.js';
import { loadEngine } from '../../../../core/schema/custom/engine.js';
import { validatePolicy } from './validation.js';
import { setIfAbsent } from '../../shared/defaults.js';
import { ExpressionChecks, expressionsIn } from '../../shared/expressions.js';
import { setMatchDefaults } from '../../shared/admissionRules.js';
import { AGE, type Cell, column, countColumn, NAME } from '../../shared/columns.js';
import { WRITABLE_METADATA } from '../../shared/metadata.js';

const paramKindCell: Cell = policy => {
  const kind = valueAt(policy, 'spec', 'paramKind');
  return isAbsent(kind) ? '<unset>' : `${stringAt(kind, 'apiVersion')}/${stringAt(kind, 'kind')}`;
};

/** The common strategy of both kinds of policy; `content` is the column with the number of parts of the policy. */
export const policyStrategy = (content: Column): Partial<Strategy> => ({
  // Its expressions are compiled.
  weight: 16,
  hasGeneration: true,
  allowAnyFinalizer: true,
  allowUnconditionalUpdate: false,
  applyDefaults: object => {
    const spec = specOf(object);
    setIfAbsent(spec, 'failurePolicy', 'Fail');
    const match = recordAt(spec, 'matchConstraints');
    if (match) setMatchDefaults(match);
  },
  columns: [NAME, content, column('ParamKind', paramKindCell), AGE],
});

/** ValidatingAdmissionPolicy. */
export const validatingAdmissionPolicy = builtInKind(
  'admissionregistration.orchestrator.io/validatingadmissionpolicies',
  () => ({
    ...policyStrategy(countColumn('Validations', 'spec.validations')),
    hasStatus: true,
    keptInStatus: WRITABLE_METADATA,
    load: loadEngine,
    validateCreate: object => validatePolicy(object, new ExpressionChecks()),
    validateUpdate: (object, old) => validatePolicy(object, new ExpressionChecks(expressionsIn(old.spec))),
  }),
);
