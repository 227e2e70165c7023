import { dns1123Subdomain, dns1123Label, qualifiedName } from '../../../core/model/names.js';
import type { ApiObject } from '../../../core/model/object.js';
import {
  duplicate,
  invalid,
  notSupported,
  required,
  tooLong,
  tooMany,
  type Violation,
} from '../../../core/model/refusal.js';
import { absent, at, entries, list, num, type Rec, same, text } from '../record.js';
import { complaints, notNegative, oneOf, selects, selectorViolations } from './checks.js';
import { scheduleProblem, timeZoneProblems } from './schedule.js';
import { templateViolations } from './pod-spec.js';
import { fixed } from './workload.js';

const COUNTS = [
  'parallelism',
  'completions',
  'activeDeadlineSeconds',
  'backoffLimit',
  'ttlSecondsAfterFinished',
  'backoffLimitPerIndex',
  'maxFailedIndexes',
];
/** Bounds of what a status can tell of a Job's indexes. */
const MOST_PARALLEL = 100_000;
const MOST_INDEXES = 100_000;
const FEW_INDEXES = 10_000;
/**
 * Rules of a policy, conditions of one of its rules, and exit codes of one: what a controller goes through for every
 * pod that ends.
 */
const MOST_RULES = 20;
const MOST_CONDITIONS = 20;
const MOST_CODES = 255;
/** Bytes of a text of indexes. */
const MOST_INDEX_TEXT = 64 * 1024;
const LONGEST_MANAGER = 63;

/** What is wrong with the spec of a Job, which may stand in a CronJob's template. */
function jobSpecViolations(spec: Rec | undefined, field: string): Violation[] {
  const found = COUNTS.flatMap(member => notNegative(spec, member, `${field}.${member}`));
  if (!absent(spec?.completionMode))
    found.push(...oneOf(spec, 'completionMode', `${field}.completionMode`, ['NonIndexed', 'Indexed']));
  found.push(...(text(spec, 'completionMode') === 'Indexed' ? indexedViolations : plainViolations)(spec, field));
  if (!absent(spec?.podReplacementPolicy)) {
    const values = at(spec, 'podFailurePolicy') ? ['Failed'] : ['Failed', 'TerminatingOrFailed'];
    found.push(...oneOf(spec, 'podReplacementPolicy', `${field}.podReplacementPolicy`, values));
  }
  const manager = text(spec, 'managedBy');
  if (!absent(spec?.managedBy)) found.push(...managerViolations(manager, `${field}.managedBy`));
  const failure = at(spec, 'podFailurePolicy');
  if (failure) found.push(...failureViolations(list(failure, 'rules'), spec!, `${field}.podFailurePolicy.rules`));
  const success = at(spec, 'successPolicy');
  if (success) found.push(...successViolations(success, spec!, `${field}.successPolicy`));
  return [
    ...found,
    ...templateViolations(at(spec, 'template'), `${field}.template`),
    ...restartViolations(spec, field),
  ];
}

function restartViolations(spec: Rec | undefined, field: string): Violation[] {
  const where = `${field}.template.spec.restartPolicy`;
  const policy = text(at(spec, 'template', 'spec'), 'restartPolicy');
  if (policy === 'Always') return [required(where, 'valid values: "OnFailure", "Never"')];
  if (at(spec, 'podFailurePolicy') && policy === 'OnFailure')
    return [invalid(where, policy, 'only "Never" is supported when podFailurePolicy is specified')];
  return [];
}

const LATER = 'must be less than or equal to';

function indexedViolations(spec: Rec | undefined, field: string): Violation[] {
  const [completions, parallel, failed] = [
    num(spec, 'completions'),
    num(spec, 'parallelism'),
    num(spec, 'maxFailedIndexes'),
  ];
  const found: Violation[] = [];
  if (completions === undefined) found.push(required(`${field}.completions`, 'when completion mode is Indexed'));
  if (parallel !== undefined && parallel > MOST_PARALLEL)
    found.push(invalid(`${field}.parallelism`, parallel, `${LATER} ${MOST_PARALLEL} when completion mode is Indexed`));
  if (completions !== undefined && failed !== undefined && failed > completions)
    found.push(invalid(`${field}.maxFailedIndexes`, failed, `${LATER} completions`));
  if (failed !== undefined && failed > MOST_INDEXES)
    found.push(invalid(`${field}.maxFailedIndexes`, failed, `${LATER} ${MOST_INDEXES}`));
  const perIndex = !absent(spec?.backoffLimitPerIndex);
  if (failed !== undefined && !perIndex)
    found.push(required(`${field}.backoffLimitPerIndex`, 'when maxFailedIndexes is specified'));
  if (!perIndex || completions === undefined || completions <= MOST_INDEXES) return found;
  const many = `when completions are above ${MOST_INDEXES} and used with backoff limit per index`;
  if (parallel !== undefined && parallel > FEW_INDEXES)
    found.push(invalid(`${field}.parallelism`, parallel, `${LATER} ${FEW_INDEXES} ${many}`));
  if (failed === undefined)
    found.push(required(`${field}.maxFailedIndexes`, 'must be specified when completions is above 100000'));
  else if (failed > FEW_INDEXES)
    found.push(invalid(`${field}.maxFailedIndexes`, failed, `${LATER} ${FEW_INDEXES} ${many}`));
  return found;
}

