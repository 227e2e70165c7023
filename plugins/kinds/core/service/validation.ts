import type { Service, ServiceSpec } from '../../../../kinds/v1.js';
import { isIP } from 'node:net';
import { dns1123Label, dns1123Subdomain, qualifiedName } from '../../../../core/model/names.js';
import { isAbsent } from '../../../../core/model/record.js';
import { duplicate, forbiddenField, invalid, required, type Violation } from '../../../../core/model/refusal.js';
import { validateAddresses } from './addresses.js';
import { hasClusterIP, hasHealthPort, isExternal, isHeadless } from './fields.js';
import { ipComplaints, validateNonSpecialIp } from '../../shared/ipAddresses.js';
import { validateLabels } from '../../shared/labels.js';
import { portNameComplaints, portNumberComplaints } from '../../shared/ports.js';
import { toViolations, validateOneOf, validatePresent } from '../../shared/violations.js';

function validatePorts(spec: ServiceSpec): Violation[] {
  const ports = spec.ports ?? [];
  const found: Violation[] = [];
  if (ports.length === 0 && (spec.type ?? '') !== 'ExternalName' && !isHeadless(spec))
    found.push(required('spec.ports'));
  const [names, pairs] = [new Set<string>(), new Set<string>()];
  for (const [i, port] of ports.entries()) {
    const where = `spec.ports[${i}]`;
    const [name, number] = [port.name ?? '', port.port];
    if (name === '' && ports.length > 1) found.push(required(`${where}.name`));
    if (name !== '') found.push(...toViolations(`${where}.name`, name, dns1123Label(name)));
    if (name !== '' && names.has(name)) found.push(duplicate(`${where}.name`, name));
    names.add(name);
    found.push(...toViolations(`${where}.port`, number, portNumberComplaints(number)));
    found.push(...validateOneOf(port, 'protocol', `${where}.protocol`, ['SCTP', 'TCP', 'UDP']));
    const target = port.targetPort;
    if (typeof target === 'string')
      found.push(...toViolations(`${where}.targetPort`, target, portNameComplaints(target)));
    else if (typeof target === 'number')
      found.push(...toViolations(`${where}.targetPort`, target, portNumberComplaints(target)));
    found.push(...validatePresent(port, 'appProtocol', `${where}.appProtocol`, qualifiedName));
    const pair = `${port.protocol ?? ''}/${number}`;
    if (pairs.has(pair)) found.push(duplicate(where, { port: number, protocol: port.protocol ?? '' }));
    pairs.add(pair);
  }
  return found;
}

const onlyForText = (what: string): string => `may only be used when \`type\` is '${what}'`;

const TYPES = ['ClusterIP', 'ExternalName', 'LoadBalancer', 'NodePort'];

const NODE_AGENT_PORT = 10250;

function validateExternalName(spec: ServiceSpec): Violation[] {
  const members = ['clusterIPs', 'ipFamilies', 'ipFamilyPolicy'] as const;
  const found = members
    .filter(member => (member === 'ipFamilyPolicy' ? !isAbsent(spec[member]) : (spec[member] ?? []).length > 0))
    .map(member => forbiddenField(`spec.${member}`, 'may not be set for ExternalName services'));
  const name = (spec.externalName ?? '').replace(/\.$/, '');
  return [
    ...found,
    ...(name === ''
      ? [required('spec.externalName')]
      : toViolations('spec.externalName', name, dns1123Subdomain(name))),
  ];
}

/** Checks the fields that the type requires and excludes. */
function validateType(spec: ServiceSpec): Violation[] {
  const type = spec.type ?? '';
  const found = validateOneOf(spec, 'type', 'spec.type', TYPES);
  if (type === 'ExternalName') found.push(...validateExternalName(spec));
  else found.push(...validateAddresses(spec));
  if ((type === 'NodePort' || type === 'LoadBalancer') && isHeadless(spec))
    found.push(invalid('spec.clusterIPs[0]', 'None', `may not be set to 'None' for ${type} services`));
  for (const [i, port] of (spec.ports ?? []).entries()) {
    if (type === 'ClusterIP' && port.nodePort)
      found.push(forbiddenField(`spec.ports[${i}].nodePort`, "may not be used when `type` is 'ClusterIP'"));
    if (type === 'LoadBalancer' && port.port === NODE_AGENT_PORT)
      found.push(
        invalid(
          `spec.ports[${i}]`,
          port.port,
          `may not expose port ${NODE_AGENT_PORT} externally since it is used by kubelet`,
        ),
      );
  }
  return found;
}

function validateAffinity(spec: ServiceSpec): Violation[] {
  const found = validateOneOf(spec, 'sessionAffinity', 'spec.sessionAffinity', ['ClientIP', 'None']);
  const seconds = spec.sessionAffinityConfig?.clientIP?.timeoutSeconds;
  if ((spec.sessionAffinity ?? '') === 'ClientIP' && seconds !== undefined && (seconds <= 0 || seconds > 86400)) {
    const field = 'spec.sessionAffinityConfig.clientIP.timeoutSeconds';
    found.push(invalid(field, seconds, 'must be greater than 0 and less than 86400'));
  }
  return found;
}

function validateExternalIps(spec: ServiceSpec): Violation[] {
  return (spec.externalIPs ?? []).flatMap((address, i) => {
    const field = `spec.externalIPs[${i}]`;
    const wrong = toViolations(field, address, ipComplaints(address));
    return wrong.length > 0 ? wrong : validateNonSpecialIp(address, field);
  });
}

