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
import { type Judged, judge } from './commit.js';
import { compactStep } from './compact.js';
import type { Found, KeyIndex } from './key-index.js';
import { type Batch, encodeState, metaKey, type Records, VALUE_HEADER, valueKey, writeRevision } from './records.js';
import { Tail } from './tail.js';
import { readChanges } from './watch.js';

/** What a store holds when it is opened. */
export interface Opened {
  readonly index: KeyIndex;
  readonly revision: number;
  readonly compacted: number;
  /** Below `compacted` there may be records of an interrupted compaction. */
  readonly leftovers: boolean;
}

/**
 * Settings of an engine. `durable` is told every revision that became durable; `closing` runs before the records are
 * closed.
 */
export interface EngineOptions {
  readonly historyMs: number;
  readonly now: () => number;
  readonly durable?: (revision: number) => void;
  readonly closing?: () => Promise<void>;
}

/** Values read from the records at once: about a megabyte of usual objects. */
const READ_CHUNK = 512;
/** Events delivered at once. */
const WATCH_CHUNK = 256;
/** Parts of the history time after which revisions are sampled for compaction. */
const HISTORY_SAMPLES = 10;
/** The longest interval a timer can have. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;
/** Pause between two steps of a compaction: commits get the disk and the thread for at least a third of the time. */
const STEP_PAUSE_MS = 1;

/** Transactions judged while another write runs; they are written together when it is done. */
interface Gathering {
  readonly batch: Batch;
  rows: boolean;
  readonly replies: { readonly judged: readonly Judged[]; readonly resolve: (outcomes: Outcome[]) => void }[];
}

/**
 * The embedded stores: an index of versions in memory over ordered records. Transactions are judged when they come,
 * against the newest state; reads see only what is durable, because they read the index at the durable revision. A
 * failed write ends the writing for good: what reached the disk is then unknown, and only opening again can tell.
 */
