import type { ServiceSpec } from '../../../../kinds/v1.js';
import { isAbsent, isSemanticallyEqual } from '../../../../core/model/record.js';
import { invalid, type Violation } from '../../../../core/model/refusal.js';
import { validateAddresses } from './addresses.js';
import { familyOf } from '../../shared/addressRange.js';
import { isHeadless, isNamed } from './fields.js';
import type { Family } from '../../shared/addressRange.js';

const SINGLE = 'SingleStack';

const POLICY = 'spec.ipFamilyPolicy';

/** Whether a Service has neither address nor selector: other clients create its endpoints, in any family. */
const isUnselected = (spec: ServiceSpec): boolean => isHeadless(spec) && Object.keys(spec.selector ?? {}).length === 0;

const isUnchanged = (spec: ServiceSpec, old: ServiceSpec, member: 'clusterIPs' | 'ipFamilies'): boolean =>
  isSemanticallyEqual(spec[member] ?? [], old[member] ?? []);

/**
 * Whether an update leaves addresses and families of a Service that prefers both families as they are. Such a Service
 * stays as it is, even if the networks of the server have changed since.
 */
export const keepsPreferredFamilies = (spec: ServiceSpec, old: ServiceSpec | undefined): boolean =>
  old?.ipFamilyPolicy === 'PreferDualStack' &&
  spec.ipFamilyPolicy === 'PreferDualStack' &&
  isUnchanged(spec, old, 'clusterIPs') &&
  isUnchanged(spec, old, 'ipFamilies');

/** Removes the second family after a change of the policy to a single one, unless the client has changed it as well. */
function dropSecondFamily(spec: ServiceSpec, old: ServiceSpec): void {
  if (spec.ipFamilyPolicy !== SINGLE || isAbsent(old.ipFamilyPolicy) || old.ipFamilyPolicy === SINGLE) return;
  for (const member of ['clusterIPs', 'ipFamilies'] as const)
    if (isUnchanged(spec, old, member)) spec[member] = spec[member]?.slice(0, 1);
}

/** Checks that a second address or family is given up only together with the policy. */
function validateRelease(spec: ServiceSpec, old: ServiceSpec): Violation[] {
  if (spec.ipFamilyPolicy === SINGLE) return [];
  const count = (from: ServiceSpec, member: 'clusterIPs' | 'ipFamilies'): number => (from[member] ?? []).length;
  const released = (member: 'clusterIPs' | 'ipFamilies', what: string): Violation[] =>
    count(old, member) === 2 && count(spec, member) === 1
      ? [invalid(POLICY, spec.ipFamilyPolicy, `must be 'SingleStack' to release the secondary ${what}`)]
      : [];
  return [...released('clusterIPs', 'cluster IP'), ...released('ipFamilies', 'IP family')];
}

/** Adds the families of addresses that have none. */
function addFamiliesOfAddresses(spec: ServiceSpec, available: ReadonlySet<Family>): Violation[] {
  if (isHeadless(spec)) return [];
  return (spec.clusterIPs ?? []).flatMap((address, i) => {
    const family = familyOf(address);
    if (i < (spec.ipFamilies ?? []).length) return [];
    if (!available.has(family))
      return [invalid(`spec.clusterIPs[${i}]`, spec.clusterIPs, `${family} is not configured on this cluster`)];
    (spec.ipFamilies ??= []).push(family);
    return [];
  });
}

/** Checks that a policy of one family goes with one address and one family. */
function validateSingle(spec: ServiceSpec): Violation[] {
  if (spec.ipFamilyPolicy !== SINGLE) return [];
  const several = (values: readonly string[] | null | undefined, what: string): Violation[] => {
    const why = `must be 'RequireDualStack' or 'PreferDualStack' when multiple ${what} are specified`;
    return (values ?? []).length > 1 ? [invalid(POLICY, SINGLE, why)] : [];
  };
  return [...several(spec.clusterIPs, 'cluster IPs'), ...several(spec.ipFamilies, 'IP families')];
}

/** Refuses families that the server has no network for. */
function validateAvailable(spec: ServiceSpec, available: ReadonlySet<Family>): Violation[] {
  const found: Violation[] = [];
  if (spec.ipFamilyPolicy === 'RequireDualStack' && available.size < 2)
    found.push(invalid(POLICY, 'RequireDualStack', 'this cluster is not configured for dual-stack services'));
  for (const [i, family] of (spec.ipFamilies ?? []).entries())
    if (!available.has(family as Family))
      found.push(invalid(`spec.ipFamilies[${i}]`, family, 'not configured on this cluster'));
  return found;
}

const otherOf = (family: string): Family => (family === 'IPv4' ? 'IPv6' : 'IPv4');

/**
 * Sets families and family policy of a Service, before addresses are allocated for them. `available` are the families
 * of the server, its default one first. Returns why that is not possible.
 */
export function setFamilies(
  spec: ServiceSpec,
  old: ServiceSpec | undefined,
  available: ReadonlySet<Family>,
): readonly Violation[] {
  if (isNamed(spec)) return [];
  if (isAbsent(spec.ipFamilyPolicy) && old) spec.ipFamilyPolicy = old.ipFamilyPolicy;
  if (keepsPreferredFamilies(spec, old)) return [];
  const wrong = validateAddresses(spec);
  if (wrong.length > 0) return wrong;
  if (old) dropSecondFamily(spec, old);
  const unselected = isUnselected(spec);
  if (isAbsent(spec.ipFamilyPolicy)) spec.ipFamilyPolicy = unselected ? 'RequireDualStack' : SINGLE;
  const found = [
    ...(old ? validateRelease(spec, old) : []),
    ...validateSingle(spec),
    ...addFamiliesOfAddresses(spec, available),
  ];
  if (found.length > 0) return found;
  if (!unselected) found.push(...validateAvailable(spec, available));
  if (found.length > 0) return found;
  const families = (spec.ipFamilies ??= []);
  if (families.length === 0) families.push([...available][0]!);
  if (spec.ipFamilyPolicy !== SINGLE && families.length === 1 && (unselected || available.size === 2))
    families.push(otherOf(families[0]!));
  return [];
}
