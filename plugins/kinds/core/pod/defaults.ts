import type { PodSpec, Container } from '../../../../kinds/v1.js';
import { toNumber } from '../../../../core/model/scalars.js';
import { setDefault } from '../../../../core/model/record.js';
import { CONTAINER_LISTS } from '../../shared/podSpec/containerLists.js';

function setHostPorts(container: Container): void {
  for (const port of container.ports ?? []) if (!port.hostPort) port.hostPort = port.containerPort;
}

/**
 * Defaults of pods that templates do not get: service links, a grace period that is not negative, host ports, and
 * requests equal to the limits.
 */
export function setPodOnlyDefaults(pod: PodSpec): void {
  setDefault(pod, 'enableServiceLinks', true);
  if ((toNumber(pod.terminationGracePeriodSeconds) ?? 0) < 0) pod.terminationGracePeriodSeconds = 1;
  if (pod.hostNetwork === true)
    for (const member of CONTAINER_LISTS) for (const container of pod[member] ?? []) setHostPorts(container);
  for (const member of ['containers', 'initContainers'] as const) {
    for (const container of pod[member] ?? []) setRequestsFromLimits(container);
  }
}

function setRequestsFromLimits(container: Container): void {
  const limits = Object.entries(container.resources.limits ?? {});
  if (limits.length === 0) return;
  const requests = (container.resources.requests ??= {});
  for (const [name, amount] of limits) if (!Object.hasOwn(requests, name)) requests[name] = amount;
}
