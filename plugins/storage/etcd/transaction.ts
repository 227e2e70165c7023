import { type Outcome, StoreError, type StoreEvent, type Transaction } from '../../../core/api/index.js';
import type { ResponseOp, TxnResponse } from './protocol.js';
import { decode, encode, type Keys } from './values.js';

/** etcd's limit of operations in one transaction. */
const OPERATIONS = 128;
const EQUAL = 0;
const MOD_REVISION = 2;

/** Why a transaction cannot be sent. */
export function malformed(transaction: Transaction): StoreError | undefined {
  if (transaction.length > OPERATIONS)
    return new StoreError(`a transaction has ${transaction.length} operations, etcd takes ${OPERATIONS}`);
  const keys = new Set(transaction.map(operation => operation.key));
  if (keys.size < transaction.length) return new StoreError('a transaction changes a key twice');
  if ([...keys].some(key => Buffer.from(key).toString() !== key)) return new StoreError('a key must be well-formed Unicode');
  return undefined;
}

/** The request: all expectations, then all changes, else the state of the keys with an expectation. */
export function request(transaction: Transaction, keys: Keys, mark: Buffer): object {
  const expecting = transaction.filter(operation => operation.expect !== undefined);
  return {
    compare: expecting.map(({ key, expect }) => ({
      result: EQUAL,
      target: MOD_REVISION,
      key: keys.encode(key),
      mod_revision: expect,
    })),
    success: transaction.map(operation => {
      const key = keys.encode(operation.key);
      if (operation.is === 'delete') return { remove: { key, prev_kv: true } };
      return { put: { key, value: encode(operation.value, operation.gap, mark), prev_kv: true } };
    }),
    failure: expecting.map(({ key }) => ({ range: { key: keys.encode(key) } })),
  };
}

/** What etcd's answer means. */
export function outcome(transaction: Transaction, response: TxnResponse, keys: Keys, mark: Buffer): Outcome {
  if (!response.succeeded) return failed(transaction, response.responses, keys);
  const { revision } = response.header;
  const events = transaction.flatMap((operation, i): StoreEvent[] => {
    const { put, remove } = response.responses[i]!;
    const before = put?.prev_kv ?? remove?.prev_kvs[0];
    const { key } = operation;
    const created = before?.create_revision ?? revision;
    const replaced = before?.mod_revision;
    const previous = before && { value: decode(before.value, before.mod_revision), modified: before.mod_revision };
    if (operation.is === 'delete') {
      return before ? [{ type: 'delete', key, revision, created, version: before.version, replaced, previous }] : [];
    }
    const value = decode(encode(operation.value, operation.gap, mark), revision);
    return [{ type: 'put', key, revision, created, version: (before?.version ?? 0) + 1, value, replaced, previous }];
  });
  return { is: 'committed', revision, events };
}

function failed(transaction: Transaction, responses: readonly ResponseOp[], keys: Keys): Outcome {
  let at = 0;
  for (const [index, { expect }] of transaction.entries()) {
    if (expect === undefined) continue;
    const current = responses[at++]?.range?.kvs[0];
    if ((current?.mod_revision ?? 0) !== expect) return { is: 'failed', index, current: current && keys.stored(current) };
  }
  return { is: 'error', error: new StoreError('etcd refused a transaction whose expectations hold') };
}
