import { Compacted, type Page, type Storage, Unavailable } from '../../core/api/storage.js';
import { clearTimeout, delay, setTimeout } from '../../core/runtime/timers.js';
import { collectGarbageSoon } from '../../core/threads/garbage.js';
import { storageNameIn } from '../../core/threads/entries/entry.js';
import { packStartPage } from '../../core/threads/entries/startPage.js';
import type { WireEvent } from '../../core/threads/messages/wireEvent.js';
import { RecordedPages } from './recordedPages.js';
import type { SharedFeed } from './sharedFeed.js';
import { publish, type Subscriber } from './subscriber.js';

/** Objects in a start page, which bounds the size of a message. */
const PAGE = 2000;
/**
 * Objects in a recorded page. They are copied to shared memory page by page: from larger pages, more of
 * the store's buffers are in memory at the same time, which malloc then keeps.
 */
const RECORDED_PAGE = 500;
/** How long the recorded pages are kept for further threads that start. */
const RECORDED_MS = 30_000;
/** Pause before an unavailable store is read again. */
const RETRY_MS = 500;

/** The objects of a resource with many, after the key `after`. */
interface Rest {
  readonly prefix: string;
  readonly after: string;
}

/** A key that sorts after all keys with a prefix, which ends with a slash. */
const behind = (prefix: string): string => `${prefix.slice(0, -1)}0`;

/** The prefix of the resource that all objects of a full page belong to; undefined if they belong to several. */
function onlyPrefixOf({ items, more }: Page): string | undefined {
  const prefix = `${storageNameIn(items[0]?.key ?? '')}/`;
  return more && items.at(-1)!.key.startsWith(prefix) ? prefix : undefined;
}

/** Sends threads the current objects with the prefixes that they subscribe to, followed by their events. */
export class StartPages {
  /** The recorded pages of everything, until they are too old. */
  #recorded: RecordedPages | undefined;
  #hasRecorded = false;
  #timer: NodeJS.Timeout | undefined;

  constructor(
    readonly storage: Storage,
    readonly shared: SharedFeed | undefined,
    /** Revision of the last events that were delivered. */
    readonly revision: () => number,
    readonly counters: Int32Array,
    readonly fatal: (error: Error) => void,
  ) {}

  /** Subscribes a thread to the keys with these prefixes, and sends it start pages of them. */
  subscribe(to: Subscriber, prefixes: readonly string[]): void {
    const recorded = this.#recordedPages();
    if (recorded?.fits(prefixes)) publish(this.counters, () => recorded.attach(to, prefixes, this.revision()));
    else {
      to.subscribe(prefixes);
      void this.#send(to, prefixes, new Set()).catch(this.fatal);
    }
  }

  /** Records committed events, for threads that are sent the recorded pages later. */
  committed(events: readonly WireEvent[]): void {
    this.#recorded?.committed(events);
  }

