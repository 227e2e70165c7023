import type { Strategy } from '../../../core/api/strategy.js';
import { labelSelectorText } from '../../../core/model/labelSelector.js';
import type { ApiObject } from '../../../core/model/object.js';
import { templateDefaults } from '../pod-defaults.js';
import { absent, at, fill, into, num, type Rec, same, spec, text } from '../record.js';
import type { KindTable } from '../strategies.js';
import {
  daemonSetStatusViolations,
  daemonSetViolations,
  deploymentStatusViolations,
  deploymentViolations,
  fixed,
  fixedSelector,
  replicaSetStatusViolations,
  replicaSetViolations,
  statefulSetStatusViolations,
  statefulSetUpdateViolations,
  statefulSetViolations,
} from '../validation/workload.js';
import { invalid, required, type Violation } from '../../../core/model/refusal.js';
import { POD_NAMES, withNameWarning, withPodWarnings } from '../validation/pod-warnings.js';
import { claimSpecDefaults } from '../core/volume.js';
import { list } from '../record.js';
import { keepMembers } from '../status-metadata.js';

const replicaScale = {
  spec: ['spec', 'replicas'],
  status: ['status', 'replicas'],
  selector: object => labelSelectorText(at(object, 'spec', 'selector')),
} satisfies Strategy['scale'];

const template = (object: ApiObject): Rec | undefined => at(object, 'spec', 'template');

/** Rules of Deployments: their generation also moves with annotations, which carry over to what they own. */
const deployment = (): Partial<Strategy> => ({
  hasGeneration: true,
  hasStatus: true,
  changed: (object, old) =>
    !same(object.spec, old.spec) || !same(object.metadata.annotations, old.metadata.annotations),
  defaults: object => {
    const s = spec(object);
    fill(s, 'replicas', 1);
    fill(s, 'revisionHistoryLimit', 10);
    fill(s, 'progressDeadlineSeconds', 600);
    const strategy = into(s, 'strategy');
    fill(strategy, 'type', 'RollingUpdate');
    if (strategy.type === 'RollingUpdate') {
      const rolling = into(strategy, 'rollingUpdate');
      fill(rolling, 'maxUnavailable', '25%');
      fill(rolling, 'maxSurge', '25%');
    }
    templateDefaults(template(object));
  },
  prepareStatus: (object, old) => keepMembers(object, old, ['labels']),
  validateCreate: deploymentViolations,
  validateUpdate: (object, old) => [...deploymentViolations(object), ...fixedSelector(object, old)],
  validateStatus: deploymentStatusViolations,
  scale: { ...replicaScale, missing: { group: 'apps', resource: 'deployments/scale' } },
});

/** Rules of ReplicaSets. */
const replicaSet = (): Partial<Strategy> => ({
  hasGeneration: true,
  hasStatus: true,
  defaults: object => {
    fill(spec(object), 'replicas', 1);
    templateDefaults(template(object));
  },
  prepareCreate: object => {
    object.status = { replicas: 0 };
  },
  validateCreate: replicaSetViolations,
  validateUpdate: (object, old) => [...replicaSetViolations(object), ...fixedSelector(object, old)],
  validateStatus: replicaSetStatusViolations,
  scale: { ...replicaScale, missing: { group: 'apps', resource: 'replicasets/scale' } },
});

