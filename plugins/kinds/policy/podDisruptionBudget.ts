import { builtInKind } from '../../../core/api/resource.js';
import type { Column } from '../../../core/api/strategy.js';
import type { ApiObject } from '../../../core/model/object.js';
import { recordAt, recordsAt } from '../../../core/model/record.js';
import type { Violation } from '../../../core/model/refusal.js';
import { AGE, column, integerColumn, NAME, scalarCell } from '../shared/columns.js';
import { conditionsViolations } from '../shared/conditions.js';
import { notNegative } from '../shared/violations.js';

/** What is wrong with the status of a PodDisruptionBudget. */
function budgetStatusViolations(object: ApiObject): Violation[] {
  const status = recordAt(object, 'status');
  return [
    ...conditionsViolations(recordsAt(status, 'conditions'), 'status.conditions'),
    ...['disruptionsAllowed', 'currentHealthy', 'desiredHealthy', 'expectedPods'].flatMap(member =>
      notNegative(status, member, `status.${member}`),
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

export const podDisruptionBudget = builtInKind('policy/poddisruptionbudgets', () => ({
  hasGeneration: true,
  hasStatus: true,
  allowUnconditionalUpdate: false,
  validateStatus: budgetStatusViolations,
  prepareCreate: object => {
    object.status = { disruptionsAllowed: 0, currentHealthy: 0, desiredHealthy: 0, expectedPods: 0 };
  },
  columns: COLUMNS,
}));
