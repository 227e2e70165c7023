import { builtInKind } from '../../../core/api/resource.js';
import type { ApiObject } from '../../../core/model/object.js';
import { recordAt, recordsAt } from '../../../core/model/record.js';
import { invalid, required, type Violation } from '../../../core/model/refusal.js';
import { roleStrategy, validateRules } from './role.js';
import { isMalformedSelector, validateSelector } from '../shared/labels.js';

/** Checks that there are selectors of the aggregated roles and that they are valid. */
function validateAggregation(object: ApiObject): Violation[] {
  const aggregation = recordAt(object, 'aggregationRule');
  if (!aggregation) return [];
  const field = 'aggregationRule.clusterRoleSelectors';
  const selectors = recordsAt(aggregation, 'clusterRoleSelectors');
  if (selectors.length === 0)
    return [required(field, 'at least one clusterRoleSelector required if aggregationRule is non-nil')];
  return selectors.flatMap((selector, i) => [
    ...validateSelector(selector, `${field}[${i}]`),
    ...(isMalformedSelector(selector) ? [invalid(`${field}[${i}]`, null, 'invalid label selector.')] : []),
  ]);
}

/** ClusterRole. It can aggregate the rules of other cluster roles. */
export const clusterRole = builtInKind('rbac.authorization.orchestrator.io/clusterroles', () =>
  roleStrategy(object => [...validateRules(object, false), ...validateAggregation(object)]),
);
