import { isIP } from 'node:net';
import type { ApiObject } from '../../../core/model/object.js';
import { dns1123Subdomain, qualifiedName } from '../../../core/model/names.js';
import { duplicate, forbiddenField, invalid, type Violation } from '../../../core/model/refusal.js';
import { absent, at, list, num, type Rec, spec, text } from '../record.js';
import { complaints, ipText } from './checks.js';

/** Conditions whose names are taken as they are. */
const SYSTEM = ['PodScheduled', 'Ready', 'Initialized'];

function conditions(status: Rec): Violation[] {
  // Upstream names metadata here.
  return list(status, 'conditions').flatMap((condition, i) => {
    const type = text(condition, 'type');
    return SYSTEM.includes(type) ? [] : complaints(`metadata.conditions[${i}].Type`, type, qualifiedName(type));
  });
}

/** Containers that have ended stay so where the pod does not start them again. */
function transitions(object: ApiObject, old: ApiObject, member: string): Violation[] {
  const policy = member === 'ephemeralContainerStatuses' ? 'Never' : text(spec(old), 'restartPolicy');
  if (policy === 'Always') return [];
  const restarted = new Set(
    member === 'initContainerStatuses'
      ? list(spec(old), 'initContainers')
          .filter(container => text(container, 'restartPolicy') === 'Always')
          .map(container => text(container, 'name'))
      : [],
  );
  const now = list(at(object, 'status'), member);
  return list(at(old, 'status'), member).flatMap((before, i) => {
    const ended = at(before, 'state', 'terminated');
    const name = text(before, 'name');
    if (!ended || restarted.has(name) || (policy === 'OnFailure' && (num(ended, 'exitCode') ?? 0) !== 0)) return [];
    return now
      .filter(status => text(status, 'name') === name && !at(status, 'state', 'terminated'))
      .map(() => forbiddenField(`status.${member}[${i}].state`, 'may not be transitioned to non-terminated state'));
  });
}

function claims(object: ApiObject): Violation[] {
  const known = list(spec(object), 'resourceClaims').map(claim => text(claim, 'name'));
  const seen = new Set<string>();
  return list(at(object, 'status'), 'resourceClaimStatuses').flatMap((status, i) => {
    const name = text(status, 'name');
    const field = `status.resourceClaimStatuses[${i}].name`;
    const found = known.includes(name)
      ? []
      : [invalid(field, name, 'must match the name of an entry in `spec.resourceClaims`')];
    if (seen.has(name)) found.push(duplicate(field, name));
    seen.add(name);
    if (!absent(status.resourceClaimName))
      found.push(
        ...complaints(field, text(status, 'resourceClaimName'), dns1123Subdomain(text(status, 'resourceClaimName'))),
      );
    return found;
  });
}

/** Addresses of one list: each is one, and there is at most one of a family. */
function addresses(status: Rec, member: 'podIPs' | 'hostIPs'): Violation[] {
  const field = `status.${member}`;
  const ips = list(status, member).map(entry => text(entry, 'ip'));
  const found = ips.flatMap((ip, i) => complaints(`${field}[${i}]`, ip, ipText(ip)));
  if (ips.length < 2) return found;
  if (ips.length > 2 || new Set(ips.map(isIP)).size < 2)
    found.push(invalid(field, list(status, member), 'may specify no more than one IP for each IP family'));
  for (const [i, ip] of ips.entries()) if (ips.indexOf(ip) < i) found.push(duplicate(`${field}[${i}]`, { ip }));
  return found;
}

function hostAddresses(status: Rec): Violation[] {
  const [first] = list(status, 'hostIPs');
  if (!first) return [];
  const ip = text(first, 'ip');
  return [
    ...(ip === text(status, 'hostIP') ? [] : [invalid('status.hostIPs[0].ip', ip, 'must be equal to `hostIP`')]),
    ...addresses(status, 'hostIPs'),
  ];
}

/** What a write to a pod's status may not do. */
export function podStatusViolations(object: ApiObject, old: ApiObject): Violation[] {
  const [now, before] = [at(object, 'status') ?? {}, at(old, 'status')];
  const [qos, node] = [text(now, 'qosClass'), text(now, 'nominatedNodeName')];
  return [
    ...conditions(now),
    ...(node === '' || node === text(before, 'nominatedNodeName')
      ? []
      : complaints('status.nominatedNodeName', node, dns1123Subdomain(node))),
    ...(qos !== '' && qos !== text(before, 'qosClass') ? [invalid('status.qosClass', qos, 'field is immutable')] : []),
    ...['containerStatuses', 'initContainerStatuses', 'ephemeralContainerStatuses'].flatMap(member =>
      transitions(object, old, member),
    ),
    ...claims(object),
    ...addresses(now, 'podIPs'),
    ...hostAddresses(now),
  ];
}

/** Makes `podIP` the first of `podIPs`: given alone or another than the first, it is the only one. */
export function settlePodIps(status: Rec): void {
  const ip = text(status, 'podIP');
  const first = text(list(status, 'podIPs')[0], 'ip');
  if (ip !== '' && ip !== first) status.podIPs = [{ ip }];
  else if (first !== '') status.podIP = first;
}