const plainViolations = (spec: Rec | undefined, field: string): Violation[] =>
  ['backoffLimitPerIndex', 'maxFailedIndexes', 'successPolicy']
    .filter(member => !absent(spec?.[member]))
    .map(member => invalid(`${field}.${member}`, spec?.[member], 'requires indexed completion mode'));

/** `domain/path`. */
function managerViolations(name: string, field: string): Violation[] {
  const [domain = '', ...path] = name.split('/');
  const form = 'must be a domain-prefixed path (such as "acme.io/foo")';
  if (path.join('/') === '') return [invalid(field, name, form)];
  const found = complaints(field, domain, dns1123Subdomain(domain));
  return name.length > LONGEST_MANAGER ? [...found, tooLong(field, LONGEST_MANAGER)] : found;
}

const ACTIONS = ['Count', 'FailIndex', 'FailJob', 'Ignore'];

function failureViolations(rules: readonly Rec[], spec: Rec, field: string): Violation[] {
  const pod = at(spec, 'template', 'spec');
  const containers = new Set(
    [...list(pod, 'containers'), ...list(pod, 'initContainers')].map(one => text(one, 'name')),
  );
  const found = rules.length > MOST_RULES ? [tooMany(field, rules.length, MOST_RULES)] : [];
  return [...found, ...rules.flatMap((rule, i) => failureRule(rule, spec, containers, `${field}[${i}]`))];
}

function failureRule(rule: Rec, spec: Rec, containers: ReadonlySet<string>, field: string): Violation[] {
  const action = text(rule, 'action');
  const found: Violation[] = [];
  if (action === '')
    found.push(required(`${field}.action`, `valid values: [${ACTIONS.map(name => JSON.stringify(name)).join(' ')}]`));
  else found.push(...oneOf(rule, 'action', `${field}.action`, ACTIONS));
  if (action === 'FailIndex' && absent(spec.backoffLimitPerIndex))
    found.push(invalid(`${field}.action`, action, 'requires the backoffLimitPerIndex to be set'));
  const [codes, conditions] = [at(rule, 'onExitCodes'), list(rule, 'onPodConditions')];
  if (codes) found.push(...exitCodes(codes, containers, `${field}.onExitCodes`));
  if (conditions.length > MOST_CONDITIONS)
    found.push(tooMany(`${field}.onPodConditions`, conditions.length, MOST_CONDITIONS));
  for (const [i, condition] of conditions.entries()) {
    const where = `${field}.onPodConditions[${i}]`;
    const type = text(condition, 'type');
    found.push(...complaints(`${where}.type`, type, qualifiedName(type)));
    found.push(...oneOf(condition, 'status', `${where}.status`, ['False', 'True', 'Unknown']));
  }
  if (codes && conditions.length > 0)
    found.push(bare(field, 'specifying both OnExitCodes and OnPodConditions is not supported'));
  if (!codes && conditions.length === 0)
    found.push(bare(field, 'specifying one of OnExitCodes and OnPodConditions is required'));
  return found;
}

/** A complaint that shows no value. */
const bare = (field: string, why: string): Violation => ({
  reason: 'FieldValueInvalid',
  field,
  message: `Invalid value: ${why}`,
});

function exitCodes(codes: Rec, containers: ReadonlySet<string>, field: string): Violation[] {
  const operator = text(codes, 'operator');
  const values = (Array.isArray(codes.values) ? codes.values : []) as number[];
  const found =
    operator === '' ? [required(`${field}.operator`)] : oneOf(codes, 'operator', `${field}.operator`, ['In', 'NotIn']);
  const name = text(codes, 'containerName');
  if (!absent(codes.containerName) && !containers.has(name))
    found.push(
      invalid(
        `${field}.containerName`,
        name,
        'must be one of the container or initContainer names in the pod template',
      ),
    );
  if (values.length === 0) found.push(invalid(`${field}.values`, values, 'at least one value is required'));
  if (values.length > MOST_CODES) found.push(tooMany(`${field}.values`, values.length, MOST_CODES));
  const seen = new Set<number>();
  for (const [i, value] of values.entries()) {
    if (operator === 'In' && value === 0)
      found.push(invalid(`${field}.values[${i}]`, value, 'must not be 0 for the In operator'));
    if (seen.has(value)) found.push(duplicate(`${field}.values[${i}]`, value));
    seen.add(value);
  }
  if (values.some((value, i) => i > 0 && value < values[i - 1]!))
    found.push(invalid(`${field}.values`, values, 'must be ordered'));
  return found;
}

