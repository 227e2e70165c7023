import { BlockList, isIP, isIPv4 } from 'node:net';
import { dns1123Label, dns1123Subdomain } from '../../../core/model/names.js';
import { invalid, required, type Violation } from '../../../core/model/refusal.js';
import { toViolations } from './violations.js';

/** Removes leading zeros of the decimal numbers of an address, which upstream accepts. */
export function withoutLeadingZeros(address: string): string {
  const start = address.lastIndexOf(':') + 1;
  const numbers = address.slice(start).split('.');
  if (numbers.length < 2) return address;
  return address.slice(0, start) + numbers.map(digits => digits.replace(/^0+(\d)/, '$1')).join('.');
}

/** 4 or 6 for an address of that version, 0 for another text. Addresses have no zone, and may have leading zeros. */
export const ipVersion = (value: string): number => (value.includes('%') ? 0 : isIP(withoutLeadingZeros(value)));

/** Messages about an IP address. */
export const ipComplaints = (value: string): string[] =>
  ipVersion(value) === 0 ? ['must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)'] : [];

/** An address and the length of its prefix. */
interface Cidr {
  readonly address: string;
  readonly family: 'ipv4' | 'ipv6';
  readonly length: number;
}

/** Parses an address with the length of a prefix; undefined if it is malformed. */
function parseCidr(text: string): Cidr | undefined {
  const [, given = '', digits = ''] = /^([^/%]*)\/(\d{1,9})$/.exec(text) ?? [];
  const address = withoutLeadingZeros(given);
  const [version, length] = [isIP(address), Number(digits)];
  if (version === 0 || length > (version === 4 ? 32 : 128)) return undefined;
  return { address, family: version === 4 ? 'ipv4' : 'ipv6', length };
}

/** Messages about an address with the length of a prefix. */
export const cidrComplaints = (text: string): string[] =>
  parseCidr(text) ? [] : ['must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)'];

/** Whether the addresses of `inner` are a part of those of `outer`, but not all of them. Both must be well-formed. */
export function isStrictSubset(inner: string, outer: string): boolean {
  const [small, large] = [parseCidr(inner), parseCidr(outer)];
  if (!small || !large || small.family !== large.family || small.length <= large.length) return false;
  const block = new BlockList();
  block.addSubnet(large.address, large.length, large.family);
  return block.check(small.address, small.family);
}

/** The first 16 bits of an IPv6 address. */
const firstGroup = (address: string): number => (address.startsWith(':') ? 0 : Number.parseInt(address, 16));

/** The special range of an address in upstream's words; undefined if it is in none of them. */
function specialRange(address: string): string | undefined {
  const v4 = isIPv4(address);
  const shared = address.toLowerCase();
  if (shared === '0.0.0.0' || (!v4 && /^[0:]+$/.test(shared))) return `may not be unspecified (${address})`;
  if (v4 ? address.startsWith('127.') : /^[0:]*:0*1$/.test(shared))
    return 'may not be in the loopback range (127.0.0.0/8, ::1/128)';
  const first = v4 ? 0 : firstGroup(shared);
  if (v4 ? address.startsWith('169.254.') : first >= 0xfe80 && first <= 0xfebf)
    return 'may not be in the link-local range (169.254.0.0/16, fe80::/10)';
  if (v4 ? address.startsWith('224.0.0.') : (first & 0xff0f) === 0xff02)
    return 'may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)';
  return undefined;
}

/** Checks that traffic can be sent to an address: it must not be unspecified, loopback or link-local. */
export function validateNonSpecialIp(address: string, field: string): Violation[] {
  if (ipVersion(address) === 0) return [invalid(field, address, 'must be a valid IP address')];
  const why = specialRange(withoutLeadingZeros(address));
  return why ? [invalid(field, address, why)] : [];
}

/** Checks that a value is an address of one family. */
export const validateIpOfFamily = (address: string, family: 4 | 6, field: string): Violation[] =>
  ipVersion(address) === family ? [] : [invalid(field, address, `must be a valid IPv${family} address`)];

/** Checks that a value is a domain name with at least two labels. A dot at the end is ignored. */
export function validateFullDomainName(given: string, field: string): Violation[] {
  if (given === '') return [required(field)];
  const name = given.endsWith('.') ? given.slice(0, -1) : given;
  const wrong = dns1123Subdomain(name);
  if (wrong.length > 0) return [invalid(field, name, wrong.join(','))];
  const labels = name.split('.');
  if (labels.length < 2)
    return [invalid(field, name, 'should be a domain with at least two segments separated by dots')];
  return labels.flatMap(label => {
    const found = dns1123Label(label);
    return found.length > 0 ? toViolations(field, label, [found.join(',')]) : [];
  });
}
