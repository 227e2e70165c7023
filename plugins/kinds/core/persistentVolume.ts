import { builtInKind } from '../../../core/api/resource.js';
import type { Column } from '../../../core/api/strategy.js';
import type { ApiObject } from '../../../core/model/object.js';
import {
  ensureRecord,
  isAbsent,
  isRecord,
  recordAt,
  setDefault,
  specOf,
  stringAt,
  type UnknownRecord,
  valueAt,
} from '../../../core/model/record.js';
import { forbiddenField, invalid, Verbatim, type Violation } from '../../../core/model/refusal.js';
import type { Naming } from '../../../core/naming.js';
import { AGE, type Cell, column, NAME, scalarCell, stringCell } from '../shared/columns.js';
import { differenceText, isUnchanged } from '../shared/equality.js';
import { nodeSelectorWarnings } from '../shared/podSpec/nodeLabelWarnings.js';
import { validateVolumeSpec } from '../shared/volumeSpec.js';
import { sourceWarnings } from '../shared/volumeWarnings.js';
import { setVolumeSourceDefaults } from '../shared/podSpec/volumeDefaults.js';
import { validateImmutable } from '../shared/violations.js';
import { PERSISTENT_SOURCES } from '../shared/volumeSources.js';
import {
  accessModesText,
  ATTRIBUTES_CLASS,
  phaseCell,
  storageClassColumn,
  VOLUME_MODE,
} from '../shared/volumeColumns.js';

/** Violations of a volume. */
const validateVolume = (object: ApiObject): Violation[] =>
  validateVolumeSpec(specOf(object), 'spec', object.metadata.name ?? '');

/** Warnings about deprecated labels of nodes, policies and sources. */
const volumeWarnings = (object: ApiObject, naming: Naming): string[] => [
  ...nodeSelectorWarnings(recordAt(object, 'spec', 'nodeAffinity', 'required'), 'spec.nodeAffinity.required', naming),
  ...(stringAt(object, 'spec', 'persistentVolumeReclaimPolicy') === 'Recycle'
    ? [
        'spec.persistentVolumeReclaimPolicy: The Recycle reclaim policy is deprecated. Instead, the recommended approach is to use dynamic provisioning.',
      ]
    : []),
  // Upstream does not warn about these in volumes.
  ...sourceWarnings({ ...specOf(object), flocker: undefined, quobyte: undefined }, 'spec'),
];

/** The source of a volume. The secret for expanding it is left out if `before` names none: it can be set later. */
function sourceOf(spec: UnknownRecord, before: UnknownRecord): UnknownRecord {
  const sources: UnknownRecord = Object.fromEntries(PERSISTENT_SOURCES.map(source => [source, spec[source]]));
  const [csi, earlier] = [recordAt(spec, 'csi'), recordAt(before, 'csi')];
  return csi && earlier && isAbsent(earlier.controllerExpandSecretRef)
    ? { ...sources, csi: { ...csi, controllerExpandSecretRef: undefined } }
    : sources;
}

/** Checks that the source, the mode and the nodes of a volume have not changed. */
function validateVolumeUpdate(object: ApiObject, old: ApiObject): Violation[] {
  const [now, before] = [specOf(object), specOf(old)];
  const [source, earlier] = [sourceOf(now, before), sourceOf(before, before)];
  return [
    ...validateVolume(object),
    ...(isUnchanged(source, earlier)
      ? []
      : [
          forbiddenField(
            'spec.persistentvolumesource',
            `spec.persistentvolumesource is immutable after creation\n${differenceText(earlier, source)}`,
          ),
        ]),
    ...validateImmutable(now, before, 'volumeMode', 'volumeMode'),
    ...(isAbsent(before.nodeAffinity) || isUnchanged(now.nodeAffinity, before.nodeAffinity)
      ? []
      : [
          invalid(
            'nodeAffinity',
            isAbsent(now.nodeAffinity)
              ? 'null'
              : new Verbatim(`core.VolumeNodeAffinity{${JSON.stringify(now.nodeAffinity)}}`),
            'field is immutable, except for updating from beta label to GA',
          ),
        ]),
  ];
}

/** Removes what belongs to a feature gate that is off. */
const dropGatedFields = (object: ApiObject): void => void delete specOf(object).volumeAttributesClassName;

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
  validateCreate: (object, { warn }) => {
    if (warn) for (const text of volumeWarnings(object, naming)) warn(text);
    return validateVolume(object);
  },
  validateUpdate: (object, old, { warn }) => {
    if (warn) for (const text of volumeWarnings(object, naming)) warn(text);
    return validateVolumeUpdate(object, old);
  },
  applyDefaults: object => {
    const spec = specOf(object);
    setDefault(ensureRecord(object, 'status'), 'phase', 'Pending');
    setDefault(spec, 'persistentVolumeReclaimPolicy', 'Retain');
    spec.volumeMode ??= 'Filesystem';
    for (const [member, source] of Object.entries(spec)) if (isRecord(source)) setVolumeSourceDefaults(member, source);
  },
  prepareCreate: (object, context) => {
    dropGatedFields(object);
    object.status = { phase: 'Pending', lastPhaseTransitionTime: context.now };
  },
  // The server sets the time.
  unownedFields: new Map([['status', [['status', 'lastPhaseTransitionTime']]]]),
  prepareUpdate: dropGatedFields,
  prepareStatus: (object, old, context) => {
    const [now, before] = [recordAt(object, 'status'), recordAt(old, 'status')];
    if (!now) return;
    if (stringAt(now, 'phase') === stringAt(before, 'phase')) {
      setDefault(now, 'lastPhaseTransitionTime', before?.lastPhaseTransitionTime);
      return;
    }
    if (isAbsent(now.lastPhaseTransitionTime) || now.lastPhaseTransitionTime === before?.lastPhaseTransitionTime)
      now.lastPhaseTransitionTime = context.now;
  },
  columns: columnsIn(naming),
}));
