import type { Naming } from '../../../core/naming.js';
import type { Deployment, DeploymentStrategy, RollingUpdateDeployment } from '../../../kinds/apps/v1.js';
import { builtInKind } from '../../../core/api/resource.js';
import type { Column, Strategy } from '../../../core/api/strategy.js';
import { isDeepEqual, isSemanticallyEqual, setDefault } from '../../../core/model/record.js';
import { forbiddenField, invalid, notSupported, type Violation } from '../../../core/model/refusal.js';
import { AGE, column, NAME } from '../shared/columns.js';
import { validateAtMostAll, leadingNumber, goIntOrString } from '../shared/values/intOrPercent.js';
import { setTemplateDefaults } from '../shared/podSpec/defaults.js';
import { withPodSpec } from '../shared/podSpec/podSpecStrategy.js';
import { POD_NAMES, warnAboutName } from '../shared/podSpec/warnings/warnings.js';
import { CONTAINERS, IMAGES, readyReplicasCell, SELECTOR } from '../shared/podTemplateColumns.js';
import {
  validateCounts,
  validateImmutableSelector,
  replicaScale,
  validateReplicaStatus,
  validateRollingCounts,
  validateTemplateAndSelector,
} from '../shared/workloads.js';

function validateRollingUpdate(owner: RollingUpdateDeployment | undefined, field: string): Violation[] {
  const found = [
    ...validateRollingCounts(owner, field),
    ...validateAtMostAll(owner?.maxUnavailable, `${field}.maxUnavailable`),
  ];
  if (leadingNumber(owner?.maxUnavailable) === 0 && leadingNumber(owner?.maxSurge) === 0)
    found.push(
      invalid(`${field}.maxUnavailable`, goIntOrString(owner?.maxUnavailable), 'may not be 0 when `maxSurge` is 0'),
    );
  return found;
}

function validateUpdateStrategy(strategy: DeploymentStrategy): Violation[] {
  const type = strategy.type ?? '';
  if (type === 'Recreate') {
    return strategy.rollingUpdate
      ? [forbiddenField('spec.strategy.rollingUpdate', "may not be specified when strategy `type` is 'Recreate'")]
      : [];
  }
  if (type !== 'RollingUpdate') return [notSupported('spec.strategy', strategy, ['Recreate', 'RollingUpdate'])];
  return validateRollingUpdate(strategy.rollingUpdate, 'spec.strategy.rollingUpdate');
}

/** Violations of a Deployment. */
function validateDeployment(object: Deployment, naming: Naming): Violation[] {
  const spec = object.spec;
  const found = validateTemplateAndSelector(
    object,
    {
      kind: 'deployment',
      owner: 'ReplicaSet',
      malformed: 'invalid label selector',
    },
    naming,
  );
  found.push(
    ...validateCounts(spec, ['replicas', 'minReadySeconds', 'revisionHistoryLimit', 'progressDeadlineSeconds']),
  );
  found.push(...validateUpdateStrategy(spec.strategy));
  const deadline = spec.progressDeadlineSeconds;
  if (deadline !== undefined && deadline <= (spec.minReadySeconds ?? 0)) {
    found.push(invalid('spec.progressDeadlineSeconds', deadline, 'must be greater than minReadySeconds'));
  }
  return found;
}

/** Violations of the status of a Deployment. */
const validateDeploymentStatus = (object: Deployment, old: Deployment): Violation[] =>
  validateReplicaStatus(
    object,
    old,
    ['replicas', 'unavailableReplicas'],
    ['updatedReplicas', 'readyReplicas', 'availableReplicas'],
  );

const COLUMNS: readonly Column<Deployment>[] = [
  NAME,
  column('Ready', readyReplicasCell),
  column('Up-to-date', object => object.status?.updatedReplicas ?? 0),
  column('Available', object => object.status?.availableReplicas ?? 0),
  AGE,
  CONTAINERS,
  IMAGES,
  SELECTOR,
];

/** Changes of annotations also increment the generation, because annotations are copied to ReplicaSets. */
const strategy = (naming: Naming): Partial<Strategy<Deployment>> => ({
  hasGeneration: true,
  hasStatus: true,
  changesGeneration: (object, old) =>
    !isDeepEqual(object.spec, old.spec) || !isSemanticallyEqual(object.metadata.annotations, old.metadata.annotations),
  applyDefaults: object => {
    const spec = object.spec;
    setDefault(spec, 'replicas', 1);
    setDefault(spec, 'revisionHistoryLimit', 10);
    setDefault(spec, 'progressDeadlineSeconds', 600);
    const strategy = spec.strategy;
    setDefault(strategy, 'type', 'RollingUpdate');
    if (strategy.type === 'RollingUpdate') {
      const rolling = (strategy.rollingUpdate ??= {});
      rolling.maxUnavailable ??= '25%';
      rolling.maxSurge ??= '25%';
    }
    setTemplateDefaults(object.spec.template);
  },
  keptInStatus: ['labels'],
  validateCreate: object => validateDeployment(object, naming),
  validateUpdate: (object, old) => [...validateDeployment(object, naming), ...validateImmutableSelector(object, old)],
  validateStatus: validateDeploymentStatus,
  scale: { ...replicaScale, notFoundAs: { group: 'apps', resource: 'deployments/scale' } },
  columns: COLUMNS,
});

/** Deployment. */
export const deployment = builtInKind<Deployment>('apps/deployments', naming =>
  warnAboutName(
    withPodSpec(strategy(naming), naming, 'spec.template.spec', object => object.spec.template),
    POD_NAMES,
  ),
);
