import { Compacted, type Shared, type Storage, lostData, Unavailable } from '../../core/api/storage.js';
import { monotonicTime } from '../../core/runtime/clock.js';
import { clearTimeout, delay, setTimeout } from '../../core/runtime/timers.js';
import { InFlight } from '../../core/threads/inFlight.js';
import type { WireEvent } from '../../core/threads/messages/wireEvent.js';

/** How long to wait for the events of a revision before the store counts as unavailable. */
const REACH_MS = 7000;
/** How long to wait for the events of a revision before a mark is written, whose own event comes after them. */
const MARK_MS = 20;
/** Pause before a failed re-sync is tried again. */
const RETRY_MS = 500;
/** Objects in a page of a re-sync. */
const PAGE = 2000;

/** Takes events up to `revision`. With `floor`, they are a summary of the changes up to that revision. */
export type Deliver = (events: readonly WireEvent[], revision: number, floor?: number) => void;

interface Waiter {
  readonly revision: number;
  /** The revision may be that of a write outside of this store's prefix, which has no event here. */
  readonly mayBeForeign: boolean;
  readonly since: number;
  readonly done: (error?: Error) => void;
}

/**
 * The changes of a store that several processes write to: commits of this process and of others in one order, each
 * once. `sync` resolves when every write acknowledged anywhere before the call has been delivered. If history was
 * compacted while the store was unavailable, the missed changes are replaced by the difference between the objects that
 * are known and those in the store.
 */
export class SharedFeed {
  #revision = 0;
  readonly #shared: Shared;
  readonly #stop = new AbortController();
  readonly #waiters = new InFlight<Waiter>();
  /** Revision of each object that was delivered; a re-sync compares with them. */
  readonly #known = new Map<string, number>();
  #query: Promise<number> | undefined;
  #nextQuery: Promise<number> | undefined;
  #timer: NodeJS.Timeout | undefined;
  #isMarking = false;
  /** Revision of the last mark for waiters. */
  #marked = 0;

  constructor(
    readonly storage: Storage,
    readonly deliver: Deliver,
    readonly fatal: (error: Error) => void,
  ) {
    this.#shared = storage.shared!;
  }

  /** Revision of the last events that were delivered. */
  get revision(): number {
    return this.#revision;
  }

  /** Begins to watch. Resolves with the revision it begins at, one of this store's own, which every server reaches. */
  async start(): Promise<number> {
    this.#revision = await this.#shared.mark();
    void this.#follow().catch(error => {
      if (!this.#stop.signal.aborted) this.fatal(error as Error);
    });
    return this.#revision;
  }

  /** Ends the watch, and rejects waiting calls with Unavailable. */
  stop(): void {
    this.#stop.abort();
    clearTimeout(this.#timer);
    for (const [, waiter] of this.#waiters) waiter.done(new Unavailable('the store is closing'));
  }

  /** Records objects that were delivered in start pages. */
  recordDelivered(items: readonly { readonly key: string; readonly modified: number }[]): void {
    for (const { key, modified } of items) if ((this.#known.get(key) ?? 0) < modified) this.#known.set(key, modified);
  }

  /** Resolves when every write acknowledged anywhere before the call has been delivered. Throws Unavailable. */
  async sync(): Promise<void> {
    const seen = this.#revision;
    const revision = await this.#currentRevision();
    if (revision < seen) {
      const error = lostData(revision, seen);
      this.fatal(error);
      throw error;
    }
    await this.waitFor(revision, true);
  }

  /** Resolves when everything up to `revision` has been delivered. Throws Unavailable after REACH_MS. */
  waitFor(revision: number, mayBeForeign: boolean): Promise<void> {
    if (this.#revision >= revision) return Promise.resolve();
    return new Promise((resolve, reject) => {
      const id = this.#waiters.add({
        revision,
        mayBeForeign,
        since: monotonicTime(),
        done: error => {
          this.#waiters.delete(id);
          if (error) reject(error);
          else resolve();
        },
      });
      this.#timer ??= setTimeout(() => this.#checkWaiters(), MARK_MS);
    });
  }

  /** The store's revision. Calls during a query share the next one, which begins after all of them. */
  #currentRevision(): Promise<number> {
    if (!this.#query) return this.#queryRevision();
    this.#nextQuery ??= this.#query
      .catch(() => undefined)
      .then(() => {
        this.#nextQuery = undefined;
        return this.#queryRevision();
      });
    return this.#nextQuery;
  }

  #queryRevision(): Promise<number> {
    const asking = this.storage.revision().finally(() => {
      if (this.#query === asking) this.#query = undefined;
    });
    this.#query = asking;
    return asking;
  }

  /**
   * Writes a mark for waiters whose revision may have no event, unless it is before the last mark, which is still to
   * come; fails those that have waited too long.
   */
  #checkWaiters(): void {
    this.#timer = undefined;
    const now = monotonicTime();
    for (const [, waiter] of this.#waiters)
      if (now - waiter.since > REACH_MS) waiter.done(new Unavailable('the changes of the store do not arrive'));
    if (this.#waiters.size === 0) return;
    this.#timer = setTimeout(() => this.#checkWaiters(), MARK_MS);
    const needsMark = ({ revision, mayBeForeign, since }: Waiter): boolean =>
      mayBeForeign && revision > this.#marked && now - since >= MARK_MS;
    if (this.#isMarking || ![...this.#waiters].some(([, waiter]) => needsMark(waiter))) return;
    this.#isMarking = true;
    void this.#shared
      .mark()
      .then(revision => {
        this.#marked = revision;
      })
      .catch(() => undefined)
      .finally(() => {
        this.#isMarking = false;
      });
  }

  async #follow(): Promise<void> {
    const take = (events: readonly WireEvent[], revision: number) => this.#advance(events, revision);
    while (!this.#stop.signal.aborted) {
      try {
        await this.storage.watch('', this.#revision, take, this.#stop.signal, { previous: false });
      } catch (error) {
        if (!(error instanceof Compacted)) throw error;
        await this.#resync();
      }
    }
  }

  #advance(events: readonly WireEvent[], revision: number, floor?: number): void {
    for (const { key, value, revision: modified } of events) {
      if (value) this.#known.set(key, modified);
      else this.#known.delete(key);
    }
    this.#revision = revision;
    this.deliver(events, revision, floor);
    for (const [, waiter] of this.#waiters) if (waiter.revision <= revision) waiter.done();
  }

  /** Delivers the current objects that are new, and deletions of those that no longer exist or were created again. */
  async #resync(): Promise<void> {
    while (!this.#stop.signal.aborted) {
      try {
        const revision = await this.#shared.mark();
        this.#advance(await this.#difference(revision), revision, revision);
        return;
      } catch (error) {
        if (!(error instanceof Unavailable) && !(error instanceof Compacted)) throw error;
        await delay(RETRY_MS);
      }
    }
  }

  async #difference(revision: number): Promise<WireEvent[]> {
    const events: WireEvent[] = [];
    const deleted = new Set(this.#known.keys());
    let after: string | undefined;
    for (;;) {
      const page = await this.storage.range('', { revision, limit: PAGE, after, counted: false });
      for (const { key, modified, created, value } of page.items) {
        deleted.delete(key);
        const known = this.#known.get(key);
        if (known === modified) continue;
        if (known !== undefined && known < created) events.push({ key, revision: created - 1, created: 0 });
        events.push({ key, revision: modified, created, value });
      }
      if (!page.more) break;
      after = page.items.at(-1)!.key;
    }
    events.sort((a, b) => a.revision - b.revision);
    for (const key of deleted) events.push({ key, revision, created: 0 });
    return events;
  }
}
