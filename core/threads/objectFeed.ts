import { Entry } from './entry.js';
import { StoreFeed } from './feed.js';
import type { WriterChannel } from './lifecycle.js';
import type { FromWriter, ToWriter } from './messages.js';
import { readSnapshot } from './snapshot.js';
import { encodeToWriter } from './wire.js';

/** What a thread does with the objects it follows. */
export interface ObjectFollower {
  /** Takes an object as it is since `revision`; `entry` is undefined if it was deleted. */
  apply(key: string, revision: number, entry: Entry | undefined): void;
  /** Called behind the changes of each message. */
  applied?(): void;
}

/** Follows objects of the store: first all that there are, then every change. */
export class ObjectFeed {
  readonly #feed: StoreFeed;
  #loaded: () => void = () => undefined;

  constructor(
    { port, counter }: WriterChannel,
    counters: SharedArrayBuffer,
    readonly follower: ObjectFollower,
  ) {
    this.#feed = new StoreFeed(port, new Int32Array(counters), counter, message => this.#take(message));
  }

  /** Applies every change that was acknowledged anywhere before the call. */
  catchUp(): void {
    this.#feed.catchUp();
  }

  /** Follows the objects with these key prefixes, to be called once. Resolves when all that exist were applied. */
  subscribe(prefixes: readonly string[]): Promise<void> {
    const loaded = new Promise<void>(resolve => (this.#loaded = resolve));
    this.#feed.port.postMessage({ is: 'subscribe', prefixes } satisfies ToWriter);
    return loaded;
  }

  /** Posts proposals or requests to the writer. */
  post(message: ToWriter): void {
    this.#feed.port.postMessage(...encodeToWriter(message));
  }

  #take(message: FromWriter): void {
    if (message.is === 'snapshot') {
      readSnapshot(message.page, entry => this.follower.apply(entry.key, entry.revision, entry));
      if (message.last) this.#loaded();
    } else if (message.is === 'events') {
      for (const event of message.events)
        this.follower.apply(event.key, event.revision, event.value && Entry.of(event));
      this.follower.applied?.();
    }
  }
}
