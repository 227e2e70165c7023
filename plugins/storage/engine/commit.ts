import type { Outcome, StoreEvent, StoreOperation, Transaction } from '../../../core/api/index.js';
import { StoreError } from '../../../core/api/index.js';
import { isEncodable, type KeyIndex, type Version } from './key-index.js';
import {
  type Batch,
  type Change,
  encodeChange,
  encodeIndex,
  encodeValue,
  eventKey,
  indexKey,
  VALUE_HEADER,
  valueKey,
} from './records.js';

/**
 * An outcome of a transaction that still waits for its sync. `current` names the version a failed expectation met; its
 * value is read later.
 */
export type Judged =
  | Outcome
  | { readonly is: 'refused'; readonly index: number; readonly key: string; readonly current?: Version };

const NONE = { modified: 0, created: 0, version: 0 };

/**
 * Judges one transaction against the newest state, written or not, and if it holds puts its rows into `batch` and its
 * versions into `index`.
 * `revision` is what it gets if it changes anything.
 */
export function judge(transaction: Transaction, revision: number, index: KeyIndex, batch: Batch): Judged {
  const wrong = malformed(transaction);
  if (wrong) return { is: 'error', error: wrong };
  for (let i = 0; i < transaction.length; i++) {
    const { key, expect } = transaction[i]!;
    if (expect === undefined) continue;
    const newest = index.newest(key);
    const current = newest && newest.version > 0 ? newest : undefined;
    if ((current?.modified ?? 0) !== expect)
      return { is: 'refused', index: i, key, current: current && { ...current } };
  }
  const events: StoreEvent[] = [];
  for (const operation of transaction) apply(operation, revision, index, batch, events);
  return { is: 'committed', revision: events.length > 0 ? revision : revision - 1, events };
}

/** Two operations on one key have no order within a revision; keys and gaps must be what they claim. */
function malformed(transaction: Transaction): Error | undefined {
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
      return new StoreError('the gap lies outside of the value');
    }
  }
  return undefined;
}

function apply(operation: StoreOperation, revision: number, index: KeyIndex, batch: Batch, events: StoreEvent[]): void {
  const { key } = operation;
  const newest = index.newest(key);
  const before = newest && newest.version > 0 ? { ...newest } : NONE;
  if (operation.is === 'delete' && before === NONE) return;
  const created = before === NONE ? revision : before.created;
  const version = operation.is === 'put' ? before.version + 1 : 0;
  const change: Change = { revision, index: events.length, key, created, version, before };
  const event = eventKey(revision, events.length);
  batch.put(event, encodeChange(event, change));
  const replaced = before === NONE ? undefined : before.modified;
  if (operation.is === 'put') {
    const stored = valueKey(key, revision);
    const row = encodeValue(stored, operation.value, operation.gap, revision, created, version);
    batch.put(stored, row);
    const newestKey = indexKey(key);
    batch.put(newestKey, encodeIndex(newestKey, revision, created, version));
    events.push({ type: 'put', key, revision, created, version, value: row.subarray(VALUE_HEADER), replaced });
  } else {
    batch.remove(indexKey(key));
    events.push({ type: 'delete', key, revision, created, version: before.version, replaced });
  }
  index.add(key, revision, created, version);
}
