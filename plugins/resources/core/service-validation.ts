import type { ApiObject } from '../../../core/model/object.js';
import { dns1123Label, dns1123Subdomain } from '../../../core/model/names.js';
import { duplicate, invalid, required, type Violation } from '../../../core/model/refusal.js';
import { complaints, ipText, labelViolations, oneOf, portNumber, portName } from '../validation/checks.js';
import { at, entries, list, num, type Rec, strings, text } from '../record.js';
import { hasClusterIP, isHeadless } from './service-fields.js';

function portViolations(spec: Rec | undefined): Violation[] {
  const ports = list(spec, 'ports');
  const found: Violation[] = [];
  if (ports.length === 0 && text(spec, 'type') !== 'ExternalName' && !isHeadless(spec)) found.push(required('spec.ports'));
  const [names, pairs] = [new Set<string>(), new Set<string>()];
  for (const [i, port] of ports.entries()) {
    const where = `spec.ports[${i}]`;
    const [name, number] = [text(port, 'name'), num(port, 'port') ?? 0];
    if (name === '' && ports.length > 1) found.push(required(`${where}.name`));
    if (name !== '') found.push(...complaints(`${where}.name`, name, dns1123Label(name)));
    if (name !== '' && names.has(name)) found.push(duplicate(`${where}.name`, name));
    names.add(name);
    found.push(...complaints(`${where}.port`, number, portNumber(number)));
    found.push(...oneOf(port, 'protocol', `${where}.protocol`, ['SCTP', 'TCP', 'UDP']));
    const target = port.targetPort;
    if (typeof target === 'string') found.push(...complaints(`${where}.targetPort`, target, portName(target)));
    else if (typeof target === 'number') found.push(...complaints(`${where}.targetPort`, target, portNumber(target)));
    const pair = `${text(port, 'protocol')}/${number}`;
    if (pairs.has(pair)) found.push(duplicate(where, { port: number, protocol: text(port, 'protocol') }));
    pairs.add(pair);
  }
  return found;
}

function typeViolations(spec: Rec | undefined): Violation[] {
  const found = oneOf(spec, 'type', 'spec.type', ['ClusterIP', 'ExternalName', 'LoadBalancer', 'NodePort']);
  found.push(...oneOf(spec, 'sessionAffinity', 'spec.sessionAffinity', ['ClientIP', 'None']));
  found.push(...labelViolations(entries(spec, 'selector'), 'spec.selector'));
  if (text(spec, 'type') === 'ExternalName') {
    const name = text(spec, 'externalName').replace(/\.$/, '');
    if (name === '') found.push(required('spec.externalName'));
    else found.push(...complaints('spec.externalName', name, dns1123Subdomain(name)));
  }
  for (const [i, address] of strings(spec, 'externalIPs').entries()) {
    found.push(...complaints(`spec.externalIPs[${i}]`, address, ipText(address)));
  }
  return found;
}

/** What is wrong with a status that a load balancer wrote. */
export function serviceStatusViolations(object: ApiObject): Violation[] {
  return list(at(object, 'status', 'loadBalancer'), 'ingress').flatMap((ingress, i) => {
    const where = `status.loadBalancer.ingress[${i}]`;
    const [ip, name] = [text(ingress, 'ip'), text(ingress, 'hostname')];
    return [
      ...(ip === '' ? [] : complaints(`${where}.ip`, ip, ipText(ip))),
      ...(name === '' ? [] : complaints(`${where}.hostname`, name, dns1123Subdomain(name))),
    ];
  });
}

/** What is wrong with a Service, before anything is allocated. */
export function serviceViolations(object: ApiObject): Violation[] {
  const spec = at(object, 'spec');
  const found: Violation[] = [...portViolations(spec), ...typeViolations(spec)];
  const [one, all] = [text(spec, 'clusterIP'), strings(spec, 'clusterIPs')];
  if (all.length > 0 && one === '')
    found.push(invalid('spec.clusterIPs', all, 'must be empty when `clusterIP` is not specified'));
  else if (all.length > 0 && all[0] !== one) found.push(invalid('spec.clusterIP', all, 'first value must match `clusterIP`'));
  return found;
}

/** What an update may not do: addresses stay once they are given. */
export function serviceUpdateViolations(object: ApiObject, old: ApiObject): Violation[] {
  const [now, before] = [at(object, 'spec'), at(old, 'spec')];
  const found = serviceViolations(object);
  const [address, earlier] = [strings(now, 'clusterIPs'), strings(before, 'clusterIPs')];
  if (hasClusterIP(now) && hasClusterIP(before) && earlier[0] && address[0] !== earlier[0]) {
    found.push(invalid('spec.clusterIPs[0]', address, 'may not change once set'));
  }
  return found;
}
