import { randomInt } from '../../../../core/runtime/random.js';
import type { Service } from '../../../../kinds/v1.js';
import { type AddressRange, canonicalAddress } from '../../shared/addressRange.js';
import { hasHealthPort, hasNodePorts, isNamed } from './fields.js';
import type { Family } from '../../shared/addressRange.js';
import type { ServiceRanges } from './ranges.js';

/** The addresses of a Service in canonical form, in which they are compared. */
export const addressesOf = ({ spec }: Service): string[] =>
  isNamed(spec)
    ? []
    : (spec.clusterIPs ?? []).filter(address => address !== 'None' && address !== '').map(canonicalAddress);

/** The node ports of a Service. Ports that its type does not use may be stored, but are not allocated. */
export const portsOf = ({ spec }: Service): number[] =>
  [
    ...(hasNodePorts(spec) ? (spec.ports ?? []) : []).map(port => port.nodePort),
    hasHealthPort(spec) ? spec.healthCheckNodePort : 0,
  ].flatMap(port => (port ? [port] : []));

/**
 * The addresses and node ports of a Service, which no other one may have. A node port belongs to one Service for all
 * protocols.
 */
export const claimsOf = (service: Service): string[] => [...addressesOf(service), ...portsOf(service).map(String)];

interface Used {
  readonly addresses: Set<string>;
  readonly ports: Set<number>;
}

function usedBy(services: readonly Service[], addresses: readonly string[] = []): Used {
  const used: Used = { addresses: new Set(addresses), ports: new Set() };
  for (const service of services) {
    for (const address of addressesOf(service)) used.addresses.add(address);
    for (const port of portsOf(service)) used.ports.add(port);
  }
  return used;
}

/** The number of random attempts before values are tried in order. */
const RANDOM_TRIES = 64;

/** The first free number from `first` on and below `end`, after random attempts: undefined if there is none. */
function pickWithin(first: number, end: number, free: (index: number) => boolean): number | undefined {
  if (first >= end) return undefined;
  for (let attempt = 0; attempt < RANDOM_TRIES; attempt++) {
    const index = randomInt(first, end);
    if (free(index)) return index;
  }
  for (let index = first; index < end; index++) if (free(index)) return index;
  return undefined;
}

/**
 * The number of values at the beginning of a range that are kept for Services which choose their value: a part of the
 * range, between 16 and `most`. The allocator draws them only when all others are in use.
 */
function reserved(size: number, parts: number, most: number): number {
  return size <= 16 ? 0 : Math.min(Math.max(Math.floor(size / parts), 16), most);
}

/** A free number below `size`, outside of the reserved ones if possible. */
const pickFree = (size: number, low: number, free: (index: number) => boolean): number | undefined =>
  pickWithin(low, size, free) ?? pickWithin(0, low, free);

/** A free address of a network; undefined if there is none. The first `skipped` addresses are never drawn. */
function nextFree(
  { base, size, addressAt }: AddressRange,
  used: ReadonlySet<string>,
  skipped: number,
): string | undefined {
  const at = (index: number): string => addressAt(base + 1n + BigInt(index));
  const index = pickFree(size, reserved(size, 16, 256), i => i >= skipped && !used.has(at(i)));
  return index === undefined ? undefined : at(index);
}

/** Why a value cannot be allocated. */
export const TAKEN = { address: 'provided IP is already allocated', port: 'provided port is already allocated' };

/**
 * Finds free cluster addresses and node ports for one write. The `next…` functions return undefined if the range is
 * exhausted, the `take…` functions why the value cannot be allocated, or undefined if it is allocated now.
 */
export interface ServiceAllocator {
  takeAddress(family: Family, address: string): string | undefined;
  nextAddress(family: Family): string | undefined;
  takePort(port: number): string | undefined;
  nextPort(): number | undefined;
}

const notWithin = (address: string, { network }: AddressRange): string =>
  `the provided IP (${canonicalAddress(address)}) is not in the valid range. The range of valid IPs is ${network}`;

/** The source of addresses, if it is not the configuration but objects. */
export interface AddressSource {
  readonly networksOf: (family: Family) => readonly AddressRange[];
  /** Addresses in use, besides those of Services. */
  readonly used: () => readonly string[];
}

/**
 * An allocator of the values that the given Services do not use; the Services are read when it is first used. Two
 * concurrent writes may allocate the same value; `claimsOf` then prevents the second one from being stored.
 *
 * In a dry run it compares chosen ports with no range, and chosen addresses with no Service, like upstream.
 */
export function makeAllocator(
  services: () => readonly Service[],
  ranges: ServiceRanges,
  dryRun: boolean,
  source?: AddressSource,
): ServiceAllocator {
  let known: Used | undefined;
  const getUsed = (): Used => (known ??= usedBy(services(), source?.used()));
  const [low, high] = ranges.ports;
  return {
    takeAddress: (family, address) => {
      const range = ranges.networks.get(family)!;
      const networks = source?.networksOf(family) ?? [range];
      if (!networks.some(network => network.includes(address)))
        return source ? 'the provided network does not match the current range' : notWithin(address, range);
      const { addresses } = getUsed();
      const text = canonicalAddress(address);
      if (!dryRun && addresses.has(text)) return TAKEN.address;
      addresses.add(text);
      return undefined;
    },
    nextAddress: family => {
      const { addresses } = getUsed();
      for (const network of source?.networksOf(family) ?? [ranges.networks.get(family)!]) {
        const found = nextFree(network, addresses, source ? 0 : 1);
        if (found === undefined) continue;
        addresses.add(found);
        return found;
      }
      return undefined;
    },
    takePort: port => {
      if (!dryRun && (port < low || port > high))
        return `provided port is not in the valid range. The range of valid ports is ${low}-${high}`;
      const { ports } = getUsed();
      if (ports.has(port)) return TAKEN.port;
      ports.add(port);
      return undefined;
    },
    nextPort: () => {
      const { ports } = getUsed();
      const size = high - low + 1;
      const index = pickFree(size, reserved(size, 32, 128), i => !ports.has(low + i));
      if (index === undefined) return undefined;
      ports.add(low + index);
      return low + index;
    },
  };
}