/** How many indexes a text like `1,3-5` names, each below `completions`; a text says what is wrong with it. */
export function indexCount(given: string, completions: number): number | string {
  let [count, last] = [0, -1];
  if (given === '') return 0;
  const parse = (part: string): number | string => {
    if (!/^[+-]?\d+$/.test(part)) return `cannot convert string to integer for index: ${JSON.stringify(part)}`;
    return Number(part) >= completions ? `too large index: ${JSON.stringify(part)}` : Number(part);
  };
  for (const interval of given.split(',')) {
    const parts = interval.split('-');
    if (parts.length > 2)
      return `the fragment ${JSON.stringify(interval)} violates the requirement that an index interval can have at most two parts separated by '-'`;
    const ends = parts.map(parse);
    for (const end of ends) {
      if (typeof end === 'string') return end;
      if (last >= end) return `non-increasing order, previous: ${last}, current: ${end}`;
      last = end;
    }
    count += ends.length === 1 ? 1 : (ends[1] as number) - (ends[0] as number) + 1;
  }
  return count;
}

function successViolations(policy: Rec, spec: Rec, field: string): Violation[] {
  const rules = list(policy, 'rules');
  if (rules.length === 0)
    return [required(`${field}.rules`, 'at least one rules must be specified when the successPolicy is specified')];
  const found = rules.length > MOST_RULES ? [tooMany(`${field}.rules`, rules.length, MOST_RULES)] : [];
  const completions = num(spec, 'completions') ?? 0;
  for (const [i, rule] of rules.entries()) found.push(...successRule(rule, completions, `${field}.rules[${i}]`));
  return found;
}

function successRule(rule: Rec, completions: number, field: string): Violation[] {
  const [count, indexes] = [num(rule, 'succeededCount'), text(rule, 'succeededIndexes')];
  if (count === undefined && absent(rule.succeededIndexes))
    return [required(field, 'at least one of succeededCount or succeededIndexes must be specified')];
  const found = notNegative(rule, 'succeededCount', `${field}.succeededCount`);
  if (Buffer.byteLength(indexes) > MOST_INDEX_TEXT) found.push(tooLong(`${field}.succeededIndexes`, MOST_INDEX_TEXT));
  const named = absent(rule.succeededIndexes) ? undefined : indexCount(indexes, completions);
  if (typeof named === 'string')
    found.push(invalid(`${field}.succeededIndexes`, indexes, `error parsing succeededIndexes: ${named}`));
  if (count === undefined) return found;
  if (count > completions)
    found.push(
      invalid(`${field}.succeededCount`, count, `${LATER} ${completions} (the number of specified completions)`),
    );
  if (typeof named === 'number' && count > named)
    found.push(
      invalid(
        `${field}.succeededCount`,
        count,
        `${LATER} ${named} (the number of indexes in the specified succeededIndexes field)`,
      ),
    );
  return found;
}

/**
 * Selector and labels of a Job: made by the server, or given by the client as a whole. `made` are the labels the server
 * ties pods with.
 */
function selectorRules(object: ApiObject, generated: Rec): Violation[] {
  const spec = at(object, 'spec');
  const selector = at(spec, 'selector');
  const labels = at(spec, 'template', 'metadata', 'labels') ?? {};
  const found = selector ? selectorViolations(selector, 'spec.selector') : [required('spec.selector')];
  if (
    spec?.manualSelector !== true &&
    selector &&
    !(
      same(entries(selector, 'matchLabels'), Object.entries(generated)) &&
      list(selector, 'matchExpressions').length === 0
    )
  )
    found.push(invalid('spec.selector', selector, '`selector` not auto-generated'));
  if (!selector || (selectorViolations(selector, '').length === 0 && !selects(selector, labels)))
    found.push(invalid('spec.template.metadata.labels', labels, '`selector` does not match template `labels`'));
  return found;
}

/** Indexed pods are hosts of names that end with their index. */
function nameViolations(object: ApiObject): Violation[] {
  const spec = at(object, 'spec');
  const completions = num(spec, 'completions') ?? 0;
  if (text(spec, 'completionMode') !== 'Indexed' || completions <= 0) return [];
  const name = object.metadata.name ?? '';
  const host = `${name}-${completions - 1}`;
  return dns1123Label(host).length === 0
    ? []
    : [invalid('metadata.name', name, `will not able to create pod with invalid DNS label: ${host}`)];
}

