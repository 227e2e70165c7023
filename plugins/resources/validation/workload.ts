import type { ApiObject } from '../../../core/model/object.js';
import { forbiddenField, invalid, notSupported, required, type Violation } from '../../../core/model/refusal.js';
import { absent, at, num, type Rec, same, text } from '../record.js';
import {
  atMostAll,
  intOrPercent,
  intOrString,
  notNegative,
  oneOf,
  selects,
  selectorViolations,
  selectsAll,
} from './checks.js';
import { templateViolations } from './pod-spec.js';

const counts = (spec: Rec | undefined, members: readonly string[]): Violation[] =>
  members.flatMap(member => notNegative(spec, member, `spec.${member}`));

/** Selector and template of a workload whose pods run for ever; `kind` is the word the messages use. */
function templateAndSelector(object: ApiObject, kind: string, owner: string, deep = true): Violation[] {
  const selector = at(object, 'spec', 'selector');
  const template = at(object, 'spec', 'template');
  const found: Violation[] = [];
  // What no selector selects is told by the labels of the template alone.
  if (!selector) found.push(...(owner === 'DaemonSet' ? [] : [required('spec.selector')]));
  else {
    const wrong = selectorViolations(selector, 'spec.selector');
    found.push(...wrong);
    if (wrong.length > 0) found.push(invalid('spec.selector', selector, 'invalid label selector'));
    else if (selectsAll(selector))
      found.push(invalid('spec.selector', selector, `empty selector is invalid for ${kind}`));
  }
  const labels = at(template, 'metadata', 'labels') ?? {};
  const wellFormed = !selector || selectorViolations(selector, '').length === 0;
  if (wellFormed && (!selector || (!selectsAll(selector) && !selects(selector, labels)))) {
    found.push(invalid('spec.template.metadata.labels', labels, '`selector` does not match template `labels`'));
  }
  if (!deep) return found;
  return [...found, ...templateViolations(template, 'spec.template'), ...alwaysRunning(at(template, 'spec'), owner)];
}

function alwaysRunning(pod: Rec | undefined, owner: string): Violation[] {
  const found: Violation[] = [];
  if (['OnFailure', 'Never'].includes(text(pod, 'restartPolicy'))) {
    found.push(notSupported('spec.template.spec.restartPolicy', pod?.restartPolicy, ['Always']));
  }
  if (!absent(pod?.activeDeadlineSeconds)) {
    found.push(
      forbiddenField('spec.template.spec.activeDeadlineSeconds', `activeDeadlineSeconds in ${owner} is not Supported`),
    );
  }
  return found;
}

/** Percentages count by their number; what is no number counts as none. */
function countOf(value: unknown): number {
  if (typeof value === 'number') return value;
  return /^[+-]?[0-9]+$|^[0-9]+%$/.test(String(value ?? '')) ? Number.parseInt(String(value), 10) : 0;
}

const rollingCounts = (owner: Rec | undefined, field: string): Violation[] =>
  ['maxUnavailable', 'maxSurge'].flatMap(member => intOrPercent(owner, member, `${field}.${member}`));

function rolling(owner: Rec | undefined, field: string): Violation[] {
  const found = [...rollingCounts(owner, field), ...atMostAll(owner, 'maxUnavailable', `${field}.maxUnavailable`)];
  if (countOf(owner?.maxUnavailable) === 0 && countOf(owner?.maxSurge) === 0)
    found.push(
      invalid(`${field}.maxUnavailable`, intOrString(owner?.maxUnavailable), 'may not be 0 when `maxSurge` is 0'),
    );
  return found;
}

/** A daemon is either missing for a while or there twice, not both. */
function rollingDaemons(owner: Rec | undefined, field: string): Violation[] {
  if (!owner) return [required(field)];
  const found = rollingCounts(owner, field);
  for (const member of ['maxUnavailable', 'maxSurge']) found.push(...atMostAll(owner, member, `${field}.${member}`));
  const [missing, surge] = [countOf(owner.maxUnavailable) !== 0, countOf(owner.maxSurge) !== 0];
  if (missing && surge)
    found.push(
      invalid(`${field}.maxSurge`, intOrString(owner.maxSurge), 'may not be set when maxUnavailable is non-zero'),
    );
  if (!missing && !surge) found.push(required(`${field}.maxUnavailable`, 'cannot be 0 when maxSurge is 0'));
  return found;
}

