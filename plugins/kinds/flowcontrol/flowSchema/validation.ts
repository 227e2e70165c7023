import type {
  GroupSubject,
  ServiceAccountSubject,
  FlowSchemaSpec,
  FlowDistinguisherMethod,
  PolicyRulesWithSubjects,
  ResourcePolicyRule,
  NonResourcePolicyRule,
  Subject,
} from '../../../../kinds/flowcontrol/v1.js';
import { dns1123Label, dns1123Subdomain } from '../../../../core/model/names.js';
import { isAbsent, isSemanticallyEqual } from '../../../../core/model/record.js';
import { goStrings } from '../../../../core/model/text/goText.js';
import {
  forbiddenField,
  invalid,
  notSupported,
  required,
  Verbatim,
  type Violation,
} from '../../../../core/model/refusal.js';
import { toViolations, validateEach, validateRequired } from '../../shared/violations.js';

const EVERYTHING = '*';

const VERBS = ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'proxy', 'update', 'watch'];

/** The member with the subject, by kind of subject. */
const SUBJECTS: ReadonlyMap<string, 'serviceAccount' | 'user' | 'group'> = new Map([
  ['ServiceAccount', 'serviceAccount'],
  ['User', 'user'],
  ['Group', 'group'],
]);

/** Checks the service account, user or group that a subject consists of. */
function validateSubjectValue(value: GroupSubject | ServiceAccountSubject, field: string): Violation[] {
  if (!('namespace' in value)) return validateRequired(value, 'name', `${field}.name`);
  const { name, namespace } = value;
  return [
    ...(name === EVERYTHING ? [] : validateRequired(value, 'name', `${field}.name`, dns1123Subdomain)),
    ...(namespace === ''
      ? [required(`${field}.namespace`, 'must specify namespace for service account')]
      : toViolations(`${field}.namespace`, namespace, dns1123Label(namespace))),
  ];
}

/** Checks that a subject has the member for its kind and no other one. */
function validateSubject(subject: Subject, field: string): Violation[] {
  const kind = subject.kind;
  const own = SUBJECTS.get(kind);
  if (own === undefined) return [notSupported(`${field}.kind`, kind, [...SUBJECTS.keys()].sort())];
  const value = subject[own];
  const others = [...SUBJECTS].filter(([, member]) => member !== own && !isAbsent(subject[member]));
  return [
    ...(value
      ? validateSubjectValue(value, `${field}.${own}`)
      : [required(`${field}.${own}`, `${own} is required when subject kind is '${kind}'`)]),
    ...others.map(([other, member]) =>
      forbiddenField(`${field}.${member}`, `${member} is forbidden when subject kind is not '${other}'`),
    ),
  ];
}

/**
 * Checks a list that is not empty, and in which `*` stands alone; `what` names the items in messages, `check` validates
 * a list without `*`.
 */
function validatePatterns<Member extends string>(
  rule: { readonly [M in Member]?: string[] | null },
  member: Member,
  field: string,
  { missing, what, check }: { missing: string; what: string; check?: (list: string[], field: string) => Violation[] },
): Violation[] {
  const list: string[] = rule[member] ?? [];
  const where = `${field}.${member}`;
  if (list.length === 0) return missing === '' ? [] : [required(where, missing)];
  if (!list.includes(EVERYTHING)) return check?.(list, where) ?? [];
  if (list.length === 1) return [];
  return [invalid(where, goStrings(list), `if '${EVERYTHING}' is present, must not specify other ${what}`)];
}

const validateVerbs = (rule: NonResourcePolicyRule | ResourcePolicyRule, field: string): Violation[] =>
  validatePatterns(rule, 'verbs', field, {
    missing: 'verbs must contain at least one value',
    what: 'verbs',
    check: (verbs, where) =>
      verbs.every(verb => VERBS.includes(verb)) ? [] : [notSupported(where, goStrings(verbs), VERBS)],
  });

/** Messages about a path, whose last segment may be `*`. */
function pathComplaint(path: string): string | undefined {
  if (path === '') return 'must not be empty';
  if (!path.startsWith('/')) return 'must start with slash';
  if (path.includes(' ')) return 'must not contain white-space';
  if (path.includes('//')) return 'must not contain double slash';
  const star = path.indexOf(EVERYTHING);
  return star >= 0 && (star !== path.length - 1 || !path.endsWith('/*'))
    ? 'wildcard can only do suffix matching'
    : undefined;
}

const validateNonResourceRule = (rule: NonResourcePolicyRule, field: string): Violation[] => [
  ...validateVerbs(rule, field),
  ...validatePatterns(rule, 'nonResourceURLs', field, {
    missing: 'nonResourceURLs must contain at least one value',
    what: 'non-resource URLs',
    check: (_paths, where) =>
      validateEach(rule, 'nonResourceURLs', where, (path, at) => {
        const why = pathComplaint(path);
        return why ? [invalid(at, path, why)] : [];
      }),
  }),
];

