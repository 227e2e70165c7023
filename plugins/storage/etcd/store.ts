import { setMaxListeners } from 'node:events';
import {
  Compacted,
  FutureRevision,
  lostData,
  type Outcome,
  type Page,
  type RangeOptions,
  type Shared,
  type Storage,
  type Stored,
  StoreError,
  type StoreEvent,
  type Transaction,
  Unavailable,
} from '../../../core/api/index.js';
import { monotonicTime } from '../../../core/runtime/clock.js';
import { delay, timeoutSignal } from '../../../core/runtime/timers.js';
import { Compactor } from './compactor.js';
import {
  Connection,
  type EtcdConfig,
  isOutOfRange,
  isRejected,
  RETRY_LIMIT_MS,
  mayHaveHadEffect,
  PAUSE_MS,
} from './connection.js';
import { Compact, type KeyValue, Put, Range, type RangeResponse, Txn } from './protocol.js';
import { openRecord } from './record.js';
import {
  isRepeatable,
  rejectedError,
  toCommitted,
  toOutcome,
  toTxnRequest,
  validateTransaction,
} from './transaction.js';
import { PLAIN_VALUES, type ValueCodec } from '../values.js';
import { Encoding, hasTransactionId, type Keys, newTransactionId } from './values.js';
import { fetchCompactedRevision, watchOnce } from './watch.js';

/** Keys read by one call. */
const PAGE_SIZE = 500;
/** How long the start waits for etcd, which may be starting too. */
const START_MS = 15_000;
/** Timeout of health checks in milliseconds; upstream has the same. */
const CHECK_MS = 2000;
/** How many later writes of a key are skipped in the search for a write whose response was lost. */
const MAX_LATER_WRITES = 16;

/** A range request; without `range_end`, for a single key. */
interface ReadRequest {
  readonly key: Buffer;
  readonly range_end?: Buffer;
  readonly limit?: number;
  readonly revision?: number;
  readonly keys_only?: boolean;
}

/**
 * Objects in etcd, shared with other servers. Transactions of a group with different keys are sent concurrently, so
 * their revisions may be in another order; transactions with a common key keep their order. Since other servers write
 * too, all events are delivered by `watch`.
 */
export class EtcdStore implements Storage {
  readonly name = 'etcd';
  readonly #connection: Connection;
  readonly #encoding: Encoding;
  readonly #keys: Keys;
  readonly #config: EtcdConfig;
  #compacted = 0;
  #secret: Uint8Array = new Uint8Array();
  #compactor: Compactor | undefined;
  /**
   * The last transaction in flight per key. An object and not a Map, because Maps keep deleted entries in memory for a
   * long time (docs/decisions/0005-costs-of-requests.md).
   */
  readonly #lastWrite: { [key: string]: Promise<unknown> } = Object.create(null);
  readonly #closed = new AbortController();

  constructor(
    config: EtcdConfig,
    /** Called with messages for administrators about a store of an earlier release. */
    readonly notice: (message: string) => void = () => {},
    /** How values are stored; default: as they are. */
    values: ValueCodec = PLAIN_VALUES,
  ) {
    this.#config = config;
    // Every call in flight adds a listener.
    setMaxListeners(0, this.#closed.signal);
    this.#connection = new Connection(config);
    this.#encoding = new Encoding(config.prefix, values);
    this.#keys = this.#encoding.keys;
  }

  /** Connects, checks the format, and reads the compacted revision. Throws StoreError. */
  async start(): Promise<this> {
    try {
      this.#secret = await openRecord(this.#connection, this.#keys, this.#config.prefix, START_MS, this.notice);
      this.#compacted = await this.#fetchCompacted();
    } catch (error) {
      this.#connection.close();
      throw error instanceof StoreError ? error : new StoreError((error as Error).message);
    }
    const { compactionInterval } = this.#config;
    if (compactionInterval)
      this.#compactor = new Compactor(this.#connection, this.#keys, compactionInterval, revision =>
        this.compact(revision),
      );
    return this;
  }

