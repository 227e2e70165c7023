import type { MessagePort } from 'node:worker_threads';
import { collectGarbageSoon } from '../../core/threads/collect.js';
import {
  Compacted,
  FutureRevision,
  type Outcome,
  type Page,
  type Storage,
  type StoreEvent,
  Unavailable,
} from '../../core/api/storage.js';
import type {
  FromWriter,
  HistoryRequest,
  Proposal,
  RangeRequest,
  SnapshotMessage,
  ToWriter,
  Verdict,
  WireEvent,
} from '../../core/threads/messages.js';
import { packSnapshot } from '../../core/threads/snapshot.js';
import { decodeToWriter, encodeFromWriter } from '../../core/threads/wire.js';
import { FirstSnapshot } from './first.js';
import { SharedPast } from './past.js';
import { SharedFeed } from './shared.js';

/** Objects in a page of a snapshot, which bounds the size of a message. */
const SNAPSHOT_PAGE = 2000;
/** How long the first snapshot is kept for the second thread that subscribes to everything. */
const FIRST_SNAPSHOT_MS = 5 * 60_000;
/** Pause before an unavailable store is read again. */
const RETRY_MS = 500;

/** A connected thread: its channel and counter, and the key prefixes that it has subscribed to. */
interface Subscriber {
  readonly port: MessagePort;
  readonly counter: number;
  prefixes: readonly string[];
  /** Set while its snapshot is read: messages to be sent afterwards. */
  deferred?: FromWriter[];
  /** Verdicts are sent to the front end only. */
  readonly isFrontEnd: boolean;
}

/**
 * The writer. It commits the proposals that arrive in one turn of the event loop as a group, while the store may still
 * sync earlier groups, and posts events and verdicts. It never parses an object. The order for each group is: durable;
 * posted to all other threads; posted to the front end, together with the verdicts. For a store that other processes
 * write to, events come only from its watch, and a verdict waits for the events of its revision.
 */
export class Writer {
  readonly #subscribers: Subscriber[] = [];
  #proposals: Proposal[] = [];
  /** Groups being committed. */
  #commits = 0;
  #revision = 0;
  /** Called when nothing is left to commit. */
  #onIdle: (() => void) | undefined;
  readonly #shared: SharedFeed | undefined;
  readonly #past: SharedPast | undefined;
  /** The first snapshot of everything, from its beginning until it is repeated or too old. */
  #first: FirstSnapshot | undefined;
  #hasFirst = false;
  /** The subscriber that the first snapshot is repeated for once it is complete. */
  #second: Subscriber | undefined;
  /** Events and verdicts of a shared store that are to be posted at the end of this turn. */
  #sharedEvents: WireEvent[] = [];
  #sharedVerdicts: Verdict[] = [];
  #isPostScheduled = false;

