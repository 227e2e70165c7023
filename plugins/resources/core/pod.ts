import type { Strategy } from '../../../core/api/strategy.js';
import type { ApiObject } from '../../../core/model/object.js';
import { subdomainName } from '../naming-rules.js';
import { podOnlyDefaults, podSpecDefaults, qosClassOf } from '../pod-defaults.js';
import { at, into, list, type Rec, spec, text } from '../record.js';
import { podCreateViolations, podStatusViolations, podUpdateViolations } from '../validation/pod-update.js';
import { bindPod } from './binding.js';
import { podGrace } from './pod-lifecycle.js';

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
    const status = into(object, 'status');
    status.qosClass ??= at(old, 'status')?.qosClass;
  },
  validateCreate: podCreateViolations,
  validateUpdate: podUpdateViolations,
  validateStatus: podStatusViolations,
  hasGrace: true,
  gracePeriod: podGrace,
  actions: new Map([['binding', (body, current, rules) => bindPod(current, body, current.metadata.name ?? '', rules.now)]]),
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
});
