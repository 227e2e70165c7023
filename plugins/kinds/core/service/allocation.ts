import type { Service, ServiceSpec } from '../../../../kinds/v1.js';
import type { StrategyContext } from '../../../../core/api/strategy.js';
import { forbiddenField, invalid, invalidObject, Refusal, type Violation } from '../../../../core/model/refusal.js';
import { makeAllocator, type ServiceAllocator } from './allocator.js';
import { addressObjects } from './addressObjects.js';
import { keepsPreferredFamilies, setFamilies } from './families.js';
import { allocatesNodePorts, hasHealthPort, hasNodePorts, isHeadless, isNamed } from './fields.js';
import type { Family } from '../../shared/addressRange.js';
import type { ServiceRanges } from './ranges.js';

/** A 500: upstream's answer if a value cannot be allocated and no field is to blame. */
const failedToAllocate = (message: string): Refusal =>
  new Refusal('InternalError', `Internal error occurred: ${message}`, { causes: [{ message }] });

/** Allocates an address for each of the families in `indexes` of `ipFamilies`, unless the client has chosen one. */
function takeAddresses(spec: ServiceSpec, allocator: ServiceAllocator, indexes: readonly number[]): Violation[] {
  const [all, families] = [(spec.clusterIPs ??= []), spec.ipFamilies ?? []];
  for (const i of indexes) {
    const [family, asked] = [families[i] as Family, all[i] ?? ''];
    if (asked === '') {
      const next = allocator.nextAddress(family);
      if (next === undefined) throw failedToAllocate('failed to allocate a serviceIP: range is full');
      all[i] = next;
      continue;
    }
    const problem = allocator.takeAddress(family, asked);
    if (problem) return [invalid('spec.clusterIPs', all, `failed to allocate IP ${asked}: ${problem}`)];
  }
  spec.clusterIP = all[0];
  return [];
}

/** Allocates the addresses that a Service does not have yet. */
function allocateAddresses(spec: ServiceSpec, old: ServiceSpec | undefined, allocator: ServiceAllocator): Violation[] {
  if (isNamed(spec) || keepsPreferredFamilies(spec, old)) return [];
  const families = spec.ipFamilies ?? [];
  if (!old || isNamed(old)) return isHeadless(spec) ? [] : takeAddresses(spec, allocator, [...families.keys()]);
  if (isHeadless(old)) return [];
  const isUpgrade = (old.ipFamilies ?? []).length === 1 && families.length === 2;
  return isUpgrade ? takeAddresses(spec, allocator, [1]) : [];
}

const portField = (index: number): string => `spec.ports[${index}].nodePort`;

function nextPort(allocator: ServiceAllocator): number {
  const next = allocator.nextPort();
  if (next === undefined) throw failedToAllocate('failed to allocate a nodePort: range is full');
  return next;
}

/** Node ports of a new Service: ports with the same number but different protocols share one. */
function allocateNodePorts(spec: ServiceSpec, allocator: ServiceAllocator): Violation[] {
  const ports = spec.ports ?? [];
  const shared = new Map<number, number>();
  for (const [index, port] of ports.entries()) {
    if (!port.nodePort && !allocatesNodePorts(spec)) continue;
    const known = shared.get(port.port);
    if (known !== undefined && (!port.nodePort || port.nodePort === known)) {
      port.nodePort = known;
      continue;
    }
    const chosen = known === undefined ? ports.find(other => other.port === port.port && other.nodePort) : port;
    const asked = chosen?.nodePort;
    const problem = asked ? allocator.takePort(asked) : undefined;
    if (problem) return [invalid(portField(index), asked, problem)];
    const given = asked || nextPort(allocator);
    if (known === undefined) shared.set(port.port, given);
    port.nodePort = given;
  }
  return [];
}

/** Node ports of an updated Service: those that it already has need not be allocated. */
function updateNodePorts(spec: ServiceSpec, old: ServiceSpec, allocator: ServiceAllocator): Violation[] {
  const owned = new Set((old.ports ?? []).map(port => port.nodePort));
  const seen = new Set<string>();
  for (const [index, port] of (spec.ports ?? []).entries()) {
    if (!port.nodePort && !allocatesNodePorts(spec)) continue;
    const asked = port.nodePort;
    if (!asked) port.nodePort = nextPort(allocator);
    else if (!owned.has(asked)) {
      const problem = allocator.takePort(asked);
      if (problem) return [invalid(portField(index), asked, problem)];
      owned.add(asked);
    }
    const key = `{${port.protocol ?? ''} ${String(port.nodePort)}}`;
    if (seen.has(key)) throw new Refusal('', `duplicate nodePort: ${key}`);
    seen.add(key);
  }
  return [];
}

/** Allocates the port for health checks, which cannot change while it is needed. */
function allocateHealthPort(spec: ServiceSpec, old: ServiceSpec | undefined, allocator: ServiceAllocator): Violation[] {
  if (!hasHealthPort(spec)) return [];
  const asked = spec.healthCheckNodePort ?? 0;
  if (hasHealthPort(old)) {
    return asked === (old?.healthCheckNodePort ?? 0)
      ? []
      : [forbiddenField('spec.healthCheckNodePort', 'field is immutable')];
  }
  if (asked === 0) {
    spec.healthCheckNodePort = nextPort(allocator);
    return [];
  }
  const problem = allocator.takePort(asked);
  if (problem) throw failedToAllocate(`failed to allocate requested HealthCheck NodePort ${asked}: ${problem}`);
  return [];
}

/**
 * Allocates the addresses and node ports of a Service, before its other fields are validated. Throws for the first
 * value that cannot be allocated: 422, or 500 where upstream does.
 */
export function allocate(
  object: Service,
  old: Service | undefined,
  context: StrategyContext,
  ranges: ServiceRanges,
): void {
  const [spec, before] = [object.spec, old?.spec];
  const refuse = (violations: readonly Violation[]): void => {
    if (violations.length > 0) throw invalidObject('', 'Service', object.metadata.name ?? '', violations);
  };
  refuse(setFamilies(spec, before, new Set(ranges.networks.keys())));
  const services = () => context.list('core/services') as readonly Service[];
  const source = ranges.fromObjects ? addressObjects(context, ranges) : undefined;
  const allocator = makeAllocator(services, ranges, context.dryRun, source);
  refuse(allocateAddresses(spec, before, allocator));
  if (hasNodePorts(spec))
    refuse(before ? updateNodePorts(spec, before, allocator) : allocateNodePorts(spec, allocator));
  refuse(allocateHealthPort(spec, before, allocator));
}
