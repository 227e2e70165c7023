import { builtInKind } from '../../../core/api/resource.js';
import type { Column } from '../../../core/api/strategy.js';
import type { ApiObject } from '../../../core/model/object.js';
import { isSemanticallyEqual, setDefault } from '../../../core/model/record.js';
import { forbiddenField, required, type Violation } from '../../../core/model/refusal.js';
import type { Naming } from '../../../core/naming.js';
import { AGE, booleanCell, column, stringCell } from '../shared/columns.js';
import { validateImmutable } from '../shared/violations.js';
import { classNameColumn } from '../shared/volumeColumns.js';

/** Of a class, only labels, annotations, mount options and volume expansion can be changed. */
function validateClassUpdate(object: ApiObject, old: ApiObject): Violation[] {
  const frozen = [
    ['parameters', 'updates to parameters are forbidden.'],
    ['provisioner', 'updates to provisioner are forbidden.'],
    ['reclaimPolicy', 'updates to reclaimPolicy are forbidden.'],
  ] as const;
  const found = frozen.flatMap(([member, why]) =>
    isSemanticallyEqual(object[member], old[member]) ? [] : [forbiddenField(member, why)],
  );
  return [...found, ...validateImmutable(object, old, 'volumeBindingMode', 'volumeBindingMode')];
}

/** Annotations are in the naming of the server. */
const columnsIn = (naming: Naming): readonly Column[] => [
  classNameColumn(naming),
  column('Provisioner', stringCell('provisioner')),
  column('ReclaimPolicy', stringCell('reclaimPolicy', 'Delete')),
  column('VolumeBindingMode', stringCell('volumeBindingMode', 'Immediate')),
  column('AllowVolumeExpansion', booleanCell('allowVolumeExpansion')),
  AGE,
];

/** StorageClass. */
export const storageClass = builtInKind('storage.orchestrator.io/storageclasses', naming => ({
  returnsDeletedObject: true,
  applyDefaults: object => {
    setDefault(object, 'reclaimPolicy', 'Delete');
    setDefault(object, 'volumeBindingMode', 'Immediate');
  },
  validateCreate: object => (object.provisioner ? [] : [required('provisioner')]),
  validateUpdate: validateClassUpdate,
  columns: columnsIn(naming),
}));
