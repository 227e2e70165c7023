import {
  type Authorizer,
  type Decision,
  type Explanation,
  type Host,
  type Informer,
  nameOf,
  type Target,
  type User,
  type UserRules,
} from '../../../core/api/index.js';
import {
  type BindingIndex,
  type Bound,
  boundTo,
  type CompiledRole,
  compiledRoles,
  computedFrom,
  indexBindings,
  isFor,
  NamespaceBindings,
  roleKeyOf,
} from './bindings.js';
import { type BoundRules, explainRules } from './explain.js';
import { GROUP, type PolicyRule, type RoleRef, STORED } from './policy.js';
import { allowsPath, allowsResource, type CompiledRules } from './rules.js';

/** The informers of the policy objects. */
export interface PolicyInformers {
  readonly roles: Informer;
  readonly clusterRoles: Informer;
  readonly roleBindings: Informer;
  readonly clusterRoleBindings: Informer;
}

/** All rules of a user in a namespace, and the roles of bindings that do not exist. */
export interface PolicyRules {
  readonly rules: readonly PolicyRule[];
  readonly missing: readonly string[];
}

/** The RBAC authorizer, with the rules of a user for reviews and escalation checks. */
export interface Rbac extends Authorizer {
  authorize(user: User, target: Target): Decision;
  rulesFor(user: User, namespace: string): UserRules;
  explain(user: User, target: Target): Explanation;
  policyRulesOf(user: User, namespace: string): PolicyRules;
  /** The rules of the role that a binding in this namespace names; undefined if there is none. */
  rulesOfRole(ref: RoleRef, namespace: string): readonly PolicyRule[] | undefined;
}

/** Looks up the bindings of users. They are cached by user object until a binding changes. */
function bindingCache(): (index: BindingIndex, user: User) => readonly Bound[] {
  const byIndex = new WeakMap<BindingIndex, WeakMap<User, readonly Bound[]>>();
  return (index, user) => {
    let byUser = byIndex.get(index);
    if (!byUser) byIndex.set(index, (byUser = new WeakMap()));
    let found = byUser.get(user);
    if (!found) byUser.set(user, (found = boundTo(index, user)));
    return found;
  };
}

/** Whether rules allow a request. */
type RuleMatcher = (rules: CompiledRules) => boolean;

function matcherOf(target: Target, naming: Host['naming']): RuleMatcher {
  if (target.is === 'path') return rules => allowsPath(rules, target.verb, target.path);
  const { resource, subresource, verb } = target;
  const request = {
    verb,
    group: naming.group(target.group),
    resource: subresource ? `${resource}/${subresource}` : resource,
    anySubresource: subresource ? `*/${subresource}` : '',
    name: nameOf(target),
  };
  return rules => allowsResource(rules, request);
}

/** Errors as one text: each once, and in brackets if there are several. */
export const joinErrors = (errors: readonly string[]): string => {
  const distinct = [...new Set(errors)];
  return distinct.length === 1 ? (distinct[0] as string) : `[${distinct.join(', ')}]`;
};

/**
 * Decides by stored roles and bindings (spec, "RBAC rules"): cluster-wide bindings first, then those of the namespace
 * of the request. It never denies. If it has no opinion, its reason names the roles of the user's bindings that do not
 * exist.
 */
export function rbac(informers: PolicyInformers, naming: Host['naming']): Rbac {
  const { roles, clusterRoles, roleBindings, clusterRoleBindings } = informers;
  const cluster = computedFrom(clusterRoleBindings, () => indexBindings(clusterRoleBindings.list(), ''));
  const namespaces = new NamespaceBindings(roleBindings);
  const bound = bindingCache();
  const namespacedRole = compiledRoles(roles);
  const clusterRole = compiledRoles(clusterRoles);
  const group = naming.group(GROUP);

  const find = ({ kind }: RoleRef, key: string): CompiledRole | undefined =>
    kind === 'ClusterRole' ? clusterRole(key) : namespacedRole(key);
  const roleOf = ({ ref, roleKey }: Bound): CompiledRole | string =>
    find(ref, roleKey) ?? `${ref.kind.toLowerCase()}.${group} ${JSON.stringify(ref.name)} not found`;
  const bindingsOf = (user: User, namespace: string): readonly (readonly Bound[])[] =>
    namespace ? [bound(cluster(), user), bound(namespaces.in(namespace), user)] : [bound(cluster(), user)];

  function authorize(user: User, target: Target): Decision {
    const question = matcherOf(target, naming);
    const missing: string[] = [];
    for (const list of bindingsOf(user, target.is === 'resource' ? target.namespace : '')) {
      for (const binding of list) {
        const role = roleOf(binding);
        if (typeof role === 'string') missing.push(role);
        else if (question(role.compiled)) return { is: 'allow', reason: `RBAC: allowed by ${binding.description}` };
      }
    }
    return missing.length ? { is: 'noOpinion', reason: `RBAC: ${joinErrors(missing)}` } : { is: 'noOpinion' };
  }

  function policyRulesOf(user: User, namespace: string): PolicyRules {
    const found = bindingsOf(user, namespace).flat().map(roleOf);
    return {
      rules: found.flatMap(role => (typeof role === 'string' ? [] : role.rules)),
      missing: found.filter(role => typeof role === 'string'),
    };
  }
  function rulesFor(user: User, namespace: string): UserRules {
    const { rules, missing } = policyRulesOf(user, namespace);
    return {
      resourceRules: rules.flatMap(({ verbs, apiGroups = [], resources, resourceNames }) =>
        resources?.length ? { verbs, apiGroups, resources, ...(resourceNames?.length ? { resourceNames } : {}) } : [],
      ),
      pathRules: rules.flatMap(({ verbs, nonResourceURLs }) =>
        nonResourceURLs?.length ? { verbs, nonResourceURLs } : [],
      ),
      ...(missing.length > 0 ? { error: joinErrors(missing) } : {}),
    };
  }
  /** The bindings of a user that count for a request, and then those of other namespaces. */
  function* boundRules(user: User, target: Target): Iterable<BoundRules> {
    const own = target.is === 'resource' ? target.namespace : '';
    for (const { description, ref, roleKey } of bindingsOf(user, own).flat())
      yield { description, rules: find(ref, roleKey)?.rules ?? [], isElsewhere: false };
    if (target.is === 'path') return;
    // Without building the index of each namespace, which nothing else may ever need.
    for (const binding of roleBindings.list()) {
      const namespace = binding.metadata.namespace ?? '';
      if (namespace === own || !isFor(binding, user)) continue;
      for (const { description, ref, roleKey } of boundTo(indexBindings([binding], namespace), user))
        yield { description, rules: find(ref, roleKey)?.rules ?? [], isElsewhere: true };
    }
  }
  const explain = (user: User, target: Target): Explanation =>
    explainRules(user, target, boundRules(user, target), naming);
  const rulesOfRole = (ref: RoleRef, namespace: string): readonly PolicyRule[] | undefined =>
    find(ref, roleKeyOf(ref, namespace))?.rules;
  return { dependsOn: Object.values(STORED), authorize, policyRulesOf, rulesOfRole, rulesFor, explain };
}
