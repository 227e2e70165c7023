import { builtInKind } from '../../../../core/api/resource.js';
import type { RowCondition, Strategy } from '../../../../core/api/strategy.js';
import type { ApiObject } from '../../../../core/model/object.js';
import {
  ensureRecord,
  numberAt,
  recordAt,
  recordsAt,
  specOf,
  stringAt,
  type UnknownRecord,
} from '../../../../core/model/record.js';
import { invalidObject } from '../../../../core/model/refusal.js';
import { bindPod } from './binding.js';
import {
  alignAppArmor,
  validateAnnotationUpdate,
  validateAppArmorMatch,
  validatePodAnnotations,
} from './annotations.js';
import type { Naming } from '../../../../core/naming.js';
import { podColumns } from './columns.js';
import { podConnections } from './connections.js';
import { BUDGETS, evictPod } from './eviction.js';
import { setPodOnlyDefaults } from './defaults.js';
import { qosClassOf } from './defaults.js';
import { validatePodStatus, alignPodIps } from './status.js';
import { validateEphemeralUpdate, validateNewPod, validatePodUpdate } from './validation.js';
import { checkSubdomainName } from '../../shared/names.js';
import { setPodSpecDefaults } from '../../shared/podSpec/defaults.js';
import { warnAboutName, warnAboutPodSpec } from '../../shared/podSpec/warnings.js';

/**
 * The grace period of a pod in seconds: that of the request, otherwise that of the pod; 0 if the pod is not assigned to
 * a node or has ended. A negative number means one second.
 */
export function gracePeriodOf(pod: ApiObject, asked: number | undefined): number {
  const phase = stringAt(pod, 'status', 'phase');
  if (stringAt(pod, 'spec', 'nodeName') === '' || phase === 'Failed' || phase === 'Succeeded') return 0;
  const seconds = asked ?? numberAt(pod, 'spec', 'terminationGracePeriodSeconds') ?? 30;
  return seconds < 0 ? 1 : seconds;
}

const fieldOf =
  (...path: [string, string]) =>
  (pod: ApiObject): string =>
    stringAt(pod, path[0], path[1]);

/** The condition of a pod that is not scheduled because of its scheduling gates. */
const gatedCondition = (now: string): UnknownRecord => ({
  type: 'PodScheduled',
  status: 'False',
  lastProbeTime: null,
  lastTransitionTime: now,
  reason: 'SchedulingGated',
  message: 'Scheduling is blocked due to non-empty scheduling gates',
});

/** Returns the current pod with the ephemeral containers of the body. Throws 422. */
function setEphemeralContainers(body: ApiObject, current: ApiObject): ApiObject {
  const next = {
    ...current,
    metadata: { ...current.metadata, resourceVersion: body.metadata.resourceVersion },
    spec: { ...specOf(current) },
  };
  const added = recordsAt(specOf(body), 'ephemeralContainers');
  if (added.length > 0) (next.spec as UnknownRecord).ephemeralContainers = added;
  else delete (next.spec as UnknownRecord).ephemeralContainers;
  const violations = validateEphemeralUpdate(next as ApiObject, current);
  if (violations.length > 0) throw invalidObject('', 'Pod', current.metadata.name ?? '', violations);
  return next as ApiObject;
}

const completedCondition = (reason: string, message: string): RowCondition => ({
  type: 'Completed',
  status: 'True',
  reason,
  message,
});

/** The conditions of the row of a pod, by phase. */
const ENDED: ReadonlyMap<string, RowCondition> = new Map([
  ['Succeeded', completedCondition('Succeeded', 'The pod has completed successfully.')],
  ['Failed', completedCondition('Failed', 'The pod failed.')],
]);

const strategy = (naming: Naming): Partial<Strategy> => ({
  checkName: checkSubdomainName,
  hasStatus: true,
  returnsDeletedObject: true,
  applyDefaults: object => {
    const podSpec = specOf(object);
    setPodSpecDefaults(podSpec);
    setPodOnlyDefaults(podSpec);
  },
  prepareCreate: (object, context) => {
    const grace = numberAt(object, 'spec', 'terminationGracePeriodSeconds');
    if (grace !== undefined && grace < 0) specOf(object).terminationGracePeriodSeconds = 1;
    const status: UnknownRecord = { phase: 'Pending', qosClass: qosClassOf(specOf(object)) };
    if (recordsAt(specOf(object), 'schedulingGates').length > 0) status.conditions = [gatedCondition(context.now)];
    object.status = status;
    alignAppArmor(object, naming, context);
  },
  keptInStatus: ['ownerReferences'],
  prepareStatus: (object, old) => {
    const status = ensureRecord(object, 'status');
    status.qosClass ??= recordAt(old, 'status')?.qosClass;
    alignPodIps(status);
  },
  validateCreate: object => [
    ...validatePodAnnotations(object, naming),
    ...validateNewPod(object),
    ...validateAppArmorMatch(object, naming),
  ],
  validateUpdate: (object, old) => [
    ...validateAnnotationUpdate(object, old, naming),
    ...validatePodAnnotations(object, naming),
    ...validatePodUpdate(object, old),
  ],
  validateStatus: validatePodStatus,
  subresources: new Map([['ephemeralcontainers', setEphemeralContainers]]),
  connections: podConnections,
  hasGrace: true,
  gracePeriod: gracePeriodOf,
  actions: new Map([
    ['binding', (body, current, context) => bindPod(current, body, current.metadata.name ?? '', context.now)],
  ]),
  deletions: new Map([['eviction', evictPod]]),
  reads: [BUDGETS],
  selectableFields: new Map([
    ['spec.nodeName', fieldOf('spec', 'nodeName')],
    ['spec.restartPolicy', fieldOf('spec', 'restartPolicy')],
    ['spec.schedulerName', fieldOf('spec', 'schedulerName')],
    ['spec.serviceAccountName', fieldOf('spec', 'serviceAccountName')],
    ['spec.hostNetwork', p => String(recordAt(p, 'spec')?.hostNetwork === true)],
    ['status.phase', fieldOf('status', 'phase')],
    ['status.podIP', fieldOf('status', 'podIP')],
    ['status.podIPs', () => ''],
    ['status.nominatedNodeName', fieldOf('status', 'nominatedNodeName')],
  ]),
  fieldAliases: new Map([['spec.host', 'spec.nodeName']]),
  rowConditions: object => {
    const ended = ENDED.get(stringAt(object, 'status', 'phase'));
    return ended ? [ended] : [];
  },
  columns: podColumns,
});

/** The kind Pod. */
export const pod = builtInKind('core/pods', naming =>
  warnAboutName(warnAboutPodSpec(strategy(naming), naming, 'spec'), "the Pod's hostname"),
);