function updateStrategy(strategy: Rec | undefined): Violation[] {
  const type = text(strategy, 'type');
  if (type === 'Recreate') {
    return at(strategy, 'rollingUpdate')
      ? [forbiddenField('spec.strategy.rollingUpdate', "may not be specified when strategy `type` is 'Recreate'")]
      : [];
  }
  if (type !== 'RollingUpdate') return [notSupported('spec.strategy', strategy ?? {}, ['Recreate', 'RollingUpdate'])];
  return rolling(at(strategy, 'rollingUpdate'), 'spec.strategy.rollingUpdate');
}

/** What is wrong with a Deployment. */
export function deploymentViolations(object: ApiObject): Violation[] {
  const spec = at(object, 'spec');
  const found = templateAndSelector(object, 'deployment', 'ReplicaSet');
  found.push(...counts(spec, ['replicas', 'minReadySeconds', 'revisionHistoryLimit', 'progressDeadlineSeconds']));
  found.push(...updateStrategy(at(spec, 'strategy')));
  const deadline = num(spec, 'progressDeadlineSeconds');
  if (deadline !== undefined && deadline <= (num(spec, 'minReadySeconds') ?? 0)) {
    found.push(invalid('spec.progressDeadlineSeconds', deadline, 'must be greater than minReadySeconds'));
  }
  return found;
}

/** Immutable selector of Deployments, ReplicaSets and DaemonSets. */
export const fixedSelector = (object: ApiObject, old: ApiObject): Violation[] =>
  fixed(at(object, 'spec'), at(old, 'spec'), 'selector', 'spec.selector');

/** A member that may not change. */
export const fixed = (now: unknown, before: unknown, member: string, field: string): Violation[] => {
  const [a, b] = [(now as Rec | undefined)?.[member], (before as Rec | undefined)?.[member]];
  return same(a, b) ? [] : [invalid(field, a, 'field is immutable')];
};

/** What is wrong with a ReplicaSet. */
export const replicaSetViolations = (object: ApiObject): Violation[] => [
  ...templateAndSelector(object, 'replicaset', 'ReplicaSet'),
  ...counts(at(object, 'spec'), ['replicas', 'minReadySeconds']),
];

/** What is wrong with a DaemonSet. */
export function daemonSetViolations(object: ApiObject): Violation[] {
  const spec = at(object, 'spec');
  const found = [
    ...templateAndSelector(object, 'daemonset', 'DaemonSet'),
    ...counts(spec, ['minReadySeconds', 'revisionHistoryLimit']),
  ];
  const strategy = at(spec, 'updateStrategy');
  const type = text(strategy, 'type');
  if (type === 'OnDelete') return found;
  if (type === 'RollingUpdate')
    return [...found, ...rollingDaemons(at(strategy, 'rollingUpdate'), 'spec.updateStrategy.rollingUpdate')];
  return [...found, notSupported('spec.updateStrategy', strategy ?? {}, ['RollingUpdate', 'OnDelete'])];
}

function orderedUpdate(strategy: Rec | undefined): Violation[] {
  const field = 'spec.updateStrategy';
  const [type, owner] = [text(strategy, 'type'), at(strategy, 'rollingUpdate')];
  if (type === 'RollingUpdate') return notNegative(owner, 'partition', `${field}.rollingUpdate.partition`);
  if (type !== 'OnDelete') return [invalid(field, strategy ?? {}, "must be 'RollingUpdate' or 'OnDelete'")];
  return owner ? [invalid(`${field}.rollingUpdate`, owner, "only allowed for updateStrategy 'RollingUpdate'")] : [];
}

/** What is wrong with a StatefulSet; its template is hardly looked at. */
export function statefulSetViolations(object: ApiObject): Violation[] {
  const spec = at(object, 'spec');
  const order = text(spec, 'podManagementPolicy');
  const retention = at(spec, 'persistentVolumeClaimRetentionPolicy');
  return [
    ...(['OrderedReady', 'Parallel'].includes(order)
      ? []
      : [invalid('spec.podManagementPolicy', order, "must be 'OrderedReady' or 'Parallel'")]),
    ...orderedUpdate(at(spec, 'updateStrategy')),
    ...['whenDeleted', 'whenScaled'].flatMap(member =>
      oneOf(retention, member, `spec.persistentVolumeClaimRetentionPolicy.${member}`, ['Retain', 'Delete'], false),
    ),
    ...counts(spec, ['replicas', 'minReadySeconds']),
    ...notNegative(at(spec, 'ordinals'), 'start', 'spec.ordinals.start'),
    ...templateAndSelector(object, 'statefulset', 'StatefulSet', false),
    ...alwaysRunning(at(spec, 'template', 'spec'), 'StatefulSet'),
  ];
}

