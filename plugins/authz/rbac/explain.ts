import {
  type ApiObject,
  type Explanation,
  type Host,
  nameOf,
  type Target,
  type User,
} from '../../../core/api/index.js';
import { COMPARED_RULES } from '../../../core/limits.js';
import { type Candidate, nearestRules, type Part } from '../nearest.js';
import { GROUP, type PolicyRule, type Subject } from './policy.js';
import { allowsPath, compileRules } from './rules.js';

/** A binding of the user, with the rules of its role. */
export interface BoundRules {
  readonly description: string;
  readonly rules: readonly PolicyRule[];
  /** Whether the binding applies only outside of the namespace of the request. */
  readonly isElsewhere: boolean;
}

const includes = (list: readonly string[] | undefined, ...words: readonly string[]): boolean =>
  list?.some(word => word === '*' || words.includes(word)) ?? false;

/** The parts of a request that a rule does not have. */
function missingParts(rule: PolicyRule, target: Target, naming: Host['naming']): readonly Part[] {
  const verb: readonly Part[] = includes(rule.verbs, target.verb) ? [] : ['verb'];
  if (target.is === 'path') {
    const isOfPath = allowsPath(compileRules([{ ...rule, verbs: ['*'] }]), target.verb, target.path);
    return isOfPath ? verb : [...verb, 'path'];
  }
  const { resource, subresource, group } = target;
  const full = subresource ? [`${resource}/${subresource}`, `*/${subresource}`] : [resource];
  const hasName = !rule.resourceNames?.length || rule.resourceNames.includes(nameOf(target));
  return [
    ...verb,
    ...(includes(rule.apiGroups, naming.group(group)) ? [] : (['apiGroup'] as const)),
    ...(includes(rule.resources, ...full) ? [] : (['resource'] as const)),
    ...(hasName ? [] : (['name'] as const)),
  ];
}

/** The rules of bindings, each with the parts of the request that it does not match. */
function* candidates(bound: Iterable<BoundRules>, target: Target, naming: Host['naming']): Generator<Candidate> {
  let left = COMPARED_RULES;
  for (const { description, rules, isElsewhere } of bound) {
    for (const rule of rules) {
      if (left-- <= 0) return;
      const isOfPaths = (rule.nonResourceURLs?.length ?? 0) > 0;
      if (isOfPaths !== (target.is === 'path')) continue;
      const parts = missingParts(rule, target, naming);
      const missing: readonly Part[] = isElsewhere ? [...parts, 'namespace'] : parts;
      yield { source: description, missing, rule: () => JSON.stringify(rule) };
    }
  }
}

/** The subject of a binding for a user. Groups are left out: a binding for one allows others as well. */
function subjectOf(name: string, group: string): Subject {
  const [system, kind, namespace = '', account = '', ...more] = name.split(':');
  if (system === 'system' && kind === 'serviceaccount' && namespace && account && more.length === 0)
    return { kind: 'ServiceAccount', name: account, namespace };
  return { kind: 'User', apiGroup: group, name };
}

/** A name of an object made of words that may have any characters. */
const nameFrom = (...words: readonly string[]): string =>
  words
    .filter(word => word !== '')
    .map(word => word.replace(/[^A-Za-z0-9.-]/g, '-'))
    .join('-')
    .slice(0, 200);

/**
 * The smallest role that allows a request, and its binding to the user. Empty for senders without credentials: a grant
 * to them is a grant to everybody.
 */
function smallestGrant(user: User, target: Target, naming: Host['naming']): readonly ApiObject[] {
  if (user.groups.includes('system:unauthenticated')) return [];
  const group = naming.group(GROUP);
  const apiVersion = naming.apiVersion(`${GROUP}/v1`);
  const namespace = target.is === 'resource' ? target.namespace : '';
  const prefix = namespace ? '' : 'Cluster';
  const inNamespace = namespace ? { namespace } : {};
  let rule: PolicyRule;
  let name: string;
  if (target.is === 'path') {
    rule = { nonResourceURLs: [target.path], verbs: [target.verb] };
    name = nameFrom('allow', target.verb, 'path', target.path.slice(1));
  } else {
    const of = nameOf(target);
    const resource = target.subresource ? `${target.resource}/${target.subresource}` : target.resource;
    rule = {
      apiGroups: [naming.group(target.group)],
      resources: [resource],
      ...(of ? { resourceNames: [of] } : {}),
      verbs: [target.verb],
    };
    name = nameFrom('allow', target.verb, resource, naming.group(target.group), of);
  }
  const roleRef = { apiGroup: group, kind: `${prefix}Role`, name };
  return [
    { apiVersion, kind: roleRef.kind, metadata: { name, ...inNamespace }, rules: [rule] },
    {
      apiVersion,
      kind: `${prefix}RoleBinding`,
      metadata: { name: nameFrom(name, user.name), ...inNamespace },
      roleRef,
      subjects: [subjectOf(user.name, group)],
    },
  ];
}

/** Why a request is allowed or not: the rules that allow it, or the nearest ones and the objects to create. */
export function explainRules(
  user: User,
  target: Target,
  bound: Iterable<BoundRules>,
  naming: Host['naming'],
): Explanation {
  const rules = nearestRules(candidates(bound, target, naming));
  if (rules[0]?.missing.length === 0) return { rules };
  const grant = smallestGrant(user, target, naming);
  return { rules, ...(grant.length > 0 && { grant }) };
}
