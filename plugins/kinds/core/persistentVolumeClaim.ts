import type { PersistentVolumeClaim, PersistentVolumeClaimSpec, TypedLocalObjectReference } from '../../../kinds/v1.js';
import { builtInKind } from '../../../core/api/resource.js';
import type { Column, StrategyContext } from '../../../core/api/strategy.js';
import { qualifiedName } from '../../../core/model/names.js';
import { compareQuantities, quantityOf, ZERO_QUANTITY } from '../../../core/model/quantity.js';
import { setDefault, isAbsent } from '../../../core/model/record.js';
import { forbiddenField, invalid, notSupported, Verbatim, type Violation } from '../../../core/model/refusal.js';
import type { Naming } from '../../../core/naming.js';
import { AGE, column, NAME } from '../shared/columns.js';
import { claimWarnings, setClaimSpecDefaults, validateClaimSpec } from '../shared/volumes/claimSpec.js';
import { differenceText, isUnchanged } from '../shared/values/equality.js';
import { toViolations, validateImmutable } from '../shared/violations.js';
import {
  accessModesText,
  ATTRIBUTES_CLASS,
  CLASS_ANNOTATION,
  phaseCell,
  storageClassColumn,
  VOLUME_MODE,
} from '../shared/volumes/volumeColumns.js';

const SNAPSHOTS = 'snapshot.storage.orchestrator.io';

/** Whether `dataSource` may name an object: a claim or a snapshot. Others need `dataSourceRef`. */
function isClaimOrSnapshot(source: TypedLocalObjectReference, naming: Naming): boolean {
  const [group, kind] = [source.apiGroup ?? '', source.kind];
  return group === ''
    ? kind === 'PersistentVolumeClaim'
    : group === naming.group(SNAPSHOTS) && kind === 'VolumeSnapshot';
}

/**
 * `dataSource` and `dataSourceRef` must name the same object. A `dataSource` of another kind is ignored, unless the
 * claim had a source before.
 */
function alignDataSources(
  claim: PersistentVolumeClaimSpec,
  old: PersistentVolumeClaimSpec | undefined,
  naming: Naming,
): void {
  if (!old?.dataSource && !old?.dataSourceRef) {
    // A source in another namespace needs a feature gate that is off.
    if ((claim.dataSourceRef?.namespace ?? '') !== '') delete claim.dataSourceRef;
    const source = claim.dataSource;
    if (source && !claim.dataSourceRef && !isClaimOrSnapshot(source, naming)) delete claim.dataSource;
  }
  if (claim.dataSource && !claim.dataSourceRef) claim.dataSourceRef = structuredClone(claim.dataSource);
  const reference = claim.dataSourceRef;
  if (reference && !claim.dataSource) {
    const { namespace: _, ...local } = reference;
    claim.dataSource = structuredClone(local);
  }
}

/** Removes fields of feature gates that are off, and aligns the sources. */
function prepareSpec(
  claim: PersistentVolumeClaimSpec,
  old: PersistentVolumeClaimSpec | undefined,
  naming: Naming,
): void {
  delete claim.volumeAttributesClassName;
  alignDataSources(claim, old, naming);
}

const warnOfFractions = (object: PersistentVolumeClaim, { warn }: StrategyContext): void => {
  for (const text of warn ? claimWarnings(object.spec, 'spec') : []) warn!(text);
};

const CLAIM_FIXED =
  'spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims';

const SIZE = 'spec.resources.requests.storage';

/** How a claim names its class: in the field, and before there was one in an annotation. */
interface ClassNames {
  readonly field: string | undefined;
  readonly annotation: string | undefined;
}

const classNamesOf = (claim: PersistentVolumeClaim, annotation: string): ClassNames => ({
  field: claim.spec.storageClassName as string | undefined,
  annotation: claim.metadata.annotations?.[annotation],
});

/** Whether an update moves the class of a claim from the annotation, which may stay, to the field. */
const movesClass = (now: ClassNames, before: ClassNames): boolean =>
  before.annotation !== undefined &&
  before.field === undefined &&
  now.field === before.annotation &&
  (now.annotation ?? before.annotation) === before.annotation;

/**
 * In the spec of a claim, only the volume name and, if it has none, the class can be set, and the size of a bound claim
 * can be changed: to no less than the capacity of the volume.
 */
