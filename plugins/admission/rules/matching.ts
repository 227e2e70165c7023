import type { LabelSelector } from '../../../kinds/meta/v1.js';
import type {
  MatchResources,
  NamedRuleWithOperations,
  RuleWithOperations,
} from '../../../kinds/admissionregistration/v1.js';
import type { Change, ServedKind } from '../../../core/api/admission.js';
import type { Informer } from '../../../core/api/host.js';
import { requirementsOf } from '../../../core/model/selectors/labelSelector.js';
import type { ApiObject } from '../../../core/model/object.js';
import { notFound, type Refusal } from '../../../core/model/refusal.js';
import { type Matcher, matcherOf } from '../../../core/model/selectors/selector.js';

/** A rule of a webhook or policy, compiled. */
export interface Rule {
  readonly operations: readonly string[];
  readonly groups: readonly string[];
  readonly versions: readonly string[];
  /** Resource and subresource, each a name or `*`; '' is the resource itself. */
  readonly resources: readonly (readonly [resource: string, subresource: string])[];
  readonly scope: string;
  /** Names of objects; empty: all. */
  readonly names: readonly string[];
}

/** A resource in a version. */
type Resource = ServedKind['resource'];

const splitResource = (text: string): readonly [string, string] => {
  const slash = text.indexOf('/');
  return slash < 0 ? [text, ''] : [text.slice(0, slash), text.slice(slash + 1)];
};

/** Compiles the rules of a webhook or policy. */
export const rulesOf = (rules: readonly (RuleWithOperations | NamedRuleWithOperations)[]): readonly Rule[] =>
  rules.map(rule => ({
    operations: rule.operations ?? [],
    groups: rule.apiGroups ?? [],
    versions: rule.apiVersions ?? [],
    resources: (rule.resources ?? []).map(splitResource),
    scope: rule.scope ?? '',
    names: ('resourceNames' in rule && rule.resourceNames) || [],
  }));

const includes = (list: readonly string[], value: string): boolean => list.includes('*') || list.includes(value);

/** Namespaces themselves are cluster-scoped, although their requests name a namespace. */
const isNamespaced = ({ group, resource }: Resource, { target }: Change): boolean =>
  target.namespace !== '' && !(group === '' && resource === 'namespaces');

const matchesScope = (scope: string, resource: Resource, change: Change): boolean =>
  scope === 'Namespaced'
    ? isNamespaced(resource, change)
    : scope === 'Cluster'
      ? !isNamespaced(resource, change)
      : true;

/** Whether a rule selects a change of this resource. */
function matchesRule(rule: Rule, resource: Resource, change: Change): boolean {
  const { subresource } = change.view;
  return (
    includes(rule.operations, change.operation) &&
    includes(rule.groups, resource.group) &&
    includes(rule.versions, resource.version) &&
    rule.resources.some(
      ([name, sub]) => (name === '*' || name === resource.resource) && (sub === '*' || sub === subresource),
    ) &&
    matchesScope(rule.scope, resource, change) &&
    (rule.names.length === 0 || rule.names.includes(change.view.name))
  );
}

/** The version in which rules select a change: that of the request, or else an equivalent one. */
export function matchRules(rules: readonly Rule[], matchPolicy: string, change: Change): ServedKind | undefined {
  const { view } = change;
  if (rules.some(rule => matchesRule(rule, view.resource, change))) return view;
  if (matchPolicy !== 'Equivalent') return undefined;
  const others = view.equivalents();
  for (const rule of rules) {
    const match = others.find(({ resource }) => matchesRule(rule, resource, change));
    if (match) return match;
  }
  return undefined;
}

type Labels = { readonly [key: string]: string } | undefined;

/** A label selector, compiled; undefined selects everything. */
export type LabelMatcher = Matcher | undefined;

/** Compiles a label selector. */
export function selectorOf(selector: LabelSelector | undefined): LabelMatcher {
  const requirements = requirementsOf(selector);
  return requirements.length === 0 ? undefined : matcherOf(requirements);
}

