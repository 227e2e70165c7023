import { Compacted, type Shared, type Storage, lostData, Unavailable } from '../../core/api/storage.js';
import type { WireEvent } from '../../core/threads/messages.js';
import { InFlight } from '../../core/threads/inFlight.js';

/** How long somebody waits for events that are on their way, before the answer is that the store is away. */
const REACH_MS = 7000;
/** After so long without the events that were waited for, a mark tells how far all is delivered. */
const MARK_MS = 20;
/** Pause before a re-sync that failed is tried again. */
const RETRY_MS = 500;
/** Items of one page of a re-sync. */
const PAGE = 2000;

/** Tells changes; `floor`: they are a summary of what happened up to there. */
export type Deliver = (events: readonly WireEvent[], revision: number, floor?: number) => void;

interface Waiter {
  readonly revision: number;
  /** The revision may not be one of this store's data: then no event comes with it. */
  readonly unsure: boolean;
  readonly since: number;
  readonly done: (error?: Error) => void;
}

/**
 * The stream of changes of a store that several processes write to: own and foreign commits in one order, each once. It
 * says how far a reader has to come to see every write acknowledged anywhere, and when that is reached. If history was
 * compacted while the store could not be reached, what was missed is made of the difference between what was known and
 * what is there.
 */
export class SharedFeed {
  #revision = 0;
  readonly #shared: Shared;
  readonly #stop = new AbortController();
  readonly #waiters = new InFlight<Waiter>();
  /** Revision of each object told of: what a re-sync compares with. */
  readonly #known = new Map<string, number>();
  #asking: Promise<number> | undefined;
  #asked: Promise<number> | undefined;
  #timer: NodeJS.Timeout | undefined;
  #marking = false;

  constructor(
    readonly storage: Storage,
    readonly deliver: Deliver,
    readonly fatal: (error: Error) => void,
  ) {
    this.#shared = storage.shared!;
  }

  get revision(): number {
    return this.#revision;
  }

  /** Begins to follow. Every position told of is a revision of this store's own, so that everybody comes to it. */
  async start(): Promise<number> {
    this.#revision = await this.#shared.mark();
    void this.#follow().catch(error => {
      if (!this.#stop.signal.aborted) this.fatal(error as Error);
    });
    return this.#revision;
  }

  stop(): void {
    this.#stop.abort();
    clearTimeout(this.#timer);
    for (const [, waiter] of this.#waiters) waiter.done(new Unavailable('the store is closing'));
  }

  /** Objects that a reader was told of outside of the stream, as they were at its start. */
  learn(items: readonly { readonly key: string; readonly modified: number }[]): void {
    for (const { key, modified } of items) if ((this.#known.get(key) ?? 0) < modified) this.#known.set(key, modified);
  }

  /** Resolves once every write acknowledged anywhere before the call was delivered. Throws Unavailable. */
  async sync(): Promise<void> {
    const seen = this.#revision;
    const revision = await this.#current();
    if (revision < seen) {
      const error = lostData(revision, seen);
      this.fatal(error);
      throw error;
    }
    await this.reached(revision, true);
  }

  /** Resolves once everything up to `revision` was delivered. Throws Unavailable after a while. */
  reached(revision: number, unsure: boolean): Promise<void> {
    if (this.#revision >= revision) return Promise.resolve();
    return new Promise((resolve, reject) => {
      const id = this.#waiters.add({
        revision,
        unsure,
        since: performance.now(),
        done: error => {
          this.#waiters.delete(id);
          if (error) reject(error);
          else resolve();
        },
      });
      this.#timer ??= setTimeout(() => this.#overdue(), MARK_MS);
    });
  }

  /**
   * The store's revision; whoever asks while a question is under way shares the next one, which is asked after all of
   * them.
   */
  #current(): Promise<number> {
    if (!this.#asking) return this.#ask();
    this.#asked ??= this.#asking
      .catch(() => undefined)
      .then(() => {
        this.#asked = undefined;
        return this.#ask();
      });
    return this.#asked;
  }

  #ask(): Promise<number> {
    const asking = this.storage.revision().finally(() => {
      if (this.#asking === asking) this.#asking = undefined;
    });
    this.#asking = asking;
    return asking;
  }

  /** Marks where somebody waits for what may never come as an event; gives up on who waited too long. */
  #overdue(): void {
    this.#timer = undefined;
    const now = performance.now();
    for (const [, waiter] of this.#waiters)
      if (now - waiter.since > REACH_MS) waiter.done(new Unavailable('the changes of the store do not arrive'));
    if (this.#waiters.size === 0) return;
    this.#timer = setTimeout(() => this.#overdue(), MARK_MS);
    if (this.#marking || ![...this.#waiters].some(([, { unsure, since }]) => unsure && now - since >= MARK_MS)) return;
    this.#marking = true;
    void this.#shared
      .mark()
      .catch(() => undefined)
      .finally(() => {
        this.#marking = false;
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

  /** What was lost with compacted history: the objects as they are now, and deletions of those that are gone. */
  async #resync(): Promise<void> {
    while (!this.#stop.signal.aborted) {
      try {
        const revision = await this.#shared.mark();
        this.#advance(await this.#difference(revision), revision, revision);
        return;
      } catch (error) {
        if (!(error instanceof Unavailable) && !(error instanceof Compacted)) throw error;
        await new Promise(resolve => setTimeout(resolve, RETRY_MS));
      }
    }
  }

  async #difference(revision: number): Promise<WireEvent[]> {
    const events: WireEvent[] = [];
    const gone = new Set(this.#known.keys());
    let after: string | undefined;
    for (;;) {
      const page = await this.storage.range('', { revision, limit: PAGE, after, counted: false });
      for (const { key, modified, created, value } of page.items) {
        gone.delete(key);
        if (this.#known.get(key) !== modified) events.push({ key, revision: modified, created, value });
      }
      if (!page.more) break;
      after = page.items.at(-1)!.key;
    }
    events.sort((a, b) => a.revision - b.revision);
    for (const key of gone) events.push({ key, revision, created: 0 });
    return events;
  }
}
