import { randomUUID } from 'node:crypto';
import type { ApiObject, OwnerReference } from '../../core/model/object.js';

/** Sets what the server alone decides on a create (spec, "Server-set metadata"). */
export function setSystemMetadata(object: ApiObject, now: string): void {
  const { metadata } = object;
  metadata.uid = randomUUID();
  metadata.creationTimestamp = now;
  delete metadata.deletionTimestamp;
  delete metadata.deletionGracePeriodSeconds;
  delete metadata.selfLink;
}

/** On an update, what clients leave out or may not change comes from the current object. */
export function keepSystemMetadata(object: ApiObject, old: ApiObject): void {
  const { metadata } = object;
  metadata.uid ||= old.metadata.uid;
  metadata.creationTimestamp = old.metadata.creationTimestamp;
  // A deletion under way cannot be moved.
  metadata.deletionTimestamp = old.metadata.deletionTimestamp ?? metadata.deletionTimestamp;
  metadata.deletionGracePeriodSeconds ??= old.metadata.deletionGracePeriodSeconds;
  if (metadata.deletionTimestamp == null) delete metadata.deletionTimestamp;
  if (metadata.deletionGracePeriodSeconds == null) delete metadata.deletionGracePeriodSeconds;
  metadata.selfLink = old.metadata.selfLink;
  if (!metadata.selfLink) delete metadata.selfLink;
  if (old.metadata.generation === undefined) delete metadata.generation;
  else metadata.generation = old.metadata.generation;
}

/** All that a reference says: equal texts are the same reference. */
const referenceText = ({ apiVersion, kind, name, uid, controller, blockOwnerDeletion }: OwnerReference): string =>
  JSON.stringify([apiVersion, kind, name, uid, controller, blockOwnerDeletion]);

/** Drops owner references that are given twice, with upstream's warning. `admitted`: mutating admission has run. */
export function dropRepeatedOwners({ metadata }: ApiObject, warnings: string[], admitted: boolean): void {
  const owners = metadata.ownerReferences;
  if (!owners || owners.length < 2) return;
  const kept = new Map<string, OwnerReference>();
  const repeated: string[] = [];
  for (const owner of owners) {
    const text = referenceText(owner);
    if (kept.has(text)) repeated.push(owner.uid);
    else kept.set(text, owner);
  }
  if (repeated.length === 0) return;
  metadata.ownerReferences = [...kept.values()];
  const when = admitted ? ' after mutating admission happens' : '';
  warnings.push(
    `.metadata.ownerReferences contains duplicate entries${when}; API server dedups owner references in 1.20+, and may reject such requests as early as 1.24; please fix your requests; duplicate UID(s) observed: ${repeated.join(', ')}`,
  );
}

const contentOf = (object: ApiObject): string => {
  const { metadata: _metadata, status: _status, ...content } = object;
  return JSON.stringify(content);
};

/** Whether something outside metadata and status differs: what `metadata.generation` counts. */
export const contentChanged = (a: ApiObject, b: ApiObject): boolean => contentOf(a) !== contentOf(b);
