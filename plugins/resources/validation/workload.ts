import type { ApiObject } from '../../../core/model/object.js';
import { forbiddenField, invalid, notSupported, required, type Violation } from '../../../core/model/refusal.js';
import { absent, at, num, type Rec, same, text } from '../record.js';
import {
  atMostAll,
  intOrPercent,
  intOrString,
  isNone,
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
function templateAndSelector(object: ApiObject, kind: string, deep = true): Violation[] {
  const selector = at(object, 'spec', 'selector');
  const template = at(object, 'spec', 'template');
  const found: Violation[] = [];
  if (!selector) found.push(required('spec.selector'));
  else {
    const wrong = selectorViolations(selector, 'spec.selector');
    found.push(...wrong);
    if (wrong.length > 0) found.push(invalid('spec.selector', selector, 'invalid label selector'));
    else if (selectsAll(selector)) found.push(invalid('spec.selector', selector, `empty selector is invalid for ${kind}`));
  }
  const labels = at(template, 'metadata', 'labels') ?? {};
  const wellFormed = !selector || selectorViolations(selector, '').length === 0;
  if (wellFormed && (!selector || (!selectsAll(selector) && !selects(selector, labels)))) {
    found.push(invalid('spec.template.metadata.labels', labels, '`selector` does not match template `labels`'));
  }
  if (!deep) return found;
  return [...found, ...templateViolations(template, 'spec.template'), ...alwaysRunning(at(template, 'spec'))];
}

function alwaysRunning(pod: Rec | undefined): Violation[] {
  const found: Violation[] = [];
  if (['OnFailure', 'Never'].includes(text(pod, 'restartPolicy'))) {
    found.push(notSupported('spec.template.spec.restartPolicy', pod?.restartPolicy, ['Always']));
  }
  if (!absent(pod?.activeDeadlineSeconds)) {
    found.push(
      forbiddenField('spec.template.spec.activeDeadlineSeconds', 'activeDeadlineSeconds in ReplicaSet is not Supported'),
    );
  }
  return found;
}

function rolling(owner: Rec | undefined, field: string, none: string): Violation[] {
  const found = ['maxUnavailable', 'maxSurge'].flatMap(member => intOrPercent(owner, member, `${field}.${member}`));
  found.push(...atMostAll(owner, 'maxUnavailable', `${field}.maxUnavailable`));
  if (isNone(owner?.maxUnavailable) && isNone(owner?.maxSurge))
    found.push(invalid(`${field}.maxUnavailable`, intOrString(owner?.maxUnavailable), none));
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
  return rolling(at(strategy, 'rollingUpdate'), 'spec.strategy.rollingUpdate', 'may not be 0 when `maxSurge` is 0');
}

/** What is wrong with a Deployment. */
export function deploymentViolations(object: ApiObject): Violation[] {
  const spec = at(object, 'spec');
  const found = templateAndSelector(object, 'deployment');
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
  ...templateAndSelector(object, 'replicaset'),
  ...counts(at(object, 'spec'), ['replicas', 'minReadySeconds']),
];

/** What is wrong with a DaemonSet. */
export function daemonSetViolations(object: ApiObject): Violation[] {
  const spec = at(object, 'spec');
  const found = [...templateAndSelector(object, 'daemonset'), ...counts(spec, ['minReadySeconds', 'revisionHistoryLimit'])];
  const strategy = at(spec, 'updateStrategy');
  found.push(...oneOf(strategy, 'type', 'spec.updateStrategy.type', ['RollingUpdate', 'OnDelete']));
  if (text(strategy, 'type') !== 'RollingUpdate') return found;
  const owner = at(strategy, 'rollingUpdate');
  return [...found, ...rolling(owner, 'spec.updateStrategy.rollingUpdate', 'cannot be 0 when maxSurge is 0')];
}

/** What is wrong with a StatefulSet; its template is hardly looked at. */
export function statefulSetViolations(object: ApiObject): Violation[] {
  const spec = at(object, 'spec');
  return [
    ...oneOf(spec, 'podManagementPolicy', 'spec.podManagementPolicy', ['OrderedReady', 'Parallel']),
    ...oneOf(at(spec, 'updateStrategy'), 'type', 'spec.updateStrategy.type', ['RollingUpdate', 'OnDelete']),
    ...counts(spec, ['replicas', 'minReadySeconds']),
    ...templateAndSelector(object, 'statefulset', false),
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
  for (const member of [...SCALABLE, 'revisionHistoryLimit']) {
    delete now[member];
    delete before[member];
  }
  const why =
    "updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', 'updateStrategy', 'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' are forbidden";
  return [...statefulSetViolations(object), ...(same(now, before) ? [] : [forbiddenField('spec', why)])];
}

/** What is wrong with the status of workloads that count replicas. */
export function replicaStatusViolations(object: ApiObject): Violation[] {
  const status = at(object, 'status');
  const total = num(status, 'replicas') ?? 0;
  const found = [
    'replicas',
    'updatedReplicas',
    'readyReplicas',
    'availableReplicas',
    'unavailableReplicas',
    'observedGeneration',
  ].flatMap(member => notNegative(status, member, `status.${member}`));
  for (const member of ['updatedReplicas', 'readyReplicas', 'availableReplicas']) {
    const count = num(status, member) ?? 0;
    if (count > total) found.push(invalid(`status.${member}`, count, 'cannot be greater than status.replicas'));
  }
  return found;
}

/** What is wrong with the spec of a Job, which may stand in a CronJob's template. */
export function jobSpecViolations(spec: Rec | undefined, field: string): Violation[] {
  const members = [
    'parallelism',
    'completions',
    'activeDeadlineSeconds',
    'backoffLimit',
    'ttlSecondsAfterFinished',
    'backoffLimitPerIndex',
    'maxFailedIndexes',
  ];
  const found = members.flatMap(member => notNegative(spec, member, `${field}.${member}`));
  const policy = text(at(spec, 'template', 'spec'), 'restartPolicy');
  if (!absent(spec?.completionMode))
    found.push(...oneOf(spec, 'completionMode', `${field}.completionMode`, ['NonIndexed', 'Indexed']));
  found.push(...templateViolations(at(spec, 'template'), `${field}.template`));
  if (policy === 'Always') {
    const unless = 'template.spec.restartPolicy';
    found.push(required(`${field}.${unless}`, 'valid values: "OnFailure", "Never"'));
  }
  return found;
}

/** What an update of a Job may not change. */
export function jobUpdateViolations(object: ApiObject, old: ApiObject): Violation[] {
  const [now, before] = [at(object, 'spec'), at(old, 'spec')];
  const suspended = before?.suspend === true;
  const found = jobSpecViolations(now, 'spec');
  const elastic = text(now, 'completionMode') === 'Indexed' && num(now, 'completions') === num(now, 'parallelism');
  if (!elastic) found.push(...fixed(now, before, 'completions', 'spec.completions'));
  for (const member of ['selector', 'completionMode', 'podFailurePolicy', 'backoffLimitPerIndex', 'managedBy', 'successPolicy']) {
    found.push(...fixed(now, before, member, `spec.${member}`));
  }
  return suspended ? found : [...found, ...fixed(now, before, 'template', 'spec.template')];
}

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
  return [...found, ...templateViolations(at(spec, 'template'), 'spec.template'), ...alwaysRunning(at(spec, 'template', 'spec'))];
}

/** What is wrong with a CronJob. */
export function cronJobViolations(object: ApiObject): Violation[] {
  const spec = at(object, 'spec');
  const found = counts(spec, ['startingDeadlineSeconds', 'successfulJobsHistoryLimit', 'failedJobsHistoryLimit']);
  if (text(spec, 'schedule') === '') found.push(required('spec.schedule'));
  found.push(...oneOf(spec, 'concurrencyPolicy', 'spec.concurrencyPolicy', ['Allow', 'Forbid', 'Replace']));
  found.push(...jobSpecViolations(at(spec, 'jobTemplate', 'spec'), 'spec.jobTemplate.spec'));
  const name = object.metadata.name ?? '';
  return name.length > 52 ? [...found, invalid('metadata.name', name, 'must be no more than 52 characters')] : found;
}
