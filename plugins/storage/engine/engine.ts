import {
  Compacted,
  FutureRevision,
  type Outcome,
  type Page,
  type RangeOptions,
  type Storage,
  type Stored,
  StoreError,
  type StoreEvent,
  type Transaction,
} from '../../../core/api/index.js';
import { clearInterval, delay, setInterval } from '../../../core/runtime/timers.js';
import { PLAIN_VALUES, readValue, type ValueCodec } from '../values.js';
import { type Prepared, prepareTransaction } from './commit.js';
import { compactStep } from './compact.js';
import type { KeyVersion, KeyIndex } from './keyIndex.js';
import {
  type Batch,
  encodeState,
  isValueKey,
  metaKey,
  type Records,
  VALUE_HEADER,
  valueKey,
  verifyChecksum,
  writeRevision,
} from './records.js';
import { Tail } from './tail.js';
import { partsOf, readChanges } from './watch.js';

/** The state of a store when it is opened. */
export interface StoreState {
  readonly index: KeyIndex;
  readonly revision: number;
  readonly compacted: number;
  /** Whether there may be records below `compacted` that an interrupted compaction has not removed. */
  readonly compactionIncomplete: boolean;
}

/** Options of an engine. */
export interface EngineOptions {
  readonly historyMs: number;
  readonly now: () => number;
  /** How values are stored; default: as they are. */
  readonly values?: ValueCodec | undefined;
  /** Called when a revision has become durable. */
  readonly onDurable?: (revision: number) => void;
  /** Called before the records are closed. */
  readonly beforeClose?: () => Promise<void>;
  /** Called after the records were closed, even if that failed. */
  readonly afterClose?: () => Promise<void>;
}

/** Values read at once: about half a megabyte of typical objects. */
const READ_CHUNK = 128;
/** Reads that run at the same time, so that values are read while others are processed. */
const READS_AHEAD = 3;
/**
 * From this many values on, a range is read in one scan, if at most half of its entries are other versions. That
 * takes two thirds of the time of looking up each key, and less memory.
 */
const SCANNED = 64;
/** Events delivered at once, unless they have this many bytes before. */
const WATCH_CHUNK = 256;
const WATCH_BYTES = 256 * 1024;
/** Events whose values are read at once. */
const WATCH_READ = 32;
/** The number of times that the revision is recorded per `historyMs`, for compaction by time. */
const HISTORY_SAMPLES = 10;
/** The longest delay of a Node.js timer. */
const MAX_TIMER_MS = 2 ** 31 - 1;
/** Pause between two steps of a compaction, which leaves at least a third of the time to commits. */
const STEP_PAUSE_MS = 1;

/** Transactions prepared while another write is running. They are written together after it. */
interface PendingGroup {
  readonly batch: Batch;
  rows: boolean;
  readonly replies: { readonly prepared: readonly Prepared[]; readonly resolve: (outcomes: Outcome[]) => void }[];
}

/**
 * The engine of the embedded stores: an index of versions in memory over ordered records. A transaction is checked
 * against the newest state when it arrives. Reads see durable data only, because they use the index at the durable
 * revision. After a failed write all further ones fail: only reopening the store shows which writes have reached the
 * disk.
 */
