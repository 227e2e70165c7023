import type { PodDisruptionBudget } from '../../../kinds/policy/v1.js';
import { builtInKind } from '../../../core/api/resource.js';
import type { Column } from '../../../core/api/strategy.js';
import { isAbsent } from '../../../core/model/record.js';
import { invalid, Verbatim, type Violation } from '../../../core/model/refusal.js';
import { scalarText, AGE, column, integerColumn, NAME } from '../shared/columns.js';
import { validateConditions } from '../shared/conditions.js';
import { validateAtMostAll, validateIntOrPercent } from '../shared/values/intOrPercent.js';
import { checkSegmentName } from '../shared/values/names.js';
import { validateSelector } from '../shared/labels.js';
import { validateNotNegative, validateOneOf } from '../shared/violations.js';

const BOUNDS = ['minAvailable', 'maxUnavailable'] as const;

const POLICIES = ['AlwaysAllow', 'IfHealthyBudget'];

/** Violations of a PodDisruptionBudget. */
function validateBudget(object: PodDisruptionBudget): Violation[] {
  const spec = object.spec;
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
      ...validateIntOrPercent(spec[member], `spec.${member}`),
      ...validateAtMostAll(spec[member], `spec.${member}`),
    ]),
    ...validateSelector(spec.selector, 'spec.selector'),
    ...(isAbsent(spec.unhealthyPodEvictionPolicy)
      ? []
      : validateOneOf(spec, 'unhealthyPodEvictionPolicy', 'spec.unhealthyPodEvictionPolicy', POLICIES)),
  ];
}

/** Violations of the status of a PodDisruptionBudget. */
function validateBudgetStatus(object: PodDisruptionBudget): Violation[] {
  const status = object.status;
  return [
    ...validateConditions(status?.conditions ?? [], 'status.conditions'),
    ...(['disruptionsAllowed', 'currentHealthy', 'desiredHealthy', 'expectedPods'] as const).flatMap(member =>
      validateNotNegative(status, member, `status.${member}`),
    ),
  ];
}

const COLUMNS: readonly Column<PodDisruptionBudget>[] = [
  NAME,
  column('Min Available', object => scalarText(object.spec.minAvailable, 'N/A')),
  column('Max Unavailable', object => scalarText(object.spec.maxUnavailable, 'N/A')),
  integerColumn('Allowed Disruptions', object => object.status?.disruptionsAllowed),
  AGE,
];

/** PodDisruptionBudget. */
export const podDisruptionBudget = builtInKind<PodDisruptionBudget>('policy/poddisruptionbudgets', () => ({
  checkName: checkSegmentName,
  validatesMetadataLast: true,
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
