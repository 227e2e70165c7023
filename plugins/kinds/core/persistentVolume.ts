import type { PersistentVolume, PersistentVolumeSpec, VolumeNodeAffinity } from '../../../kinds/v1.js';
import { builtInKind } from '../../../core/api/resource.js';
import type { Column, StrategyContext } from '../../../core/api/strategy.js';
import { isAbsent, setDefault, type UnknownRecord } from '../../../core/model/record.js';
import { forbiddenField, invalid, Verbatim, type Violation } from '../../../core/model/refusal.js';
import type { Naming } from '../../../core/naming.js';
import { scalarText, AGE, type Cell, column, NAME } from '../shared/columns.js';
import { differenceText, isUnchanged } from '../shared/values/equality.js';
import { nodeSelectorWarnings, OLD_LABELS } from '../shared/podSpec/warnings/nodeLabelWarnings.js';
import { validateVolumeSpec } from '../shared/volumes/volumeSpec.js';
import { sourceWarnings } from '../shared/volumes/volumeWarnings.js';
import { setVolumeSourceDefaults } from '../shared/podSpec/volumes/volumeDefaults.js';
import { validateImmutable } from '../shared/violations.js';
import { PERSISTENT_SOURCES } from '../shared/volumes/volumeSources.js';
import {
  accessModesText,
  ATTRIBUTES_CLASS,
  phaseCell,
  storageClassColumn,
  VOLUME_MODE,
} from '../shared/volumes/volumeColumns.js';

/** Violations of a volume. */
const validateVolume = (object: PersistentVolume, { emptied }: StrategyContext): Violation[] =>
  validateVolumeSpec(object.spec, 'spec', object.metadata.name ?? '', emptied?.get('spec'));

/** Warnings about deprecated labels of nodes, policies and sources. */
const volumeWarnings = (object: PersistentVolume, naming: Naming): string[] => [
  ...nodeSelectorWarnings(object.spec.nodeAffinity?.required, 'spec.nodeAffinity.required', naming),
  ...((object.spec.persistentVolumeReclaimPolicy ?? '') === 'Recycle'
    ? [
        'spec.persistentVolumeReclaimPolicy: The Recycle reclaim policy is deprecated. Instead, the recommended approach is to use dynamic provisioning.',
      ]
    : []),
  // Upstream does not warn about these in volumes.
  ...sourceWarnings({ ...object.spec, flocker: undefined, quobyte: undefined }, 'spec'),
];

/** The source of a volume. The secret for expanding it is left out if `before` names none: it can be set later. */
function sourceOf(spec: PersistentVolumeSpec, before: PersistentVolumeSpec): UnknownRecord {
  const sources: UnknownRecord = Object.fromEntries(PERSISTENT_SOURCES.map(source => [source, spec[source]]));
  const [csi, earlier] = [spec.csi, before.csi];
  return csi && earlier && isAbsent(earlier.controllerExpandSecretRef)
    ? { ...sources, csi: { ...csi, controllerExpandSecretRef: undefined } }
    : sources;
}

/**
 * The nodes of a volume, with the keys of old labels replaced by those of the stable labels where `now` has these. As
 * in upstream, a key without a stable label counts as unchanged if `now` has an empty key.
 */
function withStableLabels(before: VolumeNodeAffinity, now: VolumeNodeAffinity | null, naming: Naming): object {
  const stable = new Map(OLD_LABELS.map(([old, label]) => [naming.label(old), naming.label(label)]));
  const terms = (before.required?.nodeSelectorTerms ?? []).map((term, i) => ({
    ...term,
    matchExpressions: (term.matchExpressions ?? []).map((expression, j) => {
      const key = now?.required?.nodeSelectorTerms?.[i]?.matchExpressions?.[j]?.key;
      return key === (stable.get(expression.key) ?? '') ? { ...expression, key } : expression;
    }),
  }));
  return { ...before, ...(before.required ? { required: { ...before.required, nodeSelectorTerms: terms } } : {}) };
}

