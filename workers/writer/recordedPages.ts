import { storageNameIn } from '../../core/threads/entries/entry.js';
import type { StartPageMessage } from '../../core/threads/messages/messages.js';
import { packStartPage, readStartPage, type StartItem } from '../../core/threads/entries/startPage.js';
import type { WireEvent } from '../../core/threads/messages/wireEvent.js';
import type { Subscriber } from './subscriber.js';

/** Events after which reading the pages again costs less than the recorded ones. */
const MAX_EVENTS = 10_000;
/** Bytes of the values of these events, which stay in memory. */
const MAX_EVENT_BYTES = 32 * 1024 * 1024;

/** Whether a prefix selects everything, or all objects of one resource. */
const isWhole = (prefix: string): boolean => prefix === '' || `${storageNameIn(prefix)}/` === prefix;

/** Objects of one resource. */
interface RecordedPage {
  /** `group/plural/`; undefined for a page without objects, which names the resources that are incomplete. */
  readonly prefix: string | undefined;
  readonly message: StartPageMessage;
}

/** A thread that is sent the pages, and the prefixes that it has asked for. */
interface Follower {
  readonly to: Subscriber;
  readonly prefixes: readonly string[];
}

/** Consecutive objects of the same resource. */
function runsOf(items: readonly StartItem[]): { readonly prefix: string; readonly items: StartItem[] }[] {
  const runs: { readonly prefix: string; readonly items: StartItem[] }[] = [];
  for (const item of items) {
    const prefix = `${storageNameIn(item.key)}/`;
    const last = runs.at(-1);
    if (last?.prefix === prefix) last.items.push(item);
    else runs.push({ prefix, items: [item] });
  }
  return runs;
}

/**
 * The start pages of everything, for all threads that start: each object is read and packed once, into shared memory
 * that the threads keep. A thread that subscribes is sent the objects read so far, then the rest as it is read, and
 * then the events since. It need not wait for resources that it does not follow.
 */
export class RecordedPages {
  readonly #pages: RecordedPage[] = [];
  readonly #followers: Follower[] = [];
  /** The events of each commit group since the pages were begun. */
  #events: (readonly WireEvent[])[] = [];
  #eventCount = 0;
  #eventBytes = 0;
  /** Prefixes of resources that were not read completely; undefined: any may be incomplete. */
  #missing: readonly string[] | undefined;
  #revision = 0;

  /** Whether a thread with these prefixes can be sent these pages. */
  fits(prefixes: readonly string[]): boolean {
    return !this.#isOutdated && prefixes.every(isWhole);
  }

  /** Whether there are too many events since. */
  get #isOutdated(): boolean {
    return this.#eventCount > MAX_EVENTS || this.#eventBytes > MAX_EVENT_BYTES;
  }

  /**
   * Sends a thread its part of the pages. `revision` is that of the last events that were delivered. To be called by
   * `publish`.
   */
  attach(to: Subscriber, prefixes: readonly string[], revision: number): void {
    const follower = { to, prefixes };
    to.defer(prefixes);
    to.subscribe(prefixes);
    for (const group of this.#events) {
      // Events of other prefixes, which the thread may have subscribed to earlier, were delivered already.
      const events = group.filter(({ key }) => prefixes.some(prefix => key.startsWith(prefix)));
      if (events.length > 0) to.deliver({ is: 'events', revision, events, verdicts: [] });
    }
    for (const page of this.#pages) send(follower, page);
    if (this.#isComplete(follower)) to.endStartPages(this.#revision);
    else this.#followers.push(follower);
  }

  /** Whether a thread waits for objects with this prefix, and does not follow everything. */
  isAwaited(prefix: string): boolean {
    return this.#followers.some(follower => !follower.prefixes.includes('') && isWanted(follower, prefix));
  }

  /** Whether threads were told that some resources are complete. */
  get isPartlyServed(): boolean {
    return this.#missing !== undefined;
  }

  /** Adds objects as of a revision, in the order of their keys. */
  add(items: readonly StartItem[], revision: number): void {
    for (const run of runsOf(items)) this.#record(run.prefix, run.items, revision);
  }

  /**
   * Called when all objects were added except those of the resources with the prefixes `missing`. Threads that wait for
   * these are told, and those that follow none of them have all they need. To be called by `publish`.
   */
  complete(revision: number, missing: readonly string[] = []): void {
    this.#revision = revision;
    this.#missing = missing;
    if (missing.length > 0) this.#record(undefined, [], revision);
    for (const follower of this.#followers.splice(0))
      if (this.#isComplete(follower)) follower.to.endStartPages(revision);
      else this.#followers.push(follower);
  }

  #record(prefix: string | undefined, items: readonly StartItem[], revision: number): void {
    const page = packStartPage(items, true);
    const message = { is: 'startPage', revision, page, last: false, missing: this.#missing } as const;
    const recorded = { prefix, message };
    this.#pages.push(recorded);
    for (const follower of this.#followers) send(follower, recorded);
  }

  #isComplete(follower: Follower): boolean {
    return this.#missing?.every(prefix => !isWanted(follower, prefix)) ?? false;
  }

  /**
   * Ends the pages before they are complete. Returns the threads that wait for the rest, with the keys that each was
   * sent.
   */
  abandon(): readonly (Follower & { readonly sent: Set<string> })[] {
    return this.#followers.splice(0).map(follower => {
      const sent = new Set<string>();
      for (const { prefix, message } of this.#pages)
        if (isWanted(follower, prefix)) readStartPage(message.page, ({ key }) => sent.add(key));
      return { ...follower, sent };
    });
  }

  /** Records events that were committed, for threads that subscribe later. */
  committed(events: readonly WireEvent[]): void {
    if (this.#isOutdated) return;
    this.#events.push(events);
    this.#eventCount += events.length;
    for (const { value } of events) this.#eventBytes += value?.length ?? 0;
    if (this.#isOutdated) this.#events = [];
  }
}

const isWanted = ({ prefixes }: Follower, prefix: string | undefined): boolean =>
  prefix === undefined || prefixes.some(wanted => prefix.startsWith(wanted));

function send(follower: Follower, { prefix, message }: RecordedPage): void {
  if (isWanted(follower, prefix)) follower.to.postStartPage(message);
}
