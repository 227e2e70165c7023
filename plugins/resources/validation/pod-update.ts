import type { ApiObject } from '../../../core/model/object.js';
import { forbiddenField, invalid, type Violation } from '../../../core/model/refusal.js';
import { absent, at, entries, list, num, type Rec, same, spec, text } from '../record.js';
import { between } from './checks.js';
import { ephemeralViolations, podSpecViolations } from './pod-spec.js';

const FIXED =
  'pod updates may not change fields other than `spec.containers[*].image`,`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations),`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)';

/** What is wrong with a new pod. */
export function podCreateViolations(object: ApiObject): Violation[] {
  const found = podSpecViolations(spec(object), 'spec');
  if (list(spec(object), 'ephemeralContainers').length > 0)
    found.push(forbiddenField('spec.ephemeralContainers', 'cannot be set on create'));
  return found;
}

function deadline(pod: Rec, old: Rec): Violation[] {
  const [now, before] = [num(pod, 'activeDeadlineSeconds'), num(old, 'activeDeadlineSeconds')];
  const field = 'spec.activeDeadlineSeconds';
  if (now === before) return [];
  if (now === undefined) return [invalid(field, null, 'must not update from a positive integer to nil value')];
  if (now < 0 || now > 2147483647) return [invalid(field, now, between(0, 2147483647))];
  if (before !== undefined && before < now)
    return [invalid(field, now, 'must be less than or equal to previous value')];
  return [];
}

/** What makes tolerations the same one; how long they last counts where that may not change. */
const tolerationKey = (toleration: Rec): string =>
  JSON.stringify([
    ...['key', 'operator', 'value', 'effect'].map(member => text(toleration, member)),
    ...(toleration.effect === 'NoExecute' ? [] : [num(toleration, 'tolerationSeconds') ?? 0]),
  ]);

function tolerations(pod: Rec, old: Rec): Violation[] {
  const now = new Set(list(pod, 'tolerations').map(tolerationKey));
  const kept = list(old, 'tolerations').every(before => now.has(tolerationKey(before)));
  return kept
    ? []
    : [forbiddenField('spec.tolerations', 'existing toleration can not be modified except its tolerationSeconds')];
}

function gates(pod: Rec, old: Rec): Violation[] {
  const before = new Set(list(old, 'schedulingGates').map(gate => text(gate, 'name')));
  return list(pod, 'schedulingGates').flatMap((gate, i) =>
    before.has(text(gate, 'name'))
      ? []
      : [
          forbiddenField(
            `spec.schedulingGates[${i}].name`,
            `only deletion is allowed, but found new scheduling gate '${text(gate, 'name')}'`,
          ),
        ],
  );
}

function nodeSelector(pod: Rec, old: Rec): Violation[] {
  const now = at(pod, 'nodeSelector') ?? {};
  return entries(old, 'nodeSelector').every(([key, value]) => now[key] === value)
    ? []
    : [
        invalid(
          'spec.nodeSelector',
          now,
          'only additions to spec.nodeSelector are allowed (no mutations or deletions)',
        ),
      ];
}

/** The spec with everything that may change set to what the old one has. */
function withoutChangeable(pod: Rec, old: Rec, gated: boolean): Rec {
  const withOldImages = (member: string): Rec[] => {
    const before = list(old, member);
    return list(pod, member).map((container, i) => ({ ...container, image: before[i]?.image }));
  };
  const next: Rec = {
    ...pod,
    containers: withOldImages('containers'),
    initContainers: withOldImages('initContainers'),
    activeDeadlineSeconds: old.activeDeadlineSeconds,
    tolerations: old.tolerations,
    schedulingGates: old.schedulingGates,
  };
  if ((num(old, 'terminationGracePeriodSeconds') ?? 0) < 0 && num(pod, 'terminationGracePeriodSeconds') === 1) {
    next.terminationGracePeriodSeconds = old.terminationGracePeriodSeconds;
  }
  if (gated) next.nodeSelector = old.nodeSelector;
  if (absent(next.automountServiceAccountToken)) delete next.automountServiceAccountToken;
  return next;
}

/** Longest difference shown: enough to see what a client did not mean to change. */
const DIFFERENCE = 4096;

/** The members that differ, as lines of what was and what is. */
function difference(before: Rec, now: Rec): string {
  const lines = [...new Set([...Object.keys(before), ...Object.keys(now)])]
    .filter(member => !same(before[member], now[member]))
    .flatMap(member => [
      `- ${member}: ${JSON.stringify(before[member])}`,
      `+ ${member}: ${JSON.stringify(now[member])}`,
    ]);
  return `${lines.join('\n').slice(0, DIFFERENCE)}\n`;
}

/** What an update of a pod may not do (spec, "Pod updates"). */
export function podUpdateViolations(object: ApiObject, before: ApiObject): Violation[] {
  const [pod, old] = [spec(object), spec(before)];
  const found = podSpecViolations(pod, 'spec');
  for (const member of ['containers', 'initContainers']) {
    if (list(pod, member).length !== list(old, member).length) {
      return [...found, forbiddenField(`spec.${member}`, 'pod updates may not add or remove containers')];
    }
    for (const [i, container] of list(pod, member).entries()) {
      if (text(container, 'image') === '')
        found.push({ reason: 'FieldValueRequired', field: `spec.${member}[${i}].image`, message: 'Required value' });
    }
  }
  const gated = list(old, 'schedulingGates').length > 0;
  found.push(...deadline(pod, old), ...tolerations(pod, old), ...gates(pod, old));
  if (gated) found.push(...nodeSelector(pod, old));
  const changed = withoutChangeable(pod, old, gated);
  if (!same(changed, old)) found.push(forbiddenField('spec', `${FIXED}\n${difference(old, changed)}`));
  return found;
}

/** Ephemeral containers may be added, never changed or taken away. */
export function ephemeralUpdateViolations(object: ApiObject, old: ApiObject): Violation[] {
  const field = 'spec.ephemeralContainers';
  const now = new Map(list(spec(object), 'ephemeralContainers').map(container => [text(container, 'name'), container]));
  const found = [...podSpecViolations(spec(object), 'spec'), ...ephemeralViolations(spec(object), field)];
  for (const before of list(spec(old), 'ephemeralContainers')) {
    const name = JSON.stringify(text(before, 'name'));
    const after = now.get(text(before, 'name'));
    if (!after) found.push(forbiddenField(field, `existing ephemeral containers ${name} may not be removed\n`));
    else if (!same(after, before))
      found.push(
        forbiddenField(field, `existing ephemeral containers ${name} may not be changed\n${difference(before, after)}`),
      );
  }
  return found;
}
