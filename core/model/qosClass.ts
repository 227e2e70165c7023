import type { PodSpec } from '../../kinds/v1.js';
import type { Frozen } from './object.js';
import type { Quantity } from './scalars.js';

const isZero = (amount: Quantity): boolean => Number.parseFloat(amount) === 0;

/** Quality-of-service class of a pod spec: Guaranteed, Burstable or BestEffort. */
export function qosClassOf(pod: Frozen<PodSpec>): 'Guaranteed' | 'Burstable' | 'BestEffort' {
  let any = false;
  let guaranteed = true;
  for (const container of [...(pod.containers ?? []), ...(pod.initContainers ?? [])]) {
    const requests = container.resources.requests ?? {};
    const limits = container.resources.limits ?? {};
    for (const name of ['cpu', 'memory']) {
      const [request, limit] = [requests[name] ?? limits[name], limits[name]];
      if ((request !== undefined && !isZero(request)) || (limit !== undefined && !isZero(limit))) any = true;
      if (limit === undefined || isZero(limit) || request !== limit) guaranteed = false;
    }
  }
  return any ? (guaranteed ? 'Guaranteed' : 'Burstable') : 'BestEffort';
}
