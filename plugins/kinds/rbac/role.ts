import type { Role, PolicyRule } from '../../../kinds/rbac/v1.js';
import { builtInKind } from '../../../core/api/resource.js';
import type { Strategy } from '../../../core/api/strategy.js';
import { goStrings } from '../../../core/model/text/goText.js';
import { invalid, required, type Violation } from '../../../core/model/refusal.js';
import { checkWholeSegmentName } from '../shared/values/names.js';

function validateRule(rule: PolicyRule, namespaced: boolean, field: string): Violation[] {
  const isSet = (member: keyof PolicyRule): boolean => (rule[member] ?? []).length > 0;
  const found: Violation[] = [];
  if (!isSet('verbs')) found.push(required(`${field}.verbs`, 'verbs must contain at least one value'));
  if (isSet('nonResourceURLs')) {
    const report = (why: string) =>
      found.push(invalid(`${field}.nonResourceURLs`, goStrings(rule.nonResourceURLs ?? []), why));
    if (namespaced) report('namespaced rules cannot apply to non-resource URLs');
    if ((['apiGroups', 'resources', 'resourceNames'] as const).some(isSet))
      report('rules cannot apply to both regular resources and non-resource URLs');
    return found;
  }
  if (!isSet('apiGroups'))
    found.push(required(`${field}.apiGroups`, 'resource rules must supply at least one api group'));
  if (!isSet('resources'))
    found.push(required(`${field}.resources`, 'resource rules must supply at least one resource'));
  return found;
}

/** Violations of the rules of a Role (`namespaced`) or a ClusterRole. */
export const validateRules = (object: Role, namespaced: boolean): Violation[] =>
  (object.rules ?? []).flatMap((rule, i) => validateRule(rule, namespaced, `rules[${i}]`));

/** The common strategy of Roles and ClusterRoles. */
export const roleStrategy = (violations: (object: Role) => Violation[]): Partial<Strategy<Role>> => ({
  checkName: checkWholeSegmentName,
  revalidatesName: 'first',
  allowCreateOnUpdate: true,
  validateCreate: violations,
  validateUpdate: object => twice(violations(object)),
});

/** Upstream validates updated objects of this group twice, and reports each cause twice. */
export const twice = (violations: readonly Violation[]): Violation[] => [...violations, ...violations];

/** Role. */
export const role = builtInKind<Role>('rbac.authorization.orchestrator.io/roles', () =>
  roleStrategy(object => validateRules(object, true)),
);
