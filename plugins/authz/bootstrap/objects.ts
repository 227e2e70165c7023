import type { ApiObject, Host } from '../../../core/api/index.js';
import { GROUP, type PolicyRule, type Subject } from '../rbac/policy.js';
import { aggregateAll } from './aggregate.js';
import { CLUSTER_BINDINGS, NAMESPACED_BINDINGS, NAMESPACED_ROLES } from './bindings.js';
import { COMPONENT_ROLES } from './component-roles.js';
import { CONTROLLER_ROLES } from './controller-roles.js';
import type { BindingSpec, RoleSpec } from './spec.js';
import { USER_ROLES } from './user-roles.js';

type Naming = Host['naming'];

/** The annotation that, set to `false`, keeps reconciliation away from a default object. */
export const autoupdate = (naming: Naming): string => naming.label(`${GROUP}/autoupdate`);

// This label's domain is the API group, not the label domain, in the upstream naming.
const aggregateTo = (naming: Naming, role: string): string => `${naming.group(GROUP)}/aggregate-to-${role}`;

function metadata(spec: { name: string; namespace?: string }, naming: Naming, labels: Record<string, string> = {}) {
  return {
    name: naming.component(spec.name),
    ...(spec.namespace ? { namespace: naming.component(spec.namespace) } : {}),
    labels: { [naming.label('orchestrator.io/bootstrapping')]: 'rbac-defaults', ...labels },
    annotations: { [autoupdate(naming)]: 'true' },
  };
}

function spoken(rule: PolicyRule, naming: Naming): PolicyRule {
  return {
    verbs: [...rule.verbs],
    ...(rule.apiGroups ? { apiGroups: rule.apiGroups.map(naming.group) } : {}),
    ...(rule.resources ? { resources: [...rule.resources] } : {}),
    ...(rule.resourceNames ? { resourceNames: rule.resourceNames.map(naming.component).sort() } : {}),
    ...(rule.nonResourceURLs ? { nonResourceURLs: [...rule.nonResourceURLs] } : {}),
  };
}

function roleObject(spec: RoleSpec, naming: Naming): ApiObject {
  const labels = spec.aggregateTo ? { [aggregateTo(naming, spec.aggregateTo)]: 'true' } : {};
  const selector = { matchLabels: { [aggregateTo(naming, spec.name)]: 'true' } };
  return {
    apiVersion: naming.apiVersion(`${GROUP}/v1`),
    kind: spec.namespace ? 'Role' : 'ClusterRole',
    metadata: metadata(spec, naming, labels),
    ...(spec.aggregates ? { aggregationRule: { clusterRoleSelectors: [selector] } } : {}),
    rules: spec.rules.map(rule => spoken(rule, naming)),
  };
}

function subjectObject(text: string, naming: Naming): Subject {
  const colon = text.indexOf(':');
  const kind = text.slice(0, colon);
  const name = text.slice(colon + 1);
  if (kind !== 'ServiceAccount') return { apiGroup: naming.group(GROUP), kind, name: naming.component(name) };
  const [namespace = '', account = ''] = name.split('/');
  return { kind, name: naming.component(account), namespace: naming.component(namespace) };
}

function bindingObject(spec: BindingSpec, naming: Naming): ApiObject {
  return {
    apiVersion: naming.apiVersion(`${GROUP}/v1`),
    kind: spec.namespace ? 'RoleBinding' : 'ClusterRoleBinding',
    metadata: metadata(spec, naming),
    roleRef: {
      apiGroup: naming.group(GROUP),
      kind: spec.namespace ? 'Role' : 'ClusterRole',
      name: naming.component(spec.role),
    },
    ...(spec.subjects.length ? { subjects: spec.subjects.map(subject => subjectObject(subject, naming)) } : {}),
  };
}

/**
 * The default roles and bindings as stored objects, in the naming the server speaks: cluster roles (with aggregated
 * rules filled in), cluster role bindings, then roles and role bindings of the system namespaces (spec, "Default
 * roles and bindings").
 */
export function bootstrapObjects(naming: Naming): ApiObject[] {
  const roles = [...USER_ROLES, ...COMPONENT_ROLES, ...CONTROLLER_ROLES].map(spec => roleObject(spec, naming));
  const filled = new Map(aggregateAll(roles).map(role => [role.metadata.name, role]));
  return [
    ...roles.map(role => filled.get(role.metadata.name) ?? role),
    ...CLUSTER_BINDINGS.map(spec => bindingObject(spec, naming)),
    ...NAMESPACED_ROLES.map(spec => roleObject(spec, naming)),
    ...NAMESPACED_BINDINGS.map(spec => bindingObject(spec, naming)),
  ];
}
