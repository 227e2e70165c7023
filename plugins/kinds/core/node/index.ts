import type { Node } from '../../../../kinds/v1.js';
import { builtInKind } from '../../../../core/api/resource.js';
import type { Column, StrategyContext } from '../../../../core/api/strategy.js';
import { isAbsent } from '../../../../core/model/record.js';
import type { Naming } from '../../../../core/naming.js';
import { systemName } from '../../shared/values/names.js';
import { alignPodCidrs, validateNode, validateNodeStatus, validateNodeUpdate } from './validation.js';
import { AGE, type Cell, column, conditionOf, NAME, sortedEntries, wideColumn } from '../../shared/columns.js';

const nodeStatus: Cell<Node> = node => {
  const ready = conditionOf(node, 'Ready');
  const state = ready === undefined ? 'Unknown' : ready.status === 'True' ? 'Ready' : 'NotReady';
  return node.spec.unschedulable === true ? `${state},SchedulingDisabled` : state;
};

/** The roles in labels of both conventions. */
const nodeRoles = (naming: Naming): Cell<Node> => {
  const prefix = naming.label('node-role.orchestrator.io/role').replace(/role$/, '');
  const single = naming.label('orchestrator.io/role');
  return node => {
    const roles = new Set<string>();
    for (const [key, value] of sortedEntries(node.metadata.labels)) {
      if (key.startsWith(prefix) && key.length > prefix.length) roles.add(key.slice(prefix.length));
      else if (key === single && value !== '') roles.add(value);
    }
    return [...roles].sort().join(',') || '<none>';
  };
};

const nodeAddress =
  (type: string): Cell<Node> =>
  node =>
    ((node.status?.addresses ?? []).find(address => address.type === type)?.address ?? '') || '<none>';

/** Labels are in the naming of the server. */
const columnsIn = (naming: Naming): readonly Column<Node>[] => [
  NAME,
  column('Status', nodeStatus),
  column('Roles', nodeRoles(naming)),
  AGE,
  column('Version', object => object.status?.nodeInfo?.kubeletVersion ?? ''),
  wideColumn('Internal-IP', nodeAddress('InternalIP')),
  wideColumn('External-IP', nodeAddress('ExternalIP')),
  wideColumn('OS-Image', object => object.status?.nodeInfo?.osImage || '<unknown>'),
  wideColumn('Kernel-Version', object => object.status?.nodeInfo?.kernelVersion || '<unknown>'),
  wideColumn('Container-Runtime', object => object.status?.nodeInfo?.containerRuntimeVersion || '<unknown>'),
];

/** Configuration by the server was removed upstream. */
function dropConfiguration(object: Node): void {
  delete object.spec.configSource;
  delete object.status?.config;
}

function warnAboutNode(object: Node, { warn }: StrategyContext, naming: Naming): void {
  if ((object.spec.externalID ?? '') !== '')
    warn?.(`spec.externalID: this field is deprecated, and is unused by ${systemName(naming)}`);
}

/** Node. Allocatable defaults to the capacity. */
export const node = builtInKind<Node>('core/nodes', naming => ({
  revalidatesName: 'first',
  storePath: 'minions',
  hasStatus: true,
  validateStatus: validateNodeStatus,
  // A node that has a configuration keeps it.
  prepareStatus: (object, old) => {
    if (!old.status?.config) delete object.status?.config;
  },
  // Node agents create nodes with a status.
  keepStatusOnCreate: true,
  prepareCreate: dropConfiguration,
  prepareUpdate: (object, old) => {
    if (!old.spec.configSource) delete object.spec.configSource;
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
    alignPodCidrs(object.spec);
    const status = object.status;
    if (status?.capacity && isAbsent(status.allocatable)) status.allocatable = { ...status.capacity };
  },
  selectableFields: new Map([['spec.unschedulable', object => String(object.spec.unschedulable === true)]]),
  columns: columnsIn(naming),
}));
