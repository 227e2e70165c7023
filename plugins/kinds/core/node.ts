import { builtInKind } from '../../../core/api/resource.js';
import type { Column } from '../../../core/api/strategy.js';
import type { ApiObject } from '../../../core/model/object.js';
import { compareQuantities, isInteger, quantityOf, ZERO_QUANTITY } from '../../../core/model/quantity.js';
import { entriesAt, isAbsent, recordAt, recordsAt, stringAt, valueAt } from '../../../core/model/record.js';
import { duplicate, invalid, Verbatim, type Violation } from '../../../core/model/refusal.js';
import type { Naming } from '../../../core/naming.js';
import { AGE, type Cell, column, conditionOf, NAME, sortedEntries, stringCell, wideColumn } from '../shared/columns.js';

/** Whether amounts of a resource must be whole numbers. */
const isCounted = (name: string): boolean => name === 'pods' || name.includes('/');

function validateAmount(name: string, amount: unknown, field: string): Violation[] {
  const quantity = quantityOf(amount);
  if (compareQuantities(quantity, ZERO_QUANTITY) < 0)
    return [invalid(field, String(amount), 'must be greater than or equal to 0')];
  return isCounted(name) && !isInteger(quantity)
    ? [invalid(field, new Verbatim(`resource.Quantity{s:${JSON.stringify(String(amount))}}`), 'must be an integer')]
    : [];
}

/** Checks that amounts are not negative, and that no address is repeated. */
function validateNodeStatus(object: ApiObject): Violation[] {
  const status = recordAt(object, 'status');
  const seen = new Set<string>();
  return [
    ...['capacity', 'allocatable'].flatMap(member =>
      entriesAt(status, member).flatMap(([name, amount]) => validateAmount(name, amount, `status.${member}.${name}`)),
    ),
    ...recordsAt(status, 'addresses').flatMap((address, i) => {
      const key = `${stringAt(address, 'type')} ${stringAt(address, 'address')}`;
      const twice = seen.has(key);
      seen.add(key);
      return twice ? [duplicate(`status.addresses[${i}]`, address)] : [];
    }),
  ];
}

const nodeStatus: Cell = node => {
  const ready = conditionOf(node, 'Ready');
  const state = ready === undefined ? 'Unknown' : valueAt(ready, 'status') === 'True' ? 'Ready' : 'NotReady';
  return valueAt(node, 'spec', 'unschedulable') === true ? `${state},SchedulingDisabled` : state;
};

/** The roles in labels of both conventions. */
const nodeRoles = (naming: Naming): Cell => {
  const prefix = naming.label('node-role.orchestrator.io/role').replace(/role$/, '');
  const single = naming.label('orchestrator.io/role');
  return node => {
    const roles = new Set<string>();
    for (const [key, value] of sortedEntries(node.metadata.labels)) {
      if (key.startsWith(prefix) && key.length > prefix.length) roles.add(key.slice(prefix.length));
      else if (key === single && stringAt(value) !== '') roles.add(stringAt(value));
    }
    return [...roles].sort().join(',') || '<none>';
  };
};

const nodeAddress =
  (type: string): Cell =>
  node =>
    stringAt(
      recordsAt(node, 'status', 'addresses').find(address => valueAt(address, 'type') === type),
      'address',
    ) || '<none>';

/** Labels are in the naming of the server. */
const columnsIn = (naming: Naming): readonly Column[] => [
  NAME,
  column('Status', nodeStatus),
  column('Roles', nodeRoles(naming)),
  AGE,
  column('Version', stringCell('status.nodeInfo.kubeletVersion')),
  wideColumn('Internal-IP', nodeAddress('InternalIP')),
  wideColumn('External-IP', nodeAddress('ExternalIP')),
  wideColumn('OS-Image', stringCell('status.nodeInfo.osImage', '<unknown>')),
  wideColumn('Kernel-Version', stringCell('status.nodeInfo.kernelVersion', '<unknown>')),
  wideColumn('Container-Runtime', stringCell('status.nodeInfo.containerRuntimeVersion', '<unknown>')),
];

/** Node. Allocatable defaults to the capacity. */
export const node = builtInKind('core/nodes', naming => ({
  hasStatus: true,
  validateStatus: validateNodeStatus,
  // Configuration by the server was removed from Kubernetes; a node that has it keeps it.
  prepareStatus: (object, old) => {
    if (!recordAt(old, 'status')?.config) delete recordAt(object, 'status')?.config;
  },
  // Node agents create nodes with a status.
  keepStatusOnCreate: true,
  applyDefaults: object => {
    const status = recordAt(object, 'status');
    if (status && recordAt(status, 'capacity') && isAbsent(status.allocatable))
      status.allocatable = { ...recordAt(status, 'capacity') };
  },
  selectableFields: new Map([
    ['spec.unschedulable', object => String(recordAt(object, 'spec')?.unschedulable === true)],
  ]),
  columns: columnsIn(naming),
}));
