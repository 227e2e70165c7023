import { Entry } from './entry.js';
import { StoreFeed } from './feed.js';
import type { WriterChannel } from './lifecycle.js';
import type { FedMessage, MovedMessage, ToWriter } from './messages.js';
import { readSnapshot } from './snapshot.js';
import { encodeToWriter } from './wire.js';

/** Receives the objects that a thread subscribes to. */
export interface ObjectFollower {
  /** Called for each object and change. `entry` is undefined if the object was deleted. */
  apply(key: string, revision: number, entry: Entry | undefined): void;
  /** The current object of a key, if it is kept. */
  find(key: string): Entry | undefined;
}

/** Receives objects of the store: first all current ones, then every change. */
export class ObjectFeed {
  readonly #feed: StoreFeed;
  #loaded: () => void = () => undefined;
  /** The last subscription: the next one begins when its snapshot is complete. */
  #subscribed: Promise<void> = Promise.resolve();

  constructor(
    channel: WriterChannel,
    counters: SharedArrayBuffer,
    readonly follower: ObjectFollower,
  ) {
    this.#feed = new StoreFeed(channel, new Int32Array(counters), message => this.#take(message));
  }

  /** Applies every change that was acknowledged to any client before the call. */
  catchUp(): void {
    this.#feed.catchUp();
  }

  /** Subscribes to the objects with these key prefixes too. Resolves when all current objects are applied. */
  subscribe(prefixes: readonly string[]): Promise<void> {
    this.#subscribed = this.#subscribed.then(() => {
      const loaded = new Promise<void>(resolve => (this.#loaded = resolve));
      this.#feed.port.postMessage({ is: 'subscribe', prefixes } satisfies ToWriter);
      return loaded;
    });
    return this.#subscribed;
  }

  /** Posts proposals or requests to the writer. */
  post(message: ToWriter): void {
    this.#feed.port.postMessage(...encodeToWriter(message));
  }

  #take(message: FedMessage): void {
    if (message.is === 'snapshot') {
      readSnapshot(message.page, entry => this.follower.apply(entry.key, entry.revision, entry));
      if (message.last) this.#loaded();
    } else if (message.is === 'events') {
      for (const event of message.events)
        this.follower.apply(event.key, event.revision, event.value && Entry.of(event));
    } else if (message.is === 'moved') moveValues(message, key => this.follower.find(key));
  }
}

/**
 * Has the objects that `find` returns refer to copies of their values. One that was replaced after its copy was made has
 * another revision.
 */
export function moveValues({ memory, keys, places }: MovedMessage, find: (key: string) => Entry | undefined): void {
  for (const [i, [revision, byteOffset]] of places.entries()) {
    const entry = find(keys[i]!);
    if (entry?.revision === revision) entry.move({ buffer: memory, byteOffset, length: entry.length });
  }
}