/** What is wrong with a new Job; `uidLabel` is the label over which the server selects its pods. */
export const jobViolations = (object: ApiObject, uidLabel: string): Violation[] => [
  ...nameViolations(object),
  ...selectorRules(object, { [uidLabel]: object.metadata.uid ?? '' }),
  ...jobSpecViolations(at(object, 'spec'), 'spec'),
];

/** Members of a template that may change while its Job is suspended and has not started. */
const SCHEDULING = ['affinity', 'nodeSelector', 'tolerations', 'schedulingGates'];

function templateUpdate(object: ApiObject, old: ApiObject): Violation[] {
  const [now, before] = [structuredClone(at(object, 'spec', 'template')), at(old, 'spec', 'template')];
  if (at(old, 'spec')?.suspend === true && absent(at(old, 'status')?.startTime) && now && before) {
    const [pod, was] = [at(now, 'spec'), at(before, 'spec')];
    for (const member of SCHEDULING) if (pod) pod[member] = was?.[member];
    const [metadata, earlier] = [at(now, 'metadata'), at(before, 'metadata')];
    for (const member of ['annotations', 'labels']) if (metadata) metadata[member] = earlier?.[member];
  }
  return same(now, before) ? [] : [invalid('spec.template', at(object, 'spec', 'template'), 'field is immutable')];
}

function completionsUpdate(now: Rec | undefined, before: Rec | undefined): Violation[] {
  if (num(now, 'completions') === num(before, 'completions')) return [];
  if (text(now, 'completionMode') !== 'Indexed') return fixed(now, before, 'completions', 'spec.completions');
  const [completions, parallel] = [num(now, 'completions'), num(now, 'parallelism')];
  // That it is missing is told of the spec itself.
  if (completions === undefined) return [];
  return completions === parallel && num(before, 'completions') === num(before, 'parallelism')
    ? []
    : [invalid('spec.completions', completions, 'can only be modified in tandem with spec.parallelism')];
}

const IMMUTABLE = [
  'selector',
  'completionMode',
  'podFailurePolicy',
  'backoffLimitPerIndex',
  'managedBy',
  'successPolicy',
];

/** What an update of a Job may not change. */
export function jobUpdateViolations(object: ApiObject, old: ApiObject, uidLabel: string): Violation[] {
  const [now, before] = [at(object, 'spec'), at(old, 'spec')];
  return [
    ...selectorRules(object, { [uidLabel]: object.metadata.uid ?? '' }),
    ...jobSpecViolations(now, 'spec'),
    ...completionsUpdate(now, before),
    ...IMMUTABLE.flatMap(member => fixed(now, before, member, `spec.${member}`)),
    ...templateUpdate(object, old),
  ];
}

const LIMITS = ['startingDeadlineSeconds', 'successfulJobsHistoryLimit', 'failedJobsHistoryLimit'];

function scheduleViolations(spec: Rec | undefined, before: string): Violation[] {
  const schedule = text(spec, 'schedule');
  if (schedule === '') return [required('spec.schedule')];
  const problem = scheduleProblem(schedule);
  const found = problem ? [invalid('spec.schedule', schedule, problem)] : [];
  if (!schedule.includes('TZ')) return found;
  if (!before.includes('TZ'))
    return [
      ...found,
      invalid('spec.schedule', schedule, 'cannot use TZ or CRON_TZ in schedule, use timeZone field instead'),
    ];
  return absent(spec?.timeZone)
    ? found
    : [...found, invalid('spec.schedule', schedule, 'cannot use both timeZone field and TZ or CRON_TZ in schedule')];
}

/** What is wrong with a CronJob; a zone inside of the schedule may stay where `old` has one. */
export function cronJobViolations(object: ApiObject, old?: ApiObject): Violation[] {
  const spec = at(object, 'spec');
  const found = LIMITS.flatMap(member => notNegative(spec, member, `spec.${member}`));
  found.push(...scheduleViolations(spec, text(at(old, 'spec'), 'schedule')));
  if (!absent(spec?.timeZone)) {
    const zone = text(spec, 'timeZone');
    found.push(...complaints('spec.timeZone', zone, timeZoneProblems(zone)));
  }
  found.push(...oneOf(spec, 'concurrencyPolicy', 'spec.concurrencyPolicy', ['Allow', 'Forbid', 'Replace']));
  const job = at(spec, 'jobTemplate', 'spec');
  const field = 'spec.jobTemplate.spec';
  found.push(...jobSpecViolations(job, field));
  if (at(job, 'selector')) found.push(invalid(`${field}.selector`, job?.selector, '`selector` will be auto-generated'));
  if (job?.manualSelector === true) found.push(notSupported(`${field}.manualSelector`, true, ['nil', 'false']));
  const name = object.metadata.name ?? '';
  return !old && name.length > 52
    ? [...found, invalid('metadata.name', name, 'must be no more than 52 characters')]
    : found;
}
