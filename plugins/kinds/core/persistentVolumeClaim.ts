import { builtInKind } from '../../../core/api/resource.js';
import type { Column } from '../../../core/api/strategy.js';
import { qualifiedName } from '../../../core/model/names.js';
import type { ApiObject } from '../../../core/model/object.js';
import { compareQuantities, quantityOf, ZERO_QUANTITY } from '../../../core/model/quantity.js';
import {
  entriesAt,
  isSemanticallyEqual,
  recordAt,
  setDefault,
  specOf,
  stringAt,
  type UnknownRecord,
  valueAt,
} from '../../../core/model/record.js';
import { forbiddenField, invalid, Verbatim, notSupported, type Violation } from '../../../core/model/refusal.js';
import type { Naming } from '../../../core/naming.js';
import { AGE, column, NAME, stringCell } from '../shared/columns.js';
import { addFinalizer } from '../shared/metadata.js';
import { toViolations } from '../shared/violations.js';
import {
  accessModesText,
  ATTRIBUTES_CLASS,
  phaseCell,
  storageClassColumn,
  VOLUME_MODE,
} from '../shared/volumeColumns.js';

/** Sets the defaults of the spec of a claim, including one in a template. */
export function setClaimSpecDefaults(claim: UnknownRecord): void {
  setDefault(claim, 'volumeMode', 'Filesystem');
}

/** `dataSource` and `dataSourceRef` must name the same object. Of the core kinds, only claims can be a source. */
function alignDataSources(claim: UnknownRecord): void {
  const source = recordAt(claim, 'dataSource');
  if (source && stringAt(source, 'apiGroup') === '' && stringAt(source, 'kind') !== 'PersistentVolumeClaim')
    delete claim.dataSource;
  if (recordAt(claim, 'dataSource') && !recordAt(claim, 'dataSourceRef'))
    claim.dataSourceRef = structuredClone(claim.dataSource);
  const reference = recordAt(claim, 'dataSourceRef');
  if (reference && !recordAt(claim, 'dataSource') && stringAt(reference, 'namespace') === '')
    claim.dataSource = structuredClone(reference);
}

const CLAIM_FIXED =
  'spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims';

/** In the spec of a claim, only the volume name can be set, and the size of a bound claim can be increased. */
function validateClaimUpdate(object: ApiObject, old: ApiObject): Violation[] {
  const [now, before] = [structuredClone(specOf(object)), structuredClone(specOf(old))];
  if (stringAt(before, 'volumeName') === '') delete now.volumeName;
  const [size, earlier] = [
    recordAt(now, 'resources', 'requests')?.storage,
    recordAt(before, 'resources', 'requests')?.storage,
  ];
  const grows =
    stringAt(old, 'status', 'phase') === 'Bound' && compareQuantities(quantityOf(size), quantityOf(earlier)) > 0;
  if (grows) now.resources = before.resources;
  return isSemanticallyEqual(now, before) ? [] : [forbiddenField('spec', CLAIM_FIXED)];
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
function validateClaimStatus(object: ApiObject): Violation[] {
  const status = recordAt(object, 'status');
  const validateAmounts = (member: string): Violation[] =>
    entriesAt(status, member)
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
    ...entriesAt(status, 'allocatedResources').flatMap(([name]) =>
      validateResourceName('status.allocatedResources', name),
    ),
    ...entriesAt(status, 'allocatedResourceStatuses').flatMap(([name, value]) => [
      ...validateResourceName('status.allocatedResourceStatus', name),
      ...(RESIZES.includes(String(value))
        ? []
        : [notSupported('status.allocatedResourceStatus', new Verbatim(name), RESIZES)]),
    ]),
  ];
}

const isBound = (claim: unknown): boolean => stringAt(claim, 'spec', 'volumeName') !== '';

const columnsIn = (naming: Naming): readonly Column[] => [
  NAME,
  column('Status', phaseCell),
  column('Volume', stringCell('spec.volumeName')),
  column('Capacity', object =>
    isBound(object) ? String(valueAt(object, 'status', 'capacity', 'storage') ?? '0') : '',
  ),
  column('Access Modes', object => (isBound(object) ? accessModesText(valueAt(object, 'status', 'accessModes')) : '')),
  storageClassColumn(naming),
  ATTRIBUTES_CLASS,
  AGE,
  VOLUME_MODE,
];

/** PersistentVolumeClaim. It is pending at first, and a finalizer keeps it while it is in use. */
export const persistentVolumeClaim = builtInKind('core/persistentvolumeclaims', naming => ({
  hasStatus: true,
  returnsDeletedObject: true,
  applyDefaults: object => setClaimSpecDefaults(specOf(object)),
  validateStatus: validateClaimStatus,
  validateUpdate: validateClaimUpdate,
  prepareCreate: object => {
    object.status = { phase: 'Pending' };
    addFinalizer(object, naming.label('orchestrator.io/pvc-protection'));
    alignDataSources(specOf(object));
  },
  columns: columnsIn(naming),
}));
