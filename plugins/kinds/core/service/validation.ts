import type { Service, ServiceSpec } from '../../../../kinds/v1.js';
import { dns1123Label, dns1123Subdomain, qualifiedName } from '../../../../core/model/names.js';
import { isAbsent } from '../../../../core/model/record.js';
import { duplicate, forbiddenField, invalid, required, type Violation } from '../../../../core/model/refusal.js';
import { validateAddresses } from './addresses.js';
import type { Naming } from '../../../../core/naming.js';
import { hasHealthPort, isExternal, isHeadless, isNamed } from './fields.js';
import { cidrComplaints, ipComplaints, ipVersion, validateNonSpecialIp } from '../../shared/ipAddresses.js';
import { validateLabels } from '../../shared/labels.js';
import { portNameComplaints, portNumberComplaints } from '../../shared/ports.js';
import { toViolations, validateOneOf, validatePresent } from '../../shared/violations.js';

function validatePorts(spec: ServiceSpec): Violation[] {
  const ports = spec.ports ?? [];
  const found: Violation[] = [];
  const names = new Set<string>();
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

/** Checks the fields that the type of a Service requires or excludes. */
function validateType(spec: ServiceSpec): Violation[] {
  const type = spec.type ?? '';
  const found: Violation[] = [];
  const ports = spec.ports ?? [];
  if (ports.length === 0 && type !== 'ExternalName' && !isHeadless(spec)) found.push(required('spec.ports'));
  if (type === 'ExternalName') return [...found, ...validateExternalName(spec)];
  for (const [i, port] of type === 'LoadBalancer' ? ports.entries() : [])
    if (port.port === NODE_AGENT_PORT)
      found.push(
        invalid(
          `spec.ports[${i}]`,
          port.port,
          `may not expose port ${NODE_AGENT_PORT} externally since it is used by kubelet`,
        ),
      );
  if ((type === 'NodePort' || type === 'LoadBalancer') && isHeadless(spec))
    found.push(invalid('spec.clusterIPs[0]', 'None', `may not be set to 'None' for ${type} services`));
  return found;
}

/** Checks that ports are unique, and that only Services that are reached through nodes have node ports. */
function validateRepeatedPorts(spec: ServiceSpec): Violation[] {
  const ports = [...(spec.ports ?? []).entries()];
  const forbidden = ports
    .filter(([, port]) => spec.type === 'ClusterIP' && port.nodePort)
    .map(([i]) => forbiddenField(`spec.ports[${i}].nodePort`, "may not be used when `type` is 'ClusterIP'"));
  const [nodePorts, pairs] = [new Set<string>(), new Set<string>()];
  const isRepeated = (seen: Set<string>, key: string): boolean => seen.has(key) || !seen.add(key);
  const repeatedNodePorts = ports
    .filter(([, { protocol, nodePort }]) => nodePort && isRepeated(nodePorts, `${protocol ?? ''}/${nodePort}`))
    .map(([i, { nodePort }]) => duplicate(`spec.ports[${i}].nodePort`, nodePort));
  const repeated = ports
    .filter(([, { protocol, port }]) => isRepeated(pairs, `${protocol ?? ''}/${port}`))
    .map(([i, { protocol, port }]) => duplicate(`spec.ports[${i}]`, { port, protocol: protocol ?? '' }));
  return [...forbidden, ...repeatedNodePorts, ...repeated];
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

/** The annotation of older clients for `loadBalancerSourceRanges`. It is used if that field is absent. */
const SOURCE_RANGES = 'service.beta.orchestrator.io/load-balancer-source-ranges';

/** Checks the networks that a load balancer accepts. The capital letter in the name of the field is upstream's. */
function validateSourceRanges({ metadata, spec }: Service, naming: Naming): Violation[] {
  const isBalancer = spec.type === 'LoadBalancer';
  const annotation = naming.label(SOURCE_RANGES);
  const [ranges, written] = [spec.loadBalancerSourceRanges ?? [], metadata.annotations?.[annotation]];
  const onlyForBalancers = (field: string): Violation[] =>
    isBalancer ? [] : [forbiddenField(field, onlyForText('LoadBalancer'))];
  const check = (field: string, given: string): Violation[] =>
    toViolations(field, given.trim(), cidrComplaints(given.trim()));
  if (ranges.length > 0) {
    const field = 'spec.LoadBalancerSourceRanges';
    return [...onlyForBalancers(field), ...ranges.flatMap((range, i) => check(`${field}[${i}]`, range))];
  }
  if (written === undefined) return [];
  const field = `metadata.annotations[${annotation}]`;
  const all = written.trim() === '' ? [] : written.trim().split(',');
  return [...onlyForBalancers(field), ...all.flatMap(range => check(field, range))];
}

/** Checks fields that only Services of type LoadBalancer may have. */
function validateLoadBalancer(service: Service, naming: Naming): Violation[] {
  const { spec } = service;
  const isBalancer = (spec.type ?? '') === 'LoadBalancer';
  const found = validateSourceRanges(service, naming);
  if (!isAbsent(spec.allocateLoadBalancerNodePorts) && !isBalancer)
    found.push(forbiddenField('spec.allocateLoadBalancerNodePorts', onlyForText('LoadBalancer')));
  return [...found, ...validateLoadBalancerClass(spec)];
}

const UNCHANGED = 'may not change once set';

/** Checks the class of the load balancer, and with `old` that it stays the same. */
function validateLoadBalancerClass(spec: ServiceSpec, old?: ServiceSpec): Violation[] {
  const field = 'spec.loadBalancerClass';
  const [isBalancer, name] = [spec.type === 'LoadBalancer', spec.loadBalancerClass];
  const found: Violation[] = [];
  if (isBalancer && old?.type === 'LoadBalancer' && (name ?? undefined) !== (old.loadBalancerClass ?? undefined))
    found.push(invalid(field, name, UNCHANGED));
  if (isAbsent(name)) return found;
  return [
    ...found,
    ...(isBalancer
      ? toViolations(field, name, qualifiedName(name))
      : [forbiddenField(field, onlyForText('LoadBalancer'))]),
  ];
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
    if (ipVersion(name) !== 0)
      found.push(invalid(`${field}[${i}].hostname`, name, 'must be a DNS name, not an IP address'));
    return found;
  });
}

