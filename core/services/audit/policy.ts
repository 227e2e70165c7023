import { parseYamlDocument } from '../../model/text/yamlDocument.js';
import type { AuditLevel } from '../../api/observe/audit.js';
import { ConfigError } from '../../api/point.js';
import { YAML_ALIASES } from '../../limits.js';
import { dns1123Subdomain } from '../../model/names.js';
import { isRecord } from '../../model/record.js';
import type { Target } from '../../model/target.js';
import type { User } from '../../model/user.js';
import {
  BOOLEAN,
  divideErrors,
  failWith,
  list,
  type Shape,
  STRING,
  type Shaped,
  struct,
} from '../../schema/configFile.js';

/** The level of a rule. With `None`, nothing is recorded. */
export type PolicyLevel = AuditLevel | 'None';

/**
 * The rules about which requests are recorded: the first one that matches decides. Without a match nothing is recorded.
 */
export interface AuditPolicy {
  readonly rules: readonly AuditRule[];
  /** Whether any rule records bodies. */
  readonly hasBodies: boolean;
  /** Fields of the file that are unknown, and ignored. Without a field that is misspelled, a rule matches more. */
  readonly unknown: readonly string[];
}

/**
 * A rule of a policy. Empty lists match everything, but a rule with resources matches no other paths, and a rule with
 * paths matches no resources.
 */
interface AuditRule {
  readonly level: PolicyLevel;
  readonly omitsManagedFields: boolean;
  readonly users: readonly string[];
  readonly groups: readonly string[];
  readonly verbs: readonly string[];
  readonly namespaces: readonly string[];
  readonly resources: readonly GroupResources[];
  readonly paths: readonly string[];
  readonly omitted: ReadonlySet<string>;
}

interface GroupResources {
  /** The group in the naming of the server. */
  readonly group: string;
  readonly resources: readonly string[];
  readonly names: readonly string[];
}

/** The decision of a policy about a request. */
export interface AuditDecision {
  readonly level: PolicyLevel;
  /** Whether the objects in bodies are recorded without their managedFields. */
  readonly omitsManagedFields: boolean;
  readonly omitted: ReadonlySet<string>;
}

const LEVELS: readonly PolicyLevel[] = ['None', 'Metadata', 'Request', 'RequestResponse'];
const NOTHING: AuditDecision = { level: 'None', omitsManagedFields: false, omitted: new Set() };
const STAGES: readonly string[] = ['RequestReceived', 'ResponseStarted', 'ResponseComplete', 'Panic'];

const RULE = struct({
  level: STRING,
  users: list(STRING),
  userGroups: list(STRING),
  verbs: list(STRING),
  namespaces: list(STRING),
  resources: list(struct({ group: STRING, resources: list(STRING), resourceNames: list(STRING) })),
  nonResourceURLs: list(STRING),
  omitStages: list(STRING),
  omitManagedFields: BOOLEAN,
});
type GivenRule = NonNullable<Shaped<typeof RULE>>;

/** Metadata has no meaning here, and may have any members. */
const METADATA: Shape<object> = value => (isRecord(value) ? value : undefined);

const POLICY = struct({
  apiVersion: STRING,
  kind: STRING,
  metadata: METADATA,
  rules: list(RULE),
  omitStages: list(STRING),
  omitManagedFields: BOOLEAN,
});

function checkStages(stages: readonly string[] = [], path: string, errors: string[]): void {
  const unknown = stages.find(stage => !STAGES.includes(stage));
  if (unknown !== undefined) errors.push(`${path}: unknown stage ${JSON.stringify(unknown)}; use ${STAGES.join(', ')}`);
}

/** Adds the reason why a pattern of paths would match none, or others than it seems to. */
function checkPath(pattern: string, path: string, errors: string[]): void {
  if (pattern !== '*' && !pattern.startsWith('/')) errors.push(`${path}: must begin with /, unless it is *`);
  if (pattern.slice(0, -1).includes('*')) errors.push(`${path}: must have * only at its end`);
}

function checkResources({ resources = [] }: GivenRule, path: string, errors: string[]): void {
  for (const [i, { group = '', resources: names = [], resourceNames = [] }] of resources.entries()) {
    const at = `${path}.resources[${i}]`;
    const fault = group === '' ? undefined : dns1123Subdomain(group)[0];
    if (fault !== undefined) errors.push(`${at}.group: must be a group without a version: ${fault}`);
    if (resourceNames.length > 0 && names.length === 0) errors.push(`${at}.resourceNames: needs resources too`);
  }
}

