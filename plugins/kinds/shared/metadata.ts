import type { ApiObject, ObjectMeta } from '../../../core/model/object.js';

type Member = keyof ObjectMeta;

/** Members of the metadata that clients can write. */
const KEPT = [
  'labels',
  'annotations',
  'finalizers',
  'ownerReferences',
  'generation',
] as const satisfies readonly Member[];

/** Restores members of the metadata in writes to the status that must not change them. */
export function restoreMembers(object: ApiObject, old: ApiObject, members: readonly Member[]): void {
  const kept: { -readonly [member in Member]?: ObjectMeta[member] } & ObjectMeta = { ...object.metadata };
  for (const member of members) {
    if (old.metadata[member] === undefined) delete kept[member];
    else Object.assign(kept, { [member]: old.metadata[member] });
  }
  object.metadata = kept;
}

/** Restores all metadata that clients can write. */
export const restoreMetadata = (object: ApiObject, old: ApiObject): void => restoreMembers(object, old, KEPT);

/** Adds a finalizer unless it exists. */
export function addFinalizer(object: ApiObject, finalizer: string): void {
  const now = object.metadata.finalizers ?? [];
  if (!now.includes(finalizer)) object.metadata.finalizers = [...now, finalizer];
}
