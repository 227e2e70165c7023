import { builtInKind } from '../../../core/api/resource.js';
import type { Strategy } from '../../../core/api/strategy.js';
import type { ApiObject } from '../../../core/model/object.js';
import { recordAt, setDefault, specOf } from '../../../core/model/record.js';
import type { Violation } from '../../../core/model/refusal.js';
import { templateDefaults } from '../shared/podSpec/defaults.js';
import { POD_NAMES, withNameWarning, withPodWarnings } from '../shared/podSpec/warnings.js';
import { replicaSetColumns } from '../shared/podTemplateColumns.js';
import {
  counts,
  fixedSelector,
  podTemplateOf,
  replicaScale,
  replicaSetStatusViolations,
  templateAndSelector,
} from '../shared/workloads.js';

/** What is wrong with a ReplicaSet. */
const replicaSetViolations = (object: ApiObject): Violation[] => [
  ...templateAndSelector(object, 'replicaset', 'ReplicaSet'),
  ...counts(recordAt(object, 'spec'), ['replicas', 'minReadySeconds']),
];

/** Rules of ReplicaSets. */
const strategy = (): Partial<Strategy> => ({
  hasGeneration: true,
  hasStatus: true,
  applyDefaults: object => {
    setDefault(specOf(object), 'replicas', 1);
    templateDefaults(podTemplateOf(object));
  },
  prepareCreate: object => {
    object.status = { replicas: 0 };
  },
  validateCreate: replicaSetViolations,
  validateUpdate: (object, old) => [...replicaSetViolations(object), ...fixedSelector(object, old)],
  validateStatus: replicaSetStatusViolations,
  scale: { ...replicaScale, notFoundAs: { group: 'apps', resource: 'replicasets/scale' } },
  columns: replicaSetColumns,
});

export const replicaSet = builtInKind('apps/replicasets', () =>
  withNameWarning(withPodWarnings(strategy(), 'spec', 'template', 'spec'), POD_NAMES),
);
