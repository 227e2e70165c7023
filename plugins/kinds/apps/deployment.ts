import { builtInKind } from '../../../core/api/resource.js';
import type { Column, Strategy } from '../../../core/api/strategy.js';
import type { ApiObject } from '../../../core/model/object.js';
import {
  ensureRecord,
  isDeepEqual,
  isSemanticallyEqual,
  numberAt,
  recordAt,
  setDefault,
  specOf,
  stringAt,
  type UnknownRecord,
} from '../../../core/model/record.js';
import { forbiddenField, invalid, notSupported, type Violation } from '../../../core/model/refusal.js';
import { AGE, column, integerCell, NAME } from '../shared/columns.js';
import { validateAtMostAll, leadingNumber, goIntOrString } from '../shared/intOrPercent.js';
import { setTemplateDefaults } from '../shared/podSpec/defaults.js';
import { POD_NAMES, warnAboutName, warnAboutPodSpec } from '../shared/podSpec/warnings.js';
import { CONTAINERS, IMAGES, readyReplicasCell, SELECTOR } from '../shared/podTemplateColumns.js';
import {
  validateCounts,
  validateImmutableSelector,
  podTemplateOf,
  replicaScale,
  validateReplicaStatus,
  validateRollingCounts,
  validateTemplateAndSelector,
} from '../shared/workloads.js';

function validateRollingUpdate(owner: UnknownRecord | undefined, field: string): Violation[] {
  const found = [
    ...validateRollingCounts(owner, field),
    ...validateAtMostAll(owner, 'maxUnavailable', `${field}.maxUnavailable`),
  ];
  if (leadingNumber(owner?.maxUnavailable) === 0 && leadingNumber(owner?.maxSurge) === 0)
    found.push(
      invalid(`${field}.maxUnavailable`, goIntOrString(owner?.maxUnavailable), 'may not be 0 when `maxSurge` is 0'),
    );
  return found;
}

function validateUpdateStrategy(strategy: UnknownRecord | undefined): Violation[] {
  const type = stringAt(strategy, 'type');
  if (type === 'Recreate') {
    return recordAt(strategy, 'rollingUpdate')
      ? [forbiddenField('spec.strategy.rollingUpdate', "may not be specified when strategy `type` is 'Recreate'")]
      : [];
  }
  if (type !== 'RollingUpdate') return [notSupported('spec.strategy', strategy ?? {}, ['Recreate', 'RollingUpdate'])];
  return validateRollingUpdate(recordAt(strategy, 'rollingUpdate'), 'spec.strategy.rollingUpdate');
}

/** Violations of a Deployment. */
function validateDeployment(object: ApiObject): Violation[] {
  const spec = recordAt(object, 'spec');
  const found = validateTemplateAndSelector(object, {
    kind: 'deployment',
    owner: 'ReplicaSet',
    malformed: 'invalid label selector',
  });
  found.push(
    ...validateCounts(spec, ['replicas', 'minReadySeconds', 'revisionHistoryLimit', 'progressDeadlineSeconds']),
  );
  found.push(...validateUpdateStrategy(recordAt(spec, 'strategy')));
  const deadline = numberAt(spec, 'progressDeadlineSeconds');
  if (deadline !== undefined && deadline <= (numberAt(spec, 'minReadySeconds') ?? 0)) {
    found.push(invalid('spec.progressDeadlineSeconds', deadline, 'must be greater than minReadySeconds'));
  }
  return found;
}

/** Violations of the status of a Deployment. */
const validateDeploymentStatus = (object: ApiObject, old: ApiObject): Violation[] =>
  validateReplicaStatus(
    object,
    old,
    ['replicas', 'unavailableReplicas'],
    ['updatedReplicas', 'readyReplicas', 'availableReplicas'],
  );

const COLUMNS: readonly Column[] = [
  NAME,
  column('Ready', readyReplicasCell),
  column('Up-to-date', integerCell('status.updatedReplicas')),
  column('Available', integerCell('status.availableReplicas')),
  AGE,
  CONTAINERS,
  IMAGES,
  SELECTOR,
];

/** Changes of annotations also increment the generation, because annotations are copied to ReplicaSets. */
const strategy = (): Partial<Strategy> => ({
  hasGeneration: true,
  hasStatus: true,
  changesGeneration: (object, old) =>
    !isDeepEqual(object.spec, old.spec) || !isSemanticallyEqual(object.metadata.annotations, old.metadata.annotations),
  applyDefaults: object => {
    const spec = specOf(object);
    setDefault(spec, 'replicas', 1);
    setDefault(spec, 'revisionHistoryLimit', 10);
    setDefault(spec, 'progressDeadlineSeconds', 600);
    const strategy = ensureRecord(spec, 'strategy');
    setDefault(strategy, 'type', 'RollingUpdate');
    if (strategy.type === 'RollingUpdate') {
      const rolling = ensureRecord(strategy, 'rollingUpdate');
      rolling.maxUnavailable ??= '25%';
      rolling.maxSurge ??= '25%';
    }
    setTemplateDefaults(podTemplateOf(object));
  },
  keptInStatus: ['labels'],
  validateCreate: validateDeployment,
  validateUpdate: (object, old) => [...validateDeployment(object), ...validateImmutableSelector(object, old)],
  validateStatus: validateDeploymentStatus,
  scale: { ...replicaScale, notFoundAs: { group: 'apps', resource: 'deployments/scale' } },
  columns: COLUMNS,
});

/** Deployment. */
export const deployment = builtInKind('apps/deployments', naming =>
  warnAboutName(warnAboutPodSpec(strategy(), naming, 'spec', 'template', 'spec'), POD_NAMES),
);
