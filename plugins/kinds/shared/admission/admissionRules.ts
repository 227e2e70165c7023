import type { MutatingAdmissionPolicySpec } from '../../../../kinds/admissionregistration/v1alpha1.js';
import type {
  MatchResources,
  ValidatingAdmissionPolicySpec,
  ValidatingWebhook,
  NamedRuleWithOperations,
  RuleWithOperations,
} from '../../../../kinds/admissionregistration/v1.js';
import { pathSegment } from '../../../../core/model/names.js';
import { isAbsent } from '../../../../core/model/record.js';
import { goStrings } from '../../../../core/model/text/goText.js';
import { duplicate, invalid, required, Verbatim, type Violation } from '../../../../core/model/refusal.js';
import { setIfAbsent } from '../values/defaults.js';
import { validateSelector } from '../labels.js';
import { findRepeated } from '../values/repeated.js';
import { toViolations, validateEach, validateOneOf } from '../violations.js';

/** Rules of webhooks and policies match resources of all scopes by default. */
export function setRuleDefaults(rules: readonly NamedRuleWithOperations[] | readonly RuleWithOperations[]): void {
  for (const rule of rules) setIfAbsent(rule, 'scope', '*');
}

/** Defaults of the match constraints of a policy. */
export function setMatchDefaults(match: MatchResources): void {
  setIfAbsent(match, 'matchPolicy', 'Equivalent');
  match.namespaceSelector ??= {};
  match.objectSelector ??= {};
  setRuleDefaults([...(match.resourceRules ?? []), ...(match.excludeResourceRules ?? [])]);
}

const OPERATIONS = ['*', 'CONNECT', 'CREATE', 'DELETE', 'UPDATE'];

/** Checks that a list is not empty, and that `*` stands alone in it; `what` names its items. */
function validateList(
  rule: RuleWithOperations,
  member: 'operations' | 'apiGroups' | 'apiVersions',
  field: string,
  what: string,
): Violation[] {
  const list = rule[member] ?? [];
  if (list.length === 0) return [required(field)];
  if (list.length === 1 || !list.includes('*')) return [];
  const shown =
    member === 'operations'
      ? new Verbatim(goStrings(list).text.replace('string', 'admissionregistration.OperationType'))
      : goStrings(list);
  return [invalid(field, shown, `if '*' is present, must not specify other ${what}`)];
}

function validateOperations(rule: RuleWithOperations, field: string): Violation[] {
  return [
    ...validateList(rule, 'operations', field, 'operations'),
    ...validateEach(rule, 'operations', field, (operation, at) =>
      validateOneOf({ operation }, 'operation', at, OPERATIONS),
    ),
  ];
}

/** Checks that no resource of a rule is covered by another one with a wildcard. */
function validateRuleResources(rule: RuleWithOperations, field: string): Violation[] {
  const resources = rule.resources ?? [];
  if (resources.length === 0) return [required(field)];
  const [allSubresources, ofAllResources] = [new Set<string>(), new Set<string>()];
  let isLastPlain = false;
  const found = resources.flatMap((text, i) => {
    const at = `${field}[${i}]`;
    if (text === '') return [required(at)];
    const slash = text.indexOf('/');
    if (slash < 0) {
      isLastPlain = text !== '*';
      return [];
    }
    const [resource, subresource] = [text.slice(0, slash), text.slice(slash + 1)];
    const covering = [
      ...(allSubresources.has(resource) ? [`${resource}/*`] : []),
      ...(ofAllResources.has(subresource) ? [`*/${subresource}`] : []),
    ];
    if (subresource === '*') allSubresources.add(resource);
    if (resource === '*') ofAllResources.add(subresource);
    return covering.map(other => invalid(at, text, `if '${other}' is present, must not specify ${text}`));
  });
  const report = (why: string): void => void found.push(invalid(field, goStrings(resources), why));
  if (resources.length > 1 && resources.includes('*/*'))
    report("if '*/*' is present, must not specify other resources");
  // As in upstream, only the last resource without a subresource counts.
  if (resources.includes('*') && isLastPlain)
    report("if '*' is present, must not specify other resources without subresources");
  return found;
}

/** Violations of a rule, which selects operations on resources. */
export const validateRule = (rule: RuleWithOperations, field: string): Violation[] => [
  ...validateOperations(rule, `${field}.operations`),
  ...validateList(rule, 'apiGroups', `${field}.apiGroups`, 'API groups'),
  ...validateList(rule, 'apiVersions', `${field}.apiVersions`, 'API versions'),
  ...validateEach(rule, 'apiVersions', `${field}.apiVersions`, (version, at) => (version === '' ? [required(at)] : [])),
  ...validateRuleResources(rule, `${field}.resources`),
  ...(isAbsent(rule.scope) ? [] : validateOneOf(rule, 'scope', `${field}.scope`, ['*', 'Cluster', 'Namespaced'])),
];

function validateNamedRule(rule: NamedRuleWithOperations, field: string): Violation[] {
  const names = rule.resourceNames ?? [];
  const repeated = findRepeated(names);
  return [
    ...names.flatMap((name, i) => [
      ...toViolations(`${field}.resourceNames[${i}]`, name, pathSegment(name)),
      ...(repeated[i] ? [duplicate(`${field}.resourceNames[${i}]`, name)] : []),
    ]),
    ...validateRule(rule, field),
  ];
}

/** Checks the policy for equivalent versions, which both webhooks and policies have. */
export const validateMatchPolicy = (owner: MatchResources | ValidatingWebhook, field: string): Violation[] =>
  isAbsent(owner.matchPolicy)
    ? [required(`${field}.matchPolicy`)]
    : validateOneOf(owner, 'matchPolicy', `${field}.matchPolicy`, ['Equivalent', 'Exact']);

/** Checks the failure policy of a webhook or policy. */
export const validateFailurePolicy = (
  owner: ValidatingAdmissionPolicySpec | MutatingAdmissionPolicySpec,
  field: string,
): Violation[] =>
  isAbsent(owner.failurePolicy)
    ? [required(`${field}.failurePolicy`)]
    : validateOneOf(owner, 'failurePolicy', `${field}.failurePolicy`, ['Fail', 'Ignore']);

/** Checks the selectors of namespaces and objects, which both webhooks and policies have. */
export const validateMatchSelectors = (owner: MatchResources | ValidatingWebhook, field: string): Violation[] => [
  ...validateSelector(owner.namespaceSelector, `${field}.namespaceSelector`),
  ...validateSelector(owner.objectSelector, `${field}.objectSelector`),
];

/** Violations in the match constraints of a policy or binding. */
export const validateMatchResources = (match: MatchResources, field: string): Violation[] => [
  ...validateMatchPolicy(match, field),
  ...validateMatchSelectors(match, field),
  ...validateEach(match, 'resourceRules', `${field}.resourceRules`, validateNamedRule),
  ...validateEach(match, 'excludeResourceRules', `${field}.excludeResourceRules`, validateNamedRule),
];
