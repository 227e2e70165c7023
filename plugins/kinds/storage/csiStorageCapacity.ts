import type { CSIStorageCapacity } from '../../../kinds/storage/v1.js';
import { builtInKind } from '../../../core/api/resource.js';
import { dns1123Subdomain } from '../../../core/model/names.js';
import { quantityOf } from '../../../core/model/quantity.js';
import { isAbsent, isSemanticallyEqual } from '../../../core/model/record.js';
import { invalid, Verbatim, type Violation } from '../../../core/model/refusal.js';
import { validateSelector } from '../shared/labels.js';
import { validateImmutable, validateText } from '../shared/violations.js';

/** Violations of a CSIStorageCapacity. */
const validateCapacity = (object: CSIStorageCapacity): Violation[] => [
  ...validateSelector(object.nodeTopology, 'nodeTopology'),
  ...validateText(object, 'storageClassName', 'storageClassName', dns1123Subdomain),
  ...(isAbsent(object.capacity) || quantityOf(object.capacity).nano >= 0n
    ? []
    : [invalid('capacity', String(object.capacity), 'must be greater than or equal to 0')]),
];

/** Checks that an update keeps the nodes and the class. A selector without requirements differs from an absent one. */
function validateUnchanged(object: CSIStorageCapacity, old: CSIStorageCapacity): Violation[] {
  const isKept =
    isAbsent(object.nodeTopology) === isAbsent(old.nodeTopology) &&
    isSemanticallyEqual(object.nodeTopology, old.nodeTopology);
  const shown = isAbsent(object.nodeTopology) ? null : new Verbatim('v1.LabelSelector{}');
  return [
    ...(isKept ? [] : [invalid('nodeTopology', shown, 'field is immutable')]),
    ...validateImmutable(object, old, 'storageClassName', 'storageClassName'),
  ];
}

/** CSIStorageCapacity. */
export const csiStorageCapacity = builtInKind<CSIStorageCapacity>(
  'storage.orchestrator.io/csistoragecapacities',
  () => ({
    allowUnconditionalUpdate: false,
    revalidatesName: 'first',
    validateCreate: validateCapacity,
    validateUpdate: (object, old) => [...validateCapacity(object), ...validateUnchanged(object, old)],
  }),
);
