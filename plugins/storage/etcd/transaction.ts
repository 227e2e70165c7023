import { type Outcome, StoreError, type StoreEvent, type Transaction } from '../../../core/api/index.js';
import type { KeyValue, ResponseOp, TxnResponse } from './protocol.js';
import { encode, filled, type Keys } from './values.js';

/** etcd takes 128 operations in one transaction; each of ours is a change and a look at what was there. */
const OPERATIONS = 64;
const EQUAL = 0;
const VERSION = 0;
const MOD_REVISION = 2;

/** Why a transaction cannot be sent. */
export function malformed(transaction: Transaction): StoreError | undefined {
  if (transaction.length > OPERATIONS)
    return new StoreError(`a transaction has ${transaction.length} operations, etcd takes ${OPERATIONS}`);
  const keys = new Set(transaction.map(operation => operation.key));
  if (keys.size < transaction.length) return new StoreError('a transaction changes a key twice');
  if (keys.has('')) return new StoreError('a key must not be empty');
  if ([...keys].some(key => Buffer.from(key).toString() !== key))
    return new StoreError('a key must be well-formed Unicode');
  return undefined;
}

/** Whether the transaction cannot take place twice: after the first time, what it expects is gone. */
export const happensOnce = (transaction: Transaction): boolean =>
  transaction.some(operation => operation.expect !== undefined);

/** The condition that a key was last changed at `revision`; 0: that it is absent. */
export const modifiedAt = (key: Buffer, revision: number): object => ({
  result: EQUAL,
  target: MOD_REVISION,
  key,
  mod_revision: revision,
});

/** The condition that a key was changed so often. */
export const changed = (key: Buffer, version: number): object => ({ result: EQUAL, target: VERSION, key, version });

/** What was at the key of an operation is asked for unless the expectation tells already that nothing was. */
const asksBefore = (operation: Transaction[number]): boolean => operation.expect !== 0;

/**
 * The request: all expectations, then what was there (without the values) and all changes, else the state of the keys
 * with an expectation.
 */
export function request(transaction: Transaction, keys: Keys, mark: Buffer): object {
  const compare: object[] = [];
  const failure: object[] = [];
  const before: object[] = [];
  const changes: object[] = [];
  for (const operation of transaction) {
    const key = keys.encode(operation.key);
    if (operation.expect !== undefined) {
      compare.push(modifiedAt(key, operation.expect));
      failure.push({ range: { key } });
    }
    if (asksBefore(operation)) before.push({ range: { key, keys_only: true } });
    if (operation.is === 'delete') changes.push({ remove: { key } });
    else changes.push({ put: { key, value: encode(operation.value, operation.gap, mark) } });
  }
  return { compare, success: [...before, ...changes], failure };
}

/** What etcd's answer means. */
export function outcome(transaction: Transaction, response: TxnResponse, keys: Keys): Outcome {
  const { responses, header } = response;
  if (!response.succeeded) return failed(transaction, responses, header.revision, keys);
  let at = 0;
  const before = transaction.map(operation => (asksBefore(operation) ? responses[at++]?.range?.kvs[0] : undefined));
  return committed(transaction, header.revision, before);
}

/** A transaction that took place at `revision`, where `before` was at the keys of its operations. */
export function committed(
  transaction: Transaction,
  revision: number,
  before: readonly (KeyValue | undefined)[],
): Outcome {
  const events = transaction.flatMap((operation, i): StoreEvent[] => {
    const was = before[i];
    const { key } = operation;
    const created = was?.create_revision ?? revision;
    const replaced = was?.mod_revision;
    if (operation.is === 'delete')
      return was ? [{ type: 'delete', key, revision, created, version: was.version, replaced }] : [];
    const value = filled(operation.value, operation.gap, revision);
    return [{ type: 'put', key, revision, created, version: (was?.version ?? 0) + 1, value, replaced }];
  });
  return { is: 'committed', revision, events };
}

function failed(transaction: Transaction, responses: readonly ResponseOp[], revision: number, keys: Keys): Outcome {
  let at = 0;
  for (const [index, { expect }] of transaction.entries()) {
    if (expect === undefined) continue;
    const current = responses[at++]?.range?.kvs[0];
    if ((current?.mod_revision ?? 0) !== expect)
      return { is: 'failed', index, revision, current: current && keys.stored(current) };
  }
  return { is: 'error', error: new StoreError('etcd refused a transaction whose expectations hold') };
}
