import type { Naming } from '../../../core/naming.js';
import type { ScaleFields } from '../../../core/api/strategy.js';
import type { Int64 } from '../../../core/model/scalars.js';
import { integerIn, type IntegerMember } from './values/members.js';
import type { LabelSelector } from '../../../kinds/meta/v1.js';
import type { ReplicationController, PodSpec } from '../../../kinds/v1.js';
import type {
  RollingUpdateDeployment,
  DaemonSet,
  Deployment,
  ReplicaSet,
  StatefulSet,
  RollingUpdateDaemonSet,
} from '../../../kinds/apps/v1.js';
import { labelSelectorText } from '../../../core/model/selectors/labelSelector.js';
import { isAbsent } from '../../../core/model/record.js';
import { forbiddenField, invalid, notSupported, required, type Violation } from '../../../core/model/refusal.js';
import { validateIntOrPercent } from './values/intOrPercent.js';
import { isEmptySelector, isMalformedSelector, isSelectedBy, validateSelector } from './labels.js';
import { validateTemplate, validateTemplateMetadata } from './podSpec/validation.js';
import { validateImmutable, validateNotNegative } from './violations.js';

/** Checks that counts of the spec are not negative. */
export const validateCounts = <T extends object>(spec: T, members: readonly IntegerMember<T>[]): Violation[] =>
  members.flatMap(member => validateNotNegative(spec, member, `spec.${member}`));

/**
 * A workload whose pods have the restart policy Always: its names in messages, and the special rules of its validation.
 */
export interface Workload {
  /** The kind in the message about an empty selector. */
  readonly kind: string;
  /** The kind in the message about a deadline. */
  readonly owner: string;
  /** The message about a malformed selector in addition to those about its parts; absent for none. */
  readonly malformed?: string;
  /** Whether only the labels of the template are reported if there is no selector. */
  readonly omitsMissingSelector?: boolean;
  /** Whether only those members of the template's spec are validated that a workload restricts. */
  readonly skipsPodSpec?: boolean;
}

function validateWorkloadSelector(selector: null | LabelSelector, workload: Workload): Violation[] {
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
export function validateTemplateAndSelector(
  object: DaemonSet | Deployment | ReplicaSet | StatefulSet,
  workload: Workload,
  naming: Naming,
): Violation[] {
  const selector = object.spec.selector;
  const template = object.spec.template;
  const labels = template.metadata.labels ?? {};
  const found = validateWorkloadSelector(selector, workload);
  // Without a selector that can be applied, upstream validates only the restricted fields of the template.
  if (selector && workload.malformed !== undefined && isMalformedSelector(selector))
    return workload.skipsPodSpec ? [...found, ...validateAlwaysRunning(template.spec, workload.owner)] : found;
  const wellFormed = !selector || !isMalformedSelector(selector);
  if (wellFormed && (!selector || (!isEmptySelector(selector) && !isSelectedBy(selector, labels))))
    found.push(invalid('spec.template.metadata.labels', labels, '`selector` does not match template `labels`'));
  return [
    ...found,
    ...(workload.skipsPodSpec
      ? validateTemplateMetadata(template, 'spec.template', naming)
      : validateTemplate(template, 'spec.template', naming)),
    ...validateAlwaysRunning(template.spec, workload.owner),
  ];
}

/** The pods of the workload must have the restart policy Always and no deadline. */
export function validateAlwaysRunning(pod: PodSpec, owner: string): Violation[] {
  const found: Violation[] = [];
  if ((pod.restartPolicy ?? '') !== 'Always')
    found.push(notSupported('spec.template.spec.restartPolicy', pod.restartPolicy ?? '', ['Always']));
  if (!isAbsent(pod.activeDeadlineSeconds)) {
    found.push(
      forbiddenField('spec.template.spec.activeDeadlineSeconds', `activeDeadlineSeconds in ${owner} is not Supported`),
    );
  }
  return found;
}

/** How many pods may be missing, or too many, during a rolling update. */
export type RollingCounts = RollingUpdateDaemonSet | RollingUpdateDeployment;

/** Checks that the counts of a rolling update are numbers or percentages. */
export const validateRollingCounts = (owner: RollingCounts | undefined, field: string): Violation[] =>
  (['maxUnavailable', 'maxSurge'] as const).flatMap(member =>
    validateIntOrPercent(owner?.[member], `${field}.${member}`),
  );

/** Checks that the selector has not changed. */
export const validateImmutableSelector = (
  object: DaemonSet | Deployment | ReplicaSet,
  old: DaemonSet | Deployment | ReplicaSet,
): Violation[] => validateImmutable(object.spec, old.spec, 'selector', 'spec.selector');

/** The status of a workload with replicas. */
interface CountedStatus {
  readonly replicas?: number;
  readonly readyReplicas?: number;
  readonly availableReplicas?: number;
  readonly observedGeneration?: Int64;
  readonly collisionCount?: number;
}

type CountOf<Status> = IntegerMember<Status>;

/**
 * Checks the counts of a status: `all` must not be negative, `parts` must not exceed the replicas, and available
 * replicas must be ready. `ready` is the field of the ready replicas in messages.
 */
export function validateReplicaStatus<Status extends CountedStatus>(
  { status = {} as Status }: { readonly status?: Status },
  { status: before }: { readonly status?: Status },
  all: readonly CountOf<Status>[],
  parts: readonly CountOf<Status>[],
  ready = 'readyReplicas',
): Violation[] {
  const count = (member: CountOf<Status>): number => Number(integerIn(status, member) ?? 0);
  const found = [...all, ...parts, 'observedGeneration' as const, 'collisionCount' as const].flatMap(member =>
    validateNotNegative(status as CountedStatus, member as 'replicas', `status.${member}`),
  );
  for (const member of parts) {
    if (count(member) > (status.replicas ?? 0))
      found.push(invalid(`status.${member}`, count(member), 'cannot be greater than status.replicas'));
  }
  const { availableReplicas = 0, readyReplicas = 0, collisionCount } = status;
  if ((parts as readonly string[]).includes('availableReplicas') && availableReplicas > readyReplicas)
    found.push(invalid('status.availableReplicas', availableReplicas, `cannot be greater than ${ready}`));
  if (before?.collisionCount !== undefined && (collisionCount ?? 0) < before.collisionCount)
    found.push(invalid('status.collisionCount', collisionCount, 'cannot be decremented'));
  return found;
}

/** Violations of the status of a ReplicaSet or a ReplicationController. */
export const validateReplicaSetStatus = <T extends ReplicaSet | ReplicationController>(
  object: T,
  old: T,
): Violation[] =>
  validateReplicaStatus(object, old, ['replicas'], ['fullyLabeledReplicas', 'readyReplicas', 'availableReplicas']);

/** The scale subresource of kinds with a label selector. */
export const replicaScale: ScaleFields<{ readonly spec: { readonly selector?: LabelSelector | null } }> = {
  spec: ['spec', 'replicas'],
  status: ['status', 'replicas'],
  selector: object => labelSelectorText(object.spec.selector ?? undefined),
};
