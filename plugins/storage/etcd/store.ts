import type { ServiceError } from '@grpc/grpc-js';
import {
  Compacted,
  FutureRevision,
  type Outcome,
  type Page,
  type Storage,
  type Stored,
  StoreError,
  type StoreEvent,
  type Transaction,
} from '../../../core/api/index.js';
import { Connection, type EtcdConfig, OUT_OF_RANGE } from './connection.js';
import { Compact, type KeyValue, Range, type RangeResponse, Txn } from './protocol.js';
import { malformed, outcome, request } from './transaction.js';
import { hasMark, Keys, newMark } from './values.js';
import { compactedRevision, watchOnce } from './watch.js';

/** Keys fetched by one call. */
const PAGE = 500;
/** Pause before a watch that was cut, or the reading after a cut transaction, is tried again. */
const RETRY_MS = 200;
/** Times a server is asked what became of a cut transaction: longer than a new leader takes. */
const RESOLVE_TRIES = 20;

/** A range request; without `range_end` of one key. */
interface Reading {
  readonly key: Buffer;
  readonly range_end?: Buffer;
  readonly limit?: number;
  readonly revision?: number;
}

/**
 * Objects in etcd, shared with other servers. Transactions of a group that touch different keys are sent together, so their revisions need not follow the
 * group's order; those that share a key keep it. Other servers write too: the events of all come by `watch` only.
 */
export class EtcdStore implements Storage {
  readonly name = 'etcd';
  readonly #connection: Connection;
  readonly #keys: Keys;
  #compacted = 0;
  /** The last transaction under way per key. */
  readonly #last = new Map<string, Promise<unknown>>();
  readonly #closed = new AbortController();

  constructor(config: EtcdConfig) {
    this.#connection = new Connection(config);
    this.#keys = new Keys(config.prefix);
  }

  /** Connects; learns what is compacted. */
  async start(): Promise<this> {
    await this.revision();
    this.#compacted = await compactedRevision(this.#connection, this.#keys.encode(''));
    return this;
  }

  async revision(): Promise<number> {
    const response = await this.#connection.call(Range, { key: this.#keys.encode('\0'), count_only: true });
    return response.header.revision;
  }

  compactedRevision(): number {
    return this.#compacted;
  }

  async range(
    prefix: string,
    options: { readonly revision?: number; readonly limit?: number; readonly after?: string; readonly signal?: AbortSignal } = {},
  ): Promise<Page> {
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
  ): Promise<void> {
    const either = AbortSignal.any([signal, this.#closed.signal]);
    let position = from ?? (signal.aborted ? 0 : await this.revision());
    while (!either.aborted) {
      if (position < this.#compacted) throw new Compacted(this.#compacted);
      try {
        await watchOnce(this.#connection, this.#keys, prefix, position, either, (events, revision) => {
          position = revision;
          deliver(events, revision);
        });
      } catch (error) {
        if (!(error instanceof Compacted)) throw error;
        this.#compacted = Math.max(this.#compacted, error.compactedRevision);
        throw error;
      }
      if (either.aborted) break;
      this.#connection.rotate();
      await new Promise(resolve => setTimeout(resolve, RETRY_MS));
    }
    if (!signal.aborted) throw new StoreError('the store is closed');
  }

  async compact(revision: number): Promise<void> {
    if (revision <= this.#compacted) return;
    try {
      await this.#connection.call(Compact, { revision, physical: true });
    } catch (error) {
      const current = await this.revision();
      if (revision > current) throw new FutureRevision(current);
      this.#compacted = await compactedRevision(this.#connection, this.#keys.encode(''));
      if (this.#compacted < revision) throw error;
    }
    this.#compacted = Math.max(this.#compacted, revision);
  }

  async check(): Promise<void> {
    await this.revision();
  }

  async close(): Promise<void> {
    this.#closed.abort();
    await Promise.allSettled(this.#last.values());
    this.#connection.close();
  }

  async #read(request: Reading, signal?: AbortSignal): Promise<RangeResponse> {
    const { revision } = request;
    if (revision !== undefined && revision < this.#compacted) throw new Compacted(this.#compacted);
    try {
      return await this.#connection.call(Range, request, signal);
    } catch (error) {
      if ((error as ServiceError).code !== OUT_OF_RANGE) throw error;
      const current = await this.revision();
      if (revision !== undefined && revision > current) throw new FutureRevision(current);
      this.#compacted = await compactedRevision(this.#connection, this.#keys.encode(''));
      throw new Compacted(this.#compacted);
    }
  }

  /** Sends a transaction after those before it that share a key with it. */
  #inOrder(transaction: Transaction): Promise<Outcome> {
    const earlier = transaction.flatMap(({ key }) => this.#last.get(key) ?? []);
    const sent = Promise.all(earlier).then(() => this.#send(transaction));
    for (const { key } of transaction) this.#last.set(key, sent);
    return sent.finally(() => {
      for (const { key } of transaction) if (this.#last.get(key) === sent) this.#last.delete(key);
    });
  }

  async #send(transaction: Transaction): Promise<Outcome> {
    const wrong = this.#closed.signal.aborted ? new StoreError('the store is closed') : malformed(transaction);
    if (wrong) return { is: 'error', error: wrong };
    const mark = newMark();
    try {
      const response = await this.#connection.call(Txn, request(transaction, this.#keys, mark));
      return outcome(transaction, response, this.#keys, mark);
    } catch (error) {
      return this.#resolve(transaction, mark, error as Error);
    }
  }

  /** Asks until a server answers; reading again is harmless. */
  async #resolve(transaction: Transaction, mark: Buffer, error: Error): Promise<Outcome> {
    for (let i = 0; i < RESOLVE_TRIES && !this.#closed.signal.aborted; i++) {
      try {
        return await this.#lookFor(transaction, mark, error);
      } catch {
        await new Promise(resolve => setTimeout(resolve, RETRY_MS));
      }
    }
    return { is: 'error', error };
  }

  /** A cut transaction may have taken place: its mark on a value it wrote tells. Where that is overwritten or there is none, it stays unknown. */
  async #lookFor(transaction: Transaction, mark: Buffer, error: Error): Promise<Outcome> {
    const put = transaction.find(operation => operation.is === 'put');
    const { kvs } = put ? await this.#read({ key: this.#keys.encode(put.key) }) : { kvs: [] as KeyValue[] };
    if (!kvs[0] || !hasMark(kvs[0].value, mark)) return { is: 'error', error };
    const revision = kvs[0].mod_revision;
    const responses = await Promise.all(
      transaction.map(async operation => {
        const [before] = (await this.#read({ key: this.#keys.encode(operation.key), revision: revision - 1 })).kvs;
        if (operation.is === 'put') return { put: { prev_kv: before } };
        return { remove: { deleted: before ? 1 : 0, prev_kvs: before ? [before] : [] } };
      }),
    );
    return outcome(transaction, { header: { revision }, succeeded: true, responses }, this.#keys, mark);
  }
}
