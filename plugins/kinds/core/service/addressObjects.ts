import type { IPAddress, ServiceCIDR } from '../../../../kinds/networking/v1beta1.js';
import type { Service } from '../../../../kinds/v1.js';
import type { Companion, StrategyContext } from '../../../../core/api/strategy.js';
import type { Frozen } from '../../../../core/model/object.js';
import type { Naming } from '../../../../core/naming.js';
import { type AddressRange, type Family, familyOf, parseRange } from '../../shared/addressRange.js';
import { type AddressSource, addressesOf } from './allocator.js';
import type { ServiceRanges } from './ranges.js';

/* Cluster addresses with the gate MultiCIDRServiceAllocator: ServiceCIDRs have networks, IPAddresses used addresses. */

/** The resource of the networks. */
export const SERVICE_CIDRS = 'networking.orchestrator.io/servicecidrs';
/** The resource of the addresses in use. */
export const IP_ADDRESSES = 'networking.orchestrator.io/ipaddresses';

/** The ServiceCIDR with the networks of the configuration, which the server makes. */
export const defaultCidrName = (naming: Naming): string => naming.product;

/** Whether addresses of the networks may be allocated: not if the ServiceCIDR is being deleted, or is not ready. */
export const isUsable = ({ metadata, status }: Frozen<ServiceCIDR>): boolean =>
  metadata.deletionTimestamp === undefined &&
  (status?.conditions ?? []).every(({ type, status: state }) => type !== 'Ready' || state === 'True');

/** The networks of a ServiceCIDR, which are well-formed. */
export const networksOf = ({ spec }: Frozen<ServiceCIDR>): readonly AddressRange[] =>
  (spec.cidrs ?? []).flatMap(network => parseRange(network, true) ?? []);

/**
 * Addresses of the networks of all ServiceCIDRs that may be used. Until the first one is made, at the start of a server
 * on a new store, those of the configuration.
 */
export function addressObjects(context: StrategyContext, { networks }: ServiceRanges): AddressSource {
  const cidrs = context.list(SERVICE_CIDRS) as readonly ServiceCIDR[];
  const ranges = cidrs.length > 0 ? cidrs.filter(isUsable).flatMap(networksOf) : [...networks.values()];
  return {
    networksOf: (family: Family) => ranges.filter(range => range.family === family),
    used: () => (context.list(IP_ADDRESSES) as readonly IPAddress[]).map(({ metadata }) => metadata.name!),
  };
}

/** The value of the label of IPAddresses that belong to Services. */
const MANAGER = 'ipallocator.orchestrator.io';

/** The label that says who manages an IPAddress, and its value for those of Services. */
export const managedBy = (naming: Naming): readonly [label: string, value: string] => [
  naming.label('ipaddress.orchestrator.io/managed-by'),
  naming.group(MANAGER),
];

/** The IPAddresses of a Service. */
export const ipAddressesOf = (
  service: Service,
  naming: Naming,
): { readonly storageName: string; readonly object: Companion }[] =>
  addressesOf(service).map(address => ({
    storageName: IP_ADDRESSES,
    object: {
      metadata: {
        name: address,
        labels: {
          [naming.label('ipaddress.orchestrator.io/ip-family')]: familyOf(address),
          [managedBy(naming)[0]]: managedBy(naming)[1],
        },
      },
      spec: {
        parentRef: {
          group: '',
          resource: 'services',
          namespace: service.metadata.namespace,
          name: service.metadata.name,
        },
      },
    },
  }));
