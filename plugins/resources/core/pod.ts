import type { RowCondition, Strategy } from '../../../core/api/strategy.js';
import type { ApiObject } from '../../../core/model/object.js';
import { invalidObject } from '../../../core/model/refusal.js';
import { subdomainName } from '../naming-rules.js';
import { podOnlyDefaults, podSpecDefaults, qosClassOf } from '../pod-defaults.js';
import { at, into, list, type Rec, spec, text } from '../record.js';
import { ephemeralUpdateViolations, podCreateViolations, podUpdateViolations } from '../validation/pod-update.js';
import { podStatusViolations, settlePodIps } from '../validation/pod-status.js';
import { bindPod } from './binding.js';
import { podGrace } from './pod-lifecycle.js';
import { keepMembers } from '../status-metadata.js';
import { podConnections } from './connections.js';

const field =
  (...path: [string, string]) =>
  (pod: ApiObject): string =>
    text(at(pod, path[0]), path[1]);

/** The condition a pod carries while gates hold it back from scheduling. */
const gatedCondition = (now: string): Rec => ({
  type: 'PodScheduled',
  status: 'False',
  lastProbeTime: null,
  lastTransitionTime: now,
  reason: 'SchedulingGated',
  message: 'Scheduling is blocked due to non-empty scheduling gates',
});

/** The pod with the ephemeral containers of the body; nothing else of it counts. Throws 422. */
function debugged(body: ApiObject, current: ApiObject): ApiObject {
  const next = {
    ...current,
    metadata: { ...current.metadata, resourceVersion: body.metadata.resourceVersion },
    spec: { ...spec(current) },
  };
  const added = list(spec(body), 'ephemeralContainers');
  if (added.length > 0) (next.spec as Rec).ephemeralContainers = added;
  else delete (next.spec as Rec).ephemeralContainers;
  const violations = ephemeralUpdateViolations(next as ApiObject, current);
  if (violations.length > 0) throw invalidObject('', 'Pod', current.metadata.name ?? '', violations);
  return next as ApiObject;
}

const completed = (reason: string, message: string): RowCondition => ({
  type: 'Completed',
  status: 'True',
  reason,
  message,
});

/** What the row of a pod in an ended phase tells. */
const ENDED: ReadonlyMap<string, RowCondition> = new Map([
  ['Succeeded', completed('Succeeded', 'The pod has completed successfully.')],
  ['Failed', completed('Failed', 'The pod failed.')],
]);

/** Rules of Pods (spec, "Pod"). */
export const pod = (): Partial<Strategy> => ({
  checkName: subdomainName,
  hasStatus: true,
  deleteAnswer: 'object',
  defaults: object => {
    const podSpec = spec(object);
    podSpecDefaults(podSpec);
    podOnlyDefaults(podSpec);
  },
  prepareCreate: (object, rules) => {
    const status: Rec = { phase: 'Pending', qosClass: qosClassOf(spec(object)) };
    if (list(spec(object), 'schedulingGates').length > 0) status.conditions = [gatedCondition(rules.now)];
    object.status = status;
  },
  prepareStatus: (object, old) => {
    keepMembers(object, old, ['ownerReferences']);
    const status = into(object, 'status');
    status.qosClass ??= at(old, 'status')?.qosClass;
    settlePodIps(status);
  },
  validateCreate: podCreateViolations,
  validateUpdate: podUpdateViolations,
  validateStatus: podStatusViolations,
  subresources: new Map([['ephemeralcontainers', debugged]]),
  connections: podConnections,
  hasGrace: true,
  gracePeriod: podGrace,
  actions: new Map([
    ['binding', (body, current, rules) => bindPod(current, body, current.metadata.name ?? '', rules.now)],
  ]),
  selectableFields: new Map([
    ['spec.nodeName', field('spec', 'nodeName')],
    ['spec.restartPolicy', field('spec', 'restartPolicy')],
    ['spec.schedulerName', field('spec', 'schedulerName')],
    ['spec.serviceAccountName', field('spec', 'serviceAccountName')],
    ['spec.hostNetwork', p => String(at(p, 'spec')?.hostNetwork === true)],
    ['status.phase', field('status', 'phase')],
    ['status.podIP', field('status', 'podIP')],
    ['status.podIPs', () => ''],
    ['status.nominatedNodeName', field('status', 'nominatedNodeName')],
  ]),
  fieldAliases: new Map([['spec.host', 'spec.nodeName']]),
  rowConditions: object => {
    const ended = ENDED.get(text(at(object, 'status'), 'phase'));
    return ended ? [ended] : [];
  },
});
