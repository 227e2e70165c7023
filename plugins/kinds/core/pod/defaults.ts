import {
  ensureRecord,
  entriesAt,
  numberAt,
  recordAt,
  recordsAt,
  setDefault,
  type UnknownRecord,
} from '../../../../core/model/record.js';
import { CONTAINER_LISTS } from '../../shared/podSpec/containerLists.js';

function setHostPorts(container: UnknownRecord): void {
  for (const port of recordsAt(container, 'ports')) if (!port.hostPort) port.hostPort = port.containerPort;
}

/**
 * Defaults of pods that templates do not get: service links, a grace period that is not negative, host ports, and
 * requests equal to the limits.
 */
export function setPodOnlyDefaults(pod: UnknownRecord): void {
  setDefault(pod, 'enableServiceLinks', true);
  if ((numberAt(pod, 'terminationGracePeriodSeconds') ?? 0) < 0) pod.terminationGracePeriodSeconds = 1;
  if (pod.hostNetwork === true)
    for (const member of CONTAINER_LISTS) for (const container of recordsAt(pod, member)) setHostPorts(container);
  for (const member of ['containers', 'initContainers']) {
    for (const container of recordsAt(pod, member)) setRequestsFromLimits(container);
  }
}

function setRequestsFromLimits(container: UnknownRecord): void {
  const limits = entriesAt(container, 'resources', 'limits');
  if (limits.length === 0) return;
  const requests = ensureRecord(ensureRecord(container, 'resources'), 'requests');
  for (const [name, amount] of limits) if (!Object.hasOwn(requests, name)) requests[name] = amount;
}

type Amounts = { [resource: string]: unknown };

const isZero = (amount: unknown): boolean => Number.parseFloat(String(amount)) === 0;

/** Quality-of-service class of a pod spec: Guaranteed, Burstable or BestEffort. */
export function qosClassOf(pod: UnknownRecord): string {
  let any = false;
  let guaranteed = true;
  for (const container of [...recordsAt(pod, 'containers'), ...recordsAt(pod, 'initContainers')]) {
    const requests: Amounts = recordAt(container, 'resources', 'requests') ?? {};
    const limits: Amounts = recordAt(container, 'resources', 'limits') ?? {};
    for (const name of ['cpu', 'memory']) {
      const [request, limit] = [requests[name] ?? limits[name], limits[name]];
      if ((request !== undefined && !isZero(request)) || (limit !== undefined && !isZero(limit))) any = true;
      if (limit === undefined || isZero(limit) || String(request) !== String(limit)) guaranteed = false;
    }
  }
  return any ? (guaranteed ? 'Guaranteed' : 'Burstable') : 'BestEffort';
}