const selects = (matcher: Matcher, labels: Labels): boolean =>
  matcher(key => (labels && Object.hasOwn(labels, key) ? labels[key] : undefined));

/** Whether the new or the old object has labels that are selected. */
export function matchesObject(
  matcher: LabelMatcher,
  object: ApiObject | undefined,
  old: ApiObject | undefined,
): boolean {
  if (!matcher) return true;
  return [object, old].some(one => one?.metadata && selects(matcher, one.metadata.labels));
}

const NAMESPACES = { group: '', resource: 'namespaces' };

/**
 * Whether the namespace of a change is selected. Cluster-scoped resources always are; a create or update of a namespace
 * counts with its new labels. Returns the 404 of a namespace that does not exist: it counts only where everything else
 * matches.
 */
export function matchesNamespace(
  matcher: LabelMatcher,
  change: Change,
  object: ApiObject | undefined,
  namespaces: Informer,
): boolean | Refusal {
  const { target, operation } = change;
  const isNamespace = target.group === '' && target.resource === 'namespaces';
  if (!matcher || (target.namespace === '' && !isNamespace)) return true;
  if (isNamespace && target.subresource === '' && (operation === 'CREATE' || operation === 'UPDATE'))
    return selects(matcher, object?.metadata.labels);
  const found = namespaces.get('', target.namespace);
  return found ? selects(matcher, found.metadata.labels) : notFound(NAMESPACES, target.namespace);
}

/** The match constraints of a policy or binding, compiled. */
export interface Constraints {
  readonly rules: readonly Rule[];
  readonly excluded: readonly Rule[];
  readonly matchPolicy: string;
  readonly namespaceSelector: LabelMatcher;
  readonly objectSelector: LabelMatcher;
}

/** Compiles `matchConstraints` or `matchResources`. */
export const constraintsOf = (match: MatchResources | undefined): Constraints => ({
  rules: rulesOf(match?.resourceRules ?? []),
  excluded: rulesOf(match?.excludeResourceRules ?? []),
  matchPolicy: match?.matchPolicy || 'Equivalent',
  namespaceSelector: selectorOf(match?.namespaceSelector),
  objectSelector: selectorOf(match?.objectSelector),
});

/** The objects that selectors look at. */
export interface Selected {
  readonly object: ApiObject | undefined;
  readonly old: ApiObject | undefined;
}

/**
 * The version in which constraints select a change; undefined where they do not. Without rules they select every
 * resource. Throws the 404 of a namespace that does not exist.
 */
export function matchConstraints(
  constraints: Constraints,
  change: Change,
  { object, old }: Selected,
  namespaces: Informer,
): ServedKind | undefined {
  const { rules, excluded, matchPolicy, namespaceSelector, objectSelector } = constraints;
  const isSelected = matchesNamespace(namespaceSelector, change, object, namespaces);
  if (isSelected === false || !matchesObject(objectSelector, object, old)) return undefined;
  if (excluded.length > 0 && matchRules(excluded, matchPolicy, change)) return undefined;
  const matched = rules.length === 0 ? change.view : matchRules(rules, matchPolicy, change);
  if (matched && isSelected !== true) throw isSelected;
  return matched;
}

const POLICIES = new Set([
  'validatingadmissionpolicies',
  'validatingadmissionpolicybindings',
  'mutatingadmissionpolicies',
  'mutatingadmissionpolicybindings',
]);

const WEBHOOK_CONFIGURATIONS = new Set(['validatingwebhookconfigurations', 'mutatingwebhookconfigurations']);

/** Whether a change is one of a policy or its binding, to which policies do not apply. */
export const isPolicy = ({ target }: Change): boolean =>
  target.group === 'admissionregistration.orchestrator.io' && POLICIES.has(target.resource);

/** Whether webhooks are not asked about a change: one of a policy, its binding, or the configuration of webhooks. */
export const isExemptFromWebhooks = (change: Change): boolean =>
  isPolicy(change) ||
  (change.target.group === 'admissionregistration.orchestrator.io' &&
    WEBHOOK_CONFIGURATIONS.has(change.target.resource));
