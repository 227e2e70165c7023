import type { ObjectMeta } from '../../../core/model/object.js';

/** Members of the metadata that clients can write: kinds keep them in writes to the status that change nothing else. */
export const WRITABLE_METADATA = [
  'labels',
  'annotations',
  'finalizers',
  'ownerReferences',
  'generation',
] as const satisfies readonly (keyof ObjectMeta)[];
