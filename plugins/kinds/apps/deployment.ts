import { builtInKind } from '../../../core/api/resource.js';
import type { Column, Strategy } from '../../../core/api/strategy.js';
import type { ApiObject } from '../../../core/model/object.js';
import {
  ensureRecord,
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
import { atMostAll, countOf, intOrString } from '../shared/intOrPercent.js';
import { keepMembers } from '../shared/metadata.js';
import { templateDefaults } from '../shared/podSpec/defaults.js';
import { POD_NAMES, withNameWarning, withPodWarnings } from '../shared/podSpec/warnings.js';
import { CONTAINERS, IMAGES, readyOfReplicas, SELECTOR } from '../shared/podTemplateColumns.js';
import {
  counts,
  fixedSelector,
  podTemplateOf,
  replicaScale,
  replicaStatusViolations,
  rollingCounts,
  templateAndSelector,
} from '../shared/workloads.js';

function rolling(owner: UnknownRecord | undefined, field: string): Violation[] {
  const found = [...rollingCounts(owner, field), ...atMostAll(owner, 'maxUnavailable', `${field}.maxUnavailable`)];
  if (countOf(owner?.maxUnavailable) === 0 && countOf(owner?.maxSurge) === 0)
    found.push(
      invalid(`${field}.maxUnavailable`, intOrString(owner?.maxUnavailable), 'may not be 0 when `maxSurge` is 0'),
    );
  return found;
}

function updateStrategy(strategy: UnknownRecord | undefined): Violation[] {
  const type = stringAt(strategy, 'type');
  if (type === 'Recreate') {
    return recordAt(strategy, 'rollingUpdate')
      ? [forbiddenField('spec.strategy.rollingUpdate', "may not be specified when strategy `type` is 'Recreate'")]
      : [];
  }
  if (type !== 'RollingUpdate') return [notSupported('spec.strategy', strategy ?? {}, ['Recreate', 'RollingUpdate'])];
  return rolling(recordAt(strategy, 'rollingUpdate'), 'spec.strategy.rollingUpdate');
}

/** What is wrong with a Deployment. */
function deploymentViolations(object: ApiObject): Violation[] {
  const spec = recordAt(object, 'spec');
  const found = templateAndSelector(object, 'deployment', 'ReplicaSet');
  found.push(...counts(spec, ['replicas', 'minReadySeconds', 'revisionHistoryLimit', 'progressDeadlineSeconds']));
  found.push(...updateStrategy(recordAt(spec, 'strategy')));
  const deadline = numberAt(spec, 'progressDeadlineSeconds');
  if (deadline !== undefined && deadline <= (numberAt(spec, 'minReadySeconds') ?? 0)) {
    found.push(invalid('spec.progressDeadlineSeconds', deadline, 'must be greater than minReadySeconds'));
  }
  return found;
}

/** What is wrong with the status of a Deployment. */
const deploymentStatusViolations = (object: ApiObject, old: ApiObject): Violation[] =>
  replicaStatusViolations(
    object,
    old,
    ['replicas', 'unavailableReplicas'],
    ['updatedReplicas', 'readyReplicas', 'availableReplicas'],
  );

const COLUMNS: readonly Column[] = [
  NAME,
  column('Ready', readyOfReplicas),
  column('Up-to-date', integerCell('status.updatedReplicas')),
  column('Available', integerCell('status.availableReplicas')),
  AGE,
  CONTAINERS,
  IMAGES,
  SELECTOR,
];

/** Rules of Deployments: their generation also moves with annotations, which carry over to what they own. */
const strategy = (): Partial<Strategy> => ({
  hasGeneration: true,
  hasStatus: true,
  changesGeneration: (object, old) =>
    !isSemanticallyEqual(object.spec, old.spec) ||
    !isSemanticallyEqual(object.metadata.annotations, old.metadata.annotations),
  applyDefaults: object => {
    const s = specOf(object);
    setDefault(s, 'replicas', 1);
    setDefault(s, 'revisionHistoryLimit', 10);
    setDefault(s, 'progressDeadlineSeconds', 600);
    const strategy = ensureRecord(s, 'strategy');
    setDefault(strategy, 'type', 'RollingUpdate');
    if (strategy.type === 'RollingUpdate') {
      const rolling = ensureRecord(strategy, 'rollingUpdate');
      setDefault(rolling, 'maxUnavailable', '25%');
      setDefault(rolling, 'maxSurge', '25%');
    }
    templateDefaults(podTemplateOf(object));
  },
  prepareStatus: (object, old) => keepMembers(object, old, ['labels']),
  validateCreate: deploymentViolations,
  validateUpdate: (object, old) => [...deploymentViolations(object), ...fixedSelector(object, old)],
  validateStatus: deploymentStatusViolations,
  scale: { ...replicaScale, notFoundAs: { group: 'apps', resource: 'deployments/scale' } },
  columns: COLUMNS,
});

export const deployment = builtInKind('apps/deployments', () =>
  withNameWarning(withPodWarnings(strategy(), 'spec', 'template', 'spec'), POD_NAMES),
);
