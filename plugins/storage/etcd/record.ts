import { randomBytes } from 'node:crypto';
import { StoreError } from '../../../core/api/index.js';
import type { Connection } from './connection.js';
import { Range, type RangeResponse, Txn } from './protocol.js';
import { modRevisionEquals } from './transaction.js';
import { FORMAT, type Keys } from './values.js';

const SECRET_BYTES = 32;

/**
 * Reads the store's record, or creates it in an empty store. Resolves with the secret in it. Throws StoreError if the
 * format is unknown, or if there are keys under the prefix that are not a store of this server.
 */
export async function loadOrCreateRecord(
  connection: Connection,
  keys: Keys,
  prefix: string,
  limit: number,
): Promise<Uint8Array> {
  const key = keys.record;
  for (;;) {
    const { kvs }: RangeResponse = await connection.callWithRetry(Range, { key }, undefined, limit);
    if (kvs[0]) return parseSecret(kvs[0].value, prefix);
    const { count } = await connection.callWithRetry(Range, { ...keys.range(''), count_only: true }, undefined, limit);
    if (count > 0)
      throw new StoreError(
        `etcd holds ${count} keys under ${prefix} that are not this server's: choose another --etcd-prefix, ` +
          'or empty it',
      );
    const value = Buffer.from(JSON.stringify({ format: FORMAT, secret: randomBytes(SECRET_BYTES).toString('base64') }));
    await connection.callWithRetry(Txn, {
      compare: [modRevisionEquals(key, 0)],
      success: [{ put: { key, value } }],
      failure: [],
    });
  }
}

function parseSecret(value: Buffer, prefix: string): Uint8Array {
  let record: { format?: unknown; secret?: unknown } | undefined;
  try {
    record = JSON.parse(value.toString()) as typeof record;
  } catch {
    record = undefined;
  }
  if (record?.format !== FORMAT || typeof record.secret !== 'string')
    throw new StoreError(
      `the store under ${prefix} in etcd has format ${String(record?.format)}, this version reads format ${FORMAT}: ` +
        'run the version that wrote it',
    );
  return Buffer.from(record.secret, 'base64');
}
