import type { Naming } from '../../../core/naming.js';
import type { ReplicationController } from '../../../kinds/v1.js';
import { builtInKind } from '../../../core/api/resource.js';
import type { Strategy } from '../../../core/api/strategy.js';
import { labelSelectorText } from '../../../core/model/selectors/labelSelector.js';
import { setDefault } from '../../../core/model/record.js';
import { invalid, required, type Violation } from '../../../core/model/refusal.js';
import { isSelectedBy } from '../shared/labels.js';
import { setTemplateDefaults } from '../shared/podSpec/defaults.js';
import { validateTemplate } from '../shared/podSpec/validation.js';
import { withPodSpec } from '../shared/podSpec/podSpecStrategy.js';
import { POD_NAMES, warnAboutName } from '../shared/podSpec/warnings/warnings.js';
import { replicaSetColumns } from '../shared/podTemplateColumns.js';
import { validateAlwaysRunning, validateCounts, validateReplicaSetStatus } from '../shared/workloads.js';

/** The selector must not be empty and must select the pods of the template, whose restart policy must be Always. */
function validateReplicationController(object: ReplicationController, naming: Naming): Violation[] {
  const spec = object.spec;
  const selector = spec.selector ?? {};
  const found = validateCounts(spec, ['replicas', 'minReadySeconds']);
  if (Object.keys(selector).length === 0) found.push(required('spec.selector'));
  if (!spec.template) return [...found, required('spec.template')];
  if (!isSelectedBy({ matchLabels: selector }, spec.template.metadata.labels ?? {})) {
    found.push(
      invalid(
        'spec.template.metadata.labels',
        spec.template.metadata.labels ?? {},
        '`selector` does not match template `labels`',
      ),
    );
  }
  return [
    ...found,
    ...validateTemplate(spec.template, 'spec.template', naming),
    ...validateAlwaysRunning(spec.template.spec, 'ReplicationController'),
  ];
}

/** Selector and labels default to the labels of the template. */
const strategy = (naming: Naming): Partial<Strategy<ReplicationController>> => ({
  hasGeneration: true,
  revalidatesName: 'first',
  storePath: 'controllers',
  hasStatus: true,
  orphansByDefault: true,
  applyDefaults: object => {
    const spec = object.spec;
    setDefault(spec, 'replicas', 1);
    const labels = spec.template?.metadata?.labels;
    if (labels) {
      if (Object.entries(spec.selector ?? {}).length === 0) spec.selector = { ...labels };
      if (Object.keys(object.metadata.labels ?? {}).length === 0) {
        object.metadata.labels = Object.fromEntries(Object.entries(labels).map(([k, v]) => [k, String(v)]));
      }
    }
    setTemplateDefaults(spec.template);
  },
  prepareCreate: object => {
    object.status = { replicas: 0 };
  },
  validateCreate: object => validateReplicationController(object, naming),
  validateUpdate: object => validateReplicationController(object, naming),
  validateStatus: validateReplicaSetStatus,
  selectableFields: new Map([['status.replicas', object => String(object.status?.replicas ?? 0)]]),
  scale: {
    spec: ['spec', 'replicas'],
    status: ['status', 'replicas'],
    selector: object => labelSelectorText({ matchLabels: object.spec.selector }),
    notFoundAs: { group: 'autoscaling', resource: 'replicationcontrollers/scale' },
  },
  columns: replicaSetColumns,
});

/** Upstream warns about the template that an update replaces, not about the new one. */
const replaced = (object: ReplicationController, old: ReplicationController): ReplicationController | undefined =>
  object.metadata.generation === old.metadata.generation ? undefined : old;

/** ReplicationController. */
export const replicationController = builtInKind<ReplicationController>('core/replicationcontrollers', naming =>
  warnAboutName(
    withPodSpec(strategy(naming), naming, 'spec.template.spec', object => object.spec.template ?? undefined, replaced),
    POD_NAMES,
  ),
);