const validateResourceRule = (rule: ResourcePolicyRule, field: string): Violation[] => [
  ...validateVerbs(rule, field),
  ...validatePatterns(rule, 'apiGroups', field, {
    missing: 'resource rules must supply at least one api group',
    what: 'api groups',
  }),
  ...validatePatterns(rule, 'resources', field, {
    missing: 'resource rules must supply at least one resource',
    what: 'resources',
  }),
  ...validatePatterns(rule, 'namespaces', field, {
    missing: rule.clusterScope ? '' : 'resource rules that are not cluster scoped must supply at least one namespace',
    what: 'namespaces',
    check: (_names, where) =>
      validateEach(rule, 'namespaces', where, (name, at) =>
        toViolations(
          at,
          name,
          dns1123Label(name).map(why => `each member of this list must be '*' or a DNS-1123 label; ${why}`),
        ),
      ),
  }),
];

const validatePolicyRule = (rule: PolicyRulesWithSubjects, field: string): Violation[] => [
  ...((rule.subjects ?? []).length === 0
    ? [required(`${field}.subjects`, 'subjects must contain at least one value')]
    : validateEach(rule, 'subjects', `${field}.subjects`, validateSubject)),
  ...((rule.resourceRules ?? []).length === 0 && (rule.nonResourceRules ?? []).length === 0
    ? [required(field, 'at least one of resourceRules and nonResourceRules has to be non-empty')]
    : []),
  ...validateEach(rule, 'resourceRules', `${field}.resourceRules`, validateResourceRule),
  ...validateEach(rule, 'nonResourceRules', `${field}.nonResourceRules`, validateNonResourceRule),
];

const HIGHEST_PRECEDENCE = 10000;

function validatePrecedence(value: number, name: string): Violation[] {
  const field = 'spec.matchingPrecedence';
  const found: Violation[] = [];
  if (value <= 0) found.push(invalid(field, value, 'must be a positive value'));
  if (value > HIGHEST_PRECEDENCE) found.push(invalid(field, value, `must not be greater than ${HIGHEST_PRECEDENCE}`));
  if (value === 1 && name !== 'exempt')
    found.push(invalid(field, value, "only the schema named 'exempt' may have matchingPrecedence 1"));
  return found;
}

const METHODS = ['ByNamespace', 'ByUser'];

function validateDistinguisher(method: FlowDistinguisherMethod | undefined): Violation[] {
  const type = method?.type ?? '';
  if (!method || METHODS.includes(type)) return [];
  const shown = new Verbatim(`flowcontrol.FlowDistinguisherMethod{Type:${JSON.stringify(type)}}`);
  return [notSupported('spec.distinguisherMethod.type', shown, METHODS)];
}

const ALL_REQUESTS = {
  resourceRules: [{ verbs: ['*'], apiGroups: ['*'], resources: ['*'], clusterScope: true, namespaces: ['*'] }],
  nonResourceRules: [{ verbs: ['*'], nonResourceURLs: ['*'] }],
};

const groups = (...names: string[]): object[] => names.map(name => ({ kind: 'Group', group: { name } }));

/** The specs of the schemas that every server has, which cannot be changed. */
const MANDATORY: ReadonlyMap<string, object> = new Map([
  [
    'exempt',
    {
      priorityLevelConfiguration: { name: 'exempt' },
      matchingPrecedence: 1,
      rules: [{ subjects: groups('system:masters'), ...ALL_REQUESTS }],
    },
  ],
  [
    'catch-all',
    {
      priorityLevelConfiguration: { name: 'catch-all' },
      matchingPrecedence: HIGHEST_PRECEDENCE,
      distinguisherMethod: { type: 'ByUser' },
      rules: [{ subjects: groups('system:unauthenticated', 'system:authenticated'), ...ALL_REQUESTS }],
    },
  ],
]);

function validateMandatory(spec: FlowSchemaSpec, name: string): Violation[] {
  const fixed = MANDATORY.get(name);
  if (!fixed || isSemanticallyEqual(spec, fixed)) return [];
  return [
    invalid('spec', new Verbatim('flowcontrol.FlowSchemaSpec{}'), `spec of '${name}' must equal the fixed value`),
  ];
}

/** Violations of the spec of a FlowSchema of that name. */
export function validateFlowSchemaSpec(spec: FlowSchemaSpec, name: string): Violation[] {
  const level = spec.priorityLevelConfiguration.name;
  const field = 'spec.priorityLevelConfiguration.name';
  return [
    ...validatePrecedence(Number(spec.matchingPrecedence), name),
    ...validateDistinguisher(spec.distinguisherMethod),
    ...(level === ''
      ? [required(field, 'must reference a priority level')]
      : toViolations(field, level, dns1123Subdomain(level))),
    ...validateEach(spec, 'rules', 'spec.rules', validatePolicyRule),
    ...validateMandatory(spec, name),
  ];
}