export class Engine implements Storage {
  readonly #index: KeyIndex;
  readonly #tail: Tail;
  /** The last revision given out, and the last one that is durable. */
  #assigned: number;
  #durable: number;
  #compacted: number;
  /** Up to here compacted records are removed. */
  #removed: number;
  #gathering: Gathering | undefined;
  #writing: Promise<void> | undefined;
  #failure: Error | undefined;
  #failed: (error: Error) => void = () => {};
  readonly failed = new Promise<Error>(resolve => (this.#failed = resolve));
  #closed: Promise<void> | undefined;
  #compacting: Promise<void> = Promise.resolve();
  readonly #waiting = new Set<() => void>();
  /** Watches under way. */
  #watches = 0;
  /** Reads under way, with the lowest revision each may look at; compaction waits for those below it. */
  readonly #reads = new Map<Promise<unknown>, number>();
  readonly #samples: { readonly at: number; readonly revision: number }[] = [];
  readonly #timer: NodeJS.Timeout;

  constructor(
    readonly name: string,
    readonly records: Records,
    opened: Opened,
    readonly options: EngineOptions,
  ) {
    this.#index = opened.index;
    this.#assigned = this.#durable = opened.revision;
    this.#compacted = opened.compacted;
    this.#removed = opened.leftovers ? 0 : opened.compacted;
    this.#tail = new Tail(opened.revision);
    if (opened.leftovers) this.#compacting = this.#removeUpTo(opened.compacted);
    this.#timer = setInterval(
      () => void this.expireHistory().catch(() => {}),
      Math.min(Math.max(100, options.historyMs / HISTORY_SAMPLES), LONGEST_TIMER_MS),
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
    const revision = this.#readable(options.revision);
    const limit = options.limit || Number.POSITIVE_INFINITY;
    const { found, remaining } = this.#index.range(prefix, options.after, revision, limit, options.counted);
    const items = await this.#pinned(revision, this.#values(found, options.signal));
    return { revision, items, more: remaining > 0, remaining };
  }

  async get(key: string, revision?: number): Promise<Stored | undefined> {
    const version = this.#index.at(key, this.#readable(revision));
    if (!version) return undefined;
    const [stored] = await this.#pinned(revision ?? this.#durable, this.#values([{ key, ...pick(version) }]));
    return stored;
  }

  commit(group: readonly Transaction[]): Promise<readonly Outcome[]> {
    const failure = this.#failure ?? (this.#closed && new StoreError('the store is closed'));
    if (failure) return Promise.resolve(group.map(() => ({ is: 'error', error: failure })));
    const gathering = (this.#gathering ??= { batch: this.records.batch(), rows: false, replies: [] });
    const judged = group.map(transaction => {
      const one = judge(transaction, this.#assigned + 1, this.#index, gathering.batch);
      if (one.is === 'committed' && one.events.length > 0) {
        this.#assigned = one.revision;
        gathering.rows = true;
      }
      return one;
    });
    return new Promise(resolve => {
      gathering.replies.push({ judged, resolve });
      this.#writing ??= this.#write();
    });
  }

  async watch(
    prefix: string,
    from: number | undefined,
    deliver: (events: readonly StoreEvent[], revision: number) => void,
    signal: AbortSignal,
  ): Promise<void> {
    this.#watches++;
    try {
      await this.#follow(prefix, from ?? this.#durable, deliver, signal);
    } finally {
      this.#watches--;
    }
  }

  async #follow(
    prefix: string,
    from: number,
    deliver: (events: readonly StoreEvent[], revision: number) => void,
    signal: AbortSignal,
  ): Promise<void> {
    let position = from;
    let told = -1;
    while (!signal.aborted) {
      if (position < this.#compacted) throw new Compacted(this.#compacted);
      if (this.#closed) throw new StoreError('the store is closed');
      if (position < this.#durable) {
        const chunk = await this.#pinned(position, this.#events(prefix, position));
        if (signal.aborted) return;
        position = chunk.revision;
        if (chunk.events.length > 0) deliver(chunk.events, (told = position));
        continue;
      }
      if (told < position && position <= this.#durable) deliver([], (told = position));
      await this.#change(signal);
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
        // Without a sync of its own: a crash that loses this row loses the removals that follow it as well.
        await batch.write(false).catch(error => this.#fail(error as Error));
        if (this.#failure) throw this.#failure;
        this.#compacted = revision;
        this.#wake();
        await this.#removeUpTo(revision);
      });
    return this.#compacting;
  }

  /** Compacts what was current longer than `historyMs` ago. Called by a timer; by tests with a clock of their own. */
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
    this.#wake();
    await this.#writing;
    await this.#compacting.catch(() => {});
    await Promise.allSettled([...this.#reads.keys()]);
    try {
      await this.options.closing?.();
    } catch (error) {
      // After a failed write the disk is known to be bad; what matters was told then.
      if (!this.#failure) throw error;
    } finally {
      await this.records.close();
    }
  }

  /** Writes what was gathered, and what was gathered meanwhile, until nothing is left. */
  async #write(): Promise<void> {
    // Callers of the same turn of the event loop share the first write: a tick comes after all continuations of
    // promises.
    await new Promise<void>(resolve => process.nextTick(resolve));
    while (this.#gathering) {
      const { batch, rows, replies } = this.#gathering;
      this.#gathering = undefined;
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
        for (const { judged, resolve } of replies) resolve(judged.map(() => ({ is: 'error', error: this.#failure! })));
        continue;
      }
      this.#durable = revision;
      await this.#publish(replies);
    }
    this.#writing = undefined;
  }

  /** Ends the writing: a row that may have reached the disk in part must not be followed by others. */
  #fail(error: Error): void {
    if (this.#failure) return;
    this.#failure = new StoreError(`the store failed and must be opened again: ${error.message}`);
    this.#failed(this.#failure);
  }

  /**
   * Events, then replies, in the order of the commits: the writer hands events on when their reply comes, so that none
   * may overtake an earlier one, not even while the value that a refused transaction met is read.
   */
  async #publish(replies: Gathering['replies']): Promise<void> {
    // What nobody waits for is not kept: a server hears of its own commits from their outcomes.
    if (this.#watches === 0) this.#tail.skip(this.#durable);
    else
      for (const { judged } of replies)
        for (const one of judged) if (one.is === 'committed') this.#tail.push(one.events);
    this.options.durable?.(this.#durable);
    this.#wake();
    for (const { judged, resolve } of replies) {
      if (judged.every(one => one.is !== 'refused')) resolve(judged as Outcome[]);
      else resolve(await this.#pinned(0, Promise.all(judged.map(one => this.#outcome(one)))));
    }
  }

  async #outcome(judged: Judged): Promise<Outcome> {
    if (judged.is !== 'refused') return judged;
    const { index, key, current } = judged;
    if (!current) return { is: 'failed', index };
    try {
      const [stored] = await this.#values([{ key, ...current }]);
      return { is: 'failed', index, current: stored };
    } catch (error) {
      return { is: 'error', error: error as Error };
    }
  }

  async #values(found: readonly Found[], signal?: AbortSignal): Promise<Stored[]> {
    const items: Stored[] = [];
    for (let at = 0; at < found.length; at += READ_CHUNK) {
      signal?.throwIfAborted();
      const part = found.slice(at, at + READ_CHUNK);
      const rows = await this.records.getMany(part.map(({ key, modified }) => valueKey(key, modified)));
      for (let i = 0; i < part.length; i++) {
        const row = rows[i];
        if (!row)
          throw new StoreError(
            `the store has lost the value of ${JSON.stringify(part[i]!.key)} at revision ${part[i]!.modified}`,
          );
        items.push({ ...part[i]!, value: row.subarray(VALUE_HEADER) });
      }
    }
    return items;
  }

  /** The next events after `position` under `prefix`, with the values they replaced, and the revision reached. */
  async #events(prefix: string, position: number): Promise<{ events: readonly StoreEvent[]; revision: number }> {
    const events =
      this.#tail.read(position, WATCH_CHUNK) ??
      (await readChanges(this.records, position, this.#durable, WATCH_CHUNK, prefix));
    const wanted = events.filter(event => event.key.startsWith(prefix));
    const missing: Buffer[] = [];
    for (const event of wanted) {
      if (event.type === 'put' && !event.value) missing.push(valueKey(event.key, event.revision));
      if (event.replaced) missing.push(valueKey(event.key, event.replaced));
    }
    const rows = missing.length > 0 ? await this.records.getMany(missing) : [];
    let next = 0;
    const take = () => {
      const row = rows[next++];
      if (!row) throw new StoreError('the store has lost a value that its history needs');
      return row.subarray(VALUE_HEADER);
    };
    const complete = wanted.map(event => {
      const value = event.type === 'put' ? (event.value ?? take()) : undefined;
      return event.replaced
        ? { ...event, value, previous: { value: take(), modified: event.replaced } }
        : { ...event, value };
    });
    return { events: complete, revision: events.at(-1)!.revision };
  }

  #readable(revision = this.#durable): number {
    if (revision > this.#durable) throw new FutureRevision(this.#durable);
    if (revision < this.#compacted) throw new Compacted(this.#compacted);
    return revision;
  }

  /** Keeps compaction from removing what `work` reads until it is done. */
  #pinned<T>(revision: number, work: Promise<T>): Promise<T> {
    const done = work.finally(() => this.#reads.delete(done));
    this.#reads.set(done, revision);
    return done;
  }

  async #removeUpTo(revision: number): Promise<void> {
    while (this.#removed < revision && !this.#closed && !this.#failure) {
      for (const [read, at] of this.#reads) if (at < revision) await read.catch(() => {});
      try {
        this.#removed = await compactStep(this.records, this.#index, this.#removed, revision);
      } catch (error) {
        this.#fail(error as Error);
      }
      await new Promise<void>(resolve => setTimeout(resolve, STEP_PAUSE_MS));
    }
  }

  /** Resolves with the next durable revision, a compaction, the end of the store or of `signal`. */
  #change(signal: AbortSignal): Promise<void> {
    if (signal.aborted || this.#closed) return Promise.resolve();
    return new Promise(resolve => {
      const done = () => {
        this.#waiting.delete(done);
        signal.removeEventListener('abort', done);
        resolve();
      };
      this.#waiting.add(done);
      signal.addEventListener('abort', done);
    });
  }

  #wake(): void {
    for (const waiting of [...this.#waiting]) waiting();
  }
}

const pick = ({ modified, created, version }: { modified: number; created: number; version: number }) => ({
  modified,
  created,
  version,
});
