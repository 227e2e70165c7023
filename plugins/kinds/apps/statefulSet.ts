import { builtInKind } from '../../../core/api/resource.js';
import type { Column, Strategy } from '../../../core/api/strategy.js';
import type { ApiObject } from '../../../core/model/object.js';
import {
  ensureRecord,
  isAbsent,
  isSemanticallyEqual,
  recordAt,
  recordsAt,
  setDefault,
  specOf,
  stringAt,
  type UnknownRecord,
} from '../../../core/model/record.js';
import { forbiddenField, invalid, type Violation } from '../../../core/model/refusal.js';
import { claimSpecDefaults } from '../core/persistentVolumeClaim.js';
import { AGE, column, NAME } from '../shared/columns.js';
import { templateDefaults } from '../shared/podSpec/defaults.js';
import { withPodWarnings } from '../shared/podSpec/warnings.js';
import { CONTAINERS, IMAGES, readyOfReplicas } from '../shared/podTemplateColumns.js';
import { notNegative, oneOf } from '../shared/violations.js';
import {
  alwaysRunning,
  counts,
  podTemplateOf,
  replicaScale,
  replicaStatusViolations,
  templateAndSelector,
} from '../shared/workloads.js';

function orderedUpdate(strategy: UnknownRecord | undefined): Violation[] {
  const field = 'spec.updateStrategy';
  const [type, owner] = [stringAt(strategy, 'type'), recordAt(strategy, 'rollingUpdate')];
  if (type === 'RollingUpdate') return notNegative(owner, 'partition', `${field}.rollingUpdate.partition`);
  if (type !== 'OnDelete') return [invalid(field, strategy ?? {}, "must be 'RollingUpdate' or 'OnDelete'")];
  return owner ? [invalid(`${field}.rollingUpdate`, owner, "only allowed for updateStrategy 'RollingUpdate'")] : [];
}

/** What is wrong with a StatefulSet; its template is hardly looked at. */
function statefulSetViolations(object: ApiObject): Violation[] {
  const spec = recordAt(object, 'spec');
  const order = stringAt(spec, 'podManagementPolicy');
  const retention = recordAt(spec, 'persistentVolumeClaimRetentionPolicy');
  return [
    ...(['OrderedReady', 'Parallel'].includes(order)
      ? []
      : [invalid('spec.podManagementPolicy', order, "must be 'OrderedReady' or 'Parallel'")]),
    ...orderedUpdate(recordAt(spec, 'updateStrategy')),
    ...['whenDeleted', 'whenScaled'].flatMap(member =>
      oneOf(retention, member, `spec.persistentVolumeClaimRetentionPolicy.${member}`, ['Retain', 'Delete'], false),
    ),
    ...counts(spec, ['replicas', 'minReadySeconds']),
    ...notNegative(recordAt(spec, 'ordinals'), 'start', 'spec.ordinals.start'),
    ...templateAndSelector(object, 'statefulset', 'StatefulSet', false),
    ...alwaysRunning(recordAt(spec, 'template', 'spec'), 'StatefulSet'),
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
function statefulSetUpdateViolations(object: ApiObject, old: ApiObject): Violation[] {
  const [now, before] = [{ ...recordAt(object, 'spec') }, { ...recordAt(old, 'spec') }];
  for (const member of SCALABLE) {
    delete now[member];
    delete before[member];
  }
  const why =
    "updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', 'updateStrategy', 'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' are forbidden";
  return [...statefulSetViolations(object), ...(isSemanticallyEqual(now, before) ? [] : [forbiddenField('spec', why)])];
}

/** What is wrong with the status of a StatefulSet. */
const statefulSetStatusViolations = (object: ApiObject, old: ApiObject): Violation[] =>
  replicaStatusViolations(
    object,
    old,
    ['replicas'],
    ['readyReplicas', 'currentReplicas', 'updatedReplicas', 'availableReplicas'],
    'status.readyReplicas',
  );

const COLUMNS: readonly Column[] = [NAME, column('Ready', readyOfReplicas), AGE, CONTAINERS, IMAGES];

/** Rules of StatefulSets. */
const strategy = (): Partial<Strategy> => ({
  hasGeneration: true,
  hasStatus: true,
  applyDefaults: object => {
    const s = specOf(object);
    setDefault(s, 'podManagementPolicy', 'OrderedReady');
    const strategy = ensureRecord(s, 'updateStrategy');
    if (stringAt(strategy, 'type') === '') {
      strategy.type = 'RollingUpdate';
      if (isAbsent(strategy.rollingUpdate)) strategy.rollingUpdate = { partition: 0 };
    }
    const rolling = recordAt(strategy, 'rollingUpdate');
    if (strategy.type === 'RollingUpdate' && rolling) setDefault(rolling, 'partition', 0);
    const retention = ensureRecord(s, 'persistentVolumeClaimRetentionPolicy');
    setDefault(retention, 'whenDeleted', 'Retain');
    setDefault(retention, 'whenScaled', 'Retain');
    setDefault(s, 'replicas', 1);
    setDefault(s, 'revisionHistoryLimit', 10);
    for (const claim of recordsAt(s, 'volumeClaimTemplates')) {
      setDefault(claim, 'apiVersion', 'v1');
      setDefault(claim, 'kind', 'PersistentVolumeClaim');
      claimSpecDefaults(ensureRecord(claim, 'spec'));
      setDefault(ensureRecord(claim, 'status'), 'phase', 'Pending');
    }
    templateDefaults(podTemplateOf(object));
  },
  prepareCreate: object => {
    object.status = { replicas: 0, availableReplicas: 0 };
  },
  validateCreate: statefulSetViolations,
  validateUpdate: statefulSetUpdateViolations,
  validateStatus: statefulSetStatusViolations,
  scale: replicaScale,
  columns: COLUMNS,
});

export const statefulSet = builtInKind('apps/statefulsets', () =>
  withPodWarnings(strategy(), 'spec', 'template', 'spec'),
);
