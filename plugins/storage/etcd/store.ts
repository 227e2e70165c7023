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
import { Compactor, compactEtcd } from './compactor.js';
import {
  Connection,
  type EtcdConfig,
  isOutOfRange,
  isRefusal,
  LIMIT_MS,
  mayBeSent,
  PAUSE_MS,
  pause,
} from './connection.js';
import { type KeyValue, Put, Range, type RangeResponse, Txn } from './protocol.js';
import { openRecord } from './record.js';
import { committed, happensOnce, malformed, outcome, request } from './transaction.js';
import { hasMark, Keys, newMark } from './values.js';
import { compactedRevision, watchOnce } from './watch.js';

/** Keys fetched by one call. */
const PAGE = 500;
/** How long the start waits for an etcd that is starting too. */
const START_MS = 15_000;
/** How long a health check waits (upstream's default). */
const CHECK_MS = 2000;
/** Later writes of a key that are looked behind for one whose answer was lost. */
const LOOK_BEHIND = 16;

/** A range request; without `range_end` of one key. */
interface Reading {
  readonly key: Buffer;
  readonly range_end?: Buffer;
  readonly limit?: number;
  readonly revision?: number;
  readonly keys_only?: boolean;
}

/**
 * Objects in etcd, shared with other servers. Transactions of a group that touch different keys are sent together, so
 * their revisions need not follow the group's order; those that share a key keep it. Other servers write too: the
 * events of all come by `watch` only.
 */
export class EtcdStore implements Storage {
  readonly name = 'etcd';
  readonly #connection: Connection;
  readonly #keys: Keys;
  readonly #config: EtcdConfig;
  #compacted = 0;
  #secret: Uint8Array = new Uint8Array();
  #compactor: Compactor | undefined;
  /**
   * The last transaction under way per key. No Map: what such a one has let go stays in memory for long
   * (docs/decisions/0005).
   */
  readonly #last: { [key: string]: Promise<unknown> } = Object.create(null);
  readonly #closed = new AbortController();

