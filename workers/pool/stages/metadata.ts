import type { ApiObject, OwnerReference } from '../../../core/model/object.js';
import { isDeepEqual } from '../../../core/model/record.js';
import type { Violation } from '../../../core/model/refusal.js';
import { type MetadataRules, validateMetadata, validateMetadataUpdate } from '../../../core/schema/decode/metadata.js';
import type { Resource } from '../../../core/schema/resource.js';

/** Sets the members of a new object that the server alone decides (spec, "Object envelope and common metadata"). */
export function setSystemMetadata({ metadata }: ApiObject, uid: string, now: string): void {
  metadata.uid = uid;
  metadata.creationTimestamp = now;
}

/**
 * Removes the metadata that no client of a create may set. In upstream an apply or update that creates an object keeps
 * its members about a deletion.
 */
export function clearSystemMetadata({ metadata }: Pick<ApiObject, 'metadata'>, keepsDeletion = false): void {
  delete metadata.uid;
  delete metadata.creationTimestamp;
  delete metadata.selfLink;
  if (keepsDeletion) return;
  delete metadata.deletionTimestamp;
  delete metadata.deletionGracePeriodSeconds;
}

/** Restores from the current object the metadata that an update leaves out or may not change. */
export function keepSystemMetadata(object: ApiObject, old: ApiObject): void {
  const { metadata } = object;
  metadata.uid ||= old.metadata.uid;
  metadata.creationTimestamp = old.metadata.creationTimestamp;
  // A deletion in progress keeps its time.
  metadata.deletionTimestamp = old.metadata.deletionTimestamp ?? metadata.deletionTimestamp;
  metadata.deletionGracePeriodSeconds ??= old.metadata.deletionGracePeriodSeconds;
  if (metadata.deletionTimestamp == null) delete metadata.deletionTimestamp;
  if (metadata.deletionGracePeriodSeconds == null) delete metadata.deletionGracePeriodSeconds;
  metadata.selfLink = old.metadata.selfLink;
  if (!metadata.selfLink) delete metadata.selfLink;
  if (old.metadata.generation === undefined) delete metadata.generation;
  else metadata.generation = old.metadata.generation;
}

/** Owner references with equal texts are the same. */
const referenceText = ({ apiVersion, kind, name, uid, controller, blockOwnerDeletion }: OwnerReference): string =>
  JSON.stringify([apiVersion, kind, name, uid, controller, blockOwnerDeletion]);

/** Removes repeated owner references, with upstream's warning. `mutated`: mutators have run already. */
export function dropRepeatedOwners({ metadata }: ApiObject, warnings: string[], mutated: boolean): void {
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
  const when = mutated ? ' after mutating admission happens' : '';
  warnings.push(
    `.metadata.ownerReferences contains duplicate entries${when}; API server dedups owner references in 1.20+, and ` +
      'may reject such requests as early as 1.24; please fix your requests; duplicate UID(s) observed: ' +
      `${repeated.join(', ')}`,
  );
}

const metadataRules = ({ namespaced, strategy }: Resource): MetadataRules => ({
  namespaced,
  checkName: strategy.checkName,
  revalidatesName: strategy.revalidatesName,
  ...(strategy.allowAnyFinalizer ? { finalizers: 'any' } : {}),
});

/** The violations in the metadata of a new object or, given the `old` one, of an update. */
export const metadataViolations = (
  resource: Resource,
  object: ApiObject,
  old: ApiObject | undefined,
): readonly Violation[] =>
  old
    ? validateMetadataUpdate(object, old, metadataRules(resource))
    : validateMetadata(object, metadataRules(resource));

const contentOf = ({ metadata: _metadata, status: _status, ...content }: ApiObject): object => content;

/** Whether anything but metadata and status differs. `metadata.generation` counts such changes. */
export const contentChanged = (a: ApiObject, b: ApiObject): boolean => !isDeepEqual(contentOf(a), contentOf(b));
