import type { ApiObject, Host } from '../../../core/api/index.js';
import { GROUP, type PolicyRule, type Subject } from '../rbac/policy.js';
import { aggregateAll } from './aggregate.js';
import { CLUSTER_BINDINGS, NAMESPACED_BINDINGS, NAMESPACED_ROLES } from './bindings.js';
import { COMPONENT_ROLES } from './componentRoles.js';
import { CONTROLLER_ROLES } from './controllerRoles.js';
import { GATED_ROLES, withGatedRules } from './gatedRoles.js';
import type { BindingSpec, RoleSpec } from './spec.js';
import { USER_ROLES } from './userRoles.js';

type Naming = Host['naming'];

/** The annotation that, if set to `false`, excludes a default object from reconciliation. */
export const autoupdateAnnotation = (naming: Naming): string => naming.label(`${GROUP}/autoupdate`);

// In the upstream naming, the domain of this label is the API group and not the label domain.
const aggregateTo = (naming: Naming, role: string): string => `${naming.group(GROUP)}/aggregate-to-${role}`;

function makeMetadata(spec: { name: string; namespace?: string }, naming: Naming, labels: Record<string, string> = {}) {
  return {
    name: naming.component(spec.name),
    ...(spec.namespace ? { namespace: naming.component(spec.namespace) } : {}),
    labels: { [naming.label('orchestrator.io/bootstrapping')]: 'rbac-defaults', ...labels },
    annotations: { [autoupdateAnnotation(naming)]: 'true' },
  };
}

function translateRule(rule: PolicyRule, naming: Naming): PolicyRule {
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
    metadata: makeMetadata(spec, naming, labels),
    ...(spec.aggregates ? { aggregationRule: { clusterRoleSelectors: [selector] } } : {}),
    rules: spec.rules.map(rule => translateRule(rule, naming)),
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
    metadata: makeMetadata(spec, naming),
    roleRef: {
      apiGroup: naming.group(GROUP),
      kind: spec.namespace ? 'Role' : 'ClusterRole',
      name: naming.component(spec.role),
    },
    ...(spec.subjects.length ? { subjects: spec.subjects.map(subject => subjectObject(subject, naming)) } : {}),
  };
}

/**
 * The default roles and bindings as stored objects, in the naming of the server (spec, "Default roles and bindings"):
 * cluster roles (with aggregated rules), cluster role bindings, then roles and role bindings of the system namespaces.
 * Roles and bindings of features are included if their gates are on.
 */
export function bootstrapObjects({ naming, isEnabled }: Pick<Host, 'naming' | 'isEnabled'>): ApiObject[] {
  const gated = GATED_ROLES.filter(({ gates }) => gates.every(isEnabled));
  const roles = [...USER_ROLES, ...COMPONENT_ROLES, ...CONTROLLER_ROLES, ...gated].map(spec =>
    roleObject({ ...spec, rules: withGatedRules(spec.name, spec.rules, isEnabled) }, naming),
  );
  const filled = new Map(aggregateAll(roles).map(role => [role.metadata.name, role]));
  const bindings = [
    ...CLUSTER_BINDINGS,
    ...gated.map(({ name, subject }): BindingSpec => ({ name, role: name, subjects: [subject] })),
  ];
  return [
    ...roles.map(role => filled.get(role.metadata.name) ?? role),
    ...bindings.map(spec => bindingObject(spec, naming)),
    ...NAMESPACED_ROLES.map(spec => roleObject(spec, naming)),
    ...NAMESPACED_BINDINGS.map(spec => bindingObject(spec, naming)),
  ];
}
