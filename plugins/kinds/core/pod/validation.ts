import type {
  Affinity,
  Container,
  NodeAffinity,
  NodeSelectorTerm,
  Pod,
  PodSpec,
  Toleration,
} from '../../../../kinds/v1.js';
import { toNumber } from '../../../../core/model/scalars.js';
import { isAbsent, isSemanticallyEqual } from '../../../../core/model/record.js';
import { Verbatim, forbiddenField, invalid, type Violation } from '../../../../core/model/refusal.js';
import { validatePodSpec } from '../../shared/podSpec/validation.js';
import { differenceText, isUnchanged } from '../../shared/values/equality.js';
import { rangeText } from '../../shared/violations.js';

const FIXED =
  'pod updates may not change fields other than `spec.containers[*].image`,`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations),`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)';

/** Violations of a new pod. */
export function validateNewPod(object: Pod): Violation[] {
  const found = validatePodSpec(object.spec, 'spec', object.metadata.name ?? '');
  if ((object.spec.ephemeralContainers ?? []).length > 0)
    found.push(forbiddenField('spec.ephemeralContainers', 'cannot be set on create'));
  if ((object.spec.schedulingGates ?? []).length > 0 && (object.spec.nodeName ?? '') !== '')
    found.push(forbiddenField('spec.nodeName', 'cannot be set until all schedulingGates have been cleared'));
  return found;
}

/** The deadline can be set and decreased. */
function validateDeadline(pod: PodSpec, old: PodSpec): Violation[] {
  const [now, before] = [toNumber(pod.activeDeadlineSeconds), toNumber(old.activeDeadlineSeconds)];
  const field = 'spec.activeDeadlineSeconds';
  if (now === before) return [];
  if (now === undefined) return [invalid(field, null, 'must not update from a positive integer to nil value')];
  if (now < 0 || now > 2147483647) return [invalid(field, now, rangeText(0, 2147483647))];
  if (before !== undefined && before < now)
    return [invalid(field, now, 'must be less than or equal to previous value')];
  return [];
}

/** A text that is equal for tolerations that differ only in their duration, which can be changed. */
const tolerationKey = (toleration: Toleration): string =>
  JSON.stringify((['key', 'operator', 'value', 'effect'] as const).map(member => toleration[member] ?? ''));

function validateTolerationsUpdate(pod: PodSpec, old: PodSpec): Violation[] {
  const now = new Set((pod.tolerations ?? []).map(tolerationKey));
  const kept = (old.tolerations ?? []).every(before => now.has(tolerationKey(before)));
  return kept
    ? []
    : [forbiddenField('spec.tolerations', 'existing toleration can not be modified except its tolerationSeconds')];
}

function validateGatesUpdate(pod: PodSpec, old: PodSpec): Violation[] {
  // For a name that is given twice, the last position is reported.
  const places = new Map((pod.schedulingGates ?? []).map((gate, i) => [gate.name, i]));
  for (const { name } of old.schedulingGates ?? []) places.delete(name);
  return [...places].map(([name, i]) =>
    forbiddenField(
      `spec.schedulingGates[${i}].name`,
      `only deletion is allowed, but found new scheduling gate '${name}'`,
    ),
  );
}

function validateNodeSelectorUpdate(pod: PodSpec, old: PodSpec): Violation[] {
  const now = pod.nodeSelector ?? {};
  return Object.entries(old.nodeSelector ?? {}).every(([key, value]) => now[key] === value)
    ? []
    : [
        invalid(
          'spec.nodeSelector',
          now,
          'only additions to spec.nodeSelector are allowed (no mutations or deletions)',
        ),
      ];
}

/** The alternatives of the required affinity to nodes. */
const nodeTermsOf = (affinity: NodeAffinity | undefined): NodeSelectorTerm[] =>
  affinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms ?? [];

/** Whether a term begins with the requirements of an earlier one. A term without requirements must stay empty. */
function addsToTerm(now: NodeSelectorTerm, before: NodeSelectorTerm): boolean {
  const lists = ['matchExpressions', 'matchFields'] as const;
  const wasEmpty = lists.every(list => (before[list] ?? []).length === 0);
  if (wasEmpty) return lists.every(list => (now[list] ?? []).length === 0);
  return lists.every(list => {
    const earlier = before[list] ?? [];
    return isSemanticallyEqual((now[list] ?? []).slice(0, earlier.length), earlier);
  });
}

