import type { ApiObject, ObjectMeta } from '../../../core/model/object.js';

type Member = keyof ObjectMeta;

/** Members of metadata that a write of the status may not move, for the kinds that say so. */
const KEPT = [
  'labels',
  'annotations',
  'finalizers',
  'ownerReferences',
  'generation',
] as const satisfies readonly Member[];

/** Puts members of metadata back as they were: a write of the status means the status alone. */
export function restoreMembers(object: ApiObject, old: ApiObject, members: readonly Member[]): void {
  const kept: { -readonly [member in Member]?: ObjectMeta[member] } & ObjectMeta = { ...object.metadata };
  for (const member of members) {
    if (old.metadata[member] === undefined) delete kept[member];
    else Object.assign(kept, { [member]: old.metadata[member] });
  }
  object.metadata = kept;
}

/** Puts all of metadata back that clients may write. */
export const restoreMetadata = (object: ApiObject, old: ApiObject): void => restoreMembers(object, old, KEPT);

export function addFinalizer(object: ApiObject, finalizer: string): void {
  const now = object.metadata.finalizers ?? [];
  if (!now.includes(finalizer)) object.metadata.finalizers = [...now, finalizer];
}
