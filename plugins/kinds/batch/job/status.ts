import type { Job, JobStatus, JobSpec } from '../../../../kinds/batch/v1.js';
import { isAbsent } from '../../../../core/model/record.js';
import { invalid, required, type Violation } from '../../../../core/model/refusal.js';
import { countIndexes } from './spec.js';
import { validateNotNegative, goTimeText } from '../../shared/violations.js';

const isTrue = (status: JobStatus | undefined, type: string): boolean =>
  (status?.conditions ?? []).some(condition => condition.type === type && condition.status === 'True');

const invalidConditions = (why: string): Violation => ({
  reason: 'FieldValueInvalid',
  field: 'status.conditions',
  message: `Invalid value: ${why}`,
});

/** Conditions that exclude each other, and conditions that require another one. */
const APART = [
  ['Complete', 'Failed'],
  ['Complete', 'FailureTarget'],
  ['SuccessCriteriaMet', 'FailureTarget'],
  ['Failed', 'SuccessCriteriaMet'],
] as const;

const AFTER = [
  ['Failed', 'FailureTarget'],
  ['Complete', 'SuccessCriteriaMet'],
] as const;

const TERMINAL = ['Failed', 'Complete', 'FailureTarget'] as const;

function validateTogether(status: JobStatus | undefined): Violation[] {
  const both = APART.filter(([a, b]) => isTrue(status, a) && isTrue(status, b));
  return both.map(([a, b]) => invalidConditions(`cannot set ${a}=True and ${b}=true conditions`));
}

function validateSequence(status: JobStatus | undefined): Violation[] {
  const early = AFTER.filter(([a, b]) => isTrue(status, a) && !isTrue(status, b));
  return early.map(([a, b]) => invalidConditions(`cannot set ${a}=True condition without the ${b}=true condition`));
}

/** Checks that conditions that end a Job are kept. */
function validateKept(
  types: readonly string[],
  what: string,
  status: JobStatus | undefined,
  before: JobStatus | undefined,
): Violation[] {
  const gone = types.filter(type => isTrue(before, type) && !isTrue(status, type));
  return gone.map(type => invalidConditions(`cannot disable the ${what}${type}=True condition`));
}

function validateTimes(status: JobStatus | undefined): Violation[] {
  const field = 'status.completionTime';
  const [ended, began] = [status?.completionTime ?? '', status?.startTime ?? ''];
  const complete = isTrue(status, 'Complete');
  if (ended === '') return complete ? [required(field, 'completionTime is required for Complete jobs')] : [];
  return [
    ...(complete
      ? []
      : [invalid(field, goTimeText(ended), 'cannot set completionTime when there is no Complete=True condition')]),
    ...(began !== '' && ended < began
      ? [invalid(field, goTimeText(ended), 'completionTime cannot be set before startTime')]
      : []),
  ];
}

function validateFinished(status: JobStatus | undefined): Violation[] {
  if (!isTrue(status, 'Complete') && !isTrue(status, 'Failed')) return [];
  const active = status?.active ?? 0;
  return [
    ...(active > 0 ? [invalid('status.active', active, 'active>0 is invalid for finished job')] : []),
    ...(isAbsent(status?.startTime) ? [required('status.startTime', 'startTime is required for finished job')] : []),
  ];
}

function validateIndexes(spec: JobSpec, status: JobStatus | undefined): Violation[] {
  const indexed = (spec.completionMode ?? '') === 'Indexed';
  const completions = spec.completions ?? 0;
  const found: Violation[] = [];
  const [done, failed] = [status?.completedIndexes ?? '', status?.failedIndexes ?? ''];
  const parse = (member: string, given: string): void => {
    const counted = countIndexes(given, completions);
    if (typeof counted === 'string')
      found.push(invalid(`status.${member}`, given, `error parsing ${member}: ${counted}`));
  };
  if (done !== '' && !indexed)
    found.push(
      invalid(
        'status.completedIndexes',
        done,
        'cannot set non-empty completedIndexes when non-indexed completion mode',
      ),
    );
  else if (done !== '') parse('completedIndexes', done);
  if (isAbsent(status?.failedIndexes)) return found;
  if (isAbsent(spec.backoffLimitPerIndex))
    found.push(
      invalid('status.failedIndexes', failed, 'cannot set non-null failedIndexes when backoffLimitPerIndex is null'),
    );
  else parse('failedIndexes', failed);
  return found;
}

/** Checks that the time at which a Job began does not change while it is not suspended. */
function validateStart({ spec, status }: Job, before: JobStatus | undefined): Violation[] {
  const began = before?.startTime ?? '';
  if (began === '' || began === (status?.startTime ?? '') || spec.suspend === true) return [];
  return [required('status.startTime', 'startTime cannot be removed for unsuspended job')];
}

/** Violations of a write to the status of a Job. */
export function validateJobStatus(object: Job, old: Job): Violation[] {
  const [status, before] = [object.status, old.status];
  const count = (of: JobStatus | undefined, member: 'failed' | 'succeeded' | 'ready' | 'active'): number =>
    of?.[member] ?? 0;
  const found = (['active', 'succeeded', 'failed', 'ready', 'terminating'] as const).flatMap(member =>
    validateNotNegative(status, member, `status.${member}`),
  );
  const [ready, active] = [count(status, 'ready'), count(status, 'active')];
  const fallen = (['failed', 'succeeded'] as const).filter(member => count(status, member) < count(before, member));
  return [
    ...found,
    ...validateTogether(status),
    ...validateTimes(status),
    ...validateSequence(status),
    ...validateFinished(status),
    ...validateIndexes(object.spec, status),
    ...(ready > active && ready > 0 ? [invalid('status.ready', ready, 'cannot set more ready pods than active')] : []),
    ...validateKept(TERMINAL, 'terminal ', status, before),
    ...fallen.map(member =>
      invalid(`status.${member}`, count(status, member), `cannot decrease the ${member} counter`),
    ),
    ...validateStart(object, before),
    ...validateKept(['SuccessCriteriaMet'], '', status, before),
  ];
}
