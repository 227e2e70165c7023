import { StoreError } from '../../../core/api/index.js';
import { randomBytes } from '../../../core/runtime/random.js';
import type { Connection } from './connection.js';
import { type KeyValue, Put, Range, type RangeResponse, Txn, type TxnResponse } from './protocol.js';
import { modRevisionEquals } from './transaction.js';
import type { Keys } from './values.js';

/** The length of the output of SHA-256, with which the secret signs continue tokens. */
const SECRET_BYTES = 32;

/**
 * The version of the layout of keys. In format 1, custom kinds had keys of the same form as built-in ones
 * (core/schema/storageLayout.ts).
 */
const FORMAT = 2;

/** The record of a store. */
interface StoreRecord {
  readonly format: number;
  /** In base64. */
  readonly secret: string;
  /** Set while keys get the current layout. */
  readonly moving?: true;
}

/**
 * Reads the store's record, or creates it in an empty store, and completes a change of the layout. Resolves with the
 * secret in it. Throws StoreError if the format is unknown, if there are keys under the prefix that are not a store of
 * this server, or if a server of an earlier release uses it.
 */
export async function openRecord(
  connection: Connection,
  keys: Keys,
  prefix: string,
  limit: number,
  notice: (message: string) => void,
): Promise<Uint8Array> {
  for (;;) {
    const found = await loadOrCreateRecord(connection, keys, prefix, limit);
    const record = parseRecord(found.value, prefix);
    const secret = Buffer.from(record.secret, 'base64');
    if (record.format === FORMAT && !record.moving) return secret;
    const { KeyMove } = await import('./layout.js');
    const move = new KeyMove(connection, keys, prefix, notice);
    if (record.format !== FORMAT) {
      await move.checkUnused();
      // Servers of an earlier release do not start from here on.
      if (!(await replaceRecord(connection, found, { ...record, format: FORMAT, moving: true }))) continue;
    }
    await move.run();
    const { moving: _moving, ...done } = { ...record, format: FORMAT };
    await connection.callWithRetry(Put, { key: keys.record, value: encodeRecord(done) });
    return secret;
  }
}

const encodeRecord = (record: StoreRecord): Buffer => Buffer.from(JSON.stringify(record));

/** Resolves with true if the record was still the one that was found; otherwise with false, and nothing is changed. */
async function replaceRecord(connection: Connection, found: KeyValue, record: StoreRecord): Promise<boolean> {
  const { succeeded }: TxnResponse = await connection.callWithRetry(Txn, {
    compare: [modRevisionEquals(found.key, found.mod_revision)],
    success: [{ put: { key: found.key, value: encodeRecord(record) } }],
    failure: [],
  });
  return succeeded;
}

async function loadOrCreateRecord(
  connection: Connection,
  keys: Keys,
  prefix: string,
  limit: number,
): Promise<KeyValue> {
  const key = keys.record;
  for (;;) {
    const { kvs }: RangeResponse = await connection.callWithRetry(Range, { key }, undefined, limit);
    if (kvs[0]) return kvs[0];
    const { count } = await connection.callWithRetry(Range, { ...keys.range(''), count_only: true }, undefined, limit);
    if (count > 0)
      throw new StoreError(
        `etcd holds ${count} keys under ${prefix} that are not this server's: choose another --etcd-prefix, ` +
          'or empty it',
      );
    const value = encodeRecord({ format: FORMAT, secret: randomBytes(SECRET_BYTES).toString('base64') });
    await connection.callWithRetry(Txn, {
      compare: [modRevisionEquals(key, 0)],
      success: [{ put: { key, value } }],
      failure: [],
    });
  }
}

function parseRecord(value: Buffer, prefix: string): StoreRecord {
  let record: Partial<StoreRecord> | undefined;
  try {
    record = JSON.parse(value.toString()) as Partial<StoreRecord>;
  } catch {
    record = undefined;
  }
  if ((record?.format !== 1 && record?.format !== FORMAT) || typeof record.secret !== 'string')
    throw new StoreError(
      `the store under ${prefix} in etcd has format ${String(record?.format)}, this version reads formats 1 and ` +
        `${FORMAT}: run the version that wrote it`,
    );
  return record as StoreRecord;
}