export class Engine implements Storage {
  readonly #index: KeyIndex;
  readonly #values: ValueCodec;
  readonly #tail: Tail;
  /** The last assigned revision. */
  #assigned: number;
  /** The last durable revision. */
  #durable: number;
  #compacted: number;
  /** The revision up to which compacted records have been removed. */
  #removed: number;
  #pending: PendingGroup | undefined;
  #writing: Promise<void> | undefined;
  #failure: Error | undefined;
  #resolveFailed: (error: Error) => void = () => {};
  readonly failed = new Promise<Error>(resolve => (this.#resolveFailed = resolve));
  #closed: Promise<void> | undefined;
  #compacting: Promise<void> = Promise.resolve();
  readonly #waiters = new Set<() => void>();
  /** The number of active watches. */
  #activeWatches = 0;
  /** Active reads with the revision they read. Compaction waits for those below its revision. */
  readonly #activeReads = new Map<Promise<unknown>, number>();
  readonly #samples: { readonly at: number; readonly revision: number }[] = [];
  readonly #timer: NodeJS.Timeout;

  constructor(
    readonly name: string,
    readonly records: Records,
    opened: StoreState,
    readonly options: EngineOptions,
  ) {
    this.#index = opened.index;
    this.#values = options.values ?? PLAIN_VALUES;
    this.#assigned = this.#durable = opened.revision;
    this.#compacted = opened.compacted;
    this.#removed = opened.compactionIncomplete ? 0 : opened.compacted;
    this.#tail = new Tail(opened.revision);
    void records.failed?.then(error => this.#fail(error));
    if (opened.compactionIncomplete) this.#compacting = this.#removeUpTo(opened.compacted);
    this.#timer = setInterval(
      () => void this.expireHistory().catch(() => {}),
      Math.min(Math.max(100, options.historyMs / HISTORY_SAMPLES), MAX_TIMER_MS),
    );
    this.#timer.unref();
  }

  async revision(): Promise<number> {
    return this.#durable;
  }

  compactedRevision(): number {
    return this.#compacted;
  }

  async range(prefix: string, options: RangeOptions = {}): Promise<Page> {
    options.signal?.throwIfAborted();
    const revision = this.#checkRevision(options.revision);
    const limit = options.limit || Number.POSITIVE_INFINITY;
    const { found, remaining, passed } = this.#index.range(prefix, options.after, revision, limit, options.counted);
    const isScanned = found.length >= SCANNED && passed <= found.length * 2;
    const reading = isScanned ? this.#scanValues(found, options.signal) : this.#readValues(found, options.signal);
    const items = await this.#trackRead(revision, reading);
    return { revision, items, more: remaining > 0, remaining };
  }

  async get(key: string, revision?: number): Promise<Stored | undefined> {
    const version = this.#index.at(key, this.#checkRevision(revision));
    if (!version) return undefined;
    const [stored] = await this.#trackRead(
      revision ?? this.#durable,
      this.#readValues([{ key, ...versionFields(version) }]),
    );
    return stored;
  }

  commit(group: readonly Transaction[]): Promise<readonly Outcome[]> {
    const failure = this.#failure ?? (this.#closed && new StoreError('the store is closed'));
    if (failure) return Promise.resolve(group.map(() => ({ is: 'error', error: failure })));
    const pending = (this.#pending ??= { batch: this.records.batch(), rows: false, replies: [] });
    const prepared = group.map(transaction => {
      const result = prepareTransaction(transaction, this.#assigned + 1, this.#index, pending.batch, this.#values);
      if (result.is === 'committed' && result.events.length > 0) {
        this.#assigned = result.revision;
        pending.rows = true;
      }
      return result;
    });
    return new Promise(resolve => {
      pending.replies.push({ prepared, resolve });
      this.#writing ??= this.#write();
    });
  }

  async watch(
    prefix: string,
    from: number | undefined,
    deliver: (events: readonly StoreEvent[], revision: number) => void,
    signal: AbortSignal,
  ): Promise<void> {
    this.#activeWatches++;
    try {
      await this.#follow(prefix, from ?? this.#durable, deliver, signal);
    } finally {
      this.#activeWatches--;
    }
  }

  async #follow(
    prefix: string,
    from: number,
    deliver: (events: readonly StoreEvent[], revision: number) => void,
    signal: AbortSignal,
  ): Promise<void> {
    let position = from;
    let reported = -1;
    while (!signal.aborted) {
      if (position < this.#compacted) throw new Compacted(this.#compacted);
      if (this.#closed) throw new StoreError('the store is closed');
      if (position < this.#durable) {
        const chunk = await this.#trackRead(position, this.#readEvents(prefix, position));
        if (signal.aborted) return;
        position = chunk.revision;
        if (chunk.events.length > 0) deliver(chunk.events, (reported = position));
        continue;
      }
      if (reported < position && position <= this.#durable) deliver([], (reported = position));
      await this.#nextChange(signal);
    }
  }

  compact(revision: number): Promise<void> {
    if (revision > this.#durable) return Promise.reject(new FutureRevision(this.#durable));
    this.#compacting = this.#compacting
      .catch(() => {})
      .then(async () => {
        if (revision <= this.#compacted || this.#closed) return;
        const value = Buffer.alloc(8);
        writeRevision(value, revision, 0);
        const batch = this.records.batch();
        batch.put(metaKey('compacted'), value);
        // No sync is needed: a crash that loses this row also loses the removals that follow it.
        await batch.write(false).catch(error => this.#fail(error as Error));
        if (this.#failure) throw this.#failure;
        this.#compacted = revision;
        this.#wakeWaiters();
        await this.#removeUpTo(revision);
      });
    return this.#compacting;
  }

  /** Compacts history older than `historyMs`. Called by a timer, and by tests with a fake clock. */
  async expireHistory(): Promise<void> {
    const now = this.options.now();
    this.#samples.push({ at: now, revision: this.#durable });
    let expired: number | undefined;
    while (this.#samples[0]!.at <= now - this.options.historyMs) expired = this.#samples.shift()!.revision;
    if (expired !== undefined && expired > this.#compacted) await this.compact(expired);
  }

  async check(): Promise<void> {
    if (this.#failure) throw this.#failure;
    const [format] = await this.records.getMany([metaKey('format')]);
    if (!format) throw new StoreError('the store has lost its format record');
  }

  close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  async #close(): Promise<void> {
    clearInterval(this.#timer);
    this.#wakeWaiters();
    await this.#writing;
    await this.#compacting.catch(() => {});
    await Promise.allSettled([...this.#activeReads.keys()]);
    try {
      await this.options.beforeClose?.();
    } catch (error) {
      // After a failed write, which was reported, further failures are expected.
      if (!this.#failure) throw error;
    } finally {
      await this.records.close().finally(() => this.options.afterClose?.());
    }
  }

  /** Writes pending transactions, including those added meanwhile, until there are none. */
  async #write(): Promise<void> {
    while (this.#pending) {
      // Waits until all callers of this turn of the event loop have added their transactions.
      await new Promise<void>(resolve => process.nextTick(resolve));
      const { batch, rows, replies } = this.#pending;
      this.#pending = undefined;
      const revision = this.#assigned;
      const { totals } = this.#index;
      try {
        if (this.#failure) throw this.#failure;
        if (rows) {
          batch.put(metaKey('state'), encodeState({ revision, ...totals }));
          await batch.write(true);
        }
      } catch (error) {
        this.#fail(error as Error);
        for (const { prepared, resolve } of replies)
          resolve(prepared.map(() => ({ is: 'error', error: this.#failure! })));
        continue;
      }
      this.#durable = revision;
      await this.#publish(replies);
    }
    this.#writing = undefined;
  }

  /** Makes all further writes fail: no row may follow one that may have been written partially. */
  #fail(error: Error): void {
    if (this.#failure) return;
    this.#failure = new StoreError(`the store failed and must be opened again: ${error.message}`);
    this.#resolveFailed(this.#failure);
  }

  /**
   * Publishes events, then resolves the replies in the order of the commits. The writer forwards the events of a commit
   * with its reply, so the order is kept even while the current value of a conflict is read.
   */
  async #publish(replies: PendingGroup['replies']): Promise<void> {
    // Without watches no events are kept. A server gets the events of its own commits from their outcomes.
    if (this.#activeWatches === 0) this.#tail.reset(this.#durable);
    else
      for (const { prepared } of replies)
        for (const result of prepared) if (result.is === 'committed') this.#tail.push(result.events);
    this.options.onDurable?.(this.#durable);
    this.#wakeWaiters();
    for (const { prepared, resolve } of replies) {
      if (prepared.every(result => result.is !== 'conflict')) resolve(prepared as Outcome[]);
      else resolve(await this.#trackRead(0, Promise.all(prepared.map(result => this.#toOutcome(result)))));
    }
  }

  async #toOutcome(prepared: Prepared): Promise<Outcome> {
    if (prepared.is !== 'conflict') return prepared;
    const { index, key, current } = prepared;
    if (!current) return { is: 'failed', index };
    try {
      const [stored] = await this.#readValues([{ key, ...current }]);
      return { is: 'failed', index, current: stored };
    } catch (error) {
      return { is: 'error', error: error as Error };
    }
  }

  /** Reads values in the order of their rows by a scan. Values that it does not find are looked up. */
  async #scanValues(found: readonly KeyVersion[], signal?: AbortSignal): Promise<Stored[]> {
    const items: Stored[] = [];
    const last = found.at(-1)!;
    const bounds = [valueKey(found[0]!.key, 0), valueKey(last.key, last.modified + 1)] as const;
    for await (const rows of this.records.scan(...bounds)) {
      signal?.throwIfAborted();
      const records: Buffer[] = [];
      for (const row of rows) {
        const next = found[items.length + records.length];
        if (next && isValueKey(row.key, next.key, next.modified)) records.push(verifyChecksum(row));
      }
      items.push(...(await this.#decodeRows(found.slice(items.length, items.length + records.length), records)));
    }
    // The order of rows is that of keys unless these have zero bytes.
    return items.length < found.length
      ? [...items, ...(await this.#readValues(found.slice(items.length), signal))]
      : items;
  }

  async #readValues(found: readonly KeyVersion[], signal?: AbortSignal): Promise<Stored[]> {
    const items: Stored[] = [];
    const reading: Promise<(Buffer | undefined)[]>[] = [];
    let next = 0;
    try {
      for (let at = 0; at < found.length; at += READ_CHUNK) {
        signal?.throwIfAborted();
        for (; next < found.length && reading.length < READS_AHEAD; next += READ_CHUNK)
          reading.push(this.#readRows(found, next));
        const rows = await reading[0]!;
        items.push(...(await this.#decodeRows(found.slice(at, at + rows.length), rows)));
        reading.shift();
      }
    } finally {
      // Waits for reads that are still running after a failure.
      await Promise.allSettled(reading);
    }
    return items;
  }

  /** The values in the rows of keys. Rejects with StoreError if a row does not exist, and with Unavailable. */
  async #decodeRows(found: readonly KeyVersion[], rows: readonly (Buffer | undefined)[]): Promise<Stored[]> {
    await this.#values.prepare?.(
      rows.map((record, i) => ({ key: found[i]!.key, record })),
      VALUE_HEADER,
    );
    return rows.map((row, i) => this.#storedOf(found[i]!, row));
  }

  #storedOf({ key, modified, created, version }: KeyVersion, row: Buffer | undefined): Stored {
    if (!row) throw new StoreError(`the store has lost the value of ${JSON.stringify(key)} at revision ${modified}`);
    return { key, modified, created, version, value: this.#valueIn(key, row) };
  }

  /** The value in a row of a key, or that it is unreadable. */
  #valueIn(key: string, row: Buffer): Uint8Array {
    return readValue(() => this.#values.decode(key, row, VALUE_HEADER));
  }

  #readRows(found: readonly KeyVersion[], from: number): Promise<(Buffer | undefined)[]> {
    const part = found.slice(from, from + READ_CHUNK);
    return this.records.getMany(part.map(({ key, modified }) => valueKey(key, modified)));
  }

  /** The next events after `position` under `prefix`, with previous values, and the revision reached. */
  async #readEvents(prefix: string, position: number): Promise<{ events: readonly StoreEvent[]; revision: number }> {
    const events =
      this.#tail.read(position, WATCH_CHUNK) ??
      (await readChanges(this.records, position, this.#durable, WATCH_CHUNK, prefix));
    const matching = events.filter(event => event.key.startsWith(prefix));
    const complete: StoreEvent[] = [];
    let bytes = 0;
    for (const part of partsOf(matching, WATCH_READ)) {
      for (const event of await this.#completeEvents(part)) {
        complete.push(event);
        bytes += (event.value?.length ?? 0) + (event.previous?.value.length ?? 0);
      }
      if (bytes >= WATCH_BYTES) return { events: complete, revision: part.at(-1)!.revision };
    }
    return { events: complete, revision: events.at(-1)!.revision };
  }

  /** Adds the values that events lack, and the previous values. */
  async #completeEvents(events: readonly StoreEvent[]): Promise<StoreEvent[]> {
    const missing: { readonly key: string; readonly revision: number }[] = [];
    for (const { key, type, value, revision, replaced } of events) {
      if (type === 'put' && !value) missing.push({ key, revision });
      if (replaced) missing.push({ key, revision: replaced });
    }
    const keys = missing.map(({ key, revision }) => valueKey(key, revision));
    const rows = keys.length > 0 ? await this.records.getMany(keys) : [];
    await this.#values.prepare?.(
      rows.map((record, i) => ({ key: missing[i]!.key, record })),
      VALUE_HEADER,
    );
    let next = 0;
    const take = (key: string) => {
      const row = rows[next++];
      if (!row) throw new StoreError('the store has lost a value of its history');
      return this.#valueIn(key, row);
    };
    return events.map(event => {
      const value = event.type === 'put' ? (event.value ?? take(event.key)) : undefined;
      return event.replaced
        ? { ...event, value, previous: { value: take(event.key), modified: event.replaced } }
        : { ...event, value };
    });
  }

  #checkRevision(revision = this.#durable): number {
    if (revision > this.#durable) throw new FutureRevision(this.#durable);
    if (revision < this.#compacted) throw new Compacted(this.#compacted);
    return revision;
  }

  /** Prevents compaction from removing the records that `work` reads at `revision`. */
  #trackRead<T>(revision: number, work: Promise<T>): Promise<T> {
    const done = work.finally(() => this.#activeReads.delete(done));
    this.#activeReads.set(done, revision);
    return done;
  }

  async #removeUpTo(revision: number): Promise<void> {
    while (this.#removed < revision && !this.#closed && !this.#failure) {
      for (const [read, at] of this.#activeReads) if (at < revision) await read.catch(() => {});
      try {
        this.#removed = await compactStep(this.records, this.#index, this.#removed, revision);
      } catch (error) {
        this.#fail(error as Error);
      }
      await delay(STEP_PAUSE_MS);
    }
  }

  /** Resolves when a revision becomes durable, on compaction, when the store closes and when `signal` aborts. */
  #nextChange(signal: AbortSignal): Promise<void> {
    if (signal.aborted || this.#closed) return Promise.resolve();
    return new Promise(resolve => {
      const done = () => {
        this.#waiters.delete(done);
        signal.removeEventListener('abort', done);
        resolve();
      };
      this.#waiters.add(done);
      signal.addEventListener('abort', done);
    });
  }

  #wakeWaiters(): void {
    for (const wakeUp of [...this.#waiters]) wakeUp();
  }
}

const versionFields = ({ modified, created, version }: { modified: number; created: number; version: number }) => ({
  modified,
  created,
  version,
});