function cidrComplaints(value: string): string[] {
  const [address = '', length = '', ...rest] = value.split('/');
  const family = isIP(address);
  const fine =
    rest.length === 0 && family !== 0 && /^\d{1,3}$/.test(length) && Number(length) <= (family === 4 ? 32 : 128);
  return fine ? [] : ['must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)'];
}

/**
 * Checks fields that only Services of type LoadBalancer may have. The capital letter in the first field name is
 * upstream's.
 */
function validateLoadBalancer(spec: ServiceSpec): Violation[] {
  const isBalancer = (spec.type ?? '') === 'LoadBalancer';
  const found: Violation[] = [];
  const ranges = spec.loadBalancerSourceRanges ?? [];
  if (ranges.length > 0 && !isBalancer)
    found.push(forbiddenField('spec.LoadBalancerSourceRanges', onlyForText('LoadBalancer')));
  for (const [i, range] of ranges.entries())
    found.push(...toViolations(`spec.LoadBalancerSourceRanges[${i}]`, range.trim(), cidrComplaints(range.trim())));
  if (!isAbsent(spec.allocateLoadBalancerNodePorts) && !isBalancer)
    found.push(forbiddenField('spec.allocateLoadBalancerNodePorts', onlyForText('LoadBalancer')));
  if (isAbsent(spec.loadBalancerClass)) return found;
  const name = spec.loadBalancerClass;
  if (!isBalancer) return [...found, forbiddenField('spec.loadBalancerClass', onlyForText('LoadBalancer'))];
  return [...found, ...toViolations('spec.loadBalancerClass', name, qualifiedName(name))];
}

const TRAFFIC = ['Cluster', 'Local'];

function validateTraffic(spec: ServiceSpec): Violation[] {
  const found: Violation[] = [];
  const policy = spec.externalTrafficPolicy ?? '';
  if (isExternal(spec))
    found.push(...validateOneOf(spec, 'externalTrafficPolicy', 'spec.externalTrafficPolicy', TRAFFIC));
  else if (policy !== '')
    found.push(invalid('spec.externalTrafficPolicy', policy, 'may only be set for externally-accessible services'));
  const health = spec.healthCheckNodePort ?? 0;
  if (hasHealthPort(spec)) {
    if (health !== 0) found.push(...toViolations('spec.healthCheckNodePort', health, portNumberComplaints(health)));
  } else if (health !== 0) {
    const why = "may only be set when `type` is 'LoadBalancer' and `externalTrafficPolicy` is 'Local'";
    found.push(invalid('spec.healthCheckNodePort', health, why));
  }
  if (!isAbsent(spec.internalTrafficPolicy))
    found.push(...validateOneOf(spec, 'internalTrafficPolicy', 'spec.internalTrafficPolicy', TRAFFIC));
  return isAbsent(spec.trafficDistribution)
    ? found
    : [...found, ...validateOneOf(spec, 'trafficDistribution', 'spec.trafficDistribution', ['PreferClose'])];
}

/** Violations of a status written by a load balancer. */
export function validateServiceStatus(object: Service): Violation[] {
  const field = 'status.loadBalancer.ingress';
  const points = object.status?.loadBalancer?.ingress ?? [];
  if (points.length > 0 && (object.spec.type ?? '') !== 'LoadBalancer')
    return [forbiddenField(field, "may only be used when `spec.type` is 'LoadBalancer'")];
  return points.flatMap((ingress, i) => {
    const [ip, name] = [ingress.ip ?? '', ingress.hostname ?? ''];
    const found = ip === '' ? [] : toViolations(`${field}[${i}].ip`, ip, ipComplaints(ip));
    if (isAbsent(ingress.ipMode))
      found.push(...(ip === '' ? [] : [required(`${field}[${i}].ipMode`, 'must be specified when `ip` is set')]));
    else if (ip === '')
      found.push(forbiddenField(`${field}[${i}].ipMode`, 'may not be specified when `ip` is not set'));
    else found.push(...validateOneOf(ingress, 'ipMode', `${field}[${i}].ipMode`, ['Proxy', 'VIP']));
    if (name !== '') found.push(...toViolations(`${field}[${i}].hostname`, name, dns1123Subdomain(name)));
    if (isIP(name) !== 0) found.push(invalid(`${field}[${i}].hostname`, name, 'must be a DNS name, not an IP address'));
    return found;
  });
}

/** Violations of a Service. */
export function validateService(object: Service): Violation[] {
  const spec = object.spec;
  return [
    ...validatePorts(spec),
    ...validateType(spec),
    ...validateAffinity(spec),
    ...validateLabels(Object.entries(spec.selector ?? {}), 'spec.selector'),
    ...validateExternalIps(spec),
    ...validateLoadBalancer(spec),
    ...validateTraffic(spec),
  ];
}

/** Violations of an update of a Service: an address and the class of the load balancer cannot change once set. */
export function validateServiceUpdate(object: Service, old: Service): Violation[] {
  const [now, before] = [object.spec, old.spec];
  const found = validateService(object);
  const [address, earlier] = [now.clusterIPs ?? [], before.clusterIPs ?? []];
  if (hasClusterIP(now) && hasClusterIP(before) && earlier[0] && address[0] !== earlier[0]) {
    found.push(invalid('spec.clusterIPs[0]', address, 'may not change once set'));
  }
  const balanced = [now, before].every(spec => (spec.type ?? '') === 'LoadBalancer');
  if (balanced && (now.loadBalancerClass ?? '') !== (before.loadBalancerClass ?? ''))
    found.push(invalid('spec.loadBalancerClass', now.loadBalancerClass, 'may not change once set'));
  return found;
}
