import type { Strategy } from '../../../core/api/strategy.js';
import { dns1123Subdomain, pathSegment } from '../../../core/model/names.js';
import type { ApiObject } from '../../../core/model/object.js';
import { invalid, notSupported, required, type Violation } from '../../../core/model/refusal.js';
import type { Naming } from '../../../core/naming.js';
import { segmentName } from '../naming-rules.js';
import { at, fill, list, type Rec, same, strings, text } from '../record.js';
import type { KindTable } from '../strategies.js';
import { complaints, selectorUnreadable, selectorViolations } from '../validation/checks.js';

const GROUP = 'rbac.authorization.orchestrator.io';

function ruleViolations(rule: Rec, namespaced: boolean, field: string): Violation[] {
  const given = (member: string): boolean => strings(rule, member).length > 0;
  const found: Violation[] = [];
  if (!given('verbs')) found.push(required(`${field}.verbs`, 'verbs must contain at least one value'));
  if (given('nonResourceURLs')) {
    const wrong = (why: string) => found.push(invalid(`${field}.nonResourceURLs`, rule.nonResourceURLs, why));
    if (namespaced) wrong('namespaced rules cannot apply to non-resource URLs');
    if (['apiGroups', 'resources', 'resourceNames'].some(given))
      wrong('rules cannot apply to both regular resources and non-resource URLs');
    return found;
  }
  if (!given('apiGroups'))
    found.push(required(`${field}.apiGroups`, 'resource rules must supply at least one api group'));
  if (!given('resources'))
    found.push(required(`${field}.resources`, 'resource rules must supply at least one resource'));
  return found;
}

const rulesViolations = (object: ApiObject, namespaced: boolean): Violation[] =>
  list(object, 'rules').flatMap((rule, i) => ruleViolations(rule, namespaced, `rules[${i}]`));

function aggregationViolations(object: ApiObject): Violation[] {
  const aggregation = at(object, 'aggregationRule');
  if (!aggregation) return [];
  const field = 'aggregationRule.clusterRoleSelectors';
  const selectors = list(aggregation, 'clusterRoleSelectors');
  if (selectors.length === 0)
    return [required(field, 'at least one clusterRoleSelector required if aggregationRule is non-nil')];
  return selectors.flatMap((selector, i) => [
    ...selectorViolations(selector, `${field}[${i}]`),
    ...(selectorUnreadable(selector) ? [invalid(`${field}[${i}]`, null, 'invalid label selector.')] : []),
  ]);
}

const role = (namespaced: boolean) => (): Partial<Strategy> => {
  const violations = (object: ApiObject): Violation[] =>
    namespaced ? rulesViolations(object, true) : [...rulesViolations(object, false), ...aggregationViolations(object)];
  return { checkName: segmentName, createOnUpdate: true, validateCreate: violations, validateUpdate: violations };
};

const SUBJECTS = ['ServiceAccount', 'User', 'Group'];

function subjectViolations(subject: Rec, namespaced: boolean, group: string, field: string): Violation[] {
  const [kind, name, given] = [text(subject, 'kind'), text(subject, 'name'), text(subject, 'apiGroup')];
  const found: Violation[] = name === '' ? [required(`${field}.name`)] : [];
  if (kind === 'ServiceAccount') {
    if (name !== '') found.push(...complaints(`${field}.name`, name, dns1123Subdomain(name)));
    if (given !== '') found.push(notSupported(`${field}.apiGroup`, given, ['']));
    if (!namespaced && text(subject, 'namespace') === '') found.push(required(`${field}.namespace`));
  } else if (!SUBJECTS.includes(kind)) found.push(notSupported(`${field}.kind`, kind, SUBJECTS));
  else if (given !== group) found.push(notSupported(`${field}.apiGroup`, given, [group]));
  return found;
}

function bindingViolations(object: ApiObject, namespaced: boolean, group: string): Violation[] {
  const reference = at(object, 'roleRef');
  const [given, kind, name] = [text(reference, 'apiGroup'), text(reference, 'kind'), text(reference, 'name')];
  const kinds = namespaced ? ['Role', 'ClusterRole'] : ['ClusterRole'];
  return [
    ...(given === group ? [] : [notSupported('roleRef.apiGroup', given, [group])]),
    ...(kinds.includes(kind) ? [] : [notSupported('roleRef.kind', kind, kinds)]),
    ...(name === '' ? [required('roleRef.name')] : complaints('roleRef.name', name, pathSegment(name))),
    ...list(object, 'subjects').flatMap((subject, i) =>
      subjectViolations(subject, namespaced, group, `subjects[${i}]`),
    ),
  ];
}

const binding =
  (namespaced: boolean) =>
  (naming: Naming): Partial<Strategy> => {
    const group = naming.group(GROUP);
    return {
      checkName: segmentName,
      createOnUpdate: true,
      defaults: object => {
        const reference = at(object, 'roleRef');
        if (reference) fill(reference, 'apiGroup', group);
        for (const subject of list(object, 'subjects')) {
          if (subject.kind === 'User' || subject.kind === 'Group') fill(subject, 'apiGroup', group);
        }
      },
      validateCreate: object => bindingViolations(object, namespaced, group),
      validateUpdate: (object, old) => [
        ...bindingViolations(object, namespaced, group),
        ...(same(object.roleRef, old.roleRef) ? [] : [invalid('roleRef', object.roleRef, 'cannot change roleRef')]),
      ],
    };
  };

/** Kinds of role-based access control. */
export const rbacKinds: KindTable = {
  [`${GROUP}/clusterrolebindings`]: binding(false),
  [`${GROUP}/clusterroles`]: role(false),
  [`${GROUP}/rolebindings`]: binding(true),
  [`${GROUP}/roles`]: role(true),
};
