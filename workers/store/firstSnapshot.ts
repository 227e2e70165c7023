import { storageNameIn } from '../../core/threads/entry.js';
import type { SnapshotMessage, WireEvent } from '../../core/threads/messages.js';
import { packSnapshot, readSnapshot, type SnapshotItem } from '../../core/threads/snapshot.js';
import type { Subscriber } from './subscriber.js';

/** Events after which another snapshot costs less than the recorded one. */
const MAX_EVENTS = 10_000;

/** Whether a prefix is that of everything, or of all objects of one resource. */
const isWhole = (prefix: string): boolean => prefix === '' || `${storageNameIn(prefix)}/` === prefix;

/** Objects of one resource. */
interface RecordedPage {
  /** `group/plural/`. */
  readonly prefix: string;
  readonly message: SnapshotMessage;
}

/** A thread that is sent the snapshot, and the prefixes that it has asked for. */
interface Follower {
  readonly to: Subscriber;
  readonly prefixes: readonly string[];
}

/** Consecutive objects of the same resource. */
function runsOf(items: readonly SnapshotItem[]): { readonly prefix: string; readonly items: SnapshotItem[] }[] {
  const runs: { readonly prefix: string; readonly items: SnapshotItem[] }[] = [];
  for (const item of items) {
    const prefix = `${storageNameIn(item.key)}/`;
    const last = runs.at(-1);
    if (last?.prefix === prefix) last.items.push(item);
    else runs.push({ prefix, items: [item] });
  }
  return runs;
}

/**
 * The first snapshot of everything, for all threads that start: each object is read and packed once, into shared memory
 * that the threads keep. A thread that subscribes is sent what was read so far, then the rest as it is read, and then
 * the events since.
 */
export class FirstSnapshot {
  readonly #pages: RecordedPage[] = [];
  readonly #followers: Follower[] = [];
  /** The events of each commit group since. */
  readonly #events: (readonly WireEvent[])[] = [];
  #eventCount = 0;
  /** Set when everything was read. */
  #revision: number | undefined;

  /** Whether a thread with these prefixes can be sent this snapshot. */
  fits(prefixes: readonly string[]): boolean {
    return this.#eventCount <= MAX_EVENTS && prefixes.every(isWhole);
  }

  /** Sends a thread its part of the snapshot. `revision` is that of the last events that were delivered. */
  attach(to: Subscriber, prefixes: readonly string[], revision: number): void {
    const follower = { to, prefixes };
    to.defer();
    to.subscribe(prefixes);
    for (const group of this.#events) {
      // Those of other prefixes, which the thread may have subscribed to earlier, were delivered.
      const events = group.filter(({ key }) => prefixes.some(prefix => key.startsWith(prefix)));
      if (events.length > 0) to.deliver({ is: 'events', revision, events, verdicts: [] });
    }
    for (const page of this.#pages) send(follower, page);
    if (this.#revision === undefined) this.#followers.push(follower);
    else end(follower, this.#revision);
  }

  /** Adds objects as of a revision, in the order of their keys. */
  add(items: readonly SnapshotItem[], revision: number): void {
    for (const run of runsOf(items)) {
      const page = packSnapshot(run.items, true);
      const recorded = { prefix: run.prefix, message: { is: 'snapshot', revision, page, last: false } } as const;
      this.#pages.push(recorded);
      for (const follower of this.#followers) send(follower, recorded);
    }
  }

  /** Called when all objects were added. */
  complete(revision: number): void {
    this.#revision = revision;
    for (const follower of this.#followers.splice(0)) end(follower, revision);
  }

  /** Ends the snapshot before it is complete. Returns who waits for the rest, with the keys that each was sent. */
  abandon(): readonly (Follower & { readonly sent: Set<string> })[] {
    return this.#followers.splice(0).map(follower => {
      const sent = new Set<string>();
      for (const { prefix, message } of this.#pages)
        if (isWanted(follower, prefix)) readSnapshot(message.page, ({ key }) => sent.add(key));
      return { ...follower, sent };
    });
  }

  /** Records events that were committed, for threads that subscribe later. */
  committed(events: readonly WireEvent[]): void {
    if (this.#eventCount > MAX_EVENTS) return;
    this.#events.push(events);
    this.#eventCount += events.length;
  }
}

const isWanted = ({ prefixes }: Follower, prefix: string): boolean =>
  prefixes.some(wanted => prefix.startsWith(wanted));

function send(follower: Follower, { prefix, message }: RecordedPage): void {
  if (isWanted(follower, prefix)) follower.to.postSnapshot(message);
}

function end({ to }: Follower, revision: number): void {
  to.postSnapshot({ is: 'snapshot', revision, page: packSnapshot([], false), last: true });
  to.resume(revision);
}
