import type { Time } from '../../../../core/model/scalars.js';
import type { Binding, PodCondition, Pod } from '../../../../kinds/v1.js';
import {
  badRequest,
  conflict,
  invalidObject,
  notSupported,
  required,
  type Violation,
} from '../../../../core/model/refusal.js';
import { setCondition } from '../../shared/conditions.js';

const BINDINGS = { group: '', resource: 'pods/binding' };

/** Checks that the target of a Binding is a node with a name. */
function validateTarget(binding: Binding): Violation[] {
  const target = binding.target;
  const found: Violation[] = [];
  const kind = target.kind ?? '';
  if (kind !== '' && kind !== 'Node') found.push(notSupported('target.kind', kind, ['Node', '<empty>']));
  if ((target.name ?? '') === '') found.push(required('target.name'));
  return found;
}

/**
 * Returns the pod bound to the target of the Binding; `name` is the name in the request path. Does not change the given
 * pod. Throws 400 for another name, 422 for an invalid target, and 409 for another uid and for a pod that has
 * scheduling gates, is being deleted or is already bound.
 */
export function bindPod(pod: Pod, binding: Binding, name: string, now: Time): Pod {
  if (binding.metadata.name !== name) throw badRequest('name in URL does not match name in Binding object');
  const violations = validateTarget(binding);
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
  const why = bindingProblem(pod, name);
  if (why) throw conflict(BINDINGS, name, why);
  return withNode(pod, binding, now);
}

/** Returns why a pod cannot be bound; undefined if it can. */
function bindingProblem(pod: Pod, name: string): string | undefined {
  if (pod.metadata.deletionTimestamp) return `pod ${name} is being deleted, cannot be assigned to a host`;
  const node = pod.spec.nodeName ?? '';
  if (node !== '') return `pod ${name} is already assigned to node ${JSON.stringify(node)}`;
  if ((pod.spec.schedulingGates ?? []).length > 0) return `pod ${name} has non-empty .spec.schedulingGates`;
  return undefined;
}

function withNode(pod: Pod, binding: Binding, now: Time): Pod {
  const next = structuredClone(pod);
  next.spec.nodeName = binding.target.name ?? '';
  const annotations = { ...next.metadata.annotations, ...binding.metadata.annotations };
  if (Object.keys(annotations).length > 0) next.metadata.annotations = annotations;
  const condition: PodCondition = {
    type: 'PodScheduled',
    status: 'True',
    lastProbeTime: null,
    lastTransitionTime: now,
  };
  setCondition((next.status ??= {}), condition);
  return next;
}
