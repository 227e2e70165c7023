import type { ServiceCIDR } from '../../../kinds/networking/v1beta1.js';
import { builtInKind } from '../../../core/api/resource.js';
import type { Column } from '../../../core/api/strategy.js';
import { invalid, required, type Violation } from '../../../core/model/refusal.js';
import { familyOf, parseRange } from '../shared/addressRange.js';
import { AGE, column, NAME } from '../shared/columns.js';
import { prefixProblem } from '../shared/goAddresses.js';
import { WRITABLE_METADATA } from '../shared/metadata.js';
import { validateImmutable } from '../shared/violations.js';

const COLUMNS: readonly Column<ServiceCIDR>[] = [
  NAME,
  column('CIDRs', object => (object.spec.cidrs ?? []).join(',')),
  AGE,
];

const CIDRS = 'spec.cidrs';

/** Returns why a network in CIDR notation is refused; undefined if it is accepted. */
function networkProblem(network: string): string | undefined {
  const problem = prefixProblem(network);
  if (problem) return problem;
  const canonical = parseRange(network)?.network;
  if (canonical === network) return undefined;
  const bits = network.slice(network.lastIndexOf('/'));
  const address = network.slice(0, -bits.length);
  const isNetwork = parseRange(`${address}/${address.includes(':') ? 128 : 32}`)?.base === parseRange(network)?.base;
  return isNetwork ? 'CIDR not in RFC 5952 canonical format' : "wrong CIDR format, IP doesn't match network IP address";
}

/** The violations of the networks: one, or one of each family. */
function validateNetworks({ spec }: ServiceCIDR): readonly Violation[] {
  const cidrs = spec.cidrs ?? [];
  if (cidrs.length === 0) return [required(CIDRS, 'at least one CIDR required')];
  if (cidrs.length > 2) return [invalid(CIDRS, spec, 'may only hold up to 2 values')];
  const [first, second] = cidrs;
  if (second !== undefined && !(parseRange(first!) && parseRange(second) && familyOf(first!) !== familyOf(second))) {
    const each = 'may specify no more than one IP for each IP family, i.e 192.168.0.0/24 and 2001:db8::/64';
    return [invalid(CIDRS, spec, each)];
  }
  return cidrs.flatMap((network, i) => {
    const problem = networkProblem(network);
    return problem ? [invalid(`${CIDRS}[${i}]`, network, problem)] : [];
  });
}

/**
 * ServiceCIDR: networks from which Services get their cluster addresses, with the gate MultiCIDRServiceAllocator.
 * Writes of the object itself write its status too.
 */
export const serviceCidr = builtInKind<ServiceCIDR>('networking.orchestrator.io/servicecidrs', () => ({
  revalidatesName: true,
  hasStatus: false,
  keptInStatus: WRITABLE_METADATA,
  validateCreate: validateNetworks,
  validateUpdate: (object, old) => [
    ...validateNetworks(object),
    ...validateImmutable({ cidrs: object.spec.cidrs ?? [] }, old.spec, 'cidrs', CIDRS),
  ],
  columns: COLUMNS,
}));
