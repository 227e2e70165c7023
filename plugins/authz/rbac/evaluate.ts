import {
  type Authorizer,
  type Decision,
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
} from './bindings.js';
import { GROUP, type PolicyRule } from './policy.js';
import { allowsPath, allowsResource, type CompiledRules } from './rules.js';

/** Where the policy is read from. */
export interface PolicyInformers {
  readonly roles: Informer;
  readonly clusterRoles: Informer;
  readonly roleBindings: Informer;
  readonly clusterRoleBindings: Informer;
}

/** All rules of a user in a namespace, and the roles that bindings name but that do not exist. */
export interface Held {
  readonly rules: readonly PolicyRule[];
  readonly missing: readonly string[];
}

/** The RBAC authorizer, with the rules of a user for reviews and escalation checks. */
export interface Rbac extends Authorizer {
  authorize(user: User, target: Target): Decision;
  rulesFor(user: User, namespace: string): UserRules;
  heldBy(user: User, namespace: string): Held;
}

/** Looks up the bindings of users; they are cached per user object until a binding changes. */
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
type Question = (rules: CompiledRules) => boolean;

function questionOf(target: Target, naming: Host['naming']): Question {
  if (target.is === 'path') return rules => allowsPath(rules, target.verb, target.path);
  const { resource, subresource, verb } = target;
  const asked = {
    verb,
    group: naming.group(target.group),
    resource: subresource ? `${resource}/${subresource}` : resource,
    anyWithSub: subresource ? `*/${subresource}` : '',
    name: nameOf(target),
  };
  return rules => allowsResource(rules, asked);
}

const aggregate = (errors: readonly string[]): string => {
  const distinct = [...new Set(errors)];
  return distinct.length === 1 ? (distinct[0] as string) : `[${distinct.join(', ')}]`;
};

/**
 * Decides by stored roles and bindings (spec, "RBAC rules"): cluster-wide bindings first, then those of the request's
 * namespace. Never denies; its reason for having no opinion names the absent roles of the user's bindings.
 */
export function rbac(informers: PolicyInformers, naming: Host['naming']): Rbac {
  const { roles, clusterRoles, roleBindings, clusterRoleBindings } = informers;
  const cluster = computedFrom(clusterRoleBindings, () => indexBindings(clusterRoleBindings.list(), ''));
  const namespaces = computedFrom(roleBindings, () => new Map<string, BindingIndex>());
  const bound = bindingCache();
  const namespacedRole = compiledRoles(roles);
  const clusterRole = compiledRoles(clusterRoles);
  const group = naming.group(GROUP);

  const inNamespace = (namespace: string): BindingIndex => {
    const known = namespaces();
    let index = known.get(namespace);
    if (!index) known.set(namespace, (index = indexBindings(roleBindings.list(namespace), namespace)));
    return index;
  };
  const roleOf = ({ ref, namespace }: Bound): CompiledRole | string => {
    const isCluster = ref.kind === 'ClusterRole';
    const role = isCluster ? clusterRole('', ref.name) : namespacedRole(namespace, ref.name);
    return role ?? `${isCluster ? 'clusterrole' : 'role'}.${group} ${JSON.stringify(ref.name)} not found`;
  };
  const bindingsOf = (user: User, namespace: string): readonly (readonly Bound[])[] =>
    namespace ? [bound(cluster(), user), bound(inNamespace(namespace), user)] : [bound(cluster(), user)];

  function authorize(user: User, target: Target): Decision {
    const question = questionOf(target, naming);
    const missing: string[] = [];
    for (const list of bindingsOf(user, target.is === 'resource' ? target.namespace : '')) {
      for (const binding of list) {
        const role = roleOf(binding);
        if (typeof role === 'string') missing.push(role);
        else if (question(role.compiled)) return { is: 'allow', reason: `RBAC: allowed by ${binding.description}` };
      }
    }
    return missing.length ? { is: 'noOpinion', reason: `RBAC: ${aggregate(missing)}` } : { is: 'noOpinion' };
  }

  function heldBy(user: User, namespace: string): Held {
    const found = bindingsOf(user, namespace).flat().map(roleOf);
    return {
      rules: found.flatMap(role => (typeof role === 'string' ? [] : role.rules)),
      missing: found.filter(role => typeof role === 'string'),
    };
  }
  function rulesFor(user: User, namespace: string): UserRules {
    const { rules, missing } = heldBy(user, namespace);
    return {
      resourceRules: rules.flatMap(({ verbs, apiGroups = [], resources, resourceNames }) =>
        resources?.length ? { verbs, apiGroups, resources, ...(resourceNames?.length ? { resourceNames } : {}) } : [],
      ),
      pathRules: rules.flatMap(({ verbs, nonResourceURLs }) =>
        nonResourceURLs?.length ? { verbs, nonResourceURLs } : [],
      ),
      ...(missing.length > 0 ? { error: aggregate(missing) } : {}),
    };
  }
  return { dependsOn: 'policy', authorize, heldBy, rulesFor };
}
