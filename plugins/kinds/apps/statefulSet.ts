import type { Naming } from '../../../core/naming.js';
import type { StatefulSet, StatefulSetUpdateStrategy } from '../../../kinds/apps/v1.js';
import { builtInKind } from '../../../core/api/resource.js';
import type { Column, Strategy, StrategyContext } from '../../../core/api/strategy.js';
import { isAbsent, setDefault } from '../../../core/model/record.js';
import { forbiddenField, invalid, type Violation } from '../../../core/model/refusal.js';
import { claimWarnings, setClaimSpecDefaults } from '../shared/volumes/claimSpec.js';
import { AGE, column, NAME } from '../shared/columns.js';
import { isUnchanged } from '../shared/values/equality.js';
import { checkLabelName } from '../shared/values/names.js';
import { setTemplateDefaults } from '../shared/podSpec/defaults.js';
import { withPodSpec } from '../shared/podSpec/podSpecStrategy.js';
import { CONTAINERS, IMAGES, readyReplicasCell } from '../shared/podTemplateColumns.js';
import { validateNotNegative, validateOneOf } from '../shared/violations.js';
import {
  validateCounts,
  replicaScale,
  validateReplicaStatus,
  validateTemplateAndSelector,
} from '../shared/workloads.js';

function validateUpdateStrategy(strategy: StatefulSetUpdateStrategy): Violation[] {
  const field = 'spec.updateStrategy';
  const [type, owner] = [strategy.type ?? '', strategy.rollingUpdate];
  if (type === 'RollingUpdate') return validateNotNegative(owner, 'partition', `${field}.rollingUpdate.partition`);
  if (type !== 'OnDelete') return [invalid(field, strategy, "must be 'RollingUpdate' or 'OnDelete'")];
  return owner ? [invalid(`${field}.rollingUpdate`, owner, "only allowed for updateStrategy 'RollingUpdate'")] : [];
}

/** Violations of a StatefulSet. Most of its template is not validated: upstream accepts such templates too. */
function validateStatefulSet(object: StatefulSet, naming: Naming): Violation[] {
  const spec = object.spec;
  const order = spec.podManagementPolicy ?? '';
  const retention = spec.persistentVolumeClaimRetentionPolicy;
  return [
    ...(['OrderedReady', 'Parallel'].includes(order)
      ? []
      : [invalid('spec.podManagementPolicy', order, "must be 'OrderedReady' or 'Parallel'")]),
    ...validateUpdateStrategy(spec.updateStrategy),
    ...(['whenDeleted', 'whenScaled'] as const).flatMap(member =>
      validateOneOf(
        retention,
        member,
        `spec.persistentVolumeClaimRetentionPolicy.${member}`,
        ['Retain', 'Delete'],
        false,
      ),
    ),
    ...validateCounts(spec, ['replicas', 'minReadySeconds']),
    ...validateNotNegative(spec.ordinals, 'start', 'spec.ordinals.start'),
    ...validateTemplateAndSelector(
      object,
      {
        kind: 'statefulset',
        owner: 'StatefulSet',
        malformed: '',
        skipsPodSpec: true,
      },
      naming,
    ),
  ];
}

/** Members of the spec that can be changed. */
const SCALABLE = [
  'replicas',
  'ordinals',
  'template',
  'updateStrategy',
  'persistentVolumeClaimRetentionPolicy',
  'minReadySeconds',
] as const;

/** Violations of an update of a StatefulSet. */
function validateStatefulSetUpdate(object: StatefulSet, old: StatefulSet, naming: Naming): Violation[] {
  const [now, before] = [{ ...object.spec }, { ...old.spec }];
  for (const member of SCALABLE) {
    delete now[member];
    delete before[member];
  }
  const why =
    "updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', 'updateStrategy', 'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' are forbidden";
  return [...validateStatefulSet(object, naming), ...(isUnchanged(now, before) ? [] : [forbiddenField('spec', why)])];
}

/** Warns about the sizes in templates of claims. */
function warnOfClaims(object: StatefulSet, { warn }: StrategyContext): void {
  if (!warn) return;
  for (const [i, claim] of (object.spec.volumeClaimTemplates ?? []).entries())
    for (const text of claimWarnings(claim.spec, `spec.volumeClaimTemplates[${i}]`)) warn(text);
}

/** Violations of the status of a StatefulSet. */
const validateStatefulSetStatus = (object: StatefulSet, old: StatefulSet): Violation[] =>
  validateReplicaStatus(
    object,
    old,
    ['replicas'],
    ['readyReplicas', 'currentReplicas', 'updatedReplicas', 'availableReplicas'],
    'status.readyReplicas',
  );

const COLUMNS: readonly Column<StatefulSet>[] = [NAME, column('Ready', readyReplicasCell), AGE, CONTAINERS, IMAGES];

const strategy = (naming: Naming): Partial<Strategy<StatefulSet>> => ({
  hasGeneration: true,
  hasStatus: true,
  // The names of its pods are labels.
  checkName: checkLabelName,
  applyDefaults: object => {
    const spec = object.spec;
    setDefault(spec, 'podManagementPolicy', 'OrderedReady');
    const strategy = spec.updateStrategy;
    if ((strategy.type ?? '') === '') {
      strategy.type = 'RollingUpdate';
      if (isAbsent(strategy.rollingUpdate)) strategy.rollingUpdate = { partition: 0 };
    }
    const rolling = strategy.rollingUpdate;
    if (strategy.type === 'RollingUpdate' && rolling) setDefault(rolling, 'partition', 0);
    const retention = (spec.persistentVolumeClaimRetentionPolicy ??= {});
    setDefault(retention, 'whenDeleted', 'Retain');
    setDefault(retention, 'whenScaled', 'Retain');
    setDefault(spec, 'replicas', 1);
    setDefault(spec, 'revisionHistoryLimit', 10);
    for (const claim of spec.volumeClaimTemplates ?? []) {
      claim.apiVersion = 'v1';
      claim.kind = 'PersistentVolumeClaim';
      setClaimSpecDefaults(claim.spec);
      setDefault((claim.status ??= {}), 'phase', 'Pending');
    }
    setTemplateDefaults(object.spec.template);
  },
  prepareCreate: object => {
    object.status = { replicas: 0, availableReplicas: 0 };
  },
  validateCreate: (object, context) => {
    warnOfClaims(object, context);
    return validateStatefulSet(object, naming);
  },
  validateUpdate: (object, old, context) => {
    warnOfClaims(object, context);
    return validateStatefulSetUpdate(object, old, naming);
  },
  validateStatus: validateStatefulSetStatus,
  scale: replicaScale,
  columns: COLUMNS,
});

/** StatefulSet. */
export const statefulSet = builtInKind<StatefulSet>('apps/statefulsets', naming =>
  withPodSpec(strategy(naming), naming, 'spec.template.spec', object => object.spec.template),
);
