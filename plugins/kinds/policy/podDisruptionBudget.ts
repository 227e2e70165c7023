import { builtInKind } from '../../../core/api/resource.js';
import type { Column } from '../../../core/api/strategy.js';
import type { ApiObject } from '../../../core/model/object.js';
import { recordAt, recordsAt } from '../../../core/model/record.js';
import type { Violation } from '../../../core/model/refusal.js';
import { AGE, column, integerColumn, NAME, scalarCell } from '../shared/columns.js';
import { validateConditions } from '../shared/conditions.js';
import { validateNotNegative } from '../shared/violations.js';

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
  hasGeneration: true,
  hasStatus: true,
  allowAnyFinalizer: true,
  allowUnconditionalUpdate: false,
  validateStatus: validateBudgetStatus,
  prepareCreate: object => {
    object.status = { disruptionsAllowed: 0, currentHealthy: 0, desiredHealthy: 0, expectedPods: 0 };
  },
  columns: COLUMNS,
}));
