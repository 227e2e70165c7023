import type { ClusterRole } from '../../../kinds/rbac/v1.js';
import { builtInKind } from '../../../core/api/resource.js';
import { invalid, required, type Violation } from '../../../core/model/refusal.js';
import { roleStrategy, validateRules } from './role.js';
import { isMalformedSelector, validateSelector } from '../shared/labels.js';

/** Checks that there are selectors of the aggregated roles and that they are valid. */
function validateAggregation(object: ClusterRole): Violation[] {
  const aggregation = object.aggregationRule;
  if (!aggregation) return [];
  const field = 'aggregationRule.clusterRoleSelectors';
  const selectors = aggregation.clusterRoleSelectors ?? [];
  if (selectors.length === 0)
    return [required(field, 'at least one clusterRoleSelector required if aggregationRule is non-nil')];
  return selectors.flatMap((selector, i) => [
    ...validateSelector(selector, `${field}[${i}]`),
    ...(isMalformedSelector(selector) ? [invalid(`${field}[${i}]`, null, 'invalid label selector.')] : []),
  ]);
}

/** ClusterRole. It can aggregate the rules of other cluster roles. */
export const clusterRole = builtInKind<ClusterRole>('rbac.authorization.orchestrator.io/clusterroles', () =>
  roleStrategy(object => [...validateRules(object, false), ...validateAggregation(object)]),
);