  /** Forgets the recorded pages. */
  close(): void {
    clearTimeout(this.#timer);
    this.#recorded = undefined;
  }

  /**
   * The recorded pages, which begin to be read when the first thread subscribes. A shared store has none: subscribers
   * differ in revision.
   */
  #recordedPages(): RecordedPages | undefined {
    if (this.#hasRecorded || this.shared) return this.#recorded;
    this.#hasRecorded = true;
    this.#recorded = new RecordedPages();
    void this.#readRecorded(this.#recorded).catch(error => this.#replaceRecorded(error));
    return this.#recorded;
  }

  /**
   * Reads the recorded pages: of resources with many objects only a page, so that all others can be served early; then
   * the rest of each, beginning with those of threads that wait for no other.
   */
  async #readRecorded(recorded: RecordedPages): Promise<void> {
    const rests: Rest[] = [];
    const revision = await this.#readPages(recorded, '', undefined, undefined, page => {
      const after = page.items.at(-1)!.key;
      const prefix = onlyPrefixOf(page);
      if (prefix === undefined) return after;
      rests.push({ prefix, after });
      return behind(prefix);
    });
    const complete = (): void => {
      const missing = rests.map(({ prefix }) => prefix);
      publish(this.counters, () => recorded.complete(revision, missing));
    };
    complete();
    while (rests.length > 0) {
      const awaited = rests.findIndex(({ prefix }) => recorded.isAwaited(prefix));
      const { prefix, after } = rests[Math.max(0, awaited)]!;
      await this.#readPages(recorded, prefix, after, revision, page => page.items.at(-1)!.key);
      rests.splice(Math.max(0, awaited), 1);
      complete();
    }
    collectGarbageSoon();
    this.#timer = setTimeout(() => this.close(), RECORDED_MS).unref();
  }

  /** Reads pages, the next one while one is packed and sent. Resolves with their revision. */
  async #readPages(
    recorded: RecordedPages,
    prefix: string,
    after: string | undefined,
    asOf: number | undefined,
    /** The key after which the next page begins. */
    nextAfter: (page: Page) => string,
  ): Promise<number> {
    let next: Promise<Page> | undefined = this.#page(prefix, after, asOf, RECORDED_PAGE);
    for (;;) {
      const page: Page = await next;
      const { revision } = page;
      next = page.more ? this.#page(prefix, nextAfter(page), revision, RECORDED_PAGE) : undefined;
      // The read may fail before it is awaited.
      next?.catch(() => undefined);
      recorded.add(page.items, revision);
      if (!next) return revision;
    }
  }

  /** If reading the recorded pages took longer than history is kept, sends separate pages to each waiting thread. */
  #replaceRecorded(error: Error): void {
    // A thread that was told that resources are complete has shown their objects, and would miss the changes since.
    if (!(error instanceof Compacted) || this.#recorded!.isPartlyServed) {
      this.fatal(error);
      return;
    }
    const followers = this.#recorded!.abandon();
    this.#recorded = undefined;
    for (const { to, prefixes, sent } of followers) void this.#send(to, prefixes, sent).catch(this.fatal);
  }

  /** `sent`: the keys that the thread was sent before. */
  async #send(to: Subscriber, prefixes: readonly string[], sent: Set<string>): Promise<void> {
    to.defer(prefixes);
    let revision: number | undefined;
    while (revision === undefined) {
      try {
        revision = await this.#sendObjects(to, prefixes, sent);
      } catch (error) {
        if (!(error instanceof Compacted)) throw error;
        // Reading took longer than history is kept. It begins again, at the current revision.
        await delay(RETRY_MS);
      }
    }
    const deleted = Array.from(sent, key => ({ key, revision: revision!, created: 0 }));
    if (deleted.length > 0) to.post({ is: 'events', revision, events: deleted, verdicts: [] });
    publish(this.counters, () => to.endStartPages(revision));
  }

  /**
   * Sends all objects with the prefixes, as of one revision. Resolves with the revision. `sent` holds the keys that an
   * earlier attempt has sent, and afterwards those of them that no longer exist; if this attempt fails, those of both.
   */
  async #sendObjects(to: Subscriber, prefixes: readonly string[], sent: Set<string>): Promise<number> {
    // A shared store may be ahead of its watch. The pages are of the watch's revision, which deferred events follow.
    let revision = this.shared?.revision;
    const earlier = new Set(sent);
    for (const prefix of prefixes) {
      let after: string | undefined;
      for (;;) {
        const page = await this.#page(prefix, after, revision, PAGE);
        revision ??= page.revision;
        after = page.items.at(-1)?.key;
        this.shared?.recordDelivered(page.items);
        for (const { key } of page.items) if (!earlier.delete(key)) sent.add(key);
        to.postStartPage({ is: 'startPage', revision, page: packStartPage(page.items, false), last: false });
        if (!page.more) break;
      }
    }
    revision ??= this.revision();
    for (const key of sent) if (!earlier.has(key)) sent.delete(key);
    return revision;
  }

  /** Reads a page. Waits while the store is unavailable. */
  async #page(prefix: string, after: string | undefined, revision: number | undefined, limit: number): Promise<Page> {
    for (;;) {
      try {
        return await this.storage.range(prefix, { limit, after, revision, counted: false });
      } catch (error) {
        if (!(error instanceof Unavailable)) throw error;
      }
      await delay(RETRY_MS);
    }
  }
}
