import { unreadableValue } from '../../api/storage/unreadable.js';
import { type Cause, type GroupResource, qualifyResource, Refusal } from '../../model/refusal.js';

/** The first byte of `unreadableValue`, with which no object begins. */
const [MARK] = unreadableValue('');
/** Maximum number of objects that one error names, which is upstream's. */
const NAMED = 100;

/** Whether the value that begins at this offset is a stored object, and not the `unreadableValue` of a store. */
export const isReadable = (bytes: Uint8Array, at = 0): boolean => bytes[at] !== MARK;

/** The reason why an unreadable value cannot be read. */
export const reasonOf = (value: Uint8Array): string => Buffer.from(value.subarray(1)).toString();

/** An object that the store has but cannot read. */
export interface UnreadableObject {
  readonly key: string;
  readonly reason: string;
}

const describe = ({ key, reason }: UnreadableObject): string =>
  `StorageError: corrupt object, Code: 7, Key: /${key}, ResourceVersion: 0, AdditionalErrorMsg: data from the storage ` +
  `is not transformable revision=0: ${reason}`;

/** 500 for an object that cannot be read. */
export function unreadable(object: UnreadableObject): Refusal {
  const message = describe(object);
  return new Refusal('InternalError', `Internal error occurred: ${message}`, { causes: [{ message }] });
}

/** 500 for a list of a resource with objects that cannot be read; it names the first of them. */
export function unreadableList(
  of: GroupResource,
  objects: readonly { readonly key: string; readonly value: Uint8Array }[],
): Refusal {
  const causes = objects.slice(0, NAMED).map(({ key, value }): Cause => {
    const message = describe({ key, reason: reasonOf(value) });
    return { reason: 'UnexpectedServerResponse', message, field: `/${key}` };
  });
  return new Refusal('StorageReadError', `failed to read one or more ${qualifyResource(of)} from the storage`, {
    name: 'list',
    ...(of.group ? { group: of.group } : {}),
    kind: of.resource,
    causes,
  });
}
