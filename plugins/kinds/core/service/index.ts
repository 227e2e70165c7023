import { builtInKind } from '../../../../core/api/resource.js';
import type { Column, Connection } from '../../../../core/api/strategy.js';
import {
  ensureRecord,
  numberAt,
  recordsAt,
  setDefault,
  specOf,
  stringAt,
  stringsAt,
  valueAt,
} from '../../../../core/model/record.js';
import { Refusal } from '../../../../core/model/refusal.js';
import { allocate } from './allocation.js';
import { claimsOf } from './allocator.js';
import { alignAddresses, dropUnusedPolicy, dropFieldsOfOldType, keepAllocated, setServiceDefaults } from './fields.js';
import { validateServiceStatus, validateServiceUpdate, validateService } from './validation.js';
import { serviceWarnings } from './warnings.js';
import { AGE, type Cell, column, NAME, selectorText, stringCell, wideColumn } from '../../shared/columns.js';
import { balancerAddresses } from '../../shared/loadBalancers.js';
import { checkLabel1035Name } from '../../shared/names.js';

const externalAddress: Cell = service => {
  const external = stringsAt(service, 'spec', 'externalIPs');
  switch (valueAt(service, 'spec', 'type')) {
    case 'ClusterIP':
    case 'NodePort':
      return external.join(',') || '<none>';
    case 'LoadBalancer':
      return [...balancerAddresses(service), ...external].join(',') || '<pending>';
    case 'ExternalName':
      return stringAt(service, 'spec', 'externalName');
    default:
      return '<unknown>';
  }
};

const servicePorts: Cell = service =>
  recordsAt(service, 'spec', 'ports')
    .map(port => {
      const nodePort = numberAt(port, 'nodePort') ?? 0;
      return `${numberAt(port, 'port') ?? 0}${nodePort > 0 ? `:${nodePort}` : ''}/${stringAt(port, 'protocol')}`;
    })
    .join(',') || '<none>';

const COLUMNS: readonly Column[] = [
  NAME,
  column('Type', stringCell('spec.type')),
  column(
    'Cluster-IP',
    object => stringsAt(object, 'spec', 'clusterIPs')[0] || stringAt(object, 'spec', 'clusterIP') || '<none>',
  ),
  column('External-IP', externalAddress),
  column('Port(s)', servicePorts),
  AGE,
  wideColumn('Selector', object => selectorText(valueAt(object, 'spec', 'selector'))),
];

/** This server does not forward requests to Services. */
const CONNECTIONS: ReadonlyMap<string, Connection> = new Map([
  [
    'proxy',
    service =>
      new Refusal('ServiceUnavailable', `no endpoints available for service ${JSON.stringify(service.metadata.name)}`),
  ],
]);

/**
 * Service. Addresses and node ports are allocated in the pool thread, from the values that are free according to its
 * informer.
 */
export const service = builtInKind('core/services', naming => ({
  reads: ['core/services'],
  claims: claimsOf,
  checkName: checkLabel1035Name,
  hasStatus: true,
  connections: CONNECTIONS,
  returnsDeletedObject: true,
  allowCreateOnUpdate: true,
  applyDefaults: object => {
    setServiceDefaults(specOf(object));
    for (const ingress of recordsAt(object, 'status', 'loadBalancer', 'ingress')) {
      if (stringAt(ingress, 'ip') !== '') setDefault(ingress, 'ipMode', 'VIP');
    }
  },
  prepareCreate: (object, context) => {
    object.status = { loadBalancer: {} };
    dropUnusedPolicy(specOf(object));
    alignAddresses(specOf(object), undefined);
    allocate(object, undefined, context);
  },
  prepareUpdate: (object, old, context) => {
    const before = specOf(old);
    alignAddresses(specOf(object), before);
    keepAllocated(specOf(object), before);
    dropFieldsOfOldType(specOf(object), before);
    if (specOf(object).type !== 'LoadBalancer') ensureRecord(object, 'status').loadBalancer = {};
    allocate(object, old, context);
  },
  validateCreate: (object, { warn }) => {
    if (warn) for (const text of serviceWarnings(object, naming)) warn(text);
    return validateService(object);
  },
  validateUpdate: (object, old, { warn }) => {
    if (warn) for (const text of serviceWarnings(object, naming)) warn(text);
    return validateServiceUpdate(object, old);
  },
  validateStatus: validateServiceStatus,
  selectableFields: new Map([
    ['spec.clusterIP', object => stringAt(object, 'spec', 'clusterIP')],
    ['spec.type', object => stringAt(object, 'spec', 'type')],
  ]),
  columns: COLUMNS,
}));
