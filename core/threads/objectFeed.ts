import { Entry } from './entries/entry.js';
import { StoreFeed } from './feed.js';
import type { WriterChannel } from './messages/lifecycle.js';
import type { FedMessage, MovedMessage, StartPageMessage, ToWriter } from './messages/messages.js';
import { readStartPage, type StartPage } from './entries/startPage.js';
import { encodeToWriter } from './messages/wire.js';

/** Receives the objects that a thread subscribes to. */
export interface ObjectFollower {
  /** Called for each object and change. `entry` is undefined if the object was deleted. */
  apply(key: string, revision: number, entry: Entry | undefined): void;
  /**
   * Takes all objects of a start page, or none: then `apply` is called for each. Returns whether it has taken
   * them.
   */
  addPage(page: StartPage): boolean;
  /** The current object of a key, if it is kept. */
  find(key: string): Entry | undefined;
}

/** Receives objects of the store: first all current ones, then every change. */
export class ObjectFeed {
  readonly #feed: StoreFeed;
  /** Prefixes of the last subscription that are not complete. */
  #missing: readonly string[] = [];
  /** Called when `#missing` has changed. */
  #progressed: () => void = () => undefined;
  /** The last subscription. The next one begins after the start pages of this one are complete. */
  #subscribed: Promise<void> = Promise.resolve();

  constructor(
    channel: WriterChannel,
    counters: SharedArrayBuffer,
    readonly follower: ObjectFollower,
  ) {
    this.#feed = new StoreFeed(channel, new Int32Array(counters), message => this.#take(message));
  }

  /**
   * Applies every change that was acknowledged to any client before the call; with a prefix, also all current objects
   * that have it; the thread waits for them if they have not arrived yet.
   */
  catchUp(prefix?: string): void {
    this.#feed.catchUp();
    if (prefix === undefined || !this.#missing.includes(prefix)) return;
    this.#feed.takeUntil(() => !this.#missing.includes(prefix));
    // The events after the start pages.
    this.#feed.catchUp();
  }

  /**
   * Subscribes to the objects with these key prefixes too. Resolves when all current objects with the prefixes `needed`
   * are applied. The writer may send others later: `catchUp` waits for them.
   */
  subscribe(prefixes: readonly string[], needed = prefixes): Promise<void> {
    const before = this.#subscribed;
    return new Promise(resolve => {
      this.#subscribed = before.then(
        () =>
          new Promise(complete => {
            this.#missing = prefixes;
            this.#progressed = () => {
              if (!needed.some(prefix => this.#missing.includes(prefix))) resolve();
              if (this.#missing.length === 0) complete();
            };
            this.#feed.port.postMessage({ is: 'subscribe', prefixes } satisfies ToWriter);
          }),
      );
    });
  }

  /** Posts proposals or requests to the writer. */
  post(message: ToWriter): void {
    this.#feed.port.postMessage(...encodeToWriter(message));
  }

  /** Ends the channel: no more changes are applied. */
  close(): void {
    this.#feed.port.close();
  }

  #take(message: FedMessage): void {
    if (message.is === 'startPage') {
      if (!this.follower.addPage(message.page))
        readStartPage(message.page, entry => this.follower.apply(entry.key, entry.revision, entry));
      this.#recordMissing(message);
    } else if (message.is === 'events') {
      for (const event of message.events)
        this.follower.apply(event.key, event.revision, event.value && Entry.of(event));
    } else if (message.is === 'moved') moveValues(message, key => this.follower.find(key));
  }

  /** Records which resources are complete. */
  #recordMissing({ last, missing }: StartPageMessage): void {
    if (!last && !missing) return;
    this.#missing = last ? [] : this.#missing.filter(prefix => missing!.some(other => other.startsWith(prefix)));
    this.#progressed();
  }
}

/**
 * Makes the objects that `find` returns refer to copies of their values. Objects that were replaced after the copy was
 * made have another revision and are skipped.
 */
export function moveValues({ memory, keys, places }: MovedMessage, find: (key: string) => Entry | undefined): void {
  for (const [i, [revision, byteOffset]] of places.entries()) {
    const entry = find(keys[i]!);
    if (entry?.revision === revision) entry.move({ buffer: memory, byteOffset, length: entry.length });
  }
}
