import { invalid, forbiddenField } from '../../core/model/refusal.js';
import type { Strategy } from '../../core/api/strategy.js';
import { at, fill, list, text } from './record.js';
import type { KindTable } from './strategies.js';

const lease = (): Partial<Strategy> => ({ createOnUpdate: true, unconditionalUpdate: false });

const endpointSlice = (): Partial<Strategy> => ({
  hasGeneration: true,
  defaults: object => {
    for (const port of list(object, 'ports')) {
      fill(port, 'name', '');
      fill(port, 'protocol', 'TCP');
    }
  },
});

const SYSTEM = new Set(['system-cluster-critical', 'system-node-critical']);

const priorityClass = (): Partial<Strategy> => ({
  hasGeneration: true,
  defaults: object => fill(object, 'preemptionPolicy', 'PreemptLowerPriority'),
  validateCreate: object => {
    const name = object.metadata.name ?? '';
    if (name.startsWith('system-') && !SYSTEM.has(name)) {
      return [
        forbiddenField(
          'metadata.name',
          `priority class names with 'system-' prefix are reserved for system use only. error: ${name} is not a known system priority class`,
        ),
      ];
    }
    const value = Number(object.value ?? 0);
    return SYSTEM.has(name) || value <= 1000000000
      ? []
      : [forbiddenField('value', 'maximum allowed value of a user defined priority is 1000000000')];
  },
  validateUpdate: (object, old) => [
    ...(Number(object.value ?? 0) === Number(old.value ?? 0)
      ? []
      : [forbiddenField('value', 'may not be changed in an update.')]),
    ...(text(object, 'preemptionPolicy') === text(old, 'preemptionPolicy')
      ? []
      : [invalid('preemptionPolicy', object.preemptionPolicy, 'field is immutable')]),
  ],
});

const runtimeClass = (): Partial<Strategy> => ({ createOnUpdate: true, unconditionalUpdate: false });

const bySigner = new Map([['spec.signerName', (o: object) => text(at(o, 'spec'), 'signerName')]]);

const dra = (): Partial<Strategy> => ({ deleteAnswer: 'object' });

/** Kinds of groups that hold one or two. */
export const smallKinds: KindTable = {
  'coordination.orchestrator.io/leases': lease,
  'coordination.orchestrator.io/leasecandidates': () => ({ createOnUpdate: true, unconditionalUpdate: false }),
  'discovery.orchestrator.io/endpointslices': endpointSlice,
  'scheduling.orchestrator.io/priorityclasses': priorityClass,
  'node.orchestrator.io/runtimeclasses': runtimeClass,
  'certificates.orchestrator.io/clustertrustbundles': () => ({ selectableFields: bySigner }),
  'resource.orchestrator.io/deviceclasses': () => ({ ...dra(), hasGeneration: true }),
  'resource.orchestrator.io/resourceclaims': () => ({ ...dra(), hasStatus: true }),
  'resource.orchestrator.io/resourceclaimtemplates': dra,
  'resource.orchestrator.io/resourceslices': () => ({
    ...dra(),
    hasGeneration: true,
    selectableFields: new Map([
      ['spec.nodeName', o => text(at(o, 'spec'), 'nodeName')],
      ['spec.driver', o => text(at(o, 'spec'), 'driver')],
    ]),
  }),
  'internal.apiserver.orchestrator.io/storageversions': () => ({ hasStatus: true, unconditionalUpdate: false }),
  'storagemigration.orchestrator.io/storageversionmigrations': () => ({ hasStatus: true }),
};
