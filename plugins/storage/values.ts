import { ConfigError, StoreError, unreadableValue } from '../../core/api/index.js';
import { isEncrypted } from '../../core/services/encryption/mark.js';
import type { StoredRecord } from '../../core/services/encryption/values.js';

/**
 * How the value of a key becomes bytes in a store. It is the lowest layer of both kinds of store: below it are only
 * records with checksums, or etcd; above it, the revision is inserted into the value. A value that is moved to another
 * key, or changed in the store, cannot be decoded by a codec that authenticates it.
 *
 * Values are given in records that begin with `header` bytes of the store, which stay as they are and are not part of
 * the value. A codec that leaves values as they are therefore copies nothing.
 */
export interface ValueCodec {
  /**
   * Encodes the value in a record. Returns the record to store. The caller keeps using the value, so it must not be
   * changed in place.
   */
  encode(key: string, record: Buffer, header: number): Buffer;
  /** Decodes the value in a stored record. Throws StoreError with the key if it cannot be decoded. */
  decode(key: string, record: Buffer, header: number): Uint8Array;
  /**
   * Must be awaited before stored records are decoded; undefined, as for a codec without it, if nothing has to be
   * awaited. Rejects with Unavailable if they cannot be decoded now.
   */
  prepare?(records: readonly StoredRecord[], header: number): Promise<unknown> | undefined;
}

/** Stores values as they are. Throws StoreError for a value that was encrypted. */
export const PLAIN_VALUES: ValueCodec = {
  encode: (_key, record) => record,
  decode(key, record, header) {
    const value = record.subarray(header);
    if (isEncrypted(value))
      throw new StoreError(`${JSON.stringify(key)} is encrypted: start with --encryption-provider-config and its key`);
    return value;
  },
};

/**
 * The result of `decode`, which decodes a stored value. If it throws StoreError, the value is returned as unreadable,
 * so that the other objects can be served.
 */
export function readValue(decode: () => Uint8Array): Uint8Array {
  try {
    return decode();
  } catch (error) {
    if (error instanceof StoreError) return unreadableValue(error.message);
    throw error;
  }
}

/** The setting `encryption` of a store: the path of an EncryptionConfiguration. Throws ConfigError. */
export function encryptionOf(given: unknown): { readonly encryption?: string } {
  if (given === undefined) return {};
  if (typeof given === 'string' && given !== '') return { encryption: given };
  throw new ConfigError('encryption', 'must be the path of an EncryptionConfiguration');
}
