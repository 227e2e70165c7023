import type { Service, ServiceSpec } from '../../../../kinds/v1.js';
import type { StrategyContext } from '../../../../core/api/strategy.js';
import { forbiddenField, invalid, invalidObject, type Violation } from '../../../../core/model/refusal.js';
import { validateAddresses, validateAvailableFamilies } from './addresses.js';
import { makeAllocator, type ServiceAllocator } from './allocator.js';
import { setFamilies, hasClusterIP, hasHealthPort, hasNodePorts, isHeadless } from './fields.js';

/** Sets `clusterIP` and `clusterIPs`. `owned` are the current addresses of the Service. */
function allocateAddress(service: ServiceSpec, allocator: ServiceAllocator, owned: readonly string[]): Violation[] {
  if (!hasClusterIP(service)) return [];
  if (isHeadless(service)) {
    service.clusterIPs = ['None'];
    service.clusterIP = 'None';
    return [];
  }
  const asked = service.clusterIPs ?? [];
  const refuse = (why: string): Violation[] => [
    invalid('spec.clusterIPs', asked, `failed to allocate IP ${asked[0]}: ${why}`),
  ];
  const wanted = asked[0];
  if (wanted !== undefined && !owned.includes(wanted)) {
    if (wanted.includes(':')) return [invalid('spec.clusterIPs[0]', asked, 'IPv6 is not configured on this cluster')];
    if (!allocator.inRange(wanted)) {
      return refuse(
        `the provided IP (${wanted}) is not in the valid range. The range of valid IPs is ${allocator.ranges.network}`,
      );
    }
    if (allocator.addressTaken(wanted)) return refuse('provided IP is already allocated');
  }
  const address = wanted ?? allocator.nextAddress();
  if (address === undefined) return [invalid('spec.clusterIPs', [], 'failed to allocate a serviceIP: range is full')];
  service.clusterIPs = [address];
  service.clusterIP = address;
  return [];
}

const TAKEN = 'provided port is already allocated';

/** Why a node port cannot be allocated; undefined if it can. */
function portProblem(port: number, protocol: string, allocator: ServiceAllocator): string | undefined {
  const [low, high] = allocator.ranges.ports;
  if (port < low || port > high) {
    return `provided port is not in the valid range. The range of valid ports is ${low}-${high}`;
  }
  return allocator.portTaken(port, protocol) ? TAKEN : undefined;
}

/** Ports with the same number but different protocols share a node port. */
function allocateNodePorts(service: ServiceSpec, allocator: ServiceAllocator): Violation[] {
  if (!hasNodePorts(service)) return [];
  const ports = service.ports ?? [];
  const mine = new Set<string>();
  for (const [index, port] of ports.entries()) {
    const asked = port.nodePort;
    if (!asked) continue;
    const key = `${port.protocol ?? ''}/${asked}`;
    const problem = mine.has(key) ? TAKEN : portProblem(asked, port.protocol ?? '', allocator);
    mine.add(key);
    if (problem) return [invalid(`spec.ports[${index}].nodePort`, asked, problem)];
  }
  const shared = new Map(ports.filter(port => port.nodePort).map(port => [port.port, port.nodePort]));
  const used = new Set(
    ports.filter(port => port.nodePort).map(port => `${port.protocol ?? ''}/${String(port.nodePort)}`),
  );
  for (const [index, port] of ports.entries()) {
    if (port.nodePort) continue;
    const twin = shared.get(port.port);
    const next = twin && !used.has(`${port.protocol ?? ''}/${String(twin)}`) ? twin : allocator.nextPort();
    if (next === undefined)
      return [invalid(`spec.ports[${index}].nodePort`, 0, 'failed to allocate a nodePort: range is full')];
    port.nodePort = next;
    shared.set(port.port, next);
    used.add(`${port.protocol ?? ''}/${String(next)}`);
  }
  return [];
}

function allocateHealthPort(service: ServiceSpec, allocator: ServiceAllocator): Violation[] {
  if (!hasHealthPort(service)) return [];
  const asked = service.healthCheckNodePort;
  if (!asked) {
    service.healthCheckNodePort = allocator.nextPort();
    return [];
  }
  const problem = portProblem(asked, 'TCP', allocator);
  return problem ? [invalid('spec.healthCheckNodePort', asked, problem)] : [];
}

/** The health check port cannot change while it is needed. */
const validateHealthPortUpdate = (service: ServiceSpec, before: ServiceSpec | undefined): Violation[] =>
  hasHealthPort(service) && hasHealthPort(before) && service.healthCheckNodePort !== before?.healthCheckNodePort
    ? [forbiddenField('spec.healthCheckNodePort', 'field is immutable')]
    : [];

/**
 * Allocates the addresses and node ports of a Service, before its other fields are validated. Throws 422 if addresses
 * and families do not agree, otherwise for the first value that cannot be allocated.
 */
export function allocate(object: Service, old: Service | undefined, context: StrategyContext): void {
  const service = object.spec;
  const before = old?.spec;
  const refuse = (violations: readonly Violation[]): void => {
    if (violations.length > 0) throw invalidObject('', 'Service', object.metadata.name ?? '', violations);
  };
  if (hasClusterIP(service)) {
    refuse(validateAddresses(service));
    setFamilies(service);
    refuse(validateAvailableFamilies(service));
  }
  const given = before?.clusterIPs ?? [];
  // The validation reports a changed address.
  const moved = hasClusterIP(before) && given[0] !== undefined && (service.clusterIPs ?? [])[0] !== given[0];
  const allocator = makeAllocator(() => context.list('core/services') as readonly Service[], old?.metadata.uid);
  refuse(
    [
      ...(moved ? [] : allocateAddress(service, allocator, given)),
      ...allocateNodePorts(service, allocator),
      ...validateHealthPortUpdate(service, before),
      ...allocateHealthPort(service, allocator),
    ].slice(0, 1),
  );
}
