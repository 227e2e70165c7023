import { CBOR_TAG, cborListFrame, encodeCborText, OPEN_MAP } from './cbor.js';
import type { Resource } from '../resource.js';
import { metadataStart } from '../json/storedText.js';

/**
 * Objects of built-in kinds in CBOR, assembled from records. A record is an object as an item of a list, which has
 * neither kind nor apiVersion.
 */

const MAP = Buffer.from([OPEN_MAP]);
const METADATA = '"metadata":';

/** Encodes the texts of stored objects as records. */
export function encodeCborRecords(resource: Resource, texts: readonly Uint8Array[]): Uint8Array[] {
  const start = metadataStart(resource) - METADATA.length;
  return texts.map(text => Buffer.concat([MAP, encodeCborText(text.subarray(start))]));
}

/** Returns a function that turns records into whole objects, as documents. */
export function cborObjects({ kind, apiVersion }: Resource): (record: Uint8Array) => Buffer {
  const envelope = encodeCborText(Buffer.from(JSON.stringify({ kind, apiVersion }))).subarray(0, -1);
  return record => Buffer.concat([CBOR_TAG, envelope, record.subarray(MAP.length)]);
}

/** The bytes of a list before and after its records. */
export const cborList = ({ listKind, apiVersion }: Resource, metadata: object): ReturnType<typeof cborListFrame> =>
  cborListFrame(Buffer.from(JSON.stringify({ kind: listKind, apiVersion, metadata, items: [] })));
