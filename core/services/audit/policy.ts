import { parseYamlDocument } from '../../model/text/yamlDocument.js';
import type { AuditLevel } from '../../api/observe/audit.js';
import { ConfigError } from '../../api/point.js';
import { YAML_ALIASES } from '../../limits.js';
import { isRecord, stringsAt, type UnknownRecord } from '../../model/record.js';
import type { Target } from '../../model/target.js';
import type { User } from '../../model/user.js';

/** The level of a rule. With `None`, nothing is recorded. */
export type PolicyLevel = AuditLevel | 'None';

/**
 * The rules about which requests are recorded: the first one that matches decides. Without a match nothing is recorded.
 */
export interface AuditPolicy {
  readonly rules: readonly AuditRule[];
  /** Whether any rule records bodies. */
  readonly hasBodies: boolean;
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

function stagesOf(from: UnknownRecord, path: string): string[] {
  const stages = stringsAt(from, 'omitStages');
  const unknown = stages.find(stage => !STAGES.includes(stage));
  if (unknown !== undefined)
    throw new ConfigError(`${path}.omitStages`, `unknown stage ${JSON.stringify(unknown)}; use ${STAGES.join(', ')}`);
  return stages;
}

/** Whether a policy or a rule omits managedFields; undefined if it does not say. */
function parseOmission({ omitManagedFields: omits }: UnknownRecord, path: string): boolean | undefined {
  if (omits === undefined || omits === null || typeof omits === 'boolean') return omits ?? undefined;
  throw new ConfigError(`${path}.omitManagedFields`, 'must be true or false');
}

function parseRule(rule: unknown, path: string, omitted: readonly string[], omitsManagedFields: boolean): AuditRule {
  if (!isRecord(rule)) throw new ConfigError(path, 'must be a rule with a level');
  const level = LEVELS.find(one => one === rule['level']);
  if (!level) throw new ConfigError(`${path}.level`, 'must be None, Metadata, Request or RequestResponse');
  const resources = Array.isArray(rule['resources']) ? rule['resources'].filter(isRecord) : [];
  const paths = stringsAt(rule, 'nonResourceURLs');
  if (paths.length > 0 && (resources.length > 0 || stringsAt(rule, 'namespaces').length > 0))
    throw new ConfigError(
      `${path}.nonResourceURLs`,
      'rules cannot apply to both regular resources and non-resource URLs',
    );
  return {
    level,
    omitsManagedFields: parseOmission(rule, path) ?? omitsManagedFields,
    users: stringsAt(rule, 'users'),
    groups: stringsAt(rule, 'userGroups'),
    verbs: stringsAt(rule, 'verbs'),
    namespaces: stringsAt(rule, 'namespaces'),
    resources: resources.map(one => ({
      group: typeof one['group'] === 'string' ? one['group'] : '',
      resources: stringsAt(one, 'resources'),
      names: stringsAt(one, 'resourceNames'),
    })),
    paths,
    omitted: new Set([...omitted, ...stagesOf(rule, path)]),
  };
}

/**
 * Parses an audit policy in YAML (`audit.…/v1`, kind Policy). `group` is the API group in the naming of the server.
 * Throws ConfigError, which names the field.
 */
export function parsePolicy(yaml: string, file: string, group: string): AuditPolicy {
  const document = parseYamlDocument(yaml);
  const [error] = document.errors;
  if (error) throw new ConfigError(file, error.message.split('\n')[0] ?? 'is not YAML');
  const policy: unknown = document.toJS({ maxAliasCount: YAML_ALIASES });
  if (!isRecord(policy) || policy['apiVersion'] !== `${group}/v1` || policy['kind'] !== 'Policy')
    throw new ConfigError(file, `must be an object of apiVersion ${group}/v1 and kind Policy`);
  const { rules } = policy;
  if (!Array.isArray(rules) || rules.length === 0) throw new ConfigError(file, 'loaded illegal policy with 0 rules');
  const omitted = stagesOf(policy, file);
  const omits = parseOmission(policy, file) ?? false;
  const parsed = rules.map((rule, i) => parseRule(rule, `${file}: rules[${i}]`, omitted, omits));
  return { rules: parsed, hasBodies: parsed.some(({ level }) => hasRequestBody(level)) };
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