/** Rules of StatefulSets. */
const statefulSet = (): Partial<Strategy> => ({
  hasGeneration: true,
  hasStatus: true,
  defaults: object => {
    const s = spec(object);
    fill(s, 'podManagementPolicy', 'OrderedReady');
    const strategy = into(s, 'updateStrategy');
    if (text(strategy, 'type') === '') {
      strategy.type = 'RollingUpdate';
      if (absent(strategy.rollingUpdate)) strategy.rollingUpdate = { partition: 0 };
    }
    const rolling = at(strategy, 'rollingUpdate');
    if (strategy.type === 'RollingUpdate' && rolling) fill(rolling, 'partition', 0);
    const retention = into(s, 'persistentVolumeClaimRetentionPolicy');
    fill(retention, 'whenDeleted', 'Retain');
    fill(retention, 'whenScaled', 'Retain');
    fill(s, 'replicas', 1);
    fill(s, 'revisionHistoryLimit', 10);
    for (const claim of list(s, 'volumeClaimTemplates')) {
      fill(claim, 'apiVersion', 'v1');
      fill(claim, 'kind', 'PersistentVolumeClaim');
      claimSpecDefaults(into(claim, 'spec'));
      fill(into(claim, 'status'), 'phase', 'Pending');
    }
    templateDefaults(template(object));
  },
  prepareCreate: object => {
    object.status = { replicas: 0, availableReplicas: 0 };
  },
  validateCreate: statefulSetViolations,
  validateUpdate: statefulSetUpdateViolations,
  validateStatus: statefulSetStatusViolations,
  scale: replicaScale,
});

const TEMPLATE_GENERATION = 'deprecated.daemonset.template.generation';

/** Rules of DaemonSets: an annotation counts the changes of the template. */
const daemonSet = (): Partial<Strategy> => ({
  hasGeneration: true,
  hasStatus: true,
  defaults: object => {
    const s = spec(object);
    const strategy = into(s, 'updateStrategy');
    fill(strategy, 'type', 'RollingUpdate');
    if (strategy.type === 'RollingUpdate') {
      const rolling = into(strategy, 'rollingUpdate');
      fill(rolling, 'maxUnavailable', 1);
      fill(rolling, 'maxSurge', 0);
    }
    fill(s, 'revisionHistoryLimit', 10);
    templateDefaults(template(object));
    // Whoever writes the object writes the count, whatever it then becomes.
    object.metadata.annotations = { [TEMPLATE_GENERATION]: '0', ...object.metadata.annotations };
  },
  validateCreate: daemonSetViolations,
  validateUpdate: (object, old) => [...daemonSetViolations(object), ...fixedSelector(object, old)],
  validateStatus: daemonSetStatusViolations,
  prepareCreate: object => {
    const asked = Number(object.metadata.annotations?.[TEMPLATE_GENERATION] ?? '0');
    object.metadata.annotations = {
      ...object.metadata.annotations,
      [TEMPLATE_GENERATION]: String(Math.max(asked || 0, 1)),
    };
  },
  prepareUpdate: (object, old) => {
    const before = Number(old.metadata.annotations?.[TEMPLATE_GENERATION] ?? '0');
    const next = before + (same(template(object), template(old)) ? 0 : 1);
    object.metadata.annotations = { ...object.metadata.annotations, [TEMPLATE_GENERATION]: String(next) };
  },
});

/** Rules of ControllerRevisions. */
const controllerRevision = (): Partial<Strategy> => ({
  validateCreate: revisionViolations,
  validateUpdate: (object, old) => [...revisionViolations(object), ...fixed(object, old, 'data', 'data')],
});

const revisionViolations = (object: ApiObject): Violation[] => {
  const revision = num(object, 'revision') ?? 0;
  return [
    ...(absent(object.data) ? [required('data', 'data is mandatory')] : []),
    ...(revision < 0 ? [invalid('revision', revision, 'must be greater than or equal to 0')] : []),
  ];
};

/** Where they hold the spec of their pods. */
const POD = ['spec', 'template', 'spec'];

/** Kinds of the apps group. */
export const appsKinds: KindTable = {
  'apps/controllerrevisions': controllerRevision,
  'apps/daemonsets': () => withPodWarnings(daemonSet(), ...POD),
  'apps/deployments': () => withNameWarning(withPodWarnings(deployment(), ...POD), POD_NAMES),
  'apps/replicasets': () => withNameWarning(withPodWarnings(replicaSet(), ...POD), POD_NAMES),
  'apps/statefulsets': () => withPodWarnings(statefulSet(), ...POD),
};
