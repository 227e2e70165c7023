import { builtInKind } from '../../../core/api/resource.js';
import type { Strategy } from '../../../core/api/strategy.js';
import type { ApiObject } from '../../../core/model/object.js';
import { recordAt, setDefault, specOf } from '../../../core/model/record.js';
import type { Violation } from '../../../core/model/refusal.js';
import { setTemplateDefaults } from '../shared/podSpec/defaults.js';
import { POD_NAMES, warnAboutName, warnAboutPodSpec } from '../shared/podSpec/warnings.js';
import { replicaSetColumns } from '../shared/podTemplateColumns.js';
import {
  validateCounts,
  validateImmutableSelector,
  podTemplateOf,
  replicaScale,
  validateReplicaSetStatus,
  validateTemplateAndSelector,
} from '../shared/workloads.js';

/** Violations of a ReplicaSet. */
const validateReplicaSet = (object: ApiObject): Violation[] => [
  ...validateTemplateAndSelector(object, {
    // Upstream names another kind here.
    kind: 'deployment',
    owner: 'ReplicaSet',
    malformed: 'invalid label selector',
  }),
  ...validateCounts(recordAt(object, 'spec'), ['replicas', 'minReadySeconds']),
];

const strategy = (): Partial<Strategy> => ({
  hasGeneration: true,
  hasStatus: true,
  applyDefaults: object => {
    setDefault(specOf(object), 'replicas', 1);
    setTemplateDefaults(podTemplateOf(object));
  },
  prepareCreate: object => {
    object.status = { replicas: 0 };
  },
  validateCreate: validateReplicaSet,
  validateUpdate: (object, old) => [...validateReplicaSet(object), ...validateImmutableSelector(object, old)],
  validateStatus: validateReplicaSetStatus,
  scale: { ...replicaScale, notFoundAs: { group: 'apps', resource: 'replicasets/scale' } },
  columns: replicaSetColumns,
});

/** ReplicaSet. */
export const replicaSet = builtInKind('apps/replicasets', naming =>
  warnAboutName(warnAboutPodSpec(strategy(), naming, 'spec', 'template', 'spec'), POD_NAMES),
);
