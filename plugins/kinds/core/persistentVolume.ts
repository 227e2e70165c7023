import { builtInKind } from '../../../core/api/resource.js';
import type { Column } from '../../../core/api/strategy.js';
import type { ApiObject } from '../../../core/model/object.js';
import {
  isAbsent,
  isRecord,
  isSemanticallyEqual,
  recordAt,
  setDefault,
  specOf,
  stringAt,
  type UnknownRecord,
  valueAt,
} from '../../../core/model/record.js';
import { forbiddenField, type Violation } from '../../../core/model/refusal.js';
import type { Naming } from '../../../core/naming.js';
import { AGE, type Cell, column, NAME, scalarCell, stringCell } from '../shared/columns.js';
import { addFinalizer } from '../shared/metadata.js';
import { setVolumeSourceDefaults } from '../shared/podSpec/volumeDefaults.js';
import { validateImmutable } from '../shared/violations.js';
import {
  accessModesText,
  ATTRIBUTES_CLASS,
  phaseCell,
  storageClassColumn,
  VOLUME_MODE,
} from '../shared/volumeColumns.js';

/** Members of the spec that are not the source of the volume. */
const VOLUME_PLAIN = new Set([
  'accessModes',
  'capacity',
  'claimRef',
  'mountOptions',
  'nodeAffinity',
  'persistentVolumeReclaimPolicy',
  'storageClassName',
  'volumeAttributesClassName',
  'volumeMode',
]);

/** Checks that the source and the mode of a volume have not changed. */
function validateVolumeUpdate(object: ApiObject, old: ApiObject): Violation[] {
  const sourceOf = (o: ApiObject): UnknownRecord =>
    Object.fromEntries(Object.entries(specOf(o)).filter(([member]) => !VOLUME_PLAIN.has(member)));
  const found = isSemanticallyEqual(sourceOf(object), sourceOf(old))
    ? []
    : [forbiddenField('spec.persistentvolumesource', 'spec.persistentvolumesource is immutable after creation')];
  return [...found, ...validateImmutable(specOf(object), specOf(old), 'volumeMode', 'volumeMode')];
}

const claimOf: Cell = volume => {
  const claim = valueAt(volume, 'spec', 'claimRef');
  return claim === undefined || claim === null ? '' : `${stringAt(claim, 'namespace')}/${stringAt(claim, 'name')}`;
};

const columnsIn = (naming: Naming): readonly Column[] => [
  NAME,
  column('Capacity', scalarCell('spec.capacity.storage', '0')),
  column('Access Modes', object => accessModesText(valueAt(object, 'spec', 'accessModes'))),
  column('Reclaim Policy', stringCell('spec.persistentVolumeReclaimPolicy')),
  column('Status', phaseCell),
  column('Claim', claimOf),
  storageClassColumn(naming),
  ATTRIBUTES_CLASS,
  column('Reason', stringCell('status.reason')),
  AGE,
  VOLUME_MODE,
];

/** PersistentVolume. It is pending at first, and a finalizer keeps it while it is in use. */
export const persistentVolume = builtInKind('core/persistentvolumes', naming => ({
  hasStatus: true,
  returnsDeletedObject: true,
  validateUpdate: validateVolumeUpdate,
  applyDefaults: object => {
    const spec = specOf(object);
    setDefault(spec, 'persistentVolumeReclaimPolicy', 'Retain');
    setDefault(spec, 'volumeMode', 'Filesystem');
    for (const [member, source] of Object.entries(spec)) if (isRecord(source)) setVolumeSourceDefaults(member, source);
  },
  prepareCreate: (object, context) => {
    object.status = { phase: 'Pending', lastPhaseTransitionTime: context.now };
    addFinalizer(object, naming.label('orchestrator.io/pv-protection'));
  },
  prepareStatus: (object, old, context) => {
    const [now, before] = [recordAt(object, 'status'), recordAt(old, 'status')];
    if (!now || stringAt(now, 'phase') === stringAt(before, 'phase')) return;
    if (isAbsent(now.lastPhaseTransitionTime) || now.lastPhaseTransitionTime === before?.lastPhaseTransitionTime)
      now.lastPhaseTransitionTime = context.now;
  },
  columns: columnsIn(naming),
}));