  constructor(
    readonly storage: Storage,
    readonly counters: Int32Array,
    /** Called when the store fails in a way that must stop the server. */
    readonly fatal: (error: Error) => void,
  ) {
    if (!storage.shared) return;
    this.#past = new SharedPast(storage);
    this.#shared = new SharedFeed(
      storage,
      (events, revision, floor) => this.#takeShared(events, revision, floor),
      fatal,
    );
  }

  /** Adds a thread. Counter 0 is that of the front end. */
  connect(port: MessagePort, counter: number): void {
    const subscriber: Subscriber = { port, counter, prefixes: [], isFrontEnd: counter === 0 };
    this.#subscribers.push(subscriber);
    port.on('message', (data: unknown) => this.#take(decodeToWriter(data), subscriber));
    port.on('close', () => this.#subscribers.splice(this.#subscribers.indexOf(subscriber), 1));
  }

  async start(): Promise<number> {
    this.#revision = await (this.#shared ? this.#shared.start() : this.storage.revision());
    return this.#revision;
  }

  /** Commits the proposals that have arrived, then closes the store. */
  async close(): Promise<void> {
    if (this.#commits > 0 || this.#proposals.length > 0) await new Promise<void>(resolve => (this.#onIdle = resolve));
    this.#shared?.stop();
    await this.storage.close();
  }

  #take(message: ToWriter, from: Subscriber): void {
    switch (message.is) {
      case 'propose':
        for (const proposal of message.proposals) this.#proposals.push(proposal);
        this.#scheduleCommit();
        return;
      case 'subscribe':
        if (!this.#repeatFirst(from, message.prefixes)) void this.#snapshot(from, message.prefixes).catch(this.fatal);
        return;
      case 'check':
        void this.storage.check().then(
          () => this.#post(from, { is: 'checked', requestId: message.requestId }),
          error => this.#post(from, { is: 'checked', requestId: message.requestId, error: String(error) }),
        );
        return;
      case 'sync':
        void (this.#shared?.sync() ?? Promise.resolve()).then(
          () => {
            this.#postShared();
            this.#post(from, { is: 'synced', requestId: message.requestId });
          },
          error => this.#failed(from, message.requestId, error),
        );
        return;
      case 'range':
        void this.#range(from, message);
        return;
      case 'history':
        void this.#history(from, message);
        return;
    }
  }

  #scheduled = false;
  /** Commits at the end of the turn: proposals that arrive together are one group. */
  #scheduleCommit(): void {
    if (this.#scheduled) return;
    this.#scheduled = true;
    setImmediate(() => {
      this.#scheduled = false;
      if (this.#shared)
        for (const proposal of this.#proposals.splice(0)) void this.#commitShared(this.#shared, proposal);
      else if (this.#proposals.length > 0) void this.#commit();
    });
  }

  async #commit(): Promise<void> {
    const group = this.#proposals;
    this.#proposals = [];
    this.#commits++;
    try {
      const outcomes = await this.storage.commit(group.map(proposal => proposal.operations));
      this.#publish(group, outcomes);
    } catch (error) {
      this.fatal(error as Error);
    } finally {
      this.#committed();
    }
  }

  #committed(): void {
    this.#commits--;
    if (this.#onIdle && this.#commits === 0 && this.#proposals.length === 0) this.#onIdle();
  }

  /** Commits one proposal to a shared store: one that waits for the store must not delay others. */
  async #commitShared(feed: SharedFeed, proposal: Proposal): Promise<void> {
    this.#commits++;
    let verdict: Verdict;
    try {
      const [outcome] = await this.storage.commit([proposal.operations]);
      verdict = verdictOf(proposal.id, outcome!);
      if (outcome!.is === 'committed') await feed.reached(outcome!.revision, outcome!.events.length === 0);
      // The next attempt starts from the object that this one conflicted with.
      if (outcome!.is === 'failed')
        await feed.reached(outcome!.current?.modified ?? outcome!.revision ?? 0, outcome!.current === undefined);
    } catch (error) {
      if (!(error instanceof Unavailable)) this.fatal(error as Error);
      verdict = { id: proposal.id, is: 'unavailable', message: (error as Error).message };
    }
    this.#sharedVerdicts.push(verdict);
    this.#schedulePost();
    this.#committed();
  }

  /** Takes events from the watch of a shared store. */
  #takeShared(events: readonly WireEvent[], revision: number, floor: number | undefined): void {
    for (const event of events) this.#sharedEvents.push(event);
    this.#revision = revision;
    this.#schedulePost();
    if (floor !== undefined) this.#postShared(floor);
  }

  /** Posts the events and verdicts of a shared store at the end of the turn, in one message to each thread. */
  #schedulePost(): void {
    if (this.#isPostScheduled) return;
    this.#isPostScheduled = true;
    setImmediate(() => this.#postShared());
  }

  /** Posts revisions without events too, to the front end: a client may take one from another server. */
  #postShared(floor?: number): void {
    if (!this.#isPostScheduled) return;
    this.#isPostScheduled = false;
    const events = this.#sharedEvents;
    const verdicts = this.#sharedVerdicts;
    this.#sharedEvents = [];
    this.#sharedVerdicts = [];
    for (const subscriber of this.#subscribers) if (!subscriber.isFrontEnd) this.#deliver(subscriber, events, []);
    for (const subscriber of this.#subscribers)
      if (subscriber.isFrontEnd) this.#deliver(subscriber, events, verdicts, true, floor);
  }

  #publish(group: readonly Proposal[], outcomes: readonly Outcome[]): void {
    const verdicts: Verdict[] = [];
    const events: WireEvent[] = [];
    for (const [i, outcome] of outcomes.entries()) {
      verdicts.push(verdictOf(group[i]!.id, outcome));
      if (outcome.is !== 'committed') continue;
      for (const e of outcome.events)
        events.push({ key: e.key, revision: e.revision, created: e.created, value: e.value });
      this.#revision = Math.max(this.#revision, outcome.revision);
    }
    this.#first?.committed(events);
    if (this.#first?.isOver) this.#first = undefined;
    // The front end is last: its message has the verdicts, and requests that follow them may be run by any thread.
    for (const subscriber of this.#subscribers) if (!subscriber.isFrontEnd) this.#deliver(subscriber, events, []);
    for (const subscriber of this.#subscribers) if (subscriber.isFrontEnd) this.#deliver(subscriber, events, verdicts);
  }

  #deliver(
    to: Subscriber,
    events: readonly WireEvent[],
    verdicts: readonly Verdict[],
    always = false,
    floor?: number,
  ): void {
    const wanted = to.prefixes.includes('')
      ? events
      : events.filter(e => to.prefixes.some(prefix => e.key.startsWith(prefix)));
    if (wanted.length === 0 && verdicts.length === 0 && !always) return;
    const message: FromWriter = { is: 'events', revision: this.#revision, events: wanted, verdicts, floor };
    if (to.deferred) to.deferred.push(message);
    else this.#post(to, message);
  }

  #post(to: Subscriber, message: Exclude<FromWriter, SnapshotMessage>): void {
    this.#send(to, ...encodeFromWriter(message));
  }

  #send(to: Subscriber, data: unknown, transfer: readonly ArrayBuffer[] = []): void {
    to.port.postMessage(data, transfer);
    Atomics.add(this.counters, to.counter, 1);
  }

  /**
   * Sends the pages of the first snapshot, and what was committed since, to a second subscriber to everything. Returns
   * false if it needs a snapshot of its own.
   */
  #repeatFirst(to: Subscriber, prefixes: readonly string[]): boolean {
    if (!this.#first || this.#second || prefixes.length !== 1 || prefixes[0] !== '') return false;
    const taken = this.#first.take();
    if (!taken) {
      this.#second = to;
      return true;
    }
    this.#first = undefined;
    collectGarbageSoon();
    to.prefixes = [...to.prefixes, ''];
    for (const page of taken.pages) this.#send(to, page);
    if (taken.events.length > 0)
      this.#post(to, { is: 'events', revision: this.#revision, events: taken.events, verdicts: [] });
    return true;
  }

  #sendFirst(to: Subscriber, first: FirstSnapshot, message: SnapshotMessage): void {
    first.add(message);
    this.#send(to, message);
    const second = this.#second;
    if (!message.last || !second) return;
    this.#second = undefined;
    // Too much may have been committed meanwhile.
    if (!this.#repeatFirst(second, [''])) void this.#snapshot(second, ['']).catch(this.fatal);
  }

  /**
   * Begins to record the first snapshot of everything. That of a shared store is not: subscribers differ in revision.
   */
  #shareFirst(prefixes: readonly string[]): FirstSnapshot | undefined {
    if (this.#hasFirst || this.#shared || prefixes.length !== 1 || prefixes[0] !== '') return undefined;
    this.#hasFirst = true;
    this.#first = new FirstSnapshot();
    setTimeout(() => (this.#first = undefined), FIRST_SNAPSHOT_MS).unref();
    return this.#first;
  }

  async #snapshot(to: Subscriber, prefixes: readonly string[]): Promise<void> {
    to.prefixes = [...to.prefixes, ...prefixes];
    to.deferred ??= [];
    const sent = new Set<string>();
    let revision: number | undefined;
    while (revision === undefined) {
      try {
        revision = await this.#objects(to, prefixes, sent);
      } catch (error) {
        if (!(error instanceof Compacted)) throw error;
        // Reading took longer than history is kept. It begins again, at the current revision.
        await new Promise(resolve => setTimeout(resolve, RETRY_MS));
      }
    }
    const { deferred } = to;
    to.deferred = undefined;
    const gone = Array.from(sent, key => ({ key, revision: revision!, created: 0 }));
    if (gone.length > 0) this.#post(to, { is: 'events', revision, events: gone, verdicts: [] });
    for (const message of deferred) {
      if (message.is !== 'events') continue;
      const events = message.events.filter(e => e.revision > revision!);
      if (events.length > 0 || message.verdicts.length > 0 || message.revision > revision)
        this.#post(to, { ...message, events });
    }
  }

  /**
   * Sends all objects with the prefixes, as of one revision. Resolves with the revision. `sent` holds the keys that an
   * earlier attempt has sent, and afterwards those of them that no longer exist; if this attempt fails, those of both.
   */
  async #objects(to: Subscriber, prefixes: readonly string[], sent: Set<string>): Promise<number> {
    // A shared store may be ahead of its watch. The snapshot is of the watch's revision, which deferred events follow.
    let revision = this.#shared?.revision;
    const earlier = new Set(sent);
    const first = this.#shareFirst(prefixes);
    for (const [i, prefix] of prefixes.entries()) {
      let after: string | undefined;
      for (;;) {
        const page = await this.#page(prefix, after, revision);
        revision ??= page.revision;
        after = page.items.at(-1)?.key;
        if (prefix === '') this.#shared?.learn(page.items);
        // Nothing is written while the first snapshot is read, so that it needs no second attempt.
        if (!first) for (const { key } of page.items) if (!earlier.delete(key)) sent.add(key);
        const packed = packSnapshot(page.items, first !== undefined);
        const message = {
          is: 'snapshot',
          revision,
          page: packed,
          last: i === prefixes.length - 1 && !page.more,
        } as const;
        if (first) this.#sendFirst(to, first, message);
        else this.#send(to, message, [packed.memory as ArrayBuffer]);
        if (!page.more) break;
      }
    }
    if (prefixes.length === 0)
      this.#send(to, { is: 'snapshot', revision: this.#revision, page: packSnapshot([], false), last: true });
    for (const key of sent) if (!earlier.has(key)) sent.delete(key);
    return revision ?? this.#revision;
  }

  /** Reads a page of a snapshot. Waits while the store is unavailable. */
  async #page(prefix: string, after: string | undefined, revision: number | undefined): Promise<Page> {
    for (;;) {
      try {
        return await this.storage.range(prefix, { limit: SNAPSHOT_PAGE, after, revision, counted: false });
      } catch (error) {
        if (!(error instanceof Unavailable)) throw error;
      }
      await new Promise(resolve => setTimeout(resolve, RETRY_MS));
    }
  }

  async #range(to: Subscriber, request: RangeRequest): Promise<void> {
    try {
      const page = await this.storage.range(request.prefix, {
        revision: request.revision,
        limit: request.limit || undefined,
        after: request.after || undefined,
      });
      const items = page.items.map(s => ({
        key: s.key,
        revision: s.modified,
        created: s.created,
        value: s.value,
        version: s.version,
      }));
      this.#post(to, {
        is: 'page',
        requestId: request.requestId,
        revision: page.revision,
        items,
        more: page.more,
        remaining: page.remaining,
      });
    } catch (error) {
      this.#failed(to, request.requestId, error);
    }
  }

  async #history(to: Subscriber, request: HistoryRequest): Promise<void> {
    try {
      const past = await (this.#past ? this.#past.read(request) : pastOf(this.storage, request));
      const events = past.map(({ key, revision, created, value, previous }) => ({
        key,
        revision,
        created,
        value,
        previous: previous?.value,
      }));
      this.#post(to, { is: 'past', requestId: request.requestId, events });
    } catch (error) {
      this.#failed(to, request.requestId, error);
    }
  }

  #failed(to: Subscriber, requestId: number, error: unknown): void {
    const reason =
      error instanceof Compacted
        ? 'compacted'
        : error instanceof FutureRevision
          ? 'future'
          : error instanceof Unavailable
            ? 'unavailable'
            : 'error';
    this.#post(to, { is: 'failed', requestId, reason, message: String((error as Error).message) });
  }
}

/** Reads past changes. Throws Compacted. */
async function pastOf(storage: Storage, { prefix, from, to }: HistoryRequest): Promise<readonly StoreEvent[]> {
  const stop = new AbortController();
  const events: StoreEvent[] = [];
  await new Promise<void>((resolve, reject) => {
    const take = (batch: readonly StoreEvent[], revision: number): void => {
      for (const event of batch) if (event.revision <= to) events.push(event);
      if (revision < to) return;
      stop.abort();
      resolve();
    };
    storage.watch(prefix, from, take, stop.signal).then(resolve, reject);
  });
  return events;
}

/** The verdict on a proposal. */
function verdictOf(id: number, outcome: Outcome): Verdict {
  if (outcome.is === 'committed') return { id, is: 'committed', revision: outcome.revision };
  if (outcome.is === 'failed') return { id, is: 'stale' };
  return { id, is: outcome.error instanceof Unavailable ? 'unavailable' : 'error', message: outcome.error.message };
}
