import type { ApiObject } from '../../../core/model/object.js';
import {
  badRequest,
  conflict,
  invalidObject,
  notSupported,
  required,
  type Violation,
} from '../../../core/model/refusal.js';
import { setCondition } from '../conditions.js';
import { at, into, list, type Rec, text } from '../record.js';

const BINDINGS = { group: '', resource: 'pods/binding' };

/** Complaints about a Binding: its target must be a node with a name. */
function targetViolations(binding: ApiObject): Violation[] {
  const target = at(binding, 'target');
  const found: Violation[] = [];
  const kind = text(target, 'kind');
  if (kind !== '' && kind !== 'Node') found.push(notSupported('target.kind', kind, ['Node', '<empty>']));
  if (text(target, 'name') === '') found.push(required('target.name'));
  return found;
}

/**
 * The pod as it is once bound to the Binding's target. `name` is the name in the request path. Pure: the given pod
 * stays as it is. Refuses a foreign name (400), a bad target (422), another uid, a pod that is gated, being deleted, or
 * bound already (409).
 */
export function bindPod(pod: ApiObject, binding: ApiObject, name: string, now: string): ApiObject {
  if (binding.metadata.name !== name) throw badRequest('name in URL does not match name in Binding object');
  const violations = targetViolations(binding);
  if (violations.length > 0) throw invalidObject('', 'Binding', name, violations);
  const { uid, resourceVersion } = binding.metadata;
  const PODS = { group: '', resource: 'pods' };
  if (uid && uid !== pod.metadata.uid) {
    throw conflict(
      PODS,
      name,
      `Precondition failed: UID in precondition: ${uid}, UID in object meta: ${pod.metadata.uid}`,
    );
  }
  if (resourceVersion && resourceVersion !== pod.metadata.resourceVersion) {
    throw conflict(
      PODS,
      name,
      `Precondition failed: ResourceVersion in precondition: ${resourceVersion}, ResourceVersion in object meta: ${pod.metadata.resourceVersion}`,
    );
  }
  const why = unbindable(pod, name);
  if (why) throw conflict(BINDINGS, name, why);
  return bound(pod, binding, now);
}

function unbindable(pod: ApiObject, name: string): string | undefined {
  if (pod.metadata.deletionTimestamp) return `pod ${name} is being deleted, cannot be assigned to a host`;
  const node = text(at(pod, 'spec'), 'nodeName');
  if (node !== '') return `pod ${name} is already assigned to node ${JSON.stringify(node)}`;
  if (list(at(pod, 'spec'), 'schedulingGates').length > 0) return `pod ${name} has non-empty .spec.schedulingGates`;
  return undefined;
}

function bound(pod: ApiObject, binding: ApiObject, now: string): ApiObject {
  const next = structuredClone(pod);
  into(next, 'spec').nodeName = text(at(binding, 'target'), 'name');
  const annotations = { ...next.metadata.annotations, ...binding.metadata.annotations };
  if (Object.keys(annotations).length > 0) next.metadata.annotations = annotations;
  const condition: Rec & { type: string } = {
    type: 'PodScheduled',
    status: 'True',
    lastProbeTime: null,
    lastTransitionTime: now,
  };
  setCondition(into(next, 'status'), condition);
  return next;
}