/** Checks that the source, the mode and the nodes of a volume have not changed. */
function validateVolumeUpdate(
  object: PersistentVolume,
  old: PersistentVolume,
  naming: Naming,
  context: StrategyContext,
): Violation[] {
  const [now, before] = [object.spec, old.spec];
  const [source, earlier] = [sourceOf(now, before), sourceOf(before, before)];
  return [
    ...validateVolume(object, context),
    ...(isUnchanged(source, earlier)
      ? []
      : [
          forbiddenField(
            'spec.persistentvolumesource',
            `spec.persistentvolumesource is immutable after creation\n${differenceText(earlier, source)}`,
          ),
        ]),
    ...validateImmutable(now, before, 'volumeMode', 'volumeMode'),
    ...(isAbsent(before.nodeAffinity) ||
    isUnchanged(now.nodeAffinity, withStableLabels(before.nodeAffinity, now.nodeAffinity ?? null, naming))
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

/** Removes fields of feature gates that are off. */
const dropGatedFields = (object: PersistentVolume): void => void delete object.spec.volumeAttributesClassName;

const claimOf: Cell<PersistentVolume> = volume => {
  const claim = volume.spec.claimRef;
  return claim === undefined || claim === null ? '' : `${claim.namespace ?? ''}/${claim.name ?? ''}`;
};

const columnsIn = (naming: Naming): readonly Column<PersistentVolume>[] => [
  NAME,
  column('Capacity', object => scalarText(object.spec.capacity?.storage, '0')),
  column('Access Modes', object => accessModesText(object.spec.accessModes)),
  column('Reclaim Policy', object => object.spec.persistentVolumeReclaimPolicy ?? ''),
  column('Status', phaseCell),
  column('Claim', claimOf),
  storageClassColumn(naming),
  ATTRIBUTES_CLASS,
  column('Reason', object => object.status?.reason ?? ''),
  AGE,
  VOLUME_MODE,
];

/** PersistentVolume. It is pending at first, and a finalizer keeps it while it is in use. */
export const persistentVolume = builtInKind<PersistentVolume>('core/persistentvolumes', naming => ({
  revalidatesName: 'first',
  hasStatus: true,
  returnsDeletedObject: true,
  validateCreate: (object, context) => {
    const { warn } = context;
    if (warn) for (const text of volumeWarnings(object, naming)) warn(text);
    return validateVolume(object, context);
  },
  validateUpdate: (object, old, context) => {
    const { warn } = context;
    if (warn) for (const text of volumeWarnings(object, naming)) warn(text);
    return validateVolumeUpdate(object, old, naming, context);
  },
  applyDefaults: object => {
    const spec = object.spec;
    setDefault((object.status ??= {}), 'phase', 'Pending');
    setDefault(spec, 'persistentVolumeReclaimPolicy', 'Retain');
    spec.volumeMode ??= 'Filesystem';
    setVolumeSourceDefaults(spec);
  },
  prepareCreate: (object, context) => {
    dropGatedFields(object);
    object.status = { phase: 'Pending', lastPhaseTransitionTime: context.now };
  },
  // The server sets the time.
  unownedFields: new Map([['status', [['status', 'lastPhaseTransitionTime']]]]),
  prepareUpdate: dropGatedFields,
  prepareStatus: (object, old, context) => {
    const [now, before] = [object.status, old.status];
    if (!now) return;
    if ((now.phase ?? '') === (before?.phase ?? '')) {
      setDefault(now, 'lastPhaseTransitionTime', before?.lastPhaseTransitionTime);
      return;
    }
    if (isAbsent(now.lastPhaseTransitionTime) || now.lastPhaseTransitionTime === before?.lastPhaseTransitionTime)
      now.lastPhaseTransitionTime = context.now;
  },
  columns: columnsIn(naming),
}));
