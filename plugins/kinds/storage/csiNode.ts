import type { CSINode, CSINodeDriver } from '../../../kinds/storage/v1.js';
import { builtInKind } from '../../../core/api/resource.js';
import type { Column } from '../../../core/api/strategy.js';
import { qualifiedName } from '../../../core/model/names.js';
import { isSemanticallyEqual } from '../../../core/model/record.js';
import { duplicate, invalid, required, Verbatim, type Violation } from '../../../core/model/refusal.js';
import { countOf, AGE, column, NAME } from '../shared/columns.js';
import { validateDriverName } from '../shared/volumes/csiDrivers.js';
import { findRepeated } from '../shared/values/repeated.js';
import { toViolations, validateEach, validateNotNegative } from '../shared/violations.js';

const COLUMNS: readonly Column<CSINode>[] = [
  NAME,
  column('Drivers', object => countOf(object.spec.drivers), { type: 'integer' }),
  AGE,
];

/** The largest length of the identifier of a node in a driver, in bytes. */
const LONGEST_NODE_ID = 256;

/** Checks the topology keys of a driver, which upstream reports on the driver itself. */
function validateTopologyKeys(driver: CSINodeDriver, field: string): Violation[] {
  const keys = driver.topologyKeys ?? [];
  const repeated = findRepeated(keys);
  return keys.flatMap((key, i) => [
    ...(key === '' ? [required(field)] : []),
    ...(repeated[i] ? [duplicate(field, key)] : []),
    ...toViolations(field, key, qualifiedName(key)),
  ]);
}

function validateNodeId(driver: CSINodeDriver, field: string): Violation[] {
  const id = driver.nodeID;
  if (id === '') return [required(field)];
  return Buffer.byteLength(id) > LONGEST_NODE_ID
    ? [invalid(field, id, `must be ${LONGEST_NODE_ID} characters or less`)]
    : [];
}

/** Violations of a CSINode. */
function validateNode(object: CSINode): Violation[] {
  const seen = new Set<string>();
  return validateEach(object.spec, 'drivers', 'spec.drivers', (driver, field) => {
    const name = driver.name;
    const twice = seen.has(name) ? [duplicate(`${field}.name`, name)] : [];
    seen.add(name);
    return [
      ...validateDriverName(driver.name, `${field}.name`),
      ...validateNodeId(driver, `${field}.nodeID`),
      ...validateNotNegative(driver.allocatable, 'count', `${field}.allocatable.count`),
      ...twice,
      ...validateTopologyKeys(driver, field),
    ];
  });
}

/** Checks that drivers which remain are unchanged. */
function validateDriversUnchanged(object: CSINode, old: CSINode): Violation[] {
  const before = new Map((old.spec.drivers ?? []).map(driver => [driver.name, driver]));
  return (object.spec.drivers ?? []).flatMap(driver => {
    const known = before.get(driver.name);
    return !known || isSemanticallyEqual(driver, known)
      ? []
      : [invalid('CSINodeDriver', new Verbatim('storage.CSINodeDriver{}'), 'field is immutable')];
  });
}

/** CSINode. */
export const csiNode = builtInKind<CSINode>('storage.orchestrator.io/csinodes', () => ({
  revalidatesName: 'first',
  returnsDeletedObject: true,
  allowUnconditionalUpdate: false,
  validateCreate: validateNode,
  validateUpdate: (object, old) => [...validateNode(object), ...validateDriversUnchanged(object, old)],
  columns: COLUMNS,
}));
