import type { Naming } from '../../../../core/naming.js';
import type {
  JobSpec,
  SuccessPolicy,
  PodFailurePolicyRule,
  SuccessPolicyRule,
  PodFailurePolicyOnExitCodesRequirement,
} from '../../../../kinds/batch/v1.js';
import { dns1123Subdomain, qualifiedName } from '../../../../core/model/names.js';
import { isAbsent } from '../../../../core/model/record.js';
import {
  duplicate,
  invalid,
  notSupported,
  required,
  tooLong,
  tooMany,
  type Violation,
} from '../../../../core/model/refusal.js';
import { validateTemplate } from '../../shared/podSpec/validation.js';
import { toViolations, validateNotNegative, validateOneOf } from '../../shared/violations.js';

/** The number of indexes in a text such as `1,3-5`, each below `completions`, or the error message as text. */
export function countIndexes(given: string, completions: number): number | string {
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

const COUNTS = [
  'parallelism',
  'completions',
  'activeDeadlineSeconds',
  'backoffLimit',
  'ttlSecondsAfterFinished',
  'backoffLimitPerIndex',
  'maxFailedIndexes',
] as const;

/** Limits of indexed Jobs, whose status lists indexes. */
const MOST_PARALLEL = 100_000;

const MOST_INDEXES = 100_000;

const FEW_INDEXES = 10_000;

/**
 * Limits of failure policies: rules of a policy, conditions of a rule, and exit codes of a rule. A controller evaluates
 * them for every pod that ends.
 */
const MOST_RULES = 20;

const MOST_CONDITIONS = 20;

const MOST_CODES = 255;

/** Limit of the length of a list of indexes. */
const MOST_INDEX_TEXT = 64 * 1024;

const LONGEST_MANAGER = 63;

/** Violations of the spec of a Job or of the job template of a CronJob. */
export function validateJobSpec(spec: JobSpec, field: string, naming: Naming): Violation[] {
  const found = COUNTS.flatMap(member => validateNotNegative(spec, member, `${field}.${member}`));
  if (!isAbsent(spec.maxFailedIndexes) && isAbsent(spec.backoffLimitPerIndex))
    found.push(required(`${field}.backoffLimitPerIndex`, 'when maxFailedIndexes is specified'));
  const manager = spec.managedBy ?? '';
  if (!isAbsent(spec.managedBy)) found.push(...validateManagedBy(manager, `${field}.managedBy`));
  if (!isAbsent(spec.completionMode))
    found.push(...validateOneOf(spec, 'completionMode', `${field}.completionMode`, ['NonIndexed', 'Indexed']));
  const mode = spec.completionMode ?? '';
  if (mode === 'Indexed') found.push(...validateIndexed(spec, field));
  if (mode === 'NonIndexed' || isAbsent(spec.completionMode)) found.push(...validateNonIndexed(spec, field));
  const failure = spec.podFailurePolicy;
  if (failure) found.push(...validateFailurePolicy(failure.rules ?? [], spec!, `${field}.podFailurePolicy.rules`));
  const success = spec.successPolicy;
  if (success)
    found.push(
      ...(mode === 'Indexed'
        ? validateSuccessPolicy(success, spec!, `${field}.successPolicy`)
        : [invalid(`${field}.successPolicy`, success, 'requires indexed completion mode')]),
    );
  if (!isAbsent(spec.podReplacementPolicy)) {
    const values = spec.podFailurePolicy ? ['Failed'] : ['Failed', 'TerminatingOrFailed'];
    found.push(...validateOneOf(spec, 'podReplacementPolicy', `${field}.podReplacementPolicy`, values));
  }
  return [
    ...found,
    ...validateTemplate(spec.template, `${field}.template`, naming),
    ...validateRestartPolicy(spec, field),
  ];
}

function validateRestartPolicy(spec: JobSpec, field: string): Violation[] {
  const where = `${field}.template.spec.restartPolicy`;
  const policy = spec.template.spec.restartPolicy ?? '';
  if (policy === 'Always') return [required(where, 'valid values: "OnFailure", "Never"')];
  if (policy !== 'OnFailure' && policy !== 'Never') return [notSupported(where, policy, ['OnFailure', 'Never'])];
  if (spec.podFailurePolicy && policy === 'OnFailure')
    return [invalid(where, policy, 'only "Never" is supported when podFailurePolicy is specified')];
  return [];
}

function validateIndexed(spec: JobSpec, field: string): Violation[] {
  const [completions, parallel, failed] = [spec.completions, spec.parallelism, spec.maxFailedIndexes];
  const found: Violation[] = [];
  if (completions === undefined) found.push(required(`${field}.completions`, 'when completion mode is Indexed'));
  if (parallel !== undefined && parallel > MOST_PARALLEL)
    found.push(
      invalid(`${field}.parallelism`, parallel, `${AT_MOST} ${MOST_PARALLEL} when completion mode is Indexed`),
    );
  if (completions !== undefined && failed !== undefined && failed > completions)
    found.push(invalid(`${field}.maxFailedIndexes`, failed, `${AT_MOST} completions`));
  if (failed !== undefined && failed > MOST_INDEXES)
    found.push(invalid(`${field}.maxFailedIndexes`, failed, `${AT_MOST} ${MOST_INDEXES}`));
  const perIndex = !isAbsent(spec.backoffLimitPerIndex);
  if (!perIndex || completions === undefined || completions <= MOST_INDEXES) return found;
  const many = `when completions are above ${MOST_INDEXES} and used with backoff limit per index`;
  if (parallel !== undefined && parallel > FEW_INDEXES)
    found.push(invalid(`${field}.parallelism`, parallel, `${AT_MOST} ${FEW_INDEXES} ${many}`));
  if (failed === undefined)
    found.push(required(`${field}.maxFailedIndexes`, 'must be specified when completions is above 100000'));
  else if (failed > FEW_INDEXES)
    found.push(invalid(`${field}.maxFailedIndexes`, failed, `${AT_MOST} ${FEW_INDEXES} ${many}`));
  return found;
}

const validateNonIndexed = (spec: JobSpec, field: string): Violation[] =>
  (['backoffLimitPerIndex', 'maxFailedIndexes'] as const)
    .filter(member => !isAbsent(spec[member]))
    .map(member => invalid(`${field}.${member}`, spec[member], 'requires indexed completion mode'));

/** Checks that the manager is a path with a domain as prefix: `domain/path`. */
function validateManagedBy(name: string, field: string): Violation[] {
  const [domain = '', ...path] = name.split('/');
  const form = 'must be a domain-prefixed path (such as "acme.io/foo")';
  if (name === '') return [required(field)];
  const found =
    domain === '' || path.join('/') === ''
      ? [invalid(field, name, form)]
      : toViolations(field, domain, dns1123Subdomain(domain));
  return name.length > LONGEST_MANAGER ? [...found, tooLong(field, LONGEST_MANAGER)] : found;
}

const ACTIONS = ['Count', 'FailIndex', 'FailJob', 'Ignore'] as const;

function validateFailurePolicy(rules: readonly PodFailurePolicyRule[], spec: JobSpec, field: string): Violation[] {
  const pod = spec.template.spec;
  const containers = new Set([...(pod.containers ?? []), ...(pod.initContainers ?? [])].map(one => one.name));
  const found = rules.length > MOST_RULES ? [tooMany(field, rules.length, MOST_RULES)] : [];
  return [...found, ...rules.flatMap((rule, i) => validateFailureRule(rule, spec, containers, `${field}[${i}]`))];
}

function validateFailureRule(
  rule: PodFailurePolicyRule,
  spec: JobSpec,
  containers: ReadonlySet<string>,
  field: string,
): Violation[] {
  const action = rule.action;
  const found: Violation[] = [];
  if (action === '')
    found.push(required(`${field}.action`, `valid values: [${ACTIONS.map(name => JSON.stringify(name)).join(' ')}]`));
  else found.push(...validateOneOf(rule, 'action', `${field}.action`, ACTIONS));
  if (action === 'FailIndex' && isAbsent(spec.backoffLimitPerIndex))
    found.push(invalid(`${field}.action`, action, 'requires the backoffLimitPerIndex to be set'));
  const [codes, conditions] = [rule.onExitCodes, rule.onPodConditions ?? []];
  if (codes) found.push(...validateExitCodes(codes, containers, `${field}.onExitCodes`));
  if (conditions.length > MOST_CONDITIONS)
    found.push(tooMany(`${field}.onPodConditions`, conditions.length, MOST_CONDITIONS));
  for (const [i, condition] of conditions.entries()) {
    const where = `${field}.onPodConditions[${i}]`;
    const type = condition.type;
    found.push(...toViolations(`${where}.type`, type, qualifiedName(type)));
    found.push(...validateOneOf(condition, 'status', `${where}.status`, ['False', 'True', 'Unknown']));
  }
  if (codes && conditions.length > 0)
    found.push(invalidWithoutValue(field, 'specifying both OnExitCodes and OnPodConditions is not supported'));
  if (!codes && conditions.length === 0)
    found.push(invalidWithoutValue(field, 'specifying one of OnExitCodes and OnPodConditions is required'));
  return found;
}

/** A violation whose message does not contain the value. */
const invalidWithoutValue = (field: string, why: string): Violation => ({
  reason: 'FieldValueInvalid',
  field,
  message: `Invalid value: ${why}`,
});

function validateExitCodes(
  codes: PodFailurePolicyOnExitCodesRequirement,
  containers: ReadonlySet<string>,
  field: string,
): Violation[] {
  const operator = codes.operator;
  const values = (Array.isArray(codes.values) ? codes.values : []) as number[];
  const found =
    operator === ''
      ? [required(`${field}.operator`, 'valid values: ["In" "NotIn"]')]
      : validateOneOf(codes, 'operator', `${field}.operator`, ['In', 'NotIn']);
  const name = codes.containerName ?? '';
  if (!isAbsent(codes.containerName) && !containers.has(name))
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

function validateSuccessPolicy(policy: SuccessPolicy, spec: JobSpec, field: string): Violation[] {
  const rules = policy.rules ?? [];
  if (rules.length === 0)
    return [required(`${field}.rules`, 'at least one rules must be specified when the successPolicy is specified')];
  const found = rules.length > MOST_RULES ? [tooMany(`${field}.rules`, rules.length, MOST_RULES)] : [];
  const completions = spec.completions ?? 0;
  for (const [i, rule] of rules.entries())
    found.push(...validateSuccessRule(rule, completions, `${field}.rules[${i}]`));
  return found;
}

function validateSuccessRule(rule: SuccessPolicyRule, completions: number, field: string): Violation[] {
  const [count, indexes] = [rule.succeededCount, rule.succeededIndexes ?? ''];
  if (count === undefined && isAbsent(rule.succeededIndexes))
    return [required(field, 'at least one of succeededCount or succeededIndexes must be specified')];
  const found = validateNotNegative(rule, 'succeededCount', `${field}.succeededCount`);
  if (Buffer.byteLength(indexes) > MOST_INDEX_TEXT) found.push(tooLong(`${field}.succeededIndexes`, MOST_INDEX_TEXT));
  const named = isAbsent(rule.succeededIndexes) ? undefined : countIndexes(indexes, completions);
  if (typeof named === 'string')
    found.push(invalid(`${field}.succeededIndexes`, indexes, `error parsing succeededIndexes: ${named}`));
  if (count === undefined) return found;
  if (count > completions)
    found.push(
      invalid(`${field}.succeededCount`, count, `${AT_MOST} ${completions} (the number of specified completions)`),
    );
  // Malformed indexes, which were reported above, count as none.
  const most = typeof named === 'string' ? 0 : named;
  if (most !== undefined && count > most)
    found.push(
      invalid(
        `${field}.succeededCount`,
        count,
        `${AT_MOST} ${most} (the number of indexes in the specified succeededIndexes field)`,
      ),
    );
  return found;
}

/** The beginning of messages about values above a limit. */
const AT_MOST = 'must be less than or equal to';
