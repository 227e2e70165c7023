import { dns1123Label } from '../../../../core/model/names.js';
import type { ApiObject } from '../../../../core/model/object.js';
import { isAbsent, numberAt, recordAt, stringAt, type UnknownRecord } from '../../../../core/model/record.js';
import { invalid, required, type Violation } from '../../../../core/model/refusal.js';
import type { Naming } from '../../../../core/naming.js';
import { generatedLabels } from './defaults.js';
import { validateJobSpec } from './spec.js';
import { validateSelector, isMalformedSelector, isSelectedBy } from '../../shared/labels.js';
import { isUnchanged } from '../../shared/equality.js';
import { validateImmutable } from '../../shared/violations.js';

/** Checks that a template has a label with a value. */
function validateLabel(labels: UnknownRecord, key: string, value: string): Violation[] {
  const [field, why] = [`spec.template.metadata.labels[${key}]`, `must be '${value}'`];
  if (isAbsent(labels[key])) return [required(field, why)];
  return labels[key] === value ? [] : [invalid(field, labels, why)];
}

/** Checks that the selector is one that the server generates, and the template has the labels `generated` with it. */
function validateGeneratedSelector(object: ApiObject, generated: UnknownRecord): Violation[] {
  const spec = recordAt(object, 'spec');
  const selector = recordAt(spec, 'selector');
  if (spec?.manualSelector === true || !selector) return [];
  const labels = recordAt(spec, 'template', 'metadata', 'labels') ?? {};
  const isGenerated = isMalformedSelector(selector) || isSelectedBy(selector, generated);
  return [
    ...Object.entries(generated).flatMap(([key, value]) => validateLabel(labels, key, String(value))),
    ...(isGenerated ? [] : [invalid('spec.selector', selector, '`selector` not auto-generated')]),
  ];
}

/** The selector must match the labels of the template. */
function validateJobSelector(object: ApiObject): Violation[] {
  const spec = recordAt(object, 'spec');
  const selector = recordAt(spec, 'selector');
  const labels = recordAt(spec, 'template', 'metadata', 'labels') ?? {};
  const found = selector ? validateSelector(selector, 'spec.selector') : [required('spec.selector')];
  if (!selector || (validateSelector(selector, '').length === 0 && !isSelectedBy(selector, labels)))
    found.push(invalid('spec.template.metadata.labels', labels, '`selector` does not match template `labels`'));
  return found;
}

/** The host names of indexed pods end with their index. */
function validateJobName(object: ApiObject): Violation[] {
  const spec = recordAt(object, 'spec');
  const completions = numberAt(spec, 'completions') ?? 0;
  if (stringAt(spec, 'completionMode') !== 'Indexed' || completions <= 0) return [];
  const name = object.metadata.name ?? '';
  const host = `${name}-${completions - 1}`;
  return dns1123Label(host).length === 0
    ? []
    : [invalid('metadata.name', name, `will not able to create pod with invalid DNS label: ${host}`)];
}

/** Violations of a new Job, for which the server generates the labels of a naming. */
export const validateJob = (object: ApiObject, naming: Naming): Violation[] => [
  ...validateJobName(object),
  ...validateGeneratedSelector(object, generatedLabels(object, naming)),
  ...validateJobSelector(object),
  ...validateJobSpec(recordAt(object, 'spec'), 'spec'),
];

/** Members of a template that can be changed while the Job is suspended and has not started. */
const SCHEDULING = ['affinity', 'nodeSelector', 'tolerations', 'schedulingGates'];

function validateTemplateUpdate(object: ApiObject, old: ApiObject): Violation[] {
  const [now, before] = [structuredClone(recordAt(object, 'spec', 'template')), recordAt(old, 'spec', 'template')];
  if (recordAt(old, 'spec')?.suspend === true && isAbsent(recordAt(old, 'status')?.startTime) && now && before) {
    const [pod, was] = [recordAt(now, 'spec'), recordAt(before, 'spec')];
    for (const member of SCHEDULING) if (pod) pod[member] = was?.[member];
    const [metadata, earlier] = [recordAt(now, 'metadata'), recordAt(before, 'metadata')];
    for (const member of ['annotations', 'labels']) if (metadata) metadata[member] = earlier?.[member];
  }
  return isUnchanged(now, before)
    ? []
    : [invalid('spec.template', recordAt(object, 'spec', 'template'), 'field is immutable')];
}

function validateCompletionsUpdate(now: UnknownRecord | undefined, before: UnknownRecord | undefined): Violation[] {
  if (numberAt(now, 'completions') === numberAt(before, 'completions')) return [];
  if (stringAt(now, 'completionMode') !== 'Indexed')
    return validateImmutable(now, before, 'completions', 'spec.completions');
  const [completions, parallel] = [numberAt(now, 'completions'), numberAt(now, 'parallelism')];
  // The validation of the spec reports a missing value.
  if (completions === undefined) return [];
  return completions === parallel
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

/** Violations of an update of a Job. */
export function validateJobUpdate(object: ApiObject, old: ApiObject, naming: Naming): Violation[] {
  const [now, before] = [recordAt(object, 'spec'), recordAt(old, 'spec')];
  return [
    ...validateGeneratedSelector(object, generatedLabels(object, naming)),
    ...validateJobSelector(object),
    ...validateJobSpec(now, 'spec'),
    ...validateCompletionsUpdate(now, before),
    ...IMMUTABLE.filter(member => !isUnchanged(now?.[member], before?.[member], member)).map(member =>
      invalid(`spec.${member}`, now?.[member] ?? null, 'field is immutable'),
    ),
    ...validateTemplateUpdate(object, old),
  ];
}
