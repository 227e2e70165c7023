import { randomInt } from '../../../../core/runtime/random.js';
import type { Service } from '../../../../kinds/v1.js';

/**
 * The ranges from which Services get addresses and node ports, both ends included: an IPv4 range and a range of ports.
 */
interface ServiceRanges {
  readonly network: string;
  readonly ports: readonly [number, number];
}

/** The default ranges. */
export const DEFAULT_RANGES: ServiceRanges = { network: '10.0.0.0/16', ports: [30000, 32767] };

const numberOf = (address: string): number => address.split('.').reduce((sum, part) => sum * 256 + Number(part), 0);

const toAddress = (n: number): string => [24, 16, 8, 0].map(shift => Math.floor(n / 2 ** shift) % 256).join('.');

/** The first address of a range, which belongs to the Service of the server itself. */
export const ownAddress = ({ network }: ServiceRanges): string => toAddress(numberOf(network.split('/')[0]!) + 1);

/** Finds free cluster addresses and node ports. The `next…` functions return undefined if the range is exhausted. */
export interface ServiceAllocator {
  readonly ranges: ServiceRanges;
  addressTaken(address: string): boolean;
  inRange(address: string): boolean;
  nextAddress(): string | undefined;
  portTaken(port: number, protocol: string): boolean;
  nextPort(): number | undefined;
}

const isIPv4 = (address: string): boolean => /^(\d{1,3}\.){3}\d{1,3}$/.test(address);

interface Used {
  readonly addresses: Set<string>;
  readonly ports: Map<number, Set<string>>;
}

const addressesOf = (service: Service): string[] =>
  (service.spec.clusterIPs ?? []).filter(address => address !== 'None');

function portsOf(service: Service): (readonly [port: number, protocol: string])[] {
  const spec = service.spec;
  const claims = (spec.ports ?? []).map(p => [p.nodePort, p.protocol ?? 'TCP'] as const);
  return [...claims, [spec.healthCheckNodePort, 'TCP'] as const].flatMap(([port, protocol]) =>
    port ? [[port, protocol] as const] : [],
  );
}

/** The addresses and node ports of a Service, which must be unique. */
export const claimsOf = (service: Service): string[] => [
  ...addressesOf(service),
  ...portsOf(service).map(([port, protocol]) => `${port}-${protocol}`),
];

function usedByServices(services: readonly Service[], except: string | undefined): Used {
  const used: Used = { addresses: new Set(), ports: new Map() };
  for (const service of services) {
    if (service.metadata.uid !== undefined && service.metadata.uid === except) continue;
    for (const address of addressesOf(service)) used.addresses.add(address);
    for (const [port, protocol] of portsOf(service)) {
      used.ports.set(port, (used.ports.get(port) ?? new Set()).add(protocol));
    }
  }
  return used;
}

/** The number of random attempts before values are tried in order. */
const RANDOM_TRIES = 64;

/** A free number below `size`: a random one, unless nearly all are in use. */
function pickFree(size: number, free: (index: number) => boolean): number | undefined {
  for (let attempt = 0; attempt < RANDOM_TRIES; attempt++) {
    const index = randomInt(size);
    if (free(index)) return index;
  }
  for (let index = 0; index < size; index++) if (free(index)) return index;
  return undefined;
}

/**
 * An allocator of the values that the given Services do not use; the Services are read when it is first used. The
 * Service with the uid `except` may keep its values. Two concurrent writes may allocate the same value; `claimsOf` then
 * prevents that the second one is stored.
 */
export function makeAllocator(
  services: () => readonly Service[],
  except?: string,
  ranges: ServiceRanges = DEFAULT_RANGES,
): ServiceAllocator {
  let known: Used | undefined;
  const getUsed = (): Used => (known ??= usedByServices(services(), except));
  const [base = '', bits = '24'] = ranges.network.split('/');
  const first = numberOf(base);
  const size = 2 ** (32 - Number(bits));
  const [low, high] = ranges.ports;
  return {
    ranges,
    addressTaken: address => getUsed().addresses.has(address),
    inRange: address => isIPv4(address) && numberOf(address) > first && numberOf(address) < first + size - 1,
    nextAddress: () => {
      const index = pickFree(size - 3, i => !getUsed().addresses.has(toAddress(first + 2 + i)));
      if (index === undefined) return undefined;
      const address = toAddress(first + 2 + index);
      getUsed().addresses.add(address);
      return address;
    },
    portTaken: (port, protocol) => getUsed().ports.get(port)?.has(protocol) ?? false,
    nextPort: () => {
      const index = pickFree(high - low + 1, i => !getUsed().ports.has(low + i));
      if (index === undefined) return undefined;
      getUsed().ports.set(low + index, new Set(['TCP', 'UDP', 'SCTP']));
      return low + index;
    },
  };
}
