import { isIP } from 'node:net';
import { dns1123Subdomain, qualifiedName } from '../../../../core/model/names.js';
import type { ApiObject } from '../../../../core/model/object.js';
import {
  isAbsent,
  numberAt,
  recordAt,
  recordsAt,
  specOf,
  stringAt,
  type UnknownRecord,
} from '../../../../core/model/record.js';
import { duplicate, forbiddenField, invalid, type Violation } from '../../../../core/model/refusal.js';
import { ipComplaints } from '../../shared/ipAddresses.js';
import { findRepeated } from '../../shared/repeated.js';
import { toViolations } from '../../shared/violations.js';

/** Types of conditions that do not have to be qualified names. */
const SYSTEM = ['PodScheduled', 'Ready', 'Initialized'];

function validateConditions(status: UnknownRecord): Violation[] {
  // Upstream reports the field as metadata.conditions.
  return recordsAt(status, 'conditions').flatMap((condition, i) => {
    const type = stringAt(condition, 'type');
    return SYSTEM.includes(type) ? [] : toViolations(`metadata.conditions[${i}].Type`, type, qualifiedName(type));
  });
}

/** Checks that containers that have ended, and that the pod does not restart, are not running again. */
function validateTransitions(object: ApiObject, old: ApiObject, member: string): Violation[] {
  const policy = member === 'ephemeralContainerStatuses' ? 'Never' : stringAt(specOf(old), 'restartPolicy');
  if (policy === 'Always') return [];
  const restarted = new Set(
    member === 'initContainerStatuses'
      ? recordsAt(specOf(old), 'initContainers')
          .filter(container => stringAt(container, 'restartPolicy') === 'Always')
          .map(container => stringAt(container, 'name'))
      : [],
  );
  const now = recordsAt(object, 'status', member);
  return recordsAt(old, 'status', member).flatMap((before, i) => {
    const ended = recordAt(before, 'state', 'terminated');
    const name = stringAt(before, 'name');
    if (!ended || restarted.has(name) || (policy === 'OnFailure' && (numberAt(ended, 'exitCode') ?? 0) !== 0))
      return [];
    return now
      .filter(status => stringAt(status, 'name') === name && !recordAt(status, 'state', 'terminated'))
      .map(() => forbiddenField(`status.${member}[${i}].state`, 'may not be transitioned to non-terminated state'));
  });
}

function validateClaimStatuses(object: ApiObject): Violation[] {
  const known = recordsAt(specOf(object), 'resourceClaims').map(claim => stringAt(claim, 'name'));
  const seen = new Set<string>();
  return recordsAt(object, 'status', 'resourceClaimStatuses').flatMap((status, i) => {
    const name = stringAt(status, 'name');
    const field = `status.resourceClaimStatuses[${i}].name`;
    const found = known.includes(name)
      ? []
      : [invalid(field, name, 'must match the name of an entry in `spec.resourceClaims`')];
    if (seen.has(name)) found.push(duplicate(field, name));
    seen.add(name);
    if (!isAbsent(status.resourceClaimName))
      found.push(
        ...toViolations(
          field,
          stringAt(status, 'resourceClaimName'),
          dns1123Subdomain(stringAt(status, 'resourceClaimName')),
        ),
      );
    return found;
  });
}

/** Checks that addresses are valid, with at most one of each family. */
function validateAddresses(status: UnknownRecord, member: 'podIPs' | 'hostIPs'): Violation[] {
  const field = `status.${member}`;
  const ips = recordsAt(status, member).map(entry => stringAt(entry, 'ip'));
  const found = ips.flatMap((ip, i) => toViolations(`${field}[${i}]`, ip, ipComplaints(ip)));
  if (ips.length < 2) return found;
  if (ips.length > 2 || new Set(ips.map(isIP)).size < 2)
    found.push(invalid(field, recordsAt(status, member), 'may specify no more than one IP for each IP family'));
  const repeated = findRepeated(ips);
  for (const [i, ip] of ips.entries()) if (repeated[i]) found.push(duplicate(`${field}[${i}]`, { ip }));
  return found;
}

function validateHostAddresses(status: UnknownRecord): Violation[] {
  const [first] = recordsAt(status, 'hostIPs');
  if (!first) return [];
  const ip = stringAt(first, 'ip');
  return [
    ...(ip === stringAt(status, 'hostIP') ? [] : [invalid('status.hostIPs[0].ip', ip, 'must be equal to `hostIP`')]),
    ...validateAddresses(status, 'hostIPs'),
  ];
}

/** Violations of a write to a pod's status. */
export function validatePodStatus(object: ApiObject, old: ApiObject): Violation[] {
  const [now, before] = [recordAt(object, 'status') ?? {}, recordAt(old, 'status')];
  const [qos, node] = [stringAt(now, 'qosClass'), stringAt(now, 'nominatedNodeName')];
  return [
    ...validateConditions(now),
    ...(node === '' || node === stringAt(before, 'nominatedNodeName')
      ? []
      : toViolations('status.nominatedNodeName', node, dns1123Subdomain(node))),
    ...(qos !== '' && qos !== stringAt(before, 'qosClass')
      ? [invalid('status.qosClass', qos, 'field is immutable')]
      : []),
    ...['containerStatuses', 'initContainerStatuses', 'ephemeralContainerStatuses'].flatMap(member =>
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
export function alignPodIps(status: UnknownRecord): void {
  const ip = stringAt(status, 'podIP');
  const first = stringAt(recordsAt(status, 'podIPs')[0], 'ip');
  if (ip !== '' && ip !== first) status.podIPs = [{ ip }];
  else if (first !== '') status.podIP = first;
}
