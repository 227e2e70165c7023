import { invalid, forbiddenField } from '../../core/model/refusal.js';
import type { Strategy } from '../../core/api/strategy.js';
import { at, fill, num, text } from './record.js';
import type { KindTable } from './strategies.js';
import { fixed } from './validation/workload.js';
import { dns1123Label } from '../../core/model/names.js';
import { complaints } from './validation/checks.js';
import type { ApiObject } from '../../core/model/object.js';
import type { Violation } from '../../core/model/refusal.js';

function leaseViolations(object: ApiObject): Violation[] {
  const spec = at(object, 'spec');
  const [seconds, transitions] = [num(spec, 'leaseDurationSeconds'), num(spec, 'leaseTransitions')];
  const found: Violation[] = [];
  if (seconds !== undefined && seconds <= 0)
    found.push(invalid('spec.leaseDurationSeconds', seconds, 'must be greater than 0'));
  if (transitions !== undefined && transitions < 0) {
    found.push(invalid('spec.leaseTransitions', transitions, 'must be greater than or equal to 0'));
  }
  return found;
}

const lease = (): Partial<Strategy> => ({
  createOnUpdate: true,
  unconditionalUpdate: false,
  validateCreate: leaseViolations,
  validateUpdate: object => leaseViolations(object),
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

const handlerViolations = (object: ApiObject): Violation[] =>
  complaints('handler', text(object, 'handler'), dns1123Label(text(object, 'handler')));

const runtimeClass = (): Partial<Strategy> => ({
  createOnUpdate: true,
  unconditionalUpdate: false,
  validateCreate: handlerViolations,
  validateUpdate: (object, old) => [...handlerViolations(object), ...fixed(object, old, 'handler', 'handler')],
});

const bySigner = new Map([['spec.signerName', (o: object) => text(at(o, 'spec'), 'signerName')]]);

const dra = (): Partial<Strategy> => ({ deleteAnswer: 'object' });

/** Kinds of groups that hold one or two. */
export const smallKinds: KindTable = {
  'coordination.orchestrator.io/leases': lease,
  'coordination.orchestrator.io/leasecandidates': () => ({ createOnUpdate: true, unconditionalUpdate: false }),
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
