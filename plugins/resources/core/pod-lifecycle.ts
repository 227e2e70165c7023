import type { ApiObject } from '../../../core/model/object.js';
import { at, num, text } from '../record.js';

/**
 * Seconds a pod gets to stop: what the client asks for, else what the pod says; none for a pod that no node runs or
 * that has ended. A negative wish means one second (spec, "Pod deletion").
 */
export function podGrace(pod: ApiObject, asked: number | undefined): number {
  const phase = text(at(pod, 'status'), 'phase');
  if (text(at(pod, 'spec'), 'nodeName') === '' || phase === 'Failed' || phase === 'Succeeded') return 0;
  const seconds = asked ?? num(at(pod, 'spec'), 'terminationGracePeriodSeconds') ?? 30;
  return seconds < 0 ? 1 : seconds;
}