const SCALABLE = [
  'replicas',
  'ordinals',
  'template',
  'updateStrategy',
  'persistentVolumeClaimRetentionPolicy',
  'minReadySeconds',
];

/** What an update of a StatefulSet may not change. */
export function statefulSetUpdateViolations(object: ApiObject, old: ApiObject): Violation[] {
  const [now, before] = [{ ...at(object, 'spec') }, { ...at(old, 'spec') }];
  for (const member of SCALABLE) {
    delete now[member];
    delete before[member];
  }
  const why =
    "updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', 'updateStrategy', 'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' are forbidden";
  return [...statefulSetViolations(object), ...(same(now, before) ? [] : [forbiddenField('spec', why)])];
}

/**
 * Counts of a status: `all` are not negative, `parts` of the replicas not more than these, none is available without
 * being ready.
 */
function statusViolations(
  object: ApiObject,
  old: ApiObject,
  all: readonly string[],
  parts: readonly string[],
  ready = 'readyReplicas',
) {
  const status = at(object, 'status');
  const count = (member: string): number => num(status, member) ?? 0;
  const found = [...all, ...parts, 'observedGeneration', 'collisionCount'].flatMap(member =>
    notNegative(status, member, `status.${member}`),
  );
  for (const member of parts) {
    if (count(member) > count('replicas'))
      found.push(invalid(`status.${member}`, count(member), 'cannot be greater than status.replicas'));
  }
  if (parts.includes('availableReplicas') && count('availableReplicas') > count('readyReplicas'))
    found.push(invalid('status.availableReplicas', count('availableReplicas'), `cannot be greater than ${ready}`));
  const before = num(at(old, 'status'), 'collisionCount');
  if (before !== undefined && count('collisionCount') < before)
    found.push(invalid('status.collisionCount', num(status, 'collisionCount'), 'cannot be decremented'));
  return found;
}

/** What is wrong with the status of a Deployment. */
export const deploymentStatusViolations = (object: ApiObject, old: ApiObject): Violation[] =>
  statusViolations(
    object,
    old,
    ['replicas', 'unavailableReplicas'],
    ['updatedReplicas', 'readyReplicas', 'availableReplicas'],
  );

/** What is wrong with the status of a ReplicaSet or a ReplicationController. */
export const replicaSetStatusViolations = (object: ApiObject, old: ApiObject): Violation[] =>
  statusViolations(object, old, ['replicas'], ['fullyLabeledReplicas', 'readyReplicas', 'availableReplicas']);

/** What is wrong with the status of a StatefulSet. */
export const statefulSetStatusViolations = (object: ApiObject, old: ApiObject): Violation[] =>
  statusViolations(
    object,
    old,
    ['replicas'],
    ['readyReplicas', 'currentReplicas', 'updatedReplicas', 'availableReplicas'],
    'status.readyReplicas',
  );

const DAEMONS = ['currentNumberScheduled', 'numberMisscheduled', 'desiredNumberScheduled', 'numberReady'];

/** What is wrong with the status of a DaemonSet. */
export const daemonSetStatusViolations = (object: ApiObject, old: ApiObject): Violation[] =>
  statusViolations(object, old, [...DAEMONS, 'updatedNumberScheduled', 'numberAvailable', 'numberUnavailable'], []);

/** What is wrong with a ReplicationController. */
export function replicationControllerViolations(object: ApiObject): Violation[] {
  const spec = at(object, 'spec');
  const selector = at(spec, 'selector') ?? {};
  const found = counts(spec, ['replicas', 'minReadySeconds']);
  if (Object.keys(selector).length === 0) found.push(required('spec.selector'));
  if (!at(spec, 'template')) return [...found, required('spec.template')];
  if (!selects({ matchLabels: selector }, at(spec, 'template', 'metadata', 'labels') ?? {})) {
    found.push(
      invalid(
        'spec.template.metadata.labels',
        at(spec, 'template', 'metadata', 'labels'),
        '`selector` does not match template `labels`',
      ),
    );
  }
  return [
    ...found,
    ...templateViolations(at(spec, 'template'), 'spec.template'),
    ...alwaysRunning(at(spec, 'template', 'spec'), 'ReplicationController'),
  ];
}
