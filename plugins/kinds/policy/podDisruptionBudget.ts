import { builtInKind } from '../../../core/api/resource.js';
import type { Column } from '../../../core/api/strategy.js';
import type { ApiObject } from '../../../core/model/object.js';
import { isAbsent, recordAt, recordsAt } from '../../../core/model/record.js';
import { invalid, Verbatim, type Violation } from '../../../core/model/refusal.js';
import { AGE, column, integerColumn, NAME, scalarCell } from '../shared/columns.js';
import { validateConditions } from '../shared/conditions.js';
import { validateAtMostAll, validateIntOrPercent } from '../shared/intOrPercent.js';
import { checkSegmentName } from '../shared/names.js';
import { validateSelector } from '../shared/labels.js';
import { validateNotNegative, validateOneOf } from '../shared/violations.js';

const BOUNDS = ['minAvailable', 'maxUnavailable'];

const POLICIES = ['AlwaysAllow', 'IfHealthyBudget'];

/** Violations of a PodDisruptionBudget. */
function validateBudget(object: ApiObject): Violation[] {
  const spec = recordAt(object, 'spec') ?? {};
  const both = BOUNDS.every(member => !isAbsent(spec[member]));
  return [
    ...(both
      ? [
          invalid(
            'spec',
            new Verbatim('policy.PodDisruptionBudgetSpec{}'),
            'minAvailable and maxUnavailable cannot be both set',
          ),
        ]
      : []),
    ...BOUNDS.flatMap(member => [
      ...validateIntOrPercent(spec, member, `spec.${member}`),
      ...validateAtMostAll(spec, member, `spec.${member}`),
    ]),
    ...validateSelector(recordAt(spec, 'selector'), 'spec.selector'),
    ...(isAbsent(spec.unhealthyPodEvictionPolicy)
      ? []
      : validateOneOf(spec, 'unhealthyPodEvictionPolicy', 'spec.unhealthyPodEvictionPolicy', POLICIES)),
  ];
}

/** Violations of the status of a PodDisruptionBudget. */
function validateBudgetStatus(object: ApiObject): Violation[] {
  const status = recordAt(object, 'status');
  return [
    ...validateConditions(recordsAt(status, 'conditions'), 'status.conditions'),
    ...['disruptionsAllowed', 'currentHealthy', 'desiredHealthy', 'expectedPods'].flatMap(member =>
      validateNotNegative(status, member, `status.${member}`),
    ),
  ];
}

const COLUMNS: readonly Column[] = [
  NAME,
  column('Min Available', scalarCell('spec.minAvailable', 'N/A')),
  column('Max Unavailable', scalarCell('spec.maxUnavailable', 'N/A')),
  integerColumn('Allowed Disruptions', 'status.disruptionsAllowed'),
  AGE,
];

/** PodDisruptionBudget. */
export const podDisruptionBudget = builtInKind('policy/poddisruptionbudgets', () => ({
  checkName: checkSegmentName,
  hasGeneration: true,
  hasStatus: true,
  allowAnyFinalizer: true,
  allowUnconditionalUpdate: false,
  validateCreate: validateBudget,
  validateUpdate: validateBudget,
  validateStatus: validateBudgetStatus,
  prepareCreate: object => {
    object.status = { disruptionsAllowed: 0, currentHealthy: 0, desiredHealthy: 0, expectedPods: 0 };
  },
  columns: COLUMNS,
}));
