import type { Column } from '../../core/api/strategy.js';
import type { ApiObject } from '../../core/model/object.js';
import {
  AGE,
  at,
  type Cell,
  column,
  count,
  entries,
  humanDuration,
  integer,
  integers,
  isTrue,
  labelsText,
  list,
  member,
  NAME,
  num,
  scalar,
  selectorText,
  shortList,
  since,
  str,
  text,
  wide,
} from './cells.js';

/** The pod template, where the kind keeps it. */
const template = (object: ApiObject): unknown =>
  at(object, 'template') ?? at(object, 'spec', 'template') ?? at(object, 'spec', 'jobTemplate', 'spec', 'template');

const ofContainers =
  (name: string): Cell =>
  object =>
    list(at(template(object), 'spec', 'containers'))
      .map(container => str(member(container, name)))
      .join(',');

const selector: Cell = object =>
  selectorText(at(object, 'spec', 'selector') ?? at(object, 'spec', 'jobTemplate', 'spec', 'selector'));

const CONTAINERS = wide('Containers', ofContainers('name'));
const IMAGES = wide('Images', ofContainers('image'));
const SELECTOR = wide('Selector', selector);

const readyOfReplicas: Cell = object =>
  `${num(at(object, 'status', 'readyReplicas'))}/${num(at(object, 'spec', 'replicas'))}`;

const JOB_STATES = ['Suspended', 'FailureTarget'];

const jobStatus: Cell = job => {
  if (isTrue(job, 'Complete')) return 'Complete';
  if (isTrue(job, 'Failed')) return 'Failed';
  if (job.metadata.deletionTimestamp) return 'Terminating';
  return JOB_STATES.find(type => isTrue(job, type)) ?? 'Running';
};

const jobCompletions: Cell = job => {
  const succeeded = num(at(job, 'status', 'succeeded'));
  const completions = at(job, 'spec', 'completions');
  if (typeof completions === 'number') return `${succeeded}/${completions}`;
  const parallelism = num(at(job, 'spec', 'parallelism'));
  return parallelism > 1 ? `${succeeded}/1 of ${parallelism}` : `${succeeded}/1`;
};

const jobDuration: Cell = (job, now) => {
  const start = Date.parse(str(at(job, 'status', 'startTime')));
  if (Number.isNaN(start)) return '';
  const end = Date.parse(str(at(job, 'status', 'completionTime')));
  return humanDuration((Number.isNaN(end) ? now : end) - start);
};

/** `kind.group/name` of the owner that manages the object. */
const controller: Cell = object => {
  const owner = object.metadata.ownerReferences?.find(reference => reference.controller);
  if (!owner) return '<none>';
  const slash = owner.apiVersion.indexOf('/');
  const group = slash < 0 ? '' : `.${owner.apiVersion.slice(0, slash)}`;
  return `${owner.kind.toLowerCase()}${group}/${owner.name}`;
};

const UNKNOWN = '<unknown>';
const quantity = (value: unknown, absent: string): string =>
  value === undefined || value === null ? absent : String(value);

/** Where a metric of each type keeps its source. */
const METRIC_SOURCES: ReadonlyMap<string, string> = new Map([
  ['Resource', 'resource'],
  ['ContainerResource', 'containerResource'],
  ['Pods', 'pods'],
  ['Object', 'object'],
  ['External', 'external'],
]);

/** A quantity that a source which has been measured does not tell. */
const UNSET_QUANTITY = '<nil>';

/** `current/target` of one metric; resource metrics are preceded by the name of the resource. */
function metricText(metric: unknown, current: unknown): string {
  const type = str(member(metric, 'type'));
  const source = METRIC_SOURCES.get(type);
  if (source === undefined) return '<unknown type>';
  const spec = member(metric, source);
  const target = member(spec, 'target');
  const now = at(current, source, 'current');
  const average = member(target, 'averageValue');
  const unmeasured = member(current, source) === undefined ? UNKNOWN : UNSET_QUANTITY;
  if (type === 'Resource' || type === 'ContainerResource') {
    const name = str(member(spec, 'name'));
    if (average !== undefined)
      return `${name}: ${quantity(member(now, 'averageValue'), unmeasured)}/${quantity(average, '')}`;
    const used = member(now, 'averageUtilization');
    const wanted = member(target, 'averageUtilization');
    return `${name}: ${typeof used === 'number' ? `${used}%` : UNKNOWN}/${typeof wanted === 'number' ? `${wanted}%` : '<auto>'}`;
  }
  if (type === 'Pods')
    return `${quantity(member(now, 'averageValue'), unmeasured)}/${quantity(average, UNSET_QUANTITY)}`;
  if (average !== undefined) return `${quantity(member(now, 'averageValue'), UNKNOWN)}/${quantity(average, '')} (avg)`;
  return `${quantity(member(now, 'value'), unmeasured)}/${quantity(member(target, 'value'), UNSET_QUANTITY)}`;
}

