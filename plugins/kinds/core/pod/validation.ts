import type { ApiObject } from '../../../../core/model/object.js';
import {
  entriesAt,
  isAbsent,
  isSemanticallyEqual,
  numberAt,
  recordAt,
  recordsAt,
  specOf,
  stringAt,
  type UnknownRecord,
} from '../../../../core/model/record.js';
import { Verbatim, forbiddenField, invalid, type Violation } from '../../../../core/model/refusal.js';
import { validatePodSpec } from '../../shared/podSpec/validation.js';
import { differenceText, isUnchanged } from '../../shared/equality.js';
import { rangeText } from '../../shared/violations.js';

const FIXED =
  'pod updates may not change fields other than `spec.containers[*].image`,`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations),`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)';

/** Violations of a new pod. */
export function validateNewPod(object: ApiObject): Violation[] {
  const found = validatePodSpec(specOf(object), 'spec', object.metadata.name ?? '');
  if (recordsAt(specOf(object), 'ephemeralContainers').length > 0)
    found.push(forbiddenField('spec.ephemeralContainers', 'cannot be set on create'));
  if (recordsAt(specOf(object), 'schedulingGates').length > 0 && stringAt(object, 'spec', 'nodeName') !== '')
    found.push(forbiddenField('spec.nodeName', 'cannot be set until all schedulingGates have been cleared'));
  return found;
}

/** The deadline can be set and decreased. */
function validateDeadline(pod: UnknownRecord, old: UnknownRecord): Violation[] {
  const [now, before] = [numberAt(pod, 'activeDeadlineSeconds'), numberAt(old, 'activeDeadlineSeconds')];
  const field = 'spec.activeDeadlineSeconds';
  if (now === before) return [];
  if (now === undefined) return [invalid(field, null, 'must not update from a positive integer to nil value')];
  if (now < 0 || now > 2147483647) return [invalid(field, now, rangeText(0, 2147483647))];
  if (before !== undefined && before < now)
    return [invalid(field, now, 'must be less than or equal to previous value')];
  return [];
}

/** A text that is equal for tolerations that differ only in the duration of NoExecute, which can be changed. */
const tolerationKey = (toleration: UnknownRecord): string =>
  JSON.stringify([
    ...['key', 'operator', 'value', 'effect'].map(member => stringAt(toleration, member)),
    ...(toleration.effect === 'NoExecute' ? [] : [numberAt(toleration, 'tolerationSeconds') ?? 0]),
  ]);

function validateTolerationsUpdate(pod: UnknownRecord, old: UnknownRecord): Violation[] {
  const now = new Set(recordsAt(pod, 'tolerations').map(tolerationKey));
  const kept = recordsAt(old, 'tolerations').every(before => now.has(tolerationKey(before)));
  return kept
    ? []
    : [forbiddenField('spec.tolerations', 'existing toleration can not be modified except its tolerationSeconds')];
}

function validateGatesUpdate(pod: UnknownRecord, old: UnknownRecord): Violation[] {
  const before = new Set(recordsAt(old, 'schedulingGates').map(gate => stringAt(gate, 'name')));
  return recordsAt(pod, 'schedulingGates').flatMap((gate, i) =>
    before.has(stringAt(gate, 'name'))
      ? []
      : [
          forbiddenField(
            `spec.schedulingGates[${i}].name`,
            `only deletion is allowed, but found new scheduling gate '${stringAt(gate, 'name')}'`,
          ),
        ],
  );
}

function validateNodeSelectorUpdate(pod: UnknownRecord, old: UnknownRecord): Violation[] {
  const now = recordAt(pod, 'nodeSelector') ?? {};
  return entriesAt(old, 'nodeSelector').every(([key, value]) => now[key] === value)
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
const nodeTermsOf = (affinity: UnknownRecord | undefined): UnknownRecord[] =>
  recordsAt(affinity, 'requiredDuringSchedulingIgnoredDuringExecution', 'nodeSelectorTerms');

/** Whether a term has the requirements of an earlier one, and further ones at most in lists that had some. */
function addsToTerm(now: UnknownRecord, before: UnknownRecord): boolean {
  const lists = ['matchExpressions', 'matchFields'];
  const wasEmpty = lists.every(list => recordsAt(before, list).length === 0);
  if (wasEmpty) return lists.every(list => recordsAt(now, list).length === 0);
  return lists.every(list => {
    const earlier = recordsAt(before, list);
    return isSemanticallyEqual(recordsAt(now, list).slice(0, earlier.length), earlier);
  });
}

/** Requirements of a gated pod for nodes can be set and added to, so that fewer nodes match. */
function validateNodeAffinityUpdate(pod: UnknownRecord, old: UnknownRecord): Violation[] {
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

const nodeAffinityOf = (pod: UnknownRecord): UnknownRecord | undefined => recordAt(pod, 'affinity', 'nodeAffinity');

/** The affinity of a pod with the affinity to nodes that it had; undefined if that leaves nothing. */
function withOldNodeAffinity(pod: UnknownRecord, old: UnknownRecord): UnknownRecord | undefined {
  const before = nodeAffinityOf(old);
  const { nodeAffinity: _, ...others } = recordAt(pod, 'affinity') ?? {};
  const affinity = before ? { ...others, nodeAffinity: before } : others;
  return recordAt(old, 'affinity') || Object.values(affinity).some(part => !isAbsent(part)) ? affinity : undefined;
}

/** Restores all fields of the spec that can be changed to their previous values. */
function withoutMutableFields(pod: UnknownRecord, old: UnknownRecord, gated: boolean): UnknownRecord {
  const withOldImages = (member: string): UnknownRecord[] => {
    const before = recordsAt(old, member);
    return recordsAt(pod, member).map((container, i) => ({ ...container, image: before[i]?.image }));
  };
  const next: UnknownRecord = {
    ...pod,
    containers: withOldImages('containers'),
    initContainers: withOldImages('initContainers'),
    activeDeadlineSeconds: old.activeDeadlineSeconds,
    tolerations: old.tolerations,
    schedulingGates: old.schedulingGates,
  };
  if (
    (numberAt(old, 'terminationGracePeriodSeconds') ?? 0) < 0 &&
    numberAt(pod, 'terminationGracePeriodSeconds') === 1
  ) {
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
export function validatePodUpdate(object: ApiObject, before: ApiObject): Violation[] {
  const [pod, old] = [specOf(object), specOf(before)];
  const found = validatePodSpec(pod, 'spec', object.metadata.name ?? '');
  for (const member of ['containers', 'initContainers']) {
    if (recordsAt(pod, member).length !== recordsAt(old, member).length) {
      return [...found, forbiddenField(`spec.${member}`, 'pod updates may not add or remove containers')];
    }
    for (const [i, container] of recordsAt(pod, member).entries()) {
      if (stringAt(container, 'image') === '')
        found.push({ reason: 'FieldValueRequired', field: `spec.${member}[${i}].image`, message: 'Required value' });
    }
  }
  const gated = recordsAt(old, 'schedulingGates').length > 0;
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
export function validateEphemeralUpdate(object: ApiObject, old: ApiObject): Violation[] {
  const field = 'spec.ephemeralContainers';
  const now = new Map(
    recordsAt(specOf(object), 'ephemeralContainers').map(container => [stringAt(container, 'name'), container]),
  );
  const found = validatePodSpec(specOf(object), 'spec', object.metadata.name ?? '');
  for (const before of recordsAt(specOf(old), 'ephemeralContainers')) {
    const name = JSON.stringify(stringAt(before, 'name'));
    const after = now.get(stringAt(before, 'name'));
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
