import { type AddressRange, type Family, parseRange } from '../../shared/addressRange.js';

/** The ranges from which Services get addresses and node ports, as the server is configured with them. */
export interface RangeConfig {
  /** One network, or one for each family, in CIDR notation. The first is for Services that name no family. */
  readonly networks: readonly string[];
  /** The first and the last node port. */
  readonly ports: readonly [number, number];
}

/** The gate with which networks come from ServiceCIDR objects, and addresses in use from IPAddress objects. */
export const MULTI_CIDR_GATE = 'MultiCIDRServiceAllocator';

/** The ranges of a server: networks by family, the default one first. */
export interface ServiceRanges {
  readonly networks: ReadonlyMap<Family, AddressRange>;
  readonly ports: readonly [number, number];
  /** Whether addresses come from the networks of ServiceCIDR objects: the gate is on. */
  readonly fromObjects: boolean;
}

/** The default ranges of a server. */
export const DEFAULT_RANGES: RangeConfig = { networks: ['10.0.0.0/16'], ports: [30000, 32767] };

/** Parses the networks of a configuration, which are well-formed and of different families. */
export function rangesOf({ networks, ports }: RangeConfig, fromObjects: boolean): ServiceRanges {
  const parsed = networks.map(network => parseRange(network, fromObjects)!);
  return { networks: new Map(parsed.map(range => [range.family, range])), ports, fromObjects };
}

/** The first address of a network, which belongs to the Service of the server itself. */
export const ownAddress = ({ networks }: RangeConfig): string => {
  const range = parseRange(networks[0]!)!;
  return range.addressAt(range.base + 1n);
};
