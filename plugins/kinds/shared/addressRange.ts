import { isIP } from 'node:net';
import { withoutLeadingZeros } from './ipAddresses.js';

/** An address family, as `ipFamilies` of Services names it. */
export type Family = 'IPv4' | 'IPv6';

/** The family of a well-formed address. */
export const familyOf = (address: string): Family => (address.includes(':') ? 'IPv6' : 'IPv4');

/** The 16-bit groups of an IPv6 address, without those that `::` abbreviates. */
const groupsOf = (part: string): bigint[] =>
  part === ''
    ? []
    : part.split(':').flatMap(group => {
        if (!group.includes('.')) return [BigInt(`0x${group}`)];
        const embedded = numberOfIPv4(group);
        return [embedded >> 16n, embedded & 0xffffn];
      });

const numberOfIPv4 = (address: string): bigint =>
  address.split('.').reduce((sum, part) => (sum << 8n) | BigInt(part), 0n);

/** An address as a number; undefined if it is malformed. Decimal numbers may have leading zeros. */
function addressNumber(given: string): bigint | undefined {
  const address = withoutLeadingZeros(given);
  const version = isIP(address);
  if (version === 0 || address.includes('%')) return undefined;
  if (version === 4) return numberOfIPv4(address);
  const [head = '', tail] = address.split('::');
  const [first, last] = [groupsOf(head), groupsOf(tail ?? '')];
  const groups = [...first, ...Array<bigint>(8 - first.length - last.length).fill(0n), ...last];
  return groups.reduce((sum, group) => (sum << 16n) | group, 0n);
}

const textOfIPv4 = (number: bigint): string => [24n, 16n, 8n, 0n].map(bits => (number >> bits) & 0xffn).join('.');

/** The text of an IPv6 address in the form of RFC 5952, with the embedded IPv4 address of a mapped one. */
function textOfIPv6(number: bigint): string {
  if (number >> 32n === 0xffffn) return `::ffff:${textOfIPv4(number & 0xffff_ffffn)}`;
  const groups = Array.from({ length: 8 }, (_, i) => ((number >> BigInt(16 * (7 - i))) & 0xffffn).toString(16));
  let [start, length] = [0, 1];
  for (let i = 0, run = 0; i < 8; i++) {
    run = groups[i] === '0' ? run + 1 : 0;
    if (run > length) [start, length] = [i - run + 1, run];
  }
  if (length < 2) return groups.join(':');
  return `${groups.slice(0, start).join(':')}::${groups.slice(start + length).join(':')}`;
}

/** An address in the form in which it is compared and stored; `address` itself if it is malformed. */
export function canonicalAddress(address: string): string {
  const number = addressNumber(address);
  if (number === undefined) return address;
  return familyOf(address) === 'IPv4' ? textOfIPv4(number) : textOfIPv6(number);
}

/** IPv6 networks are larger than Services need: addresses are drawn from the first 65,536. */
const MOST_ADDRESSES = 65_536n;

/** A network from which Services get addresses. */
export interface AddressRange {
  readonly family: Family;
  /** In CIDR notation. */
  readonly network: string;
  /** The address of the network itself, which no Service gets. */
  readonly base: bigint;
  /** The number of addresses that can be drawn: the first is `base + 1`. */
  readonly size: number;
  /** Whether a Service may choose an address: one that can be drawn or, with `isWhole`, any of a large network. */
  includes(address: string): boolean;
  /** The text of an address of the range. */
  addressAt(number: bigint): string;
}

/**
 * The range of a network in CIDR notation; undefined if it is malformed. Neither the address of the network nor the
 * broadcast address of an IPv4 network belongs to it.
 */
export function parseRange(network: string, isWhole = false): AddressRange | undefined {
  const [, address = '', digits = ''] = /^([^/%]*)\/(\d{1,3})$/.exec(network) ?? [];
  const given = addressNumber(address);
  const [family, length] = [familyOf(address), Number(digits)];
  const bits = family === 'IPv4' ? 32 : 128;
  if (given === undefined || length > bits) return undefined;
  const all = 1n << BigInt(bits - length);
  const base = given - (given % all);
  const textOf = family === 'IPv4' ? textOfIPv4 : textOfIPv6;
  const most = family === 'IPv6' && all > MOST_ADDRESSES ? MOST_ADDRESSES : all;
  const unusable = family === 'IPv4' ? 2n : 1n;
  const size = most < unusable ? 0 : Number(most - unusable);
  const last = isWhole ? base + all - unusable : base + BigInt(size);
  return {
    family,
    network: `${textOf(base)}/${length}`,
    base,
    size,
    includes: other => {
      const number = addressNumber(other);
      return familyOf(other) === family && number !== undefined && number > base && number <= last;
    },
    addressAt: textOf,
  };
}
