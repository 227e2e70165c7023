import type { Service } from '../../../../kinds/v1.js';
import { builtInKind } from '../../../../core/api/resource.js';
import type { Contribution } from '../../../../core/api/point.js';
import type { Column, Connection, Strategy } from '../../../../core/api/strategy.js';
import { setDefault } from '../../../../core/model/record.js';
import { Refusal } from '../../../../core/model/refusal.js';
import type { Naming } from '../../../../core/naming.js';
import { IP_ADDRESSES, ipAddressesOf, SERVICE_CIDRS } from './addressObjects.js';
import { allocate } from './allocation.js';
import { claimsOf } from './allocator.js';
import { MULTI_CIDR_GATE, type RangeConfig, rangesOf, type ServiceRanges } from './ranges.js';
import { alignAddresses, dropUnusedPolicy, dropFieldsOfOldType, keepAllocated, setServiceDefaults } from './fields.js';
import { validateServiceStatus, validateServiceUpdate, validateService } from './validation.js';
import { serviceWarnings } from './warnings.js';
import { AGE, type Cell, column, NAME, labelsText, wideColumn } from '../../shared/columns.js';
import { balancerAddresses } from '../../shared/loadBalancers.js';
import { checkLabel1035Name } from '../../shared/values/names.js';

const externalAddress: Cell<Service> = service => {
  const external = service.spec.externalIPs ?? [];
  switch (service.spec.type) {
    case 'ClusterIP':
    case 'NodePort':
      return external.join(',') || '<none>';
    case 'LoadBalancer':
      return [...balancerAddresses(service), ...external].join(',') || '<pending>';
    case 'ExternalName':
      return service.spec.externalName ?? '';
    default:
      return '<unknown>';
  }
};

const servicePorts: Cell<Service> = service =>
  (service.spec.ports ?? [])
    .map(port => {
      const nodePort = port.nodePort ?? 0;
      return `${port.port}${nodePort > 0 ? `:${nodePort}` : ''}/${port.protocol ?? ''}`;
    })
    .join(',') || '<none>';

const COLUMNS: readonly Column<Service>[] = [
  NAME,
  column('Type', object => object.spec.type ?? ''),
  column('Cluster-IP', object => (object.spec.clusterIPs ?? [])[0] || (object.spec.clusterIP ?? '') || '<none>'),
  column('External-IP', externalAddress),
  column('Port(s)', servicePorts),
  AGE,
  wideColumn('Selector', object => labelsText(object.spec.selector)),
];

/** This server does not forward requests to Services. */
const CONNECTIONS: ReadonlyMap<string, Connection> = new Map([
  [
    'proxy',
    service =>
      new Refusal('ServiceUnavailable', `no endpoints available for service ${JSON.stringify(service.metadata.name)}`),
  ],
]);

const serviceStrategy = (naming: Naming, ranges: ServiceRanges): Partial<Strategy<Service>> => ({
  reads: ['core/services', ...(ranges.fromObjects ? [SERVICE_CIDRS, IP_ADDRESSES] : [])],
  claims: claimsOf,
  revalidatesName: true,
  storePath: 'services/specs',
  ...(ranges.fromObjects ? { companions: service => ipAddressesOf(service, naming) } : {}),
  checkName: checkLabel1035Name,
  hasStatus: true,
  connections: CONNECTIONS,
  returnsDeletedObject: true,
  allowCreateOnUpdate: true,
  applyDefaults: object => {
    setServiceDefaults(object.spec);
    for (const ingress of object.status?.loadBalancer?.ingress ?? []) {
      if ((ingress.ip ?? '') !== '') setDefault(ingress, 'ipMode', 'VIP');
    }
  },
  prepareCreate: (object, context) => {
    object.status = { loadBalancer: {} };
    dropUnusedPolicy(object.spec);
    alignAddresses(object.spec, undefined);
    allocate(object, undefined, context, ranges);
  },
  prepareUpdate: (object, old, context) => {
    const before = old.spec;
    keepAllocated(object.spec, before);
    alignAddresses(object.spec, before);
    allocate(object, old, context, ranges);
    dropFieldsOfOldType(object.spec, before);
    dropUnusedPolicy(object.spec);
    if (object.spec.type !== 'LoadBalancer') object.status = { ...object.status, loadBalancer: {} };
  },
  validateCreate: (object, { warn }) => {
    if (warn) for (const text of serviceWarnings(object, naming)) warn(text);
    return validateService(object, naming);
  },
  validateUpdate: (object, old, { warn }) => {
    if (warn) for (const text of serviceWarnings(object, naming)) warn(text);
    return validateServiceUpdate(object, old, naming);
  },
  validateStatus: validateServiceStatus,
  selectableFields: new Map([
    ['spec.clusterIP', object => object.spec.clusterIP ?? ''],
    ['spec.type', object => object.spec.type ?? ''],
  ]),
  columns: COLUMNS,
});

/**
 * Service. Addresses and node ports are allocated in the pool thread, from the values of the ranges that are free
 * according to its informer. They belong to a Service as long as it is stored with them, so none stays allocated if a
 * write fails. With the gate MultiCIDRServiceAllocator, each address has an IPAddress, stored with the Service.
 */
export const service = (config: RangeConfig): Contribution =>
  builtInKind<Service>('core/services', (naming, host) =>
    serviceStrategy(naming, rangesOf(config, host.isEnabled(MULTI_CIDR_GATE))),
  );