  get shared(): Shared {
    return {
      secret: this.#secret,
      mark: async () =>
        (await this.#connection.callWithRetry(Put, { key: this.#keys.record, ignore_value: true }, this.#closed.signal))
          .header.revision,
    };
  }

  async revision(): Promise<number> {
    const request = { key: this.#keys.compaction, count_only: true };
    return (await this.#connection.callWithRetry(Range, request, this.#closed.signal)).header.revision;
  }

  compactedRevision(): number {
    return this.#compacted;
  }

  async range(prefix: string, options: RangeOptions = {}): Promise<Page> {
    options.signal?.throwIfAborted();
    const limit = options.limit || Number.POSITIVE_INFINITY;
    const items: Stored[] = [];
    let { revision, after } = options;
    for (;;) {
      const wanted = Math.min(PAGE_SIZE, limit - items.length);
      const response: RangeResponse = await this.#read(
        { ...this.#keys.range(prefix, after), limit: wanted, revision },
        options.signal,
      );
      revision ??= response.header.revision;
      await this.#encoding.prepare(response.kvs);
      for (const item of response.kvs) items.push(this.#encoding.toStored(item));
      const remaining = response.count - response.kvs.length;
      if (remaining <= 0 || items.length >= limit)
        return { revision, items, more: remaining > 0, remaining: Math.max(0, remaining) };
      after = items.at(-1)!.key;
    }
  }

  async get(key: string, revision?: number): Promise<Stored | undefined> {
    const { kvs } = await this.#read({ key: this.#keys.encode(key), revision });
    await this.#encoding.prepare(kvs);
    return kvs[0] && this.#encoding.toStored(kvs[0]);
  }

  commit(group: readonly Transaction[]): Promise<readonly Outcome[]> {
    return Promise.all(group.map(transaction => this.#sendInOrder(transaction)));
  }

  async watch(
    prefix: string,
    from: number | undefined,
    deliver: (events: readonly StoreEvent[], revision: number) => void,
    signal: AbortSignal,
    { previous = true }: { readonly previous?: boolean } = {},
  ): Promise<void> {
    const closedOrAborted = AbortSignal.any([signal, this.#closed.signal]);
    let position = from ?? (signal.aborted ? 0 : await this.revision());
    let delivered = 0;
    while (!closedOrAborted.aborted) {
      if (position < this.#compacted) throw new Compacted(this.#compacted);
      try {
        await watchOnce(
          this.#connection,
          this.#encoding,
          { prefix, previous },
          position,
          closedOrAborted,
          (events, revision) => {
            position = delivered = revision;
            deliver(events, revision);
          },
        );
      } catch (error) {
        if (error instanceof Compacted) this.#compacted = Math.max(this.#compacted, error.compactedRevision);
        throw error;
      }
      if (closedOrAborted.aborted) break;
      this.#connection.rotate();
      await delay(PAUSE_MS);
      await this.#checkLostData(delivered);
    }
    if (!signal.aborted) throw new StoreError('the store is closed');
  }

  /**
   * Throws if etcd has a lower revision than was delivered, because it was restored from a backup: a watch from a
   * future revision would miss all events before it.
   */
  async #checkLostData(delivered: number): Promise<void> {
    const revision = await this.revision().catch(() => undefined);
    if (revision !== undefined && revision < delivered) throw lostData(revision, delivered);
  }

  async compact(revision: number): Promise<void> {
    if (revision <= this.#compacted) return;
    try {
      await this.#connection.call(Compact, { revision, physical: false });
    } catch (error) {
      const current = await this.revision();
      if (revision > current) throw new FutureRevision(current);
      this.#compacted = await this.#fetchCompacted();
      if (this.#compacted < revision) throw error;
    }
    this.#compacted = Math.max(this.#compacted, revision);
  }

  async check(): Promise<void> {
    const request = { key: this.#keys.compaction, count_only: true };
    await this.#connection.callWithRetry(
      Range,
      request,
      AbortSignal.any([this.#closed.signal, timeoutSignal(CHECK_MS)]),
    );
  }

  async close(): Promise<void> {
    this.#compactor?.close();
    this.#closed.abort(new StoreError('the store is closed'));
    await Promise.allSettled(Object.values(this.#lastWrite));
    this.#connection.close();
  }

  async #read(request: ReadRequest, signal: AbortSignal = this.#closed.signal): Promise<RangeResponse> {
    const { revision } = request;
    if (revision !== undefined && revision < this.#compacted) throw new Compacted(this.#compacted);
    try {
      return await this.#connection.callWithRetry(Range, request, signal);
    } catch (error) {
      if (!isOutOfRange(error)) throw error;
      const current = await this.revision();
      if (revision !== undefined && revision > current) throw new FutureRevision(current);
      this.#compacted = await this.#fetchCompacted();
      throw new Compacted(this.#compacted);
    }
  }

  /** Reads the compacted revision by a watch; retries if the connection is lost. */
  async #fetchCompacted(): Promise<number> {
    const until = monotonicTime() + RETRY_LIMIT_MS;
    for (;;) {
      try {
        return await fetchCompactedRevision(this.#connection, this.#keys);
      } catch (error) {
        if (error instanceof StoreError || this.#closed.signal.aborted) throw error;
        if (monotonicTime() > until) throw this.#connection.unavailable(error as Error);
      }
      await delay(PAUSE_MS);
    }
  }

  /** Sends a transaction after all earlier ones with a common key. */
  #sendInOrder(transaction: Transaction): Promise<Outcome> {
    const earlier = transaction.flatMap(({ key }) => this.#lastWrite[key] ?? []);
    // The time limit includes the wait for earlier transactions, so that all fail together if etcd does not respond.
    const until = monotonicTime() + RETRY_LIMIT_MS;
    const send = () => this.#send(transaction, until);
    const sent = earlier.length === 0 ? send() : Promise.all(earlier).then(send);
    for (const { key } of transaction) this.#lastWrite[key] = sent;
    return sent.finally(() => {
      for (const { key } of transaction) if (this.#lastWrite[key] === sent) delete this.#lastWrite[key];
    });
  }

  /**
   * Sends a transaction until etcd responds or the time limit is reached. If a response is lost, a transaction that
   * cannot be applied twice is sent again; if it then fails, it may have been applied before. For other transactions
   * the store is searched for their id. If it is not found, the result is unknown.
   */
  async #send(transaction: Transaction, until: number): Promise<Outcome> {
    const invalid = this.#closed.signal.aborted
      ? new StoreError('the store is closed')
      : validateTransaction(transaction);
    if (invalid) return { is: 'error', error: invalid };
    const transactionId = newTransactionId();
    const repeatable = isRepeatable(transaction);
    let lost: Error | undefined;
    if (monotonicTime() > until)
      return {
        is: 'error',
        error: this.#connection.unavailable(new Error('an earlier write of the same key timed out')),
      };
    for (;;) {
      let failed: Error;
      try {
        if (lost && !repeatable)
          return (
            (await this.#findCommitted(transaction, transactionId)) ?? { is: 'error', error: lostResponseError(lost) }
          );
        const response = await this.#connection.call(Txn, toTxnRequest(transaction, this.#encoding, transactionId));
        const found = toOutcome(transaction, response, this.#encoding);
        if (!lost || found.is !== 'failed') return found;
        return (await this.#findCommitted(transaction, transactionId)) ?? acceptDeleted(transaction, found) ?? found;
      } catch (error) {
        if (isRejected(error) || error instanceof StoreError)
          return { is: 'error', error: lost ? lostResponseError(lost) : rejectedError(error as Error, transaction) };
        failed = error as Error;
        if (mayHaveHadEffect(error)) lost = failed;
      }
      if (monotonicTime() > until || this.#closed.signal.aborted)
        return { is: 'error', error: failed instanceof Unavailable ? failed : this.#connection.unavailable(failed) };
      await delay(PAUSE_MS);
    }
  }

  /**
   * Searches the last writes of a key for the id of a transaction whose response was lost. Returns its outcome, or
   * undefined if it is not found. After too many later writes, it is unknown whether it was committed.
   */
  async #findCommitted(transaction: Transaction, transactionId: Buffer): Promise<Outcome | undefined> {
    const put = transaction.find(operation => operation.is === 'put');
    if (!put) return undefined;
    const key = this.#keys.encode(put.key);
    let revision: number | undefined;
    for (let i = 0; i < MAX_LATER_WRITES; i++) {
      const value = await this.#valueAt(key, revision);
      // A transaction is not older than the version that it expects.
      if (!value || value.mod_revision <= (put.expect ?? 0)) return undefined;
      if (hasTransactionId(value.value, transactionId)) {
        const at = value.mod_revision;
        const before = transaction.map(operation => this.#valueAt(this.#keys.encode(operation.key), at - 1));
        return toCommitted(transaction, at, await Promise.all(before));
      }
      revision = value.mod_revision - 1;
    }
    return {
      is: 'error',
      error: new Unavailable('the response of etcd to a write was lost, and others have followed'),
    };
  }

  /** The value of a key at a revision; undefined if it does not exist or the revision is compacted. */
  async #valueAt(key: Buffer, revision: number | undefined): Promise<KeyValue | undefined> {
    if (revision === 0) return undefined;
    try {
      return (await this.#read({ key, revision })).kvs[0];
    } catch (error) {
      if (error instanceof Compacted) return undefined;
      throw error;
    }
  }
}

const lostResponseError = (lost: Error): Unavailable =>
  new Unavailable(`the response of etcd to a write was lost: ${lost.message}`);

/** Treats a failed deletion as committed if the object no longer exists and an earlier response was lost. */
function acceptDeleted(transaction: Transaction, found: Outcome & { is: 'failed' }): Outcome | undefined {
  const [only] = transaction;
  if (transaction.length > 1 || only?.is !== 'delete' || found.current) return undefined;
  return { is: 'committed', revision: found.revision ?? 0, events: [] };
}
