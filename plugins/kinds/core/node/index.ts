import { builtInKind } from '../../../../core/api/resource.js';
import type { Column, StrategyContext } from '../../../../core/api/strategy.js';
import type { ApiObject } from '../../../../core/model/object.js';
import { isAbsent, recordAt, recordsAt, specOf, stringAt, valueAt } from '../../../../core/model/record.js';
import type { Naming } from '../../../../core/naming.js';
import { systemName } from '../../shared/names.js';
import { alignPodCidrs, validateNode, validateNodeStatus, validateNodeUpdate } from './validation.js';
import {
  AGE,
  type Cell,
  column,
  conditionOf,
  NAME,
  sortedEntries,
  stringCell,
  wideColumn,
} from '../../shared/columns.js';

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

/** Configuration by the server was removed upstream. */
function dropConfiguration(object: ApiObject): void {
  delete specOf(object).configSource;
  delete recordAt(object, 'status')?.config;
}

function warnAboutNode(object: ApiObject, { warn }: StrategyContext, naming: Naming): void {
  if (stringAt(object, 'spec', 'externalID') !== '')
    warn?.(`spec.externalID: this field is deprecated, and is unused by ${systemName(naming)}`);
}

/** Node. Allocatable defaults to the capacity. */
export const node = builtInKind('core/nodes', naming => ({
  hasStatus: true,
  validateStatus: validateNodeStatus,
  // A node that has a configuration keeps it.
  prepareStatus: (object, old) => {
    if (!recordAt(old, 'status')?.config) delete recordAt(object, 'status')?.config;
  },
  // Node agents create nodes with a status.
  keepStatusOnCreate: true,
  prepareCreate: dropConfiguration,
  prepareUpdate: (object, old) => {
    if (!recordAt(old, 'spec', 'configSource')) delete recordAt(object, 'spec')?.configSource;
  },
  validateCreate: (object, context) => {
    warnAboutNode(object, context, naming);
    return validateNode(object);
  },
  validateUpdate: (object, old, context) => {
    warnAboutNode(object, context, naming);
    return validateNodeUpdate(object, old);
  },
  applyDefaults: object => {
    alignPodCidrs(specOf(object));
    const status = recordAt(object, 'status');
    if (status && recordAt(status, 'capacity') && isAbsent(status.allocatable))
      status.allocatable = { ...recordAt(status, 'capacity') };
  },
  selectableFields: new Map([
    ['spec.unschedulable', object => String(recordAt(object, 'spec')?.unschedulable === true)],
  ]),
  columns: columnsIn(naming),
}));
