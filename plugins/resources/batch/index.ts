import type { Strategy } from '../../../core/api/strategy.js';
import { labelValue } from '../../../core/model/names.js';
import type { ApiObject } from '../../../core/model/object.js';
import type { Naming } from '../../../core/naming.js';
import { templateDefaults } from '../pod-defaults.js';
import { absent, at, entries, fill, into, list, num, type Rec, spec } from '../record.js';
import type { KindTable } from '../strategies.js';
import { cronJobViolations, jobUpdateViolations, jobViolations } from '../validation/job.js';
import { jobStatusViolations } from '../validation/job-status.js';
import { POD_NAMES, withNameWarning, withPodWarnings } from '../validation/pod-warnings.js';

/** Defaults of the spec of a Job; inside a CronJob's template most of them wait for the Job (spec, "Job"). */
function jobSpecDefaults(job: Rec): void {
  if (absent(job.completions) && absent(job.parallelism)) {
    job.completions = 1;
    job.parallelism = 1;
  }
  fill(job, 'parallelism', 1);
  fill(job, 'backoffLimit', absent(job.backoffLimitPerIndex) ? 6 : 2147483647);
  fill(job, 'completionMode', 'NonIndexed');
  fill(job, 'suspend', false);
  fill(job, 'manualSelector', false);
  fill(job, 'podReplacementPolicy', at(job, 'podFailurePolicy') ? 'Failed' : 'TerminatingOrFailed');
  failurePolicyDefaults(job);
}

function failurePolicyDefaults(job: Rec): void {
  for (const rule of list(at(job, 'podFailurePolicy'), 'rules')) {
    for (const pattern of list(rule, 'onPodConditions')) fill(pattern, 'status', 'True');
  }
}

const uidLabelOf = (naming: Naming): string => naming.label('batch.orchestrator.io/controller-uid');

/**
 * Labels that tie pods to their Job, and the selector over them; made by the server unless the client selects by hand.
 */
function selectOwnPods(object: ApiObject, naming: Naming): void {
  const job = spec(object);
  if (job.manualSelector === true) return;
  const { uid = '', name = '' } = object.metadata;
  const uidLabel = uidLabelOf(naming);
  const labels = into(into(into(job, 'template'), 'metadata'), 'labels');
  labels['controller-uid'] ??= uid;
  labels['job-name'] ??= name;
  labels[uidLabel] ??= uid;
  labels[naming.label('batch.orchestrator.io/job-name')] ??= name;
  const match = into(into(job, 'selector'), 'matchLabels');
  if (absent(match[uidLabel])) match[uidLabel] = uid;
}

/**
 * A Job without labels has those of its template. Labels made from a name that cannot be one are not taken over: the
 * template is refused for them, and the Job is not to be blamed for them as well.
 */
function takeTemplateLabels(object: ApiObject): void {
  const labels = entries(at(object, 'spec', 'template', 'metadata'), 'labels').map(
    ([key, value]) => [key, String(value)] as const,
  );
  if (labels.length === 0 || Object.keys(object.metadata.labels ?? {}).length > 0) return;
  const name = labels.find(([key]) => key === 'job-name')?.[1] ?? '';
  if (labelValue(name).length === 0) object.metadata.labels = Object.fromEntries(labels);
}

const job = (naming: Naming): Partial<Strategy> => ({
  hasGeneration: true,
  hasStatus: true,
  orphansByDefault: true,
  deletionWarning:
    'child pods are preserved by default when jobs are deleted; set propagationPolicy=Background to remove them or set propagationPolicy=Orphan to suppress this warning',
  defaults: object => {
    const s = spec(object);
    jobSpecDefaults(s);
    takeTemplateLabels(object);
    templateDefaults(at(s, 'template'));
  },
  prepareCreate: object => {
    selectOwnPods(object, naming);
    takeTemplateLabels(object);
  },
  validateCreate: object => jobViolations(object, uidLabelOf(naming)),
  validateUpdate: (object, old) => jobUpdateViolations(object, old, uidLabelOf(naming)),
  validateStatus: jobStatusViolations,
  unknownField: field => `field label ${JSON.stringify(field)} not supported for Job`,
  selectableFields: new Map([['status.successful', object => String(num(at(object, 'status'), 'succeeded') ?? 0)]]),
});

const cronJob = (): Partial<Strategy> => ({
  hasGeneration: true,
  hasStatus: true,
  validateCreate: object => cronJobViolations(object),
  validateUpdate: (object, old) => cronJobViolations(object, old),
  defaults: object => {
    const s = spec(object);
    fill(s, 'concurrencyPolicy', 'Allow');
    fill(s, 'suspend', false);
    fill(s, 'successfulJobsHistoryLimit', 3);
    fill(s, 'failedJobsHistoryLimit', 1);
    const jobSpec = at(s, 'jobTemplate', 'spec');
    if (!jobSpec) return;
    failurePolicyDefaults(jobSpec);
    templateDefaults(at(jobSpec, 'template'));
  },
});

/** Kinds of the batch group. */
export const batchKinds: KindTable = {
  'batch/cronjobs': () =>
    withNameWarning(withPodWarnings(cronJob(), 'spec', 'jobTemplate', 'spec', 'template', 'spec'), POD_NAMES),
  'batch/jobs': naming => withNameWarning(withPodWarnings(job(naming), 'spec', 'template', 'spec'), POD_NAMES),
};
