import {
  type Outcome,
  type StoreEvent,
  type StoreOperation,
  type Transaction,
  StoreError,
} from '../../../core/api/index.js';
import type { ValueCodec } from '../values.js';
import { isEncodable, type KeyIndex, type Version } from './keyIndex.js';
import {
  type Batch,
  type Change,
  encodeChange,
  encodeIndex,
  eventKey,
  indexKey,
  VALUE_HEADER,
  valueKey,
  valueRecord,
  withChecksum,
} from './records.js';

/**
 * The result of a transaction that is not durable yet. `conflict`: an expectation failed; `current` is the actual
 * version, whose value is read later.
 */
export type Prepared =
  | Outcome
  | { readonly is: 'conflict'; readonly index: number; readonly key: string; readonly current?: Version };

const NO_VERSION = { modified: 0, created: 0, version: 0 };

/**
 * Checks the expectations of a transaction against the newest state, durable or not. If they hold, adds its rows to
 * `batch` and its versions to `index`. `revision` is assigned to it if it changes anything.
 */
export function prepareTransaction(
  transaction: Transaction,
  revision: number,
  index: KeyIndex,
  batch: Batch,
  values: ValueCodec,
): Prepared {
  const invalid = validateTransaction(transaction);
  if (invalid) return { is: 'error', error: invalid };
  for (let i = 0; i < transaction.length; i++) {
    const { key, expect } = transaction[i]!;
    if (expect === undefined) continue;
    const newest = index.newest(key);
    const current = newest && newest.version > 0 ? newest : undefined;
    if ((current?.modified ?? 0) !== expect)
      return { is: 'conflict', index: i, key, current: current && { ...current } };
  }
  const events: StoreEvent[] = [];
  for (const operation of transaction) applyOperation(operation, revision, index, batch, values, events);
  return { is: 'committed', revision: events.length > 0 ? revision : revision - 1, events };
}

/** Validates keys and gaps. A key may occur only once, since operations have no order within a revision. */
function validateTransaction(transaction: Transaction): Error | undefined {
  const keys = transaction.length > 1 ? new Set<string>() : undefined;
  for (const operation of transaction) {
    if (!isEncodable(operation.key)) return new StoreError('a key must be well-formed Unicode');
    if (keys?.has(operation.key))
      return new StoreError(`a transaction changes the key ${JSON.stringify(operation.key)} twice`);
    keys?.add(operation.key);
    if (
      operation.is === 'put' &&
      operation.gap !== undefined &&
      !(operation.gap >= 0 && operation.gap <= operation.value.length)
    ) {
      return new StoreError('the gap is outside of the value');
    }
  }
  return undefined;
}

function applyOperation(
  operation: StoreOperation,
  revision: number,
  index: KeyIndex,
  batch: Batch,
  values: ValueCodec,
  events: StoreEvent[],
): void {
  const { key } = operation;
  const newest = index.newest(key);
  const before = newest && newest.version > 0 ? { ...newest } : NO_VERSION;
  if (operation.is === 'delete' && before === NO_VERSION) return;
  const created = before === NO_VERSION ? revision : before.created;
  const version = operation.is === 'put' ? before.version + 1 : 0;
  const change: Change = { revision, index: events.length, key, created, version, before };
  const event = eventKey(revision, events.length);
  batch.put(event, encodeChange(event, change));
  const replaced = before === NO_VERSION ? undefined : before.modified;
  if (operation.is === 'put') {
    const stored = valueKey(key, revision);
    const record = valueRecord(operation.value, operation.gap, revision, created, version);
    batch.put(stored, withChecksum(stored, values.encode(key, record, VALUE_HEADER)));
    const newestKey = indexKey(key);
    batch.put(newestKey, encodeIndex(newestKey, revision, created, version));
    events.push({ type: 'put', key, revision, created, version, value: record.subarray(VALUE_HEADER), replaced });
  } else {
    batch.remove(indexKey(key));
    events.push({ type: 'delete', key, revision, created, version: before.version, replaced });
  }
  // At once, before the rows are durable: later transactions of the same group must see this version.
  index.add(key, revision, created, version);
}
