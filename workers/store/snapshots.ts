import { Compacted, type Page, type Storage, Unavailable } from '../../core/api/storage.js';
import { collectGarbageSoon } from '../../core/threads/collect.js';
import type { SnapshotMessage, WireEvent } from '../../core/threads/messages.js';
import { packSnapshot } from '../../core/threads/snapshot.js';
import { FirstSnapshot } from './firstSnapshot.js';
import type { SharedFeed } from './sharedFeed.js';
import type { Subscriber } from './subscriber.js';

/** Objects in a page of a snapshot, which bounds the size of a message. */
const PAGE = 2000;
/** How long the first snapshot is kept for the second thread that subscribes to everything. */
const FIRST_MS = 5 * 60_000;
/** Pause before an unavailable store is read again. */
const RETRY_MS = 500;

const pause = (): Promise<void> => new Promise(resolve => setTimeout(resolve, RETRY_MS));

const isEverything = (prefixes: readonly string[]): boolean => prefixes.length === 1 && prefixes[0] === '';

/** Sends threads the current objects with the prefixes that they subscribe to, followed by their events. */
export class Snapshots {
  /** The first snapshot of everything, from its beginning until it is repeated or too old. */
  #first: FirstSnapshot | undefined;
  #hasFirst = false;
  /** The subscriber that the first snapshot is repeated for once it is complete. */
  #second: Subscriber | undefined;

  constructor(
    readonly storage: Storage,
    readonly shared: SharedFeed | undefined,
    /** Revision of the last events that were delivered. */
    readonly revision: () => number,
    readonly fatal: (error: Error) => void,
  ) {}

  /** Subscribes a thread to the keys with these prefixes, and sends it a snapshot of them. */
  subscribe(to: Subscriber, prefixes: readonly string[]): void {
    if (isEverything(prefixes) && this.#repeatFirst(to)) return;
    void this.#send(to, prefixes).catch(this.fatal);
  }

  /** Records events that were committed, for whoever the first snapshot is repeated for. */
  committed(events: readonly WireEvent[]): void {
    this.#first?.committed(events);
    if (this.#first?.isOver) this.#first = undefined;
  }

  /**
   * Sends the pages of the first snapshot, and what was committed since, to a second subscriber to everything. Returns
   * false if it needs a snapshot of its own.
   */
  #repeatFirst(to: Subscriber): boolean {
    if (!this.#first || this.#second) return false;
    const recorded = this.#first.take();
    if (!recorded) {
      this.#second = to;
      return true;
    }
    this.#first = undefined;
    collectGarbageSoon();
    to.subscribe(['']);
    for (const page of recorded.pages) to.postSnapshot(page);
    const { events } = recorded;
    if (events.length > 0) to.post({ is: 'events', revision: this.revision(), events, verdicts: [] });
    return true;
  }

  /**
   * Begins to record the first snapshot of everything. That of a shared store is not: subscribers differ in revision.
   */
  #recordFirst(prefixes: readonly string[]): FirstSnapshot | undefined {
    if (this.#hasFirst || this.shared || !isEverything(prefixes)) return undefined;
    this.#hasFirst = true;
    this.#first = new FirstSnapshot();
    setTimeout(() => (this.#first = undefined), FIRST_MS).unref();
    return this.#first;
  }

  async #send(to: Subscriber, prefixes: readonly string[]): Promise<void> {
    to.subscribe(prefixes);
    to.defer();
    const sent = new Set<string>();
    let revision: number | undefined;
    while (revision === undefined) {
      try {
        revision = await this.#sendObjects(to, prefixes, sent);
      } catch (error) {
        if (!(error instanceof Compacted)) throw error;
        // Reading took longer than history is kept. It begins again, at the current revision.
        await pause();
      }
    }
    const deleted = Array.from(sent, key => ({ key, revision: revision!, created: 0 }));
    if (deleted.length > 0) to.post({ is: 'events', revision, events: deleted, verdicts: [] });
    to.resume(revision);
  }

  /**
   * Sends all objects with the prefixes, as of one revision. Resolves with the revision. `sent` holds the keys that an
   * earlier attempt has sent, and afterwards those of them that no longer exist; if this attempt fails, those of both.
   */
  async #sendObjects(to: Subscriber, prefixes: readonly string[], sent: Set<string>): Promise<number> {
    // A shared store may be ahead of its watch. The snapshot is of the watch's revision, which deferred events follow.
    let revision = this.shared?.revision;
    const earlier = new Set(sent);
    const first = this.#recordFirst(prefixes);
    for (const [i, prefix] of prefixes.entries()) {
      let after: string | undefined;
      for (;;) {
        const page = await this.#page(prefix, after, revision);
        revision ??= page.revision;
        after = page.items.at(-1)?.key;
        if (prefix === '') this.shared?.recordDelivered(page.items);
        // Nothing is written while the first snapshot is read, so that it needs no second attempt.
        if (!first) for (const { key } of page.items) if (!earlier.delete(key)) sent.add(key);
        const isLast = i === prefixes.length - 1 && !page.more;
        const packed = packSnapshot(page.items, first !== undefined);
        this.#sendPage(to, first, { is: 'snapshot', revision, page: packed, last: isLast });
        if (!page.more) break;
      }
    }
    revision ??= this.revision();
    if (prefixes.length === 0) to.postSnapshot({ is: 'snapshot', revision, page: packSnapshot([], false), last: true });
    for (const key of sent) if (!earlier.has(key)) sent.delete(key);
    return revision;
  }

  #sendPage(to: Subscriber, first: FirstSnapshot | undefined, message: SnapshotMessage): void {
    first?.add(message);
    to.postSnapshot(message);
    const second = this.#second;
    if (!first || !message.last || !second) return;
    this.#second = undefined;
    // If too much was committed meanwhile, it gets a snapshot of its own.
    this.subscribe(second, ['']);
  }

  /** Reads a page of a snapshot. Waits while the store is unavailable. */
  async #page(prefix: string, after: string | undefined, revision: number | undefined): Promise<Page> {
    for (;;) {
      try {
        return await this.storage.range(prefix, { limit: PAGE, after, revision, counted: false });
      } catch (error) {
        if (!(error instanceof Unavailable)) throw error;
      }
      await pause();
    }
  }
}
