import type { ServiceSpec } from '../../../../kinds/v1.js';
import { isIP, isIPv6 } from 'node:net';
import { isAbsent } from '../../../../core/model/record.js';
import { duplicate, invalid, notSupported, type Violation } from '../../../../core/model/refusal.js';
import { isHeadless } from './fields.js';
import { ipComplaints } from '../../shared/ipAddresses.js';
import { toViolations } from '../../shared/violations.js';

const FAMILIES = ['IPv4', 'IPv6'];

const POLICIES = ['PreferDualStack', 'RequireDualStack', 'SingleStack'];

const ALL = 'spec.clusterIPs';

function validateFamilies(spec: ServiceSpec): Violation[] {
  const seen = new Set<string>();
  const found = (spec.ipFamilies ?? []).flatMap((family, i) => {
    const field = `spec.ipFamilies[${i}]`;
    const wrong = FAMILIES.includes(family) ? [] : [notSupported(field, family, FAMILIES)];
    if (seen.has(family)) wrong.push(duplicate(field, family));
    seen.add(family);
    return wrong;
  });
  const policy = spec.ipFamilyPolicy ?? '';
  if (!isAbsent(spec.ipFamilyPolicy) && !POLICIES.includes(policy))
    found.push(notSupported('spec.ipFamilyPolicy', policy, POLICIES));
  return found;
}

/** Checks that each address is valid; `None` must be the only one. */
function validateEachAddress(all: readonly string[]): Violation[] {
  return all.flatMap((address, i) => {
    if (i === 0 && address === 'None')
      return all.length > 1 ? [invalid(ALL, all, "'None' must be the first and only value")] : [];
    return toViolations(`${ALL}[${i}]`, address, ipComplaints(address));
  });
}

function validateFamiliesOfAddresses(all: readonly string[], families: readonly string[]): Violation[] {
  return all.flatMap((address, i) => {
    const family = families[i];
    if (family === undefined)
      return [invalid(`${ALL}[${i}]`, address, `may not be set because no ip family exists at spec.ipFamilies[${i}]`)];
    return isIPv6(address) === (family === 'IPv6')
      ? []
      : [invalid(`${ALL}[${i}]`, address, `expected an ${family} value as indicated by \`ipFamilies[${i}]\``)];
  });
}

/**
 * Checks that addresses, families and family policy agree, before anything is allocated. Not for Services with an
 * external name.
 */
export function validateAddresses(spec: ServiceSpec): Violation[] {
  const found = validateFamilies(spec);
  const [one, all] = [spec.clusterIP ?? '', spec.clusterIPs ?? []];
  if (all.length > 0 && one === '') found.push(invalid(ALL, all, 'must be empty when `clusterIP` is not specified'));
  else if (all.length > 0 && all[0] !== one) found.push(invalid(ALL, all, 'first value must match `clusterIP`'));
  const wrong = validateEachAddress(all);
  found.push(...wrong);
  if (all.length > 2) found.push(invalid(ALL, all, 'may only hold up to 2 values'));
  if (wrong.length > 0) return found;
  if (all.length > 1 && new Set(all.map(isIP)).size < all.length)
    found.push(invalid(ALL, all, 'may specify no more than one IP for each IP family'));
  const families = spec.ipFamilies ?? [];
  const comparable = !isHeadless(spec) && found.length === 0 && families.length > 0;
  return comparable ? [...found, ...validateFamiliesOfAddresses(all, families)] : found;
}

/**
 * Refuses what an IPv4 cluster cannot allocate. Services with neither address nor selector can have any family, because
 * other clients create their endpoints.
 */
export function validateAvailableFamilies(spec: ServiceSpec): Violation[] {
  if (isHeadless(spec) && Object.entries(spec.selector ?? {}).length === 0) return [];
  const found: Violation[] = [];
  if ((spec.ipFamilyPolicy ?? '') === 'RequireDualStack')
    found.push(
      invalid('spec.ipFamilyPolicy', 'RequireDualStack', 'this cluster is not configured for dual-stack services'),
    );
  for (const [i, family] of (spec.ipFamilies ?? []).entries())
    if (family !== 'IPv4') found.push(invalid(`spec.ipFamilies[${i}]`, family, 'not configured on this cluster'));
  return found;
}