const hpaTargets: Cell = object => {
  const current = list(at(object, 'status', 'currentMetrics'));
  const metrics = list(at(object, 'spec', 'metrics')).map((metric, i) => metricText(metric, current[i]));
  const cpu = at(object, 'spec', 'targetCPUUtilizationPercentage');
  if (typeof cpu === 'number') {
    const used = at(object, 'status', 'currentCPUUtilizationPercentage');
    metrics.push(`cpu: ${typeof used === 'number' ? `${used}%` : UNKNOWN}/${cpu}%`);
  }
  return shortList(metrics, 2, '<none>', ', ');
};

const quota =
  (limits: boolean): Cell =>
  object =>
    entries(at(object, 'status', 'hard'))
      .filter(([resource]) => resource.startsWith('limits.') === limits)
      .map(
        ([resource, hard]) =>
          `${resource}: ${quantity(at(object, 'status', 'used', resource), '0')}/${quantity(hard, '0')}`,
      )
      .join(', ');

const suspended: Cell = object => (at(object, 'spec', 'suspend') === true ? 'True' : 'False');

/** Columns of kinds that run pods, by storage name. */
export const WORKLOADS: ReadonlyMap<string, readonly Column[]> = new Map([
  [
    'apps/deployments',
    [
      NAME,
      column('Ready', readyOfReplicas),
      column('Up-to-date', integer('status.updatedReplicas')),
      column('Available', integer('status.availableReplicas')),
      AGE,
      CONTAINERS,
      IMAGES,
      SELECTOR,
    ],
  ],
  ...['apps/replicasets', 'core/replicationcontrollers'].map((storageName): [string, readonly Column[]] => [
    storageName,
    [
      NAME,
      integers('Desired', 'spec.replicas'),
      integers('Current', 'status.replicas'),
      integers('Ready', 'status.readyReplicas'),
      AGE,
      CONTAINERS,
      IMAGES,
      SELECTOR,
    ],
  ]),
  ['apps/statefulsets', [NAME, column('Ready', readyOfReplicas), AGE, CONTAINERS, IMAGES]],
  [
    'apps/daemonsets',
    [
      NAME,
      integers('Desired', 'status.desiredNumberScheduled'),
      integers('Current', 'status.currentNumberScheduled'),
      integers('Ready', 'status.numberReady'),
      integers('Up-to-date', 'status.updatedNumberScheduled'),
      integers('Available', 'status.numberAvailable'),
      column('Node Selector', object => labelsText(at(template(object), 'spec', 'nodeSelector'))),
      AGE,
      CONTAINERS,
      IMAGES,
      SELECTOR,
    ],
  ],
  ['apps/controllerrevisions', [NAME, column('Controller', controller), column('Revision', integer('revision')), AGE]],
  [
    'core/podtemplates',
    [
      NAME,
      column('Containers', ofContainers('name')),
      column('Images', ofContainers('image')),
      column('Pod Labels', object => labelsText(at(object, 'template', 'metadata', 'labels'))),
    ],
  ],
  [
    'batch/jobs',
    [
      NAME,
      column('Status', jobStatus),
      column('Completions', jobCompletions),
      column('Duration', jobDuration),
      AGE,
      CONTAINERS,
      IMAGES,
      SELECTOR,
    ],
  ],
  [
    'batch/cronjobs',
    [
      NAME,
      column('Schedule', text('spec.schedule')),
      column('Timezone', text('spec.timeZone', '<none>')),
      column('Suspend', suspended, { type: 'boolean' }),
      column('Active', count('status.active'), { type: 'integer' }),
      column('Last Schedule', (object, now) => since(at(object, 'status', 'lastScheduleTime'), now, '<none>')),
      AGE,
      CONTAINERS,
      IMAGES,
      SELECTOR,
    ],
  ],
  [
    'autoscaling/horizontalpodautoscalers',
    [
      NAME,
      column('Reference', object => {
        const target = at(object, 'spec', 'scaleTargetRef');
        return `${str(member(target, 'kind'))}/${str(member(target, 'name'))}`;
      }),
      column('Targets', hpaTargets),
      column('MinPods', scalar('spec.minReplicas', '<unset>')),
      column('MaxPods', integer('spec.maxReplicas')),
      column('Replicas', integer('status.currentReplicas')),
      AGE,
    ],
  ],
  [
    'policy/poddisruptionbudgets',
    [
      NAME,
      column('Min Available', scalar('spec.minAvailable', 'N/A')),
      column('Max Unavailable', scalar('spec.maxUnavailable', 'N/A')),
      integers('Allowed Disruptions', 'status.disruptionsAllowed'),
      AGE,
    ],
  ],
  ['core/resourcequotas', [NAME, AGE, column('Request', quota(false)), column('Limit', quota(true))]],
]);

/** Columns of the scale subresource. */
export const SCALE: readonly Column[] = [
  NAME,
  integers('Desired', 'spec.replicas'),
  integers('Available', 'status.replicas'),
  AGE,
];
