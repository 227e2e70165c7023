import type { Job } from '../../../../kinds/batch/v1.js';
import { builtInKind } from '../../../../core/api/resource.js';
import type { Column, Strategy } from '../../../../core/api/strategy.js';
import { humanDuration } from '../../../../core/model/age.js';
import { isDeepEqual } from '../../../../core/model/record.js';
import type { Naming } from '../../../../core/naming.js';
import { setJobSpecDefaults, selectOwnPods, copyTemplateLabels } from './defaults.js';
import { validateJobStatus } from './status.js';
import { validateJobUpdate, validateJob } from './validation.js';
import { AGE, type Cell, column, isConditionTrue, NAME } from '../../shared/columns.js';
import { setTemplateDefaults } from '../../shared/podSpec/defaults.js';
import { withPodSpec } from '../../shared/podSpec/podSpecStrategy.js';
import { POD_NAMES, warnAboutName } from '../../shared/podSpec/warnings/warnings.js';
import { CONTAINERS, IMAGES, SELECTOR } from '../../shared/podTemplateColumns.js';

const JOB_STATES = ['Suspended', 'FailureTarget'];

const jobStatus: Cell<Job> = job => {
  if (isConditionTrue(job, 'Complete')) return 'Complete';
  if (isConditionTrue(job, 'Failed')) return 'Failed';
  if (job.metadata.deletionTimestamp) return 'Terminating';
  return JOB_STATES.find(type => isConditionTrue(job, type)) ?? 'Running';
};

const jobCompletions: Cell<Job> = job => {
  const succeeded = job.status?.succeeded ?? 0;
  const completions = job.spec.completions;
  if (typeof completions === 'number') return `${succeeded}/${completions}`;
  const parallelism = job.spec.parallelism ?? 0;
  return parallelism > 1 ? `${succeeded}/1 of ${parallelism}` : `${succeeded}/1`;
};

const jobDuration: Cell<Job> = job => {
  const since = Date.parse(job.status?.startTime ?? '');
  if (Number.isNaN(since)) return '';
  const end = Date.parse(job.status?.completionTime ?? '');
  return Number.isNaN(end) ? { since } : humanDuration(end - since);
};

const COLUMNS: readonly Column<Job>[] = [
  NAME,
  column('Status', jobStatus),
  column('Completions', jobCompletions),
  column('Duration', jobDuration),
  AGE,
  CONTAINERS,
  IMAGES,
  SELECTOR,
];

const strategy = (naming: Naming): Partial<Strategy<Job>> => ({
  hasGeneration: true,
  revalidatesName: 'first',
  hasStatus: true,
  // Jobs are older than garbage collection: clients of that time rely on pods that outlive their Job.
  orphansByDefault: true,
  deletionWarning:
    'child pods are preserved by default when jobs are deleted; set propagationPolicy=Background to remove them or set propagationPolicy=Orphan to suppress this warning',
  applyDefaults: object => {
    const spec = object.spec;
    setJobSpecDefaults(spec);
    copyTemplateLabels(object);
    setTemplateDefaults(spec.template);
  },
  prepareCreate: object => {
    const labelsOfTemplate = () => object.spec.template.metadata.labels ?? {};
    const { labels = {} } = object.metadata;
    const areCopied = Object.keys(labels).length > 0 && isDeepEqual(labels, labelsOfTemplate());
    selectOwnPods(object, naming);
    // Labels that were copied from the template get the generated labels as well.
    if (areCopied) object.metadata.labels = { ...(labelsOfTemplate() as { [label: string]: string }) };
    else copyTemplateLabels(object);
  },
  validateCreate: object => validateJob(object, naming),
  validateUpdate: (object, old) => validateJobUpdate(object, old, naming),
  validateStatus: validateJobStatus,
  unknownFieldMessage: field => `field label ${JSON.stringify(field)} not supported for Job`,
  selectableFields: new Map([['status.successful', object => String(object.status?.succeeded ?? 0)]]),
  columns: COLUMNS,
});

/** Job. */
export const job = builtInKind<Job>('batch/jobs', naming =>
  warnAboutName(
    withPodSpec(strategy(naming), naming, 'spec.template.spec', object => object.spec.template),
    POD_NAMES,
  ),
);
