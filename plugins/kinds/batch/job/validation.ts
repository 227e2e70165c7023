import type { Job, JobSpec } from '../../../../kinds/batch/v1.js';
import { dns1123Label } from '../../../../core/model/names.js';
import { isAbsent } from '../../../../core/model/record.js';
import { invalid, required, type Violation } from '../../../../core/model/refusal.js';
import type { Naming } from '../../../../core/naming.js';
import { generatedLabels, LEGACY_LABELS } from './defaults.js';
import { validateJobSpec } from './spec.js';
import { validateSelector, isMalformedSelector, isSelectedBy } from '../../shared/labels.js';
import { isUnchanged } from '../../shared/values/equality.js';
import { validateImmutable } from '../../shared/violations.js';

/** Checks that a template has a label with a value. */
function validateLabel(labels: { [key: string]: string }, key: string, value: string): Violation[] {
  const [field, why] = [`spec.template.metadata.labels[${key}]`, `must be '${value}'`];
  if (isAbsent(labels[key])) return [required(field, why)];
  return labels[key] === value ? [] : [invalid(field, labels, why)];
}

const isLegacy = (label: string): boolean => LEGACY_LABELS.some(legacy => legacy === label);

/**
 * Checks that the selector is one that the server generates, and the template has the labels `generated` with it: all
 * of them if the Job is new or has had them before, unlike Jobs that old releases made.
 */
function validateGeneratedSelector(
  object: Job,
  generated: { readonly [label: string]: string },
  old?: Job,
): Violation[] {
  const spec = object.spec;
  const selector = spec.selector;
  if (spec.manualSelector === true || !selector) return [];
  const labels = spec.template.metadata.labels ?? {};
  const isGenerated = isMalformedSelector(selector) || isSelectedBy(selector, generated);
  const before = old?.spec.template.metadata.labels ?? {};
  const hadAll = !old || Object.keys(generated).every(key => isLegacy(key) || !isAbsent(before[key]));
  const needed = Object.entries(generated).filter(([key]) => hadAll || isLegacy(key));
  return [
    ...needed.flatMap(([key, value]) => validateLabel(labels, key, value)),
    ...(isGenerated ? [] : [invalid('spec.selector', selector, '`selector` not auto-generated')]),
  ];
}

/** The selector must match the labels of the template. */
function validateJobSelector(object: Job): Violation[] {
  const spec = object.spec;
  const selector = spec.selector;
  const labels = spec.template.metadata.labels ?? {};
  const found = selector ? validateSelector(selector, 'spec.selector') : [required('spec.selector')];
  if (!selector || (validateSelector(selector, '').length === 0 && !isSelectedBy(selector, labels)))
    found.push(invalid('spec.template.metadata.labels', labels, '`selector` does not match template `labels`'));
  return found;
}

/** The host names of indexed pods end with their index. */
function validateJobName(object: Job): Violation[] {
  const spec = object.spec;
  const completions = spec.completions ?? 0;
  if ((spec.completionMode ?? '') !== 'Indexed' || completions <= 0) return [];
  const name = object.metadata.name ?? '';
  const host = `${name}-${completions - 1}`;
  return dns1123Label(host).length === 0
    ? []
    : [invalid('metadata.name', name, `will not able to create pod with invalid DNS label: ${host}`)];
}

/** Violations of a new Job, for which the server generates the labels of a naming. */
export const validateJob = (object: Job, naming: Naming): Violation[] => [
  ...validateGeneratedSelector(object, generatedLabels(object, naming)),
  ...validateJobSpec(object.spec, 'spec', naming),
  ...validateJobSelector(object),
  ...validateJobName(object),
];

/** Scheduling fields can be changed while the Job is suspended and has not started. */
function validateTemplateUpdate(object: Job, old: Job): Violation[] {
  const [now, before] = [structuredClone(object.spec.template), old.spec.template];
  if (old.spec.suspend === true && isAbsent(old.status?.startTime)) {
    const { affinity, nodeSelector, tolerations, schedulingGates } = before.spec;
    Object.assign(now.spec, { affinity, nodeSelector, tolerations, schedulingGates });
    const { annotations, labels } = before.metadata;
    Object.assign(now.metadata, { annotations, labels });
  }
  return isUnchanged(now, before) ? [] : [invalid('spec.template', object.spec.template, 'field is immutable')];
}

function validateCompletionsUpdate(now: JobSpec, before: JobSpec): Violation[] {
  if (now.completions === before.completions) return [];
  if ((now.completionMode ?? '') !== 'Indexed')
    return validateImmutable(now, before, 'completions', 'spec.completions');
  const [completions, parallel] = [now.completions, now.parallelism];
  // The validation of the spec reports a missing value.
  if (completions === undefined) return [];
  return completions === parallel
    ? []
    : [invalid('spec.completions', completions, 'can only be modified in tandem with spec.parallelism')];
}

/** Immutable fields in the order of their violations. Those of the selector and the template come first. */
const IMMUTABLE = ['completionMode', 'podFailurePolicy', 'backoffLimitPerIndex', 'managedBy', 'successPolicy'] as const;

const validateSame = (now: JobSpec, before: JobSpec, member: keyof JobSpec): Violation[] =>
  isUnchanged(now[member], before[member], member)
    ? []
    : [invalid(`spec.${member}`, now[member] ?? null, 'field is immutable')];

/** Violations of an update of a Job. */
export function validateJobUpdate(object: Job, old: Job, naming: Naming): Violation[] {
  const [now, before] = [object.spec, old.spec];
  return [
    ...validateGeneratedSelector(object, generatedLabels(object, naming), old),
    ...validateJobSpec(now, 'spec', naming),
    ...validateJobSelector(object),
    ...validateCompletionsUpdate(now, before),
    ...validateSame(now, before, 'selector'),
    ...validateTemplateUpdate(object, old),
    ...IMMUTABLE.flatMap(member => validateSame(now, before, member)),
  ];
}
