import type { Naming } from '../../../../core/naming.js';
import type { CronJob, CronJobSpec } from '../../../../kinds/batch/v1.js';
import { builtInKind } from '../../../../core/api/resource.js';
import type { Column, Strategy } from '../../../../core/api/strategy.js';
import { isAbsent, setDefault } from '../../../../core/model/record.js';
import { invalid, notSupported, required, type Violation } from '../../../../core/model/refusal.js';
import { scheduleProblem, timeZoneProblems } from './schedule.js';
import { setFailurePolicyDefaults } from '../job/defaults.js';
import { validateJobSpec } from '../job/spec.js';
import { countOf, AGE, type Cell, column, NAME, timeSince } from '../../shared/columns.js';
import { setTemplateDefaults } from '../../shared/podSpec/defaults.js';
import { withPodSpec } from '../../shared/podSpec/podSpecStrategy.js';
import { POD_NAMES, warnAboutName } from '../../shared/podSpec/warnings/warnings.js';
import { CONTAINERS, IMAGES, SELECTOR } from '../../shared/podTemplateColumns.js';
import { toViolations, validateNotNegative, validateOneOf } from '../../shared/violations.js';

const HISTORY_LIMITS = ['successfulJobsHistoryLimit', 'failedJobsHistoryLimit'] as const;

/** `before` is the stored schedule: a time zone that it contains is still allowed. */
function validateSchedule(spec: CronJobSpec, before: string): Violation[] {
  const schedule = spec.schedule;
  if (schedule === '') return [required('spec.schedule')];
  const problem = scheduleProblem(schedule);
  const found = problem ? [invalid('spec.schedule', schedule, problem)] : [];
  if (!schedule.includes('TZ')) return found;
  if (!before.includes('TZ'))
    return [
      ...found,
      invalid('spec.schedule', schedule, 'cannot use TZ or CRON_TZ in schedule, use timeZone field instead'),
    ];
  return isAbsent(spec.timeZone)
    ? found
    : [...found, invalid('spec.schedule', schedule, 'cannot use both timeZone field and TZ or CRON_TZ in schedule')];
}

/** Violations of a CronJob; `old` is set for updates. */
function validateCronJob(object: CronJob, naming: Naming, old?: CronJob): Violation[] {
  const spec = object.spec;
  const found = validateSchedule(spec, old?.spec?.schedule ?? '');
  found.push(...validateNotNegative(spec, 'startingDeadlineSeconds', 'spec.startingDeadlineSeconds'));
  if (!isAbsent(spec.timeZone)) {
    const zone = spec.timeZone;
    found.push(...toViolations('spec.timeZone', zone, timeZoneProblems(zone)));
  }
  found.push(...validateOneOf(spec, 'concurrencyPolicy', 'spec.concurrencyPolicy', ['Allow', 'Forbid', 'Replace']));
  const job = spec.jobTemplate.spec;
  const field = 'spec.jobTemplate.spec';
  found.push(...validateJobSpec(job, field, naming));
  if (job.selector) found.push(invalid(`${field}.selector`, job.selector, '`selector` will be auto-generated'));
  if (job.manualSelector === true) found.push(notSupported(`${field}.manualSelector`, true, ['nil', 'false']));
  for (const member of HISTORY_LIMITS) found.push(...validateNotNegative(spec, member, `spec.${member}`));
  const name = object.metadata.name ?? '';
  return !old && name.length > 52
    ? [...found, invalid('metadata.name', name, 'must be no more than 52 characters')]
    : found;
}

const suspended: Cell<CronJob> = object => (object.spec.suspend === true ? 'True' : 'False');

const COLUMNS: readonly Column<CronJob>[] = [
  NAME,
  column('Schedule', object => object.spec.schedule),
  column('Timezone', object => object.spec.timeZone || '<none>'),
  column('Suspend', suspended, { type: 'boolean' }),
  column('Active', object => countOf(object.status?.active), { type: 'integer' }),
  column('Last Schedule', object => timeSince(object.status?.lastScheduleTime, '<none>')),
  AGE,
  CONTAINERS,
  IMAGES,
  SELECTOR,
];

const strategy = (naming: Naming): Partial<Strategy<CronJob>> => ({
  hasGeneration: true,
  hasStatus: true,
  validateCreate: object => validateCronJob(object, naming),
  validateUpdate: (object, old) => validateCronJob(object, naming, old),
  applyDefaults: object => {
    const spec = object.spec;
    setDefault(spec, 'concurrencyPolicy', 'Allow');
    setDefault(spec, 'suspend', false);
    setDefault(spec, 'successfulJobsHistoryLimit', 3);
    setDefault(spec, 'failedJobsHistoryLimit', 1);
    const jobSpec = spec.jobTemplate.spec;
    if (!jobSpec) return;
    setFailurePolicyDefaults(jobSpec);
    setTemplateDefaults(jobSpec.template);
  },
  columns: COLUMNS,
});

/** CronJob. Defaults of its jobs are set when they are created. */
export const cronJob = builtInKind<CronJob>('batch/cronjobs', naming =>
  warnAboutName(
    withPodSpec(
      strategy(naming),
      naming,
      'spec.jobTemplate.spec.template.spec',
      object => object.spec.jobTemplate.spec.template,
    ),
    POD_NAMES,
  ),
);
