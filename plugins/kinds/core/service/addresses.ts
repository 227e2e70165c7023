import type { ServiceSpec } from '../../../../kinds/v1.js';
import { isAbsent } from '../../../../core/model/record.js';
import { duplicate, invalid, notSupported, required, type Violation } from '../../../../core/model/refusal.js';
import { familyOf } from '../../shared/addressRange.js';
import { isHeadless } from './fields.js';
import { ipComplaints } from '../../shared/ipAddresses.js';
import { toViolations } from '../../shared/violations.js';

const FAMILIES = ['IPv4', 'IPv6'];

const POLICIES = ['PreferDualStack', 'RequireDualStack', 'SingleStack'];

const ALL = 'spec.clusterIPs';

/** Checks that `clusterIP` is the first of `clusterIPs`. */
function validateFirstAddress(spec: ServiceSpec): Violation[] {
  const [one, all] = [spec.clusterIP ?? '', spec.clusterIPs ?? []];
  if (one === '') return all.length > 0 ? [invalid(ALL, all, 'must be empty when `clusterIP` is not specified')] : [];
  if (all.length === 0) return [required(ALL)];
  return all[0] === one ? [] : [invalid(ALL, all, 'first value must match `clusterIP`')];
}

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
    if (family === undefined || !FAMILIES.includes(family) || familyOf(address) === family) return [];
    return [invalid(`${ALL}[${i}]`, address, `expected an ${family} value as indicated by \`ipFamilies[${i}]\``)];
  });
}

/**
 * Checks that addresses, families and family policy agree, before anything is allocated. Not for Services with an
 * external name.
 */
export function validateAddresses(spec: ServiceSpec): Violation[] {
  const found = [...validateFirstAddress(spec), ...validateFamilies(spec)];
  const all = spec.clusterIPs ?? [];
  const wrong = validateEachAddress(all);
  found.push(...wrong);
  if (all.length > 2) found.push(invalid(ALL, all, 'may only hold up to 2 values'));
  if (wrong.length > 0) return found;
  if (all.length > 1 && new Set(all.map(familyOf)).size < all.length)
    found.push(invalid(ALL, all, 'may specify no more than one IP for each IP family'));
  return isHeadless(spec) ? found : [...found, ...validateFamiliesOfAddresses(all, spec.ipFamilies ?? [])];
}