  constructor(config: EtcdConfig) {
    this.#config = config;
    // Every call under way listens to it.
    setMaxListeners(0, this.#closed.signal);
    this.#connection = new Connection(config);
    this.#keys = new Keys(config.prefix);
  }

  /** Connects; checks the format; learns what is compacted. */
  async start(): Promise<this> {
    try {
      this.#secret = await openRecord(this.#connection, this.#keys, this.#config.prefix, START_MS);
      this.#compacted = await this.#learnCompacted();
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
        (await this.#connection.persist(Put, { key: this.#keys.record, ignore_value: true }, this.#closed.signal))
          .header.revision,
    };
  }

  async revision(): Promise<number> {
    const request = { key: this.#keys.compaction, count_only: true };
    return (await this.#connection.persist(Range, request, this.#closed.signal)).header.revision;
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
      const wanted = Math.min(PAGE, limit - items.length);
      const response: RangeResponse = await this.#read(
        { ...this.#keys.range(prefix, after), limit: wanted, revision },
        options.signal,
      );
      revision ??= response.header.revision;
      for (const item of response.kvs) items.push(this.#keys.stored(item));
      const remaining = response.count - response.kvs.length;
      if (remaining <= 0 || items.length >= limit)
        return { revision, items, more: remaining > 0, remaining: Math.max(0, remaining) };
      after = items.at(-1)!.key;
    }
  }

  async get(key: string, revision?: number): Promise<Stored | undefined> {
    const { kvs } = await this.#read({ key: this.#keys.encode(key), revision });
    return kvs[0] && this.#keys.stored(kvs[0]);
  }

  commit(group: readonly Transaction[]): Promise<readonly Outcome[]> {
    return Promise.all(group.map(transaction => this.#inOrder(transaction)));
  }

  async watch(
    prefix: string,
    from: number | undefined,
    deliver: (events: readonly StoreEvent[], revision: number) => void,
    signal: AbortSignal,
    { previous = true }: { readonly previous?: boolean } = {},
  ): Promise<void> {
    const either = AbortSignal.any([signal, this.#closed.signal]);
    let position = from ?? (signal.aborted ? 0 : await this.revision());
    let delivered = 0;
    while (!either.aborted) {
      if (position < this.#compacted) throw new Compacted(this.#compacted);
      try {
        await watchOnce(this.#connection, this.#keys, { prefix, previous }, position, either, (events, revision) => {
          position = delivered = revision;
          deliver(events, revision);
        });
      } catch (error) {
        if (error instanceof Compacted) this.#compacted = Math.max(this.#compacted, error.compactedRevision);
        throw error;
      }
      if (either.aborted) break;
      this.#connection.rotate();
      await pause(PAUSE_MS);
      await this.#refuseLost(delivered);
    }
    if (!signal.aborted) throw new StoreError('the store is closed');
  }

  /**
   * A watch from a revision that etcd does not know any more would wait until it comes again, and miss all before it.
   */
  async #refuseLost(delivered: number): Promise<void> {
    const revision = await this.revision().catch(() => undefined);
    if (revision !== undefined && revision < delivered) throw lostData(revision, delivered);
  }

  async compact(revision: number): Promise<void> {
    if (revision <= this.#compacted) return;
    try {
      await compactEtcd(this.#connection, revision);
    } catch (error) {
      const current = await this.revision();
      if (revision > current) throw new FutureRevision(current);
      this.#compacted = await this.#learnCompacted();
      if (this.#compacted < revision) throw error;
    }
    this.#compacted = Math.max(this.#compacted, revision);
  }

  async check(): Promise<void> {
    const request = { key: this.#keys.compaction, count_only: true };
    await this.#connection.persist(
      Range,
      request,
      AbortSignal.any([this.#closed.signal, AbortSignal.timeout(CHECK_MS)]),
    );
  }

  async close(): Promise<void> {
    this.#compactor?.close();
    this.#closed.abort(new StoreError('the store is closed'));
    await Promise.allSettled(Object.values(this.#last));
    this.#connection.close();
  }

  async #read(request: Reading, signal: AbortSignal = this.#closed.signal): Promise<RangeResponse> {
    const { revision } = request;
    if (revision !== undefined && revision < this.#compacted) throw new Compacted(this.#compacted);
    try {
      return await this.#connection.persist(Range, request, signal);
    } catch (error) {
      if (!isOutOfRange(error)) throw error;
      const current = await this.revision();
      if (revision !== undefined && revision > current) throw new FutureRevision(current);
      this.#compacted = await this.#learnCompacted();
      throw new Compacted(this.#compacted);
    }
  }

  /** Asks a watch what is compacted; as it may be cut, several times. */
  async #learnCompacted(): Promise<number> {
    const until = performance.now() + LIMIT_MS;
    for (;;) {
      try {
        return await compactedRevision(this.#connection, this.#keys);
      } catch (error) {
        if (error instanceof StoreError || this.#closed.signal.aborted) throw error;
        if (performance.now() > until) throw this.#connection.unavailable(error as Error);
      }
      await pause(PAUSE_MS);
    }
  }

  /** Sends a transaction after those before it that share a key with it. */
  #inOrder(transaction: Transaction): Promise<Outcome> {
    const earlier = transaction.flatMap(({ key }) => this.#last[key] ?? []);
    // Counted from here, so that those behind a write that etcd does not answer are given up with it, not each after
    // its own time.
    const until = performance.now() + LIMIT_MS;
    const send = () => this.#send(transaction, until);
    const sent = earlier.length === 0 ? send() : Promise.all(earlier).then(send);
    for (const { key } of transaction) this.#last[key] = sent;
    return sent.finally(() => {
      for (const { key } of transaction) if (this.#last[key] === sent) delete this.#last[key];
    });
  }

  /**
   * Sends a transaction until etcd answers, or it is too late. Where an answer was lost, a transaction that cannot take
   * place twice is sent again, and its failure then may mean that it took place; any other is looked for.
   */
  async #send(transaction: Transaction, until: number): Promise<Outcome> {
    const wrong = this.#closed.signal.aborted ? new StoreError('the store is closed') : malformed(transaction);
    if (wrong) return { is: 'error', error: wrong };
    const mark = newMark();
    const once = happensOnce(transaction);
    let lost: Error | undefined;
    if (performance.now() > until)
      return { is: 'error', error: this.#connection.unavailable(new Error('writes of the same key wait for it')) };
    for (;;) {
      let failed: Error;
      try {
        if (lost && !once) return (await this.#lookFor(transaction, mark)) ?? { is: 'error', error: unknown(lost) };
        const response = await this.#connection.call(Txn, request(transaction, this.#keys, mark));
        const found = outcome(transaction, response, this.#keys);
        if (!lost || found.is !== 'failed') return found;
        return (await this.#lookFor(transaction, mark)) ?? gone(transaction, found) ?? found;
      } catch (error) {
        if (isRefusal(error) || error instanceof StoreError) return { is: 'error', error: error as Error };
        failed = error as Error;
        if (mayBeSent(error)) lost = failed;
      }
      if (performance.now() > until || this.#closed.signal.aborted)
        return { is: 'error', error: failed instanceof Unavailable ? failed : this.#connection.unavailable(failed) };
      await pause(PAUSE_MS);
    }
  }

  /**
   * The outcome of a transaction whose answer was lost, by the mark on a value it wrote; undefined if none of the last
   * writes of that key has it.
   */
  async #lookFor(transaction: Transaction, mark: Buffer): Promise<Outcome | undefined> {
    const put = transaction.find(operation => operation.is === 'put');
    if (!put) return undefined;
    const key = this.#keys.encode(put.key);
    let revision: number | undefined;
    for (let i = 0; i < LOOK_BEHIND; i++) {
      const value = await this.#before(key, revision);
      if (!value) return undefined;
      if (hasMark(value.value, mark)) {
        const at = value.mod_revision;
        const before = transaction.map(operation => this.#before(this.#keys.encode(operation.key), at - 1));
        return committed(transaction, at, await Promise.all(before));
      }
      revision = value.mod_revision - 1;
    }
    return undefined;
  }

  /** The value of a key at a revision; undefined also where its history is gone. */
  async #before(key: Buffer, revision: number | undefined): Promise<KeyValue | undefined> {
    if (revision === 0) return undefined;
    try {
      return (await this.#read({ key, revision })).kvs[0];
    } catch (error) {
      if (error instanceof Compacted) return undefined;
      throw error;
    }
  }
}

const unknown = (lost: Error): Unavailable =>
  new Unavailable(`the answer of etcd to a write was lost: ${lost.message}`);

/** A deletion whose answer was lost, and whose object is gone: it is what was asked for, whoever did it. */
function gone(transaction: Transaction, found: Outcome & { is: 'failed' }): Outcome | undefined {
  const [only] = transaction;
  if (transaction.length > 1 || only?.is !== 'delete' || found.current) return undefined;
  return { is: 'committed', revision: found.revision ?? 0, events: [] };
}
