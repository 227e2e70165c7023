import type { PodStatus, Binding, PodCondition, Pod } from '../../../../kinds/v1.js';
import { type Time, toNumber } from '../../../../core/model/scalars.js';
import { builtInKind } from '../../../../core/api/resource.js';
import type { RowCondition, Strategy } from '../../../../core/api/strategy.js';
import { forbiddenField, invalidObject } from '../../../../core/model/refusal.js';
import { bindPod } from './binding.js';
import { alignAppArmor, mirrorAnnotation, validateAnnotationUpdate, validatePodAnnotations } from './annotations.js';
import type { Naming } from '../../../../core/naming.js';
import { podColumns } from './columns.js';
import { podConnections } from './connections.js';
import { BUDGETS, evictPod } from './eviction.js';
import { qosClassOf } from '../../../../core/model/qosClass.js';
import { setPodOnlyDefaults } from './defaults.js';
import { validatePodStatus, alignPodIps } from './status.js';
import { validateEphemeralUpdate, validateNewPod, validatePodUpdate } from './validation.js';
import { checkSubdomainName } from '../../shared/values/names.js';
import { selectByOwnLabels } from '../../shared/podSpec/scheduling.js';
import { setPodSpecDefaults } from '../../shared/podSpec/defaults.js';
import { validateAppArmorMatch } from '../../shared/podSpec/appArmor.js';
import { validateSeccompMatch } from '../../shared/podSpec/seccomp.js';
import { withPodSpec } from '../../shared/podSpec/podSpecStrategy.js';
import { warnAboutName } from '../../shared/podSpec/warnings/warnings.js';

/**
 * The grace period of a pod in seconds: that of the request, otherwise that of the pod; 0 if the pod is not assigned to
 * a node or has ended. A negative number means one second.
 */
function gracePeriodOf(pod: Pod, asked: number | undefined): number {
  const phase = pod.status?.phase ?? '';
  if ((pod.spec.nodeName ?? '') === '' || phase === 'Failed' || phase === 'Succeeded') return 0;
  const seconds = asked ?? toNumber(pod.spec.terminationGracePeriodSeconds) ?? 30;
  return seconds < 0 ? 1 : seconds;
}

/** The condition of a pod that is not scheduled because of its scheduling gates. */
const gatedCondition = (now: Time): PodCondition => ({
  type: 'PodScheduled',
  status: 'False',
  lastProbeTime: null,
  lastTransitionTime: now,
  reason: 'SchedulingGated',
  message: 'Scheduling is blocked due to non-empty scheduling gates',
});

/** Returns the current pod with the ephemeral containers of the body. Throws 422, always for a mirror pod. */
function setEphemeralContainers(body: Pod, current: Pod, mirror: string): Pod {
  if (current.metadata.annotations?.[mirror] !== undefined)
    throw invalidObject('', 'Pod', current.metadata.name ?? '', [
      forbiddenField('[]', 'static pods do not support ephemeral containers'),
    ]);
  const { ephemeralContainers: _, ...others } = current.spec;
  const added = body.spec.ephemeralContainers ?? [];
  const next: Pod = {
    ...current,
    metadata: { ...current.metadata, resourceVersion: body.metadata.resourceVersion },
    spec: added.length > 0 ? { ...others, ephemeralContainers: added } : others,
  };
  const violations = validateEphemeralUpdate(next, current);
  if (violations.length > 0) throw invalidObject('', 'Pod', current.metadata.name ?? '', violations);
  return next;
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

const strategy = (naming: Naming): Partial<Strategy<Pod>> => ({
  checkName: checkSubdomainName,
  revalidatesName: true,
  hasStatus: true,
  returnsDeletedObject: true,
  applyDefaults: object => {
    const podSpec = object.spec;
    setPodSpecDefaults(podSpec);
    setPodOnlyDefaults(podSpec);
  },
  prepareCreate: (object, context) => {
    const grace = toNumber(object.spec.terminationGracePeriodSeconds);
    if (grace !== undefined && grace < 0) object.spec.terminationGracePeriodSeconds = 1;
    const status: PodStatus = { phase: 'Pending', qosClass: qosClassOf(object.spec) };
    if ((object.spec.schedulingGates ?? []).length > 0) status.conditions = [gatedCondition(context.now)];
    object.status = status;
    alignAppArmor(object, naming, context);
    selectByOwnLabels(object.spec, object.metadata.labels ?? {});
  },
  keptInStatus: ['ownerReferences'],
  prepareStatus: (object, old) => {
    // The time of the deletion is never that of a status.
    if (old.metadata.deletionTimestamp === undefined) delete object.metadata.deletionTimestamp;
    else object.metadata.deletionTimestamp = old.metadata.deletionTimestamp;
    const status = (object.status ??= {});
    status.qosClass ??= old.status?.qosClass;
    alignPodIps(status);
  },
  validateCreate: object => [
    ...validatePodAnnotations(object, naming),
    ...validateNewPod(object),
    ...validateSeccompMatch(object.metadata, object.spec, 'spec', naming),
    ...validateAppArmorMatch(object.metadata, object.spec, 'spec', naming),
  ],
  validateUpdate: (object, old) => [
    ...validateAnnotationUpdate(object, old, naming),
    ...validatePodAnnotations(object, naming),
    ...validatePodUpdate(object, old),
  ],
  validateStatus: validatePodStatus,
  subresources: new Map([
    ['ephemeralcontainers', (body, current) => setEphemeralContainers(body, current, mirrorAnnotation(naming))],
  ]),
  connections: podConnections,
  hasGrace: true,
  gracePeriod: gracePeriodOf,
  actions: new Map([
    [
      'binding',
      (body, current, context) => bindPod(current, body as Binding, current.metadata.name ?? '', context.now),
    ],
  ]),
  deletions: new Map([['eviction', evictPod]]),
  reads: [BUDGETS],
  selectableFields: new Map([
    ['spec.nodeName', pod => pod.spec.nodeName ?? ''],
    ['spec.restartPolicy', pod => pod.spec.restartPolicy ?? ''],
    ['spec.schedulerName', pod => pod.spec.schedulerName ?? ''],
    ['spec.serviceAccountName', pod => pod.spec.serviceAccountName ?? ''],
    ['spec.hostNetwork', p => String(p.spec.hostNetwork === true)],
    ['status.phase', pod => pod.status?.phase ?? ''],
    ['status.podIP', pod => pod.status?.podIP ?? ''],
    ['status.podIPs', () => ''],
    ['status.nominatedNodeName', pod => pod.status?.nominatedNodeName ?? ''],
  ]),
  fieldAliases: new Map([['spec.host', 'spec.nodeName']]),
  rowConditions: object => {
    const ended = ENDED.get(object.status?.phase ?? '');
    return ended ? [ended] : [];
  },
  columns: podColumns,
});

/** The kind Pod. */
export const pod = builtInKind<Pod>('core/pods', naming =>
  warnAboutName(
    withPodSpec(
      strategy(naming),
      naming,
      'spec',
      object => object,
      // Programs update pods often and read no warnings.
      () => undefined,
    ),
    "the Pod's hostname",
  ),
);
