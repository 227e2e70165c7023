import type { Service } from '../../../../kinds/v1.js';
import type { Naming } from '../../../../core/naming.js';
import { isHeadless } from './fields.js';
import { canonicalAddress } from '../../shared/addressRange.js';
import { addressProblem, prefixProblem } from '../../shared/goAddresses.js';
import { systemName } from '../../shared/values/names.js';

const notCanonical = (what: string, given: string, canonical: string): string =>
  `IPv6 ${what} ${JSON.stringify(given)} is not in RFC 5952 canonical format (${JSON.stringify(canonical)}), which may cause controller apply-loops`;

/** The warning about an address that later releases refuse, or that is not written in its canonical form. */
function addressWarning(address: string, release: string): string | undefined {
  const problem = addressProblem(address);
  if (problem) return `IP address was accepted, but will be invalid in a future ${release} release: ${problem}`;
  const canonical = canonicalAddress(address);
  return address.includes(':') && canonical !== address ? notCanonical('address', address, canonical) : undefined;
}

/** The same about a network in CIDR notation. */
function networkWarning(network: string, release: string): string | undefined {
  const slash = network.lastIndexOf('/');
  const [address, bits] = [network.slice(0, slash), network.slice(slash + 1)];
  const problem = prefixProblem(network);
  if (problem) return `IP prefix was accepted, but will be invalid in a future ${release} release: ${problem}`;
  const canonical = `${canonicalAddress(address)}/${bits}`;
  return address.includes(':') && canonical !== network ? notCanonical('prefix', network, canonical) : undefined;
}

/** Warnings about fields of a Service that are ignored for its type, and about how addresses are written. */
export function serviceWarnings({ spec }: Service, naming: Naming): string[] {
  const release = systemName(naming);
  const named = (field: string, warning: string | undefined): string[] =>
    warning === undefined ? [] : [`${field}: ${warning}`];
  const each = (member: 'clusterIPs' | 'externalIPs', addresses: readonly string[]): string[] =>
    addresses.flatMap((address, i) => named(`spec.${member}[${i}]`, addressWarning(address, release)));
  const balancer = spec.loadBalancerIP ?? '';
  const found = [
    ...each('clusterIPs', isHeadless(spec) ? [] : (spec.clusterIPs ?? [])),
    ...each('externalIPs', spec.externalIPs ?? []),
    ...(balancer === '' ? [] : named('spec.loadBalancerIP', addressWarning(balancer, release))),
    ...(spec.loadBalancerSourceRanges ?? []).flatMap((network, i) =>
      named(`spec.loadBalancerSourceRanges[${i}]`, networkWarning(network, release)),
    ),
  ];
  const isName = spec.type === 'ExternalName';
  if (isName && (spec.externalIPs ?? []).length > 0)
    found.push('spec.externalIPs is ignored when spec.type is "ExternalName"');
  if (!isName && (spec.externalName ?? '') !== '')
    found.push('spec.externalName is ignored when spec.type is not "ExternalName"');
  return found;
}
