import type { Strategy } from '../../../core/api/strategy.js';
import type { KindTable } from '../strategies.js';
import { budgetStatusViolations } from '../validation/statuses.js';

const podDisruptionBudget = (): Partial<Strategy> => ({
  hasGeneration: true,
  hasStatus: true,
  unconditionalUpdate: false,
  validateStatus: budgetStatusViolations,
  prepareCreate: object => {
    object.status = { disruptionsAllowed: 0, currentHealthy: 0, desiredHealthy: 0, expectedPods: 0 };
  },
});

/** Kinds of the policy group. */
export const policyKinds: KindTable = { 'policy/poddisruptionbudgets': podDisruptionBudget };
