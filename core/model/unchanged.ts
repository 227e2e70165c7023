import type { ApiObject, Frozen } from './object.js';
import { isSemanticallyEqual } from './record.js';

type Stored = Frozen<ApiObject>;

/** The object as far as the garbage collector does not change it. */
const withoutCollected = (object: Stored): object => {
  const { ownerReferences: _owners, finalizers: _finalizers, managedFields: _fields, ...metadata } = object.metadata;
  return { ...object, metadata: { ...metadata, resourceVersion: '' } };
};

/**
 * Whether an update of `old`, which is undefined for a new object, changes nothing, or only what the garbage collector
 * changes: it cannot grant anything.
 */
export const grantsNothing = (old: Stored | undefined, object: Stored): boolean =>
  old !== undefined && isSemanticallyEqual(withoutCollected(object), withoutCollected(old));
