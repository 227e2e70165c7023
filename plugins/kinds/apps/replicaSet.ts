import type { Naming } from '../../../core/naming.js';
import type { ReplicaSet } from '../../../kinds/apps/v1.js';
import { builtInKind } from '../../../core/api/resource.js';
import type { Strategy } from '../../../core/api/strategy.js';
import { setDefault } from '../../../core/model/record.js';
import type { Violation } from '../../../core/model/refusal.js';
import { setTemplateDefaults } from '../shared/podSpec/defaults.js';
import { withPodSpec } from '../shared/podSpec/podSpecStrategy.js';
import { POD_NAMES, warnAboutName } from '../shared/podSpec/warnings/warnings.js';
import { replicaSetColumns } from '../shared/podTemplateColumns.js';
import {
  validateCounts,
  validateImmutableSelector,
  replicaScale,
  validateReplicaSetStatus,
  validateTemplateAndSelector,
} from '../shared/workloads.js';

/** Violations of a ReplicaSet. */
const validateReplicaSet = (object: ReplicaSet, naming: Naming): Violation[] => [
  ...validateTemplateAndSelector(
    object,
    {
      // Upstream names another kind here.
      kind: 'deployment',
      owner: 'ReplicaSet',
      malformed: 'invalid label selector',
    },
    naming,
  ),
  ...validateCounts(object.spec, ['replicas', 'minReadySeconds']),
];

const strategy = (naming: Naming): Partial<Strategy<ReplicaSet>> => ({
  hasGeneration: true,
  revalidatesName: 'first',
  hasStatus: true,
  applyDefaults: object => {
    setDefault(object.spec, 'replicas', 1);
    setTemplateDefaults(object.spec.template);
  },
  prepareCreate: object => {
    object.status = { replicas: 0 };
  },
  validateCreate: object => validateReplicaSet(object, naming),
  validateUpdate: (object, old) => [...validateReplicaSet(object, naming), ...validateImmutableSelector(object, old)],
  validateStatus: validateReplicaSetStatus,
  scale: { ...replicaScale, notFoundAs: { group: 'apps', resource: 'replicasets/scale' } },
  columns: replicaSetColumns,
});

/** ReplicaSet. */
export const replicaSet = builtInKind<ReplicaSet>('apps/replicasets', naming =>
  warnAboutName(
    withPodSpec(strategy(naming), naming, 'spec.template.spec', object => object.spec.template),
    POD_NAMES,
  ),
);
