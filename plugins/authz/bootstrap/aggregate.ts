import type { ApiObject } from '../../../core/api/index.js';
import { requirementsOf } from '../../../core/model/selectors/labelSelector.js';
import { matchesLabels } from '../../../core/model/selectors/selector.js';
import type { PolicyRule } from '../rbac/policy.js';

/** `aggregationRule` of a cluster role. */
export interface AggregationRule {
  clusterRoleSelectors?: object[];
}

const rulesOf = (role: ApiObject): readonly PolicyRule[] => (role['rules'] as PolicyRule[] | null | undefined) ?? [];
const nameOf = (role: ApiObject): string => role.metadata.name ?? '';
const byName = (a: ApiObject, b: ApiObject): number => (nameOf(a) < nameOf(b) ? -1 : nameOf(a) > nameOf(b) ? 1 : 0);

/**
 * The rules that an aggregating cluster role must have (spec, "RBAC objects"): those of all other roles that a selector
 * matches, by selector and then by name of the role, without duplicates. Undefined for a role that does not aggregate.
 */
export function aggregatedRules(role: ApiObject, clusterRoles: readonly ApiObject[]): PolicyRule[] | undefined {
  const selectors = (role['aggregationRule'] as AggregationRule | null | undefined)?.clusterRoleSelectors;
  if (!selectors) return undefined;
  const ordered = [...clusterRoles].sort(byName);
  const rules = new Map<string, PolicyRule>();
  for (const selector of selectors.map(requirementsOf)) {
    for (const other of ordered) {
      if (nameOf(other) === nameOf(role) || !matchesLabels(selector, other.metadata.labels)) continue;
      for (const rule of rulesOf(other)) rules.set(ruleKey(rule), rules.get(ruleKey(rule)) ?? rule);
    }
  }
  return [...rules.values()];
}

const ruleKey = ({ verbs, apiGroups, resources, resourceNames, nonResourceURLs }: PolicyRule): string =>
  JSON.stringify([verbs, apiGroups ?? [], resources ?? [], resourceNames ?? [], nonResourceURLs ?? []]);

/** Whether two lists of rules are equal, including their order. */
const sameRules = (a: readonly PolicyRule[], b: readonly PolicyRule[]): boolean =>
  a.length === b.length && a.every((rule, i) => ruleKey(rule) === ruleKey(b[i] as PolicyRule));

/**
 * Sets the rules of aggregating roles, including those that select other aggregating roles, and returns the roles that
 * changed. Roles that select each other are complete after at most as many passes as there are roles, because each pass
 * only adds rules.
 */
export function aggregateAll(clusterRoles: readonly ApiObject[]): ApiObject[] {
  // Sorted once here, so that sorting the selection of each role is cheap.
  const current = new Map([...clusterRoles].sort(byName).map(role => [nameOf(role), role]));
  const changed = new Set<string>();
  for (let pass = 0; pass < clusterRoles.length; pass++) {
    let settled = true;
    for (const role of [...current.values()]) {
      const rules = aggregatedRules(role, [...current.values()]);
      if (!rules || sameRules(rules, rulesOf(role))) continue;
      current.set(nameOf(role), { ...role, rules });
      changed.add(nameOf(role));
      settled = false;
    }
    if (settled) break;
  }
  return [...changed].map(name => current.get(name) as ApiObject);
}