/** Checks that the annotation for routing by topology and its former name agree. */
function validateTopology({ metadata }: Service, naming: Naming): Violation[] {
  const annotation = (name: string): string => naming.label(`service.orchestrator.io/${name}`);
  const [mode, hints] = [annotation('topology-mode'), annotation('topology-aware-hints')];
  const [now, former] = [metadata.annotations?.[mode], metadata.annotations?.[hints]];
  if (now === undefined || former === undefined || now === former) return [];
  const why = `must match annotations[${hints}] when both are specified`;
  return [invalid(`metadata.annotations[${mode}]`, now, why)];
}

/** Violations of a Service, in the order in which upstream names them. */
export function validateService(object: Service, naming: Naming): Violation[] {
  const spec = object.spec;
  return [
    ...validateTopology(object, naming),
    ...validateType(spec),
    ...validatePorts(spec),
    ...validateLabels(Object.entries(spec.selector ?? {}), 'spec.selector'),
    ...validateAffinity(spec),
    ...(isNamed(spec) ? [] : validateAddresses(spec)),
    ...validateExternalIps(spec),
    ...validateOneOf(spec, 'type', 'spec.type', TYPES),
    ...validateRepeatedPorts(spec),
    ...validateLoadBalancer(object, naming),
    ...validateTraffic(spec),
  ];
}

/**
 * Checks that an update does not change the first address or family, nor the second one unless it is added or removed.
 * As in upstream, the violation of a family shows the addresses.
 */
function validateUnchanged(now: ServiceSpec, old: ServiceSpec, member: 'clusterIPs' | 'ipFamilies'): Violation[] {
  const [values, before] = [now[member] ?? [], old[member] ?? []];
  const compared = values.length === before.length ? before : before.slice(0, 1);
  return compared.flatMap((value, i) =>
    i >= values.length || values[i] === value ? [] : [invalid(`spec.${member}[${i}]`, now.clusterIPs, UNCHANGED)],
  );
}

/**
 * Violations of an update of a Service: its addresses and the class of its load balancer cannot change once set. The
 * class is validated twice, as upstream does.
 */
export function validateServiceUpdate(object: Service, old: Service, naming: Naming): Violation[] {
  const [now, before] = [object.spec, old.spec];
  const found: Violation[] = [];
  const [headless, wasHeadless] = [isHeadless(now), isHeadless(before)];
  if (!isNamed(now) && !isNamed(before)) {
    if (!headless || !wasHeadless) found.push(...validateUnchanged(now, before, 'clusterIPs'));
    if (!headless && !wasHeadless) found.push(...validateUnchanged(now, before, 'ipFamilies'));
  }
  return [...found, ...validateLoadBalancerClass(now, before), ...validateService(object, naming)];
}