function checkRule(rule: GivenRule, path: string, errors: string[]): void {
  const { level, nonResourceURLs: paths = [], resources = [], namespaces = [] } = rule;
  if (!LEVELS.includes(level as PolicyLevel))
    errors.push(`${path}.level: must be None, Metadata, Request or RequestResponse`);
  checkStages(rule.omitStages, `${path}.omitStages`, errors);
  for (const [i, pattern] of paths.entries()) checkPath(pattern, `${path}.nonResourceURLs[${i}]`, errors);
  checkResources(rule, path, errors);
  if (paths.length > 0 && (resources.length > 0 || namespaces.length > 0))
    errors.push(`${path}.nonResourceURLs: rules cannot apply to both regular resources and non-resource URLs`);
}

/** A rule that has been checked. The other parameters are the values of the policy. */
const ruleOf = (rule: GivenRule, omitted: readonly string[], omitsManagedFields: boolean): AuditRule => ({
  level: rule.level as PolicyLevel,
  omitsManagedFields: rule.omitManagedFields ?? omitsManagedFields,
  users: rule.users ?? [],
  groups: rule.userGroups ?? [],
  verbs: rule.verbs ?? [],
  namespaces: rule.namespaces ?? [],
  resources: (rule.resources ?? []).map(({ group = '', resources = [], resourceNames = [] }) => ({
    group,
    resources,
    names: resourceNames,
  })),
  paths: rule.nonResourceURLs ?? [],
  omitted: new Set([...omitted, ...(rule.omitStages ?? [])]),
});

/**
 * Parses an audit policy in YAML (`audit.…/v1`, kind Policy). `group` is the API group in the naming of the server.
 * Throws ConfigError, which names the field. As in upstream, unknown fields are ignored.
 */
export function parsePolicy(yaml: string, file: string, group: string): AuditPolicy {
  const document = parseYamlDocument(yaml);
  const [error] = document.errors;
  if (error) throw new ConfigError(file, error.message.split('\n')[0] ?? 'is not YAML');
  const written: unknown = document.toJS({ maxAliasCount: YAML_ALIASES });
  if (!isRecord(written) || written['apiVersion'] !== `${group}/v1` || written['kind'] !== 'Policy')
    throw new ConfigError(file, `must be an object of apiVersion ${group}/v1 and kind Policy`);
  const found: string[] = [];
  const { rules = [], omitStages = [], omitManagedFields = false } = POLICY(written, '', found) ?? {};
  const { errors, unknown } = divideErrors(found);
  failWith(file, errors);
  if (rules.length === 0) throw new ConfigError(file, 'loaded illegal policy with 0 rules');
  checkStages(omitStages, 'omitStages', errors);
  for (const [i, rule] of rules.entries()) checkRule(rule, `rules[${i}]`, errors);
  failWith(file, errors);
  const parsed = rules.map(rule => ruleOf(rule, omitStages, omitManagedFields));
  return { rules: parsed, hasBodies: parsed.some(({ level }) => hasRequestBody(level)), unknown };
}

/** Whether events of a level contain the body of the request. */
export const hasRequestBody = (level: PolicyLevel): boolean => level === 'Request' || level === 'RequestResponse';

const matches = (list: readonly string[], value: string): boolean => list.length === 0 || list.includes(value);

const matchesPath = (pattern: string, path: string): boolean =>
  pattern === path || (pattern.endsWith('*') && path.startsWith(pattern.slice(0, -1)));

function matchesResource({ group, resources, names }: GroupResources, target: Target, groupOf: GroupName): boolean {
  if (target.is === 'path' || group !== groupOf(target.group)) return false;
  if (names.length > 0 && !names.includes(target.name)) return false;
  const { resource, subresource } = target;
  const whole = subresource ? `${resource}/${subresource}` : resource;
  const wildcards = subresource ? [`${resource}/*`, `*/${subresource}`] : ['*'];
  return resources.length === 0 || resources.some(one => one === whole || wildcards.includes(one));
}

/** The name of a group in the naming of the server. */
type GroupName = (neutral: string) => string;

function matchesTarget({ namespaces, resources, paths }: AuditRule, target: Target, groupOf: GroupName): boolean {
  if (target.is === 'path') {
    if (namespaces.length > 0 || resources.length > 0) return false;
    return paths.length === 0 || paths.some(pattern => matchesPath(pattern, target.path));
  }
  if (paths.length > 0) return false;
  return (
    matches(namespaces, target.namespace) &&
    (resources.length === 0 || resources.some(one => matchesResource(one, target, groupOf)))
  );
}

/** Decides how much is recorded about a request. `user`: the sender; undefined if it is not known. */
export function decideAudit(
  { rules }: AuditPolicy,
  user: User | undefined,
  target: Target,
  groupOf: GroupName,
): AuditDecision {
  const rule = rules.find(
    one =>
      (one.users.length === 0 || (user !== undefined && one.users.includes(user.name))) &&
      (one.groups.length === 0 || (user?.groups.some(group => one.groups.includes(group)) ?? false)) &&
      matches(one.verbs, target.verb) &&
      matchesTarget(one, target, groupOf),
  );
  return rule ?? NOTHING;
}
