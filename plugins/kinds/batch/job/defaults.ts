import type { Job, JobSpec } from '../../../../kinds/batch/v1.js';
import { labelValue } from '../../../../core/model/names.js';
import { isAbsent, setDefault } from '../../../../core/model/record.js';
import type { Naming } from '../../../../core/naming.js';

/**
 * Defaults of the spec of a Job. In the template of a CronJob most of them are set only in the Job that is created from
 * it.
 */
export function setJobSpecDefaults(job: JobSpec): void {
  if (isAbsent(job.completions) && isAbsent(job.parallelism)) {
    job.completions = 1;
    job.parallelism = 1;
  }
  setDefault(job, 'parallelism', 1);
  setDefault(job, 'backoffLimit', isAbsent(job.backoffLimitPerIndex) ? 6 : 2147483647);
  job.completionMode ??= 'NonIndexed';
  setDefault(job, 'suspend', false);
  setDefault(job, 'manualSelector', false);
  job.podReplacementPolicy ??= job.podFailurePolicy ? 'Failed' : 'TerminatingOrFailed';
  setFailurePolicyDefaults(job);
}

/** Conditions of a failure policy have the status True by default. */
export function setFailurePolicyDefaults(job: JobSpec): void {
  for (const rule of job.podFailurePolicy?.rules ?? []) {
    for (const pattern of rule.onPodConditions ?? []) setDefault(pattern, 'status', 'True');
  }
}

/** The label by which a Job selects its pods. */
const uidLabelOf = (naming: Naming): string => naming.label('batch.orchestrator.io/controller-uid');

/** The labels that pods of Jobs have had since before labels had a domain. */
export const LEGACY_LABELS = ['controller-uid', 'job-name'] as const;

/** The labels that the server gives the pods of a Job. */
export function generatedLabels({ metadata }: Job, naming: Naming): { [label: string]: string } {
  const { uid = '', name = '' } = metadata;
  return {
    'controller-uid': uid,
    'job-name': name,
    [uidLabelOf(naming)]: uid,
    [naming.label('batch.orchestrator.io/job-name')]: name,
  };
}

/** Sets the labels that connect pods to their Job, and the selector for them, unless `manualSelector` is set. */
export function selectOwnPods(object: Job, naming: Naming): void {
  const job = object.spec;
  if (job.manualSelector === true) return;
  const uidLabel = uidLabelOf(naming);
  const labels = (job.template.metadata.labels ??= {});
  for (const [label, value] of Object.entries(generatedLabels(object, naming))) labels[label] ??= value;
  const match = ((job.selector ??= {}).matchLabels ??= {});
  if (isAbsent(match[uidLabel]) && object.metadata.uid) match[uidLabel] = object.metadata.uid;
}

/**
 * A Job without labels gets the labels of its template. Labels that are generated from an invalid name are not copied:
 * the template is refused because of them, and messages would report them again for the Job.
 */
export function copyTemplateLabels(object: Job): void {
  const labels = Object.entries(object.spec.template.metadata.labels ?? {}).map(
    ([key, value]) => [key, String(value)] as const,
  );
  if (labels.length === 0 || Object.keys(object.metadata.labels ?? {}).length > 0) return;
  const name = labels.find(([key]) => key === 'job-name')?.[1] ?? '';
  if (labelValue(name).length === 0) object.metadata.labels = Object.fromEntries(labels);
}
