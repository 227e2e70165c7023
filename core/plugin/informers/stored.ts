import { readJson } from '../../model/text/jsonText.js';
import { deepFreeze } from '../../api/checks/freeze.js';
import type { ApiObject } from '../../model/object.js';

/** Decodes a stored value without validation: it was encoded by this server and contains its resourceVersion. */
export function decodeStored(bytes: Uint8Array): ApiObject {
  return readJson(bytes) as unknown as ApiObject;
}

/**
 * Like `decodeStored`, for an object that several plugins receive: frozen, so that none can change it for the others.
 */
export function decodeShared(bytes: Uint8Array): ApiObject {
  const object = decodeStored(bytes);
  deepFreeze(object);
  return object;
}

/** The text before the digits of a resourceVersion in encoded objects. */
export const REVISION_MARK = '"resourceVersion":"';
const MARK = Buffer.from(REVISION_MARK);
const QUOTE = 0x22;

/**
 * The position of the digits of `metadata.resourceVersion` in encoded bytes. Canonical bytes begin with kind,
 * apiVersion and metadata, whose earlier members are strings; a quote inside a string is escaped, so the first match is
 * the member itself.
 */
function revisionSpan(bytes: Uint8Array): readonly [start: number, end: number] {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  const start = buffer.indexOf(MARK) + MARK.length;
  return [start, buffer.indexOf(QUOTE, start)];
}

const UID_MARK = Buffer.from('"uid":"');

/** The `metadata.uid` in encoded bytes, which precedes its resourceVersion; undefined if there is none. */
export function uidIn(bytes: Uint8Array): string | undefined {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  const start = buffer.indexOf(UID_MARK) + UID_MARK.length;
  const end = buffer.indexOf(QUOTE, start);
  return start < UID_MARK.length || end < 0 ? undefined : buffer.toString('latin1', start, end);
}

/** The same bytes with another resourceVersion: for DELETED events, whose object has the version of the deletion. */
export function withRevision(bytes: Uint8Array, revision: number): Buffer {
  const [start, end] = revisionSpan(bytes);
  return Buffer.concat([bytes.subarray(0, start), Buffer.from(String(revision)), bytes.subarray(end)]);
}

/** The bytes without the digits of the resourceVersion, which the store inserts at `gap`. */
export function withoutRevision(bytes: Uint8Array): { readonly value: Buffer; readonly gap: number } {
  const [gap, end] = revisionSpan(bytes);
  return { value: Buffer.concat([bytes.subarray(0, gap), bytes.subarray(end)]), gap };
}
