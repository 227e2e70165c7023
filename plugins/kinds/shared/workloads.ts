import type { Strategy } from '../../../core/api/strategy.js';
import { labelSelectorText } from '../../../core/model/labelSelector.js';
import type { ApiObject } from '../../../core/model/object.js';
import { isAbsent, numberAt, recordAt, stringAt, type UnknownRecord } from '../../../core/model/record.js';
import { forbiddenField, invalid, notSupported, required, type Violation } from '../../../core/model/refusal.js';
import { validateIntOrPercent } from './intOrPercent.js';
import { isEmptySelector, isMalformedSelector, isSelectedBy, validateSelector } from './labels.js';
import { validateTemplate, validateTemplateMetadata } from './podSpec/validation.js';
import { validateImmutable, validateNotNegative } from './violations.js';

/** Checks that counts of the spec are not negative. */
export const validateCounts = (spec: UnknownRecord | undefined, members: readonly string[]): Violation[] =>
  members.flatMap(member => validateNotNegative(spec, member, `spec.${member}`));

/** How a workload with pods that always run is named in messages, and what is special about its validation. */
export interface Workload {
  /** The kind in the message about an empty selector. */
  readonly kind: string;
  /** The kind in the message about a deadline. */
  readonly owner: string;
  /** The message about a malformed selector beside those about its parts; absent for none. */
  readonly malformed?: string;
  /** Without a selector, only the labels of the template are reported. */
  readonly omitsMissingSelector?: boolean;
  /** Of the spec of the template, only the members that a workload restricts are validated. */
  readonly skipsPodSpec?: boolean;
}

function validateWorkloadSelector(selector: UnknownRecord | undefined, workload: Workload): Violation[] {
  if (!selector) return workload.omitsMissingSelector ? [] : [required('spec.selector')];
  const found = validateSelector(selector, 'spec.selector');
  if (found.length > 0)
    return workload.malformed === undefined
      ? found
      : [...found, invalid('spec.selector', selector, workload.malformed)];
  return isEmptySelector(selector)
    ? [invalid('spec.selector', selector, `empty selector is invalid for ${workload.kind}`)]
    : [];
}

/** Checks selector and template of a workload whose pods have the restart policy Always. */
export function validateTemplateAndSelector(object: ApiObject, workload: Workload): Violation[] {
  const selector = recordAt(object, 'spec', 'selector');
  const template = recordAt(object, 'spec', 'template');
  const labels = recordAt(template, 'metadata', 'labels') ?? {};
  const found = validateWorkloadSelector(selector, workload);
  const wellFormed = !selector || !isMalformedSelector(selector);
  if (wellFormed && (!selector || (!isEmptySelector(selector) && !isSelectedBy(selector, labels))))
    found.push(invalid('spec.template.metadata.labels', labels, '`selector` does not match template `labels`'));
  return [
    ...found,
    ...(workload.skipsPodSpec
      ? validateTemplateMetadata(template, 'spec.template')
      : validateTemplate(template, 'spec.template')),
    ...validateAlwaysRunning(recordAt(template, 'spec'), workload.owner),
  ];
}

/** The pods of the workload must have the restart policy Always and no deadline. */
export function validateAlwaysRunning(pod: UnknownRecord | undefined, owner: string): Violation[] {
  const found: Violation[] = [];
  if (stringAt(pod, 'restartPolicy') !== 'Always')
    found.push(notSupported('spec.template.spec.restartPolicy', stringAt(pod, 'restartPolicy'), ['Always']));
  if (!isAbsent(pod?.activeDeadlineSeconds)) {
    found.push(
      forbiddenField('spec.template.spec.activeDeadlineSeconds', `activeDeadlineSeconds in ${owner} is not Supported`),
    );
  }
  return found;
}

/** Checks that the counts of a rolling update are numbers or percentages. */
export const validateRollingCounts = (owner: UnknownRecord | undefined, field: string): Violation[] =>
  ['maxUnavailable', 'maxSurge'].flatMap(member => validateIntOrPercent(owner, member, `${field}.${member}`));

/** Checks that the selector has not changed. */
export const validateImmutableSelector = (object: ApiObject, old: ApiObject): Violation[] =>
  validateImmutable(recordAt(object, 'spec'), recordAt(old, 'spec'), 'selector', 'spec.selector');

/**
 * Checks the counts of a status: `all` must not be negative, `parts` must not exceed the replicas, and available
 * replicas must be ready. `ready` is the field of the ready replicas in messages.
 */
export function validateReplicaStatus(
  object: ApiObject,
  old: ApiObject,
  all: readonly string[],
  parts: readonly string[],
  ready = 'readyReplicas',
) {
  const status = recordAt(object, 'status');
  const count = (member: string): number => numberAt(status, member) ?? 0;
  const found = [...all, ...parts, 'observedGeneration', 'collisionCount'].flatMap(member =>
    validateNotNegative(status, member, `status.${member}`),
  );
  for (const member of parts) {
    if (count(member) > count('replicas'))
      found.push(invalid(`status.${member}`, count(member), 'cannot be greater than status.replicas'));
  }
  if (parts.includes('availableReplicas') && count('availableReplicas') > count('readyReplicas'))
    found.push(invalid('status.availableReplicas', count('availableReplicas'), `cannot be greater than ${ready}`));
  const before = numberAt(old, 'status', 'collisionCount');
  if (before !== undefined && count('collisionCount') < before)
    found.push(invalid('status.collisionCount', numberAt(status, 'collisionCount'), 'cannot be decremented'));
  return found;
}

/** Violations of the status of a ReplicaSet or a ReplicationController. */
export const validateReplicaSetStatus = (object: ApiObject, old: ApiObject): Violation[] =>
  validateReplicaStatus(object, old, ['replicas'], ['fullyLabeledReplicas', 'readyReplicas', 'availableReplicas']);

/** The scale subresource of kinds with a label selector. */
export const replicaScale = {
  spec: ['spec', 'replicas'],
  status: ['status', 'replicas'],
  selector: object => labelSelectorText(recordAt(object, 'spec', 'selector')),
} satisfies Strategy['scale'];

/** The pod template of a workload. */
export const podTemplateOf = (object: ApiObject): UnknownRecord | undefined => recordAt(object, 'spec', 'template');
