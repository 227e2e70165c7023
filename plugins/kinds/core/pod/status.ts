import type { Pod, PodStatus } from '../../../../kinds/v1.js';
import { isIP } from 'node:net';
import { dns1123Subdomain, qualifiedName } from '../../../../core/model/names.js';
import { isAbsent } from '../../../../core/model/record.js';
import { duplicate, forbiddenField, invalid, type Violation } from '../../../../core/model/refusal.js';
import { ipComplaints } from '../../shared/ipAddresses.js';
import { findRepeated } from '../../shared/values/repeated.js';
import { toViolations } from '../../shared/violations.js';

/** Types of conditions that do not have to be qualified names. */
const SYSTEM = ['PodScheduled', 'Ready', 'Initialized'];

function validateConditions(status: PodStatus): Violation[] {
  // Upstream reports the field as metadata.conditions.
  return (status.conditions ?? []).flatMap((condition, i) => {
    const type = condition.type;
    return SYSTEM.includes(type) ? [] : toViolations(`metadata.conditions[${i}].Type`, type, qualifiedName(type));
  });
}

/** A list of the states of containers. */
type StatusList = 'containerStatuses' | 'initContainerStatuses' | 'ephemeralContainerStatuses';

/** Checks that containers that have ended, and that the pod does not restart, are not running again. */
function validateTransitions(object: Pod, old: Pod, member: StatusList): Violation[] {
  const policy = member === 'ephemeralContainerStatuses' ? 'Never' : (old.spec.restartPolicy ?? '');
  if (policy === 'Always') return [];
  const restarted = new Set(
    member === 'initContainerStatuses'
      ? (old.spec.initContainers ?? [])
          .filter(container => (container.restartPolicy ?? '') === 'Always')
          .map(container => container.name)
      : [],
  );
  const running = new Set(
    (object.status?.[member] ?? []).filter(({ state }) => !state.terminated).map(({ name }) => name),
  );
  return (old.status?.[member] ?? []).flatMap(({ name, state }, i) => {
    const ended = state.terminated;
    if (!ended || restarted.has(name) || (policy === 'OnFailure' && ended.exitCode !== 0)) return [];
    return running.has(name)
      ? [forbiddenField(`status.${member}[${i}].state`, 'may not be transitioned to non-terminated state')]
      : [];
  });
}

function validateClaimStatuses(object: Pod): Violation[] {
  const known = new Set((object.spec.resourceClaims ?? []).map(claim => claim.name));
  const seen = new Set<string>();
  return (object.status?.resourceClaimStatuses ?? []).flatMap((status, i) => {
    const name = status.name;
    const field = `status.resourceClaimStatuses[${i}].name`;
    const found = known.has(name)
      ? []
      : [invalid(field, name, 'must match the name of an entry in `spec.resourceClaims`')];
    if (seen.has(name)) found.push(duplicate(field, name));
    seen.add(name);
    if (!isAbsent(status.resourceClaimName))
      found.push(...toViolations(field, status.resourceClaimName, dns1123Subdomain(status.resourceClaimName)));
    return found;
  });
}

/** Checks that addresses are valid, with at most one of each family. */
function validateAddresses(status: PodStatus, member: 'podIPs' | 'hostIPs'): Violation[] {
  const field = `status.${member}`;
  const ips = (status[member] ?? []).map(entry => entry.ip);
  const found = ips.flatMap((ip, i) => toViolations(`${field}[${i}]`, ip, ipComplaints(ip)));
  if (ips.length < 2) return found;
  if (ips.length > 2 || new Set(ips.map(isIP)).size < 2)
    found.push(invalid(field, status[member] ?? [], 'may specify no more than one IP for each IP family'));
  const repeated = findRepeated(ips);
  for (const [i, ip] of ips.entries()) if (repeated[i]) found.push(duplicate(`${field}[${i}]`, { ip }));
  return found;
}

function validateHostAddresses(status: PodStatus): Violation[] {
  const [first] = status.hostIPs ?? [];
  if (!first) return [];
  const ip = first.ip;
  return [
    ...(ip === (status.hostIP ?? '') ? [] : [invalid('status.hostIPs[0].ip', ip, 'must be equal to `hostIP`')]),
    ...validateAddresses(status, 'hostIPs'),
  ];
}

/** Violations of a write to a pod's status. */
export function validatePodStatus(object: Pod, old: Pod): Violation[] {
  const [now, before] = [object.status ?? {}, old.status ?? {}];
  const [qos, node] = [now.qosClass ?? '', now.nominatedNodeName ?? ''];
  return [
    ...validateConditions(now),
    ...(node === '' || node === (before.nominatedNodeName ?? '')
      ? []
      : toViolations('status.nominatedNodeName', node, dns1123Subdomain(node))),
    ...(qos !== '' && qos !== (before.qosClass ?? '') ? [invalid('status.qosClass', qos, 'field is immutable')] : []),
    ...(['containerStatuses', 'initContainerStatuses', 'ephemeralContainerStatuses'] as const).flatMap(member =>
      validateTransitions(object, old, member),
    ),
    ...validateClaimStatuses(object),
    ...validateAddresses(now, 'podIPs'),
    ...validateHostAddresses(now),
  ];
}

/**
 * Makes `podIP` the first of `podIPs`. If only `podIP` is set, or if it is not the first, it becomes the only address.
 */
export function alignPodIps(status: PodStatus): void {
  const ip = status.podIP ?? '';
  const first = (status.podIPs ?? [])[0]?.ip ?? '';
  if (ip !== '' && ip !== first) status.podIPs = [{ ip }];
  else if (first !== '') status.podIP = first;
}
