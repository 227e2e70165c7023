import type { ApiObject, Frozen } from './object.js';
import { isSemanticallyEqual } from './record.js';

type Stored = Frozen<ApiObject>;

/** The object without the members that the garbage collector changes. */
const withoutCollected = (object: Stored): object => {
  const { ownerReferences: _owners, finalizers: _finalizers, managedFields: _fields, ...metadata } = object.metadata;
  return { ...object, metadata: { ...metadata, resourceVersion: '' } };
};

/**
 * Whether an update changes nothing, or only members that the garbage collector changes, and so cannot grant
 * permissions. `old` is undefined for a new object.
 */
export const grantsNothing = (old: Stored | undefined, object: Stored): boolean =>
  old !== undefined && isSemanticallyEqual(withoutCollected(object), withoutCollected(old));