function validateClaimUpdate(
  object: PersistentVolumeClaim,
  old: PersistentVolumeClaim,
  annotation: string,
): Violation[] {
  const [now, before] = [structuredClone(object.spec), structuredClone(old.spec)];
  const sizeOf = (spec: PersistentVolumeClaimSpec) => quantityOf(spec.resources.requests?.storage);
  const [size, earlier] = [sizeOf(now), sizeOf(before)];
  const capacity = quantityOf(old.status?.capacity?.storage);
  const tooSmall = compareQuantities(size, earlier) < 0 && compareQuantities(size, capacity) <= 0;
  if ((before.volumeName ?? '') === '') delete now.volumeName;
  if (old.status?.phase === 'Bound' && now.resources.requests) {
    const { storage } = before.resources.requests ?? {};
    if (storage === undefined) delete now.resources.requests.storage;
    else now.resources.requests.storage = storage;
  }
  const [names, earlierNames] = [classNamesOf(object, annotation), classNamesOf(old, annotation)];
  const isMoved = movesClass(names, earlierNames);
  const isFirst = earlierNames.field === undefined && earlierNames.annotation === undefined;
  if (isMoved || isFirst) delete now.storageClassName;
  const isSameAnnotation = isMoved || names.annotation === earlierNames.annotation;
  const annotationField = `metadata.annotations.${annotation}`;
  // An empty selector or class is not the same as none.
  const isSame =
    isUnchanged(now, before) &&
    (['selector', 'storageClassName'] as const).every(member => isAbsent(now[member]) === isAbsent(before[member]));
  return [
    ...validateClaimSpec(object.spec, 'spec', old.spec),
    ...(isSameAnnotation ? [] : [invalid(annotationField, names.annotation ?? '', 'field is immutable')]),
    ...(isSame ? [] : [forbiddenField('spec', `${CLAIM_FIXED}\n${differenceText(before, now)}`)]),
    ...(tooSmall ? [forbiddenField(SIZE, 'field can not be less than status.capacity')] : []),
    ...validateImmutable(object.spec, old.spec, 'volumeMode', 'volumeMode'),
  ];
}

const RESIZES = [
  'ControllerResizeInProgress',
  'ControllerResizeInfeasible',
  'NodeResizeInProgress',
  'NodeResizeInfeasible',
  'NodeResizePending',
];

/** Resources of a claim must be `storage` or have a domain. */
function validateResourceName(field: string, name: string): Violation[] {
  const found = toViolations(field, name, qualifiedName(name));
  return found.length > 0 || name === 'storage' || name.includes('/')
    ? found
    : [notSupported(field, name, ['storage'])];
}

/** Checks that amounts are not negative, and that names of resources and states of resizing are known. */
function validateClaimStatus(object: PersistentVolumeClaim): Violation[] {
  const status = object.status;
  const validateAmounts = (member: 'capacity' | 'allocatedResources'): Violation[] =>
    Object.entries(status?.[member] ?? {})
      .filter(([, amount]) => compareQuantities(quantityOf(amount), ZERO_QUANTITY) < 0)
      .map(([name, amount]) =>
        invalid(
          `status.${member}[${name}]`,
          Number((quantityOf(amount).nano - 999_999_999n) / 1_000_000_000n),
          'must be a valid resource quantity',
        ),
      );
  return [
    ...validateAmounts('capacity'),
    ...validateAmounts('allocatedResources'),
    ...Object.entries(status?.allocatedResources ?? {}).flatMap(([name]) =>
      validateResourceName('status.allocatedResources', name),
    ),
    ...Object.entries(status?.allocatedResourceStatuses ?? {}).flatMap(([name, value]) => [
      ...validateResourceName('status.allocatedResourceStatus', name),
      ...(RESIZES.includes(String(value))
        ? []
        : [notSupported('status.allocatedResourceStatus', new Verbatim(name), RESIZES)]),
    ]),
  ];
}

const isBound = (claim: PersistentVolumeClaim): boolean => (claim.spec.volumeName ?? '') !== '';

const columnsIn = (naming: Naming): readonly Column<PersistentVolumeClaim>[] => [
  NAME,
  column('Status', phaseCell),
  column('Volume', object => object.spec.volumeName ?? ''),
  column('Capacity', object => (isBound(object) ? String(object.status?.capacity?.storage ?? '0') : '')),
  column('Access Modes', object => (isBound(object) ? accessModesText(object.status?.accessModes) : '')),
  storageClassColumn(naming),
  ATTRIBUTES_CLASS,
  AGE,
  VOLUME_MODE,
];

/** PersistentVolumeClaim. It is pending at first, and a finalizer keeps it while it is in use. */
export const persistentVolumeClaim = builtInKind<PersistentVolumeClaim>('core/persistentvolumeclaims', naming => ({
  revalidatesName: 'first',
  hasStatus: true,
  returnsDeletedObject: true,
  applyDefaults: object => {
    setClaimSpecDefaults(object.spec);
    setDefault((object.status ??= {}), 'phase', 'Pending');
  },
  validateStatus: validateClaimStatus,
  validateCreate: (object, context) => {
    warnOfFractions(object, context);
    return validateClaimSpec(object.spec, 'spec');
  },
  validateUpdate: (object, old, context) => {
    warnOfFractions(object, context);
    return validateClaimUpdate(object, old, naming.label(CLASS_ANNOTATION));
  },
  prepareCreate: object => {
    object.status = { phase: 'Pending' };
    prepareSpec(object.spec, undefined, naming);
  },
  prepareUpdate: (object, old) => prepareSpec(object.spec, old.spec, naming),
  columns: columnsIn(naming),
}));