/** Requirements of a gated pod for nodes can be set and added to, so that fewer nodes match. */
function validateNodeAffinityUpdate(pod: PodSpec, old: PodSpec): Violation[] {
  const [now, before] = [nodeTermsOf(nodeAffinityOf(pod)), nodeTermsOf(nodeAffinityOf(old))];
  const field = 'spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms';
  if (before.length === 0) return [];
  const shown = (value: unknown): Verbatim => new Verbatim(`[]core.NodeSelectorTerm{${JSON.stringify(value)}}`);
  if (now.length !== before.length)
    return [invalid(field, shown(now), 'no additions/deletions to non-empty NodeSelectorTerms list are allowed')];
  return before.flatMap((term, i) =>
    addsToTerm(now[i]!, term)
      ? []
      : [invalid(`${field}[${i}]`, shown(now[i]), 'only additions are allowed (no mutations or deletions)')],
  );
}

const nodeAffinityOf = (pod: PodSpec): NodeAffinity | undefined => pod.affinity?.nodeAffinity;

/** The affinity of a pod with the affinity to nodes that it had; undefined if that leaves nothing. */
function withOldNodeAffinity(pod: PodSpec, old: PodSpec): Affinity | undefined {
  const before = nodeAffinityOf(old);
  const { nodeAffinity: _, ...others } = pod.affinity ?? {};
  const affinity = before ? { ...others, nodeAffinity: before } : others;
  return old.affinity || Object.values(affinity).some(part => !isAbsent(part)) ? affinity : undefined;
}

/** Restores all fields of the spec that can be changed to their previous values. */
function withoutMutableFields(pod: PodSpec, old: PodSpec, gated: boolean): PodSpec {
  const withOldImages = (member: 'containers' | 'initContainers'): Container[] => {
    const before = old[member] ?? [];
    return (pod[member] ?? []).map((container, i) => ({ ...container, image: before[i]?.image }));
  };
  const next: PodSpec = {
    ...pod,
    containers: withOldImages('containers'),
    initContainers: withOldImages('initContainers'),
    activeDeadlineSeconds: old.activeDeadlineSeconds,
    tolerations: old.tolerations,
    schedulingGates: old.schedulingGates,
  };
  if ((toNumber(old.terminationGracePeriodSeconds) ?? 0) < 0 && toNumber(pod.terminationGracePeriodSeconds) === 1) {
    next.terminationGracePeriodSeconds = old.terminationGracePeriodSeconds;
  }
  if (gated) {
    next.nodeSelector = old.nodeSelector;
    if (!isUnchanged(nodeAffinityOf(pod), nodeAffinityOf(old))) next.affinity = withOldNodeAffinity(pod, old);
  }
  if (isAbsent(next.automountServiceAccountToken)) delete next.automountServiceAccountToken;
  return next;
}

/** Violations of an update of a pod. */
export function validatePodUpdate(object: Pod, before: Pod): Violation[] {
  const [pod, old] = [object.spec, before.spec];
  const found = validatePodSpec(pod, 'spec', object.metadata.name ?? '');
  for (const member of ['containers', 'initContainers'] as const) {
    if ((pod[member] ?? []).length !== (old[member] ?? []).length) {
      return [...found, forbiddenField(`spec.${member}`, 'pod updates may not add or remove containers')];
    }
    for (const [i, container] of (pod[member] ?? []).entries()) {
      if ((container.image ?? '') === '')
        found.push({ reason: 'FieldValueRequired', field: `spec.${member}[${i}].image`, message: 'Required value' });
    }
  }
  const gated = (old.schedulingGates ?? []).length > 0;
  const ofDeadline = validateDeadline(pod, old);
  found.push(...ofDeadline);
  // A wrong deadline is reported alone; a removed one is not.
  if (ofDeadline.length > 0 && !isAbsent(pod.activeDeadlineSeconds)) return found;
  found.push(...validateTolerationsUpdate(pod, old), ...validateGatesUpdate(pod, old));
  if (gated) found.push(...validateNodeSelectorUpdate(pod, old), ...validateNodeAffinityUpdate(pod, old));
  const changed = withoutMutableFields(pod, old, gated);
  if (!isUnchanged(changed, old)) found.push(forbiddenField('spec', `${FIXED}\n${differenceText(old, changed)}`));
  return found;
}

/** Checks that ephemeral containers were only added. */
export function validateEphemeralUpdate(object: Pod, old: Pod): Violation[] {
  const field = 'spec.ephemeralContainers';
  const now = new Map((object.spec.ephemeralContainers ?? []).map(container => [container.name, container]));
  const found = validatePodSpec(object.spec, 'spec', object.metadata.name ?? '');
  for (const before of old.spec.ephemeralContainers ?? []) {
    const name = JSON.stringify(before.name);
    const after = now.get(before.name);
    if (!after) found.push(forbiddenField(field, `existing ephemeral containers ${name} may not be removed\n`));
    else if (!isSemanticallyEqual(after, before))
      found.push(
        forbiddenField(
          field,
          `existing ephemeral containers ${name} may not be changed\n${differenceText(before, after)}`,
        ),
      );
  }
  return found;
}
