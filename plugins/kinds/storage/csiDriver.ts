import { builtInKind } from '../../../core/api/resource.js';
import type { Column } from '../../../core/api/strategy.js';
import {
  isAbsent,
  isSemanticallyEqual,
  recordAt,
  recordsAt,
  setDefault,
  specOf,
  stringAt,
} from '../../../core/model/record.js';
import { AGE, booleanCell, type Cell, column, joinedCell, NAME } from '../shared/columns.js';
import { validateImmutable } from '../shared/violations.js';

const audiences: Cell = driver =>
  recordsAt(driver, 'spec', 'tokenRequests')
    .map(request => stringAt(request, 'audience'))
    .join(',') || '<unset>';

const COLUMNS: readonly Column[] = [
  NAME,
  column('AttachRequired', booleanCell('spec.attachRequired', true), { type: 'boolean' }),
  column('PodInfoOnMount', booleanCell('spec.podInfoOnMount'), { type: 'boolean' }),
  column('StorageCapacity', booleanCell('spec.storageCapacity'), { type: 'boolean' }),
  column('TokenRequests', audiences),
  column('RequiresRepublish', booleanCell('spec.requiresRepublish'), { type: 'boolean' }),
  column('Modes', joinedCell('spec.volumeLifecycleModes', '<none>')),
  AGE,
];

/** CSIDriver. The generation counts only changes of mutable fields, and is absent before the first of them. */
export const csiDriver = builtInKind('storage.orchestrator.io/csidrivers', () => ({
  returnsDeletedObject: true,
  allowUnconditionalUpdate: false,
  validateUpdate: (object, old) => [
    ...validateImmutable(recordAt(object, 'spec'), recordAt(old, 'spec'), 'attachRequired', 'spec.attachedRequired'),
    ...validateImmutable(
      recordAt(object, 'spec'),
      recordAt(old, 'spec'),
      'volumeLifecycleModes',
      'spec.volumeLifecycleModes',
    ),
  ],
  applyDefaults: object => {
    const spec = specOf(object);
    setDefault(spec, 'attachRequired', true);
    setDefault(spec, 'podInfoOnMount', false);
    setDefault(spec, 'storageCapacity', false);
    setDefault(spec, 'fsGroupPolicy', 'ReadWriteOnceWithFSType');
    setDefault(spec, 'requiresRepublish', false);
    setDefault(spec, 'seLinuxMount', false);
    if (
      isAbsent(spec.volumeLifecycleModes) ||
      (Array.isArray(spec.volumeLifecycleModes) && spec.volumeLifecycleModes.length === 0)
    )
      spec.volumeLifecycleModes = ['Persistent'];
  },
  prepareUpdate: (object, old) => {
    const moved = ['tokenRequests', 'requiresRepublish', 'seLinuxMount'].some(
      member => !isSemanticallyEqual(recordAt(object, 'spec')?.[member], recordAt(old, 'spec')?.[member]),
    );
    if (moved) object.metadata.generation = (old.metadata.generation ?? 0) + 1;
  },
  columns: COLUMNS,
}));
