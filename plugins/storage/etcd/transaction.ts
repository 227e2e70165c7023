import { type Outcome, StoreError, type StoreEvent, type Transaction } from '../../../core/api/index.js';
import type { KeyValue, ResponseOp, TxnResponse } from './protocol.js';
import { type Encoding, fillGap } from './values.js';

/**
 * Up to this many operations, previous versions are read by operations of their own, without values. With more of them,
 * the transaction could exceed etcd's limit (128 operations, `--max-txn-ops`), so each change returns the previous
 * version of its key, which transfers the value as well.
 */
const MOST_WITH_READS = 64;
/** Values of the enumerations `CompareResult` and `CompareTarget` in etcd's protocol. */
const EQUAL = 0;
const VERSION = 0;
const MOD_REVISION = 2;

/** Validates a transaction; returns the error if it cannot be sent. */
export function validateTransaction(transaction: Transaction): StoreError | undefined {
  const keys = new Set(transaction.map(operation => operation.key));
  if (keys.size < transaction.length) return new StoreError('a transaction changes a key twice');
  if (keys.has('')) return new StoreError('a key must not be empty');
  if ([...keys].some(key => Buffer.from(key).toString() !== key))
    return new StoreError('a key must be well-formed Unicode');
  return undefined;
}

/**
 * Whether a transaction can be sent again without being committed twice: if it expects a version, which no key has a
 * second time. A key that it expects to be absent may have been created by it, and deleted since.
 */
export const isRepeatable = (transaction: Transaction): boolean => transaction.some(({ expect = 0 }) => expect > 0);

/** The condition that a key was last modified at `revision`, or is absent if `revision` is 0. */
export const modRevisionEquals = (key: Buffer, revision: number): object => ({
  result: EQUAL,
  target: MOD_REVISION,
  key,
  mod_revision: revision,
});

/** The condition that a key has this version. */
export const versionEquals = (key: Buffer, version: number): object => ({
  result: EQUAL,
  target: VERSION,
  key,
  version,
});

/** Whether etcd returns the previous versions with the changes, and not by reads before them. */
const returnsPrevious = (transaction: Transaction): boolean => transaction.length > MOST_WITH_READS;

/** Whether the previous version of an operation's key must be read: not if the key is expected to be absent. */
const needsPrevious = (operation: Transaction[number]): boolean => operation.expect !== 0;

/**
 * Builds the request. If all expectations hold, it makes the changes and finds the previous versions. Otherwise it
 * reads the keys with expectations.
 */
export function toTxnRequest(transaction: Transaction, encoding: Encoding, transactionId: Buffer): object {
  const compare: object[] = [];
  const failure: object[] = [];
  const before: object[] = [];
  const changes: object[] = [];
  const prev_kv = returnsPrevious(transaction);
  for (const operation of transaction) {
    const key = encoding.keys.encode(operation.key);
    if (operation.expect !== undefined) {
      compare.push(modRevisionEquals(key, operation.expect));
      failure.push({ range: { key } });
    }
    if (!prev_kv && needsPrevious(operation)) before.push({ range: { key, keys_only: true } });
    if (operation.is === 'delete') changes.push({ remove: { key, prev_kv } });
    else {
      const value = encoding.encodeValue(operation.key, operation.value, operation.gap, transactionId);
      changes.push({ put: { key, value, prev_kv } });
    }
  }
  return { compare, success: [...before, ...changes], failure };
}

/** Converts etcd's response to an outcome. */
export function toOutcome(transaction: Transaction, response: TxnResponse, encoding: Encoding): Outcome {
  const { responses, header } = response;
  if (!response.succeeded) return toFailed(transaction, responses, header.revision, encoding);
  return toCommitted(transaction, header.revision, previousVersions(transaction, responses));
}

/** The previous versions of the keys of a transaction that etcd has committed. */
function previousVersions(
  transaction: Transaction,
  responses: readonly ResponseOp[],
): readonly (KeyValue | undefined)[] {
  if (returnsPrevious(transaction))
    return responses.map(({ put, remove }) => put?.prev_kv ?? remove?.prev_kvs[0] ?? undefined);
  let at = 0;
  return transaction.map(operation => (needsPrevious(operation) ? responses[at++]?.range?.kvs[0] : undefined));
}

/** The error of a transaction that etcd has rejected: it names the flag of etcd, if there are too many operations. */
export function rejectedError(error: Error, transaction: Transaction): Error {
  if (!error.message.includes('too many operations')) return error;
  const { length } = transaction;
  return new StoreError(
    `etcd refuses a write of ${length} objects at once, one for each quota that counts it and more: start etcd with ` +
      `--max-txn-ops=${2 ** Math.ceil(Math.log2(length))}, or have fewer quotas in the namespace`,
  );
}

/** The outcome of a transaction committed at `revision`. `before` are the previous versions of its keys. */
export function toCommitted(
  transaction: Transaction,
  revision: number,
  before: readonly (KeyValue | undefined)[],
): Outcome {
  const events = transaction.flatMap((operation, i): StoreEvent[] => {
    const previous = before[i];
    const { key } = operation;
    const created = previous?.create_revision ?? revision;
    const replaced = previous?.mod_revision;
    if (operation.is === 'delete')
      return previous ? [{ type: 'delete', key, revision, created, version: previous.version, replaced }] : [];
    const value = fillGap(operation.value, operation.gap, revision);
    return [{ type: 'put', key, revision, created, version: (previous?.version ?? 0) + 1, value, replaced }];
  });
  return { is: 'committed', revision, events };
}

function toFailed(
  transaction: Transaction,
  responses: readonly ResponseOp[],
  revision: number,
  encoding: Encoding,
): Outcome {
  let at = 0;
  for (const [index, { expect }] of transaction.entries()) {
    if (expect === undefined) continue;
    const current = responses[at++]?.range?.kvs[0];
    if ((current?.mod_revision ?? 0) !== expect)
      return { is: 'failed', index, revision, current: current && encoding.toStored(current) };
  }
  return { is: 'error', error: new StoreError('etcd rejected a transaction although its expectations hold') };
}
