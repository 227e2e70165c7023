import { objectEnd } from './jsonTape.js';
import type { Resource } from '../resource.js';

/** Parts of the texts of stored objects of built-in kinds, whose metadata directly follows kind and apiVersion. */

const COMMA = 0x2c;

/** The position of the metadata in the texts of a kind's objects. */
export const metadataStart = ({ kind, storageApiVersion }: Resource): number =>
  Buffer.byteLength(JSON.stringify({ kind, apiVersion: storageApiVersion, metadata: {} })) - '{}}'.length;

/** The text of an object as an item of its list, without kind and apiVersion. */
export const asListItem = (text: Uint8Array, metadataAt: number): Buffer =>
  Buffer.concat([ITEM, text.subarray(metadataAt)]);
const ITEM = Buffer.from('{"metadata":');

/** Quotes in strings are escaped, so this can only be the member of the metadata, after another one. */
const MANAGED_FIELDS = Buffer.from(',"managedFields":[{');

/** The text of an object without managed fields, which are the last member of its metadata. */
export function withoutManagedFields(text: Uint8Array, metadataAt: number): Uint8Array {
  const bytes = Buffer.from(text.buffer, text.byteOffset, text.length);
  const end = objectEnd(text, metadataAt);
  const at = bytes.indexOf(MANAGED_FIELDS, metadataAt);
  if (at < 0 || at >= end) return text;
  const array = at + MANAGED_FIELDS.length - 2;
  return arrayEnd(text, array) === end - 1 ? Buffer.concat([bytes.subarray(0, at), bytes.subarray(end - 1)]) : text;
}

/** The end of an array of objects that begins at `start`. */
function arrayEnd(text: Uint8Array, start: number): number {
  let at = start;
  do at = objectEnd(text, at + 1);
  while (text[at] === COMMA);
  return at + 1;
}
