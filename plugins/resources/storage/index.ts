import type { Strategy } from '../../../core/api/strategy.js';
import { at, absent, fill, same, spec } from '../record.js';
import type { KindTable } from '../strategies.js';
import { fixed } from '../validation/workload.js';
import { forbiddenField, required, type Violation } from '../../../core/model/refusal.js';
import type { ApiObject } from '../../../core/model/object.js';
import { keepMetadata } from '../status-metadata.js';

const GROUP = 'storage.orchestrator.io';

const storageClass = (): Partial<Strategy> => ({
  deleteAnswer: 'object',
  defaults: object => {
    fill(object, 'reclaimPolicy', 'Delete');
    fill(object, 'volumeBindingMode', 'Immediate');
  },
  validateCreate: object => (object.provisioner ? [] : [required('provisioner')]),
  validateUpdate: classUpdateViolations,
});

function classUpdateViolations(object: ApiObject, old: ApiObject): Violation[] {
  const frozen = [
    ['parameters', 'updates to parameters are forbidden.'],
    ['provisioner', 'updates to provisioner are forbidden.'],
    ['reclaimPolicy', 'updates to reclaimPolicy are forbidden.'],
  ] as const;
  const found = frozen.flatMap(([member, why]) =>
    same(object[member], old[member]) ? [] : [forbiddenField(member, why)],
  );
  return [...found, ...fixed(object, old, 'volumeBindingMode', 'volumeBindingMode')];
}

/** A driver counts only the changes of what may change; the first one makes generation 1. */
const csiDriver = (): Partial<Strategy> => ({
  deleteAnswer: 'object',
  unconditionalUpdate: false,
  validateUpdate: (object, old) => [
    ...fixed(at(object, 'spec'), at(old, 'spec'), 'attachRequired', 'spec.attachedRequired'),
    ...fixed(at(object, 'spec'), at(old, 'spec'), 'volumeLifecycleModes', 'spec.volumeLifecycleModes'),
  ],
  defaults: object => {
    const s = spec(object);
    fill(s, 'attachRequired', true);
    fill(s, 'podInfoOnMount', false);
    fill(s, 'storageCapacity', false);
    fill(s, 'fsGroupPolicy', 'ReadWriteOnceWithFSType');
    fill(s, 'requiresRepublish', false);
    fill(s, 'seLinuxMount', false);
    if (
      absent(s.volumeLifecycleModes) ||
      (Array.isArray(s.volumeLifecycleModes) && s.volumeLifecycleModes.length === 0)
    )
      s.volumeLifecycleModes = ['Persistent'];
  },
  prepareUpdate: (object, old) => {
    const moved = ['tokenRequests', 'requiresRepublish', 'seLinuxMount'].some(
      member => !same(at(object, 'spec')?.[member], at(old, 'spec')?.[member]),
    );
    if (moved) object.metadata.generation = (old.metadata.generation ?? 0) + 1;
  },
});

/** Kinds of the storage group. */
export const storageKinds: KindTable = {
  [`${GROUP}/csidrivers`]: csiDriver,
  [`${GROUP}/csinodes`]: () => ({ deleteAnswer: 'object', unconditionalUpdate: false }),
  [`${GROUP}/csistoragecapacities`]: () => ({ unconditionalUpdate: false }),
  [`${GROUP}/storageclasses`]: storageClass,
  [`${GROUP}/volumeattachments`]: () => ({
    deleteAnswer: 'object',
    hasStatus: true,
    unconditionalUpdate: false,
    prepareStatus: keepMetadata,
  }),
  [`${GROUP}/volumeattributesclasses`]: () => ({ deleteAnswer: 'object' }),
};
