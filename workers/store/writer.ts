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
import {
  type FromWriter,
  type HistoryRequest,
  packEvents,
  packPast,
  type Proposal,
  type RangeRequest,
  type SnapshotMessage,
  type ToWriter,
  type Verdict,
  type WireEvent,
} from '../../core/threads/messages.js';
import { packSnapshot } from '../../core/threads/snapshot.js';
import { FirstSnapshot } from './first.js';
import { SharedPast } from './past.js';
import { SharedFeed } from './shared.js';

/** Items of one snapshot message: bounds the size of a message. */
const SNAPSHOT_PAGE = 2000;
/** How long after the start the first snapshot is kept for the second thread that wants it. */
const FIRST_MS = 5 * 60_000;
/** Pause before a store that is away is read again. */
const RETRY_MS = 500;

/** One connected thread: its port, its post counter, and what it wants to hear of. */
interface Subscriber {
  readonly port: MessagePort;
  readonly counter: number;
  prefixes: readonly string[];
  /** While its snapshot is being read: what was committed meanwhile. */
  held?: FromWriter[];
  /** Verdicts go to the front end alone. */
  readonly front: boolean;
}

/**
 * The writer: gathers proposals while the store syncs, commits them as one group, then posts events and verdicts. It
 * never parses an object. Order of every group: durable, then events to every thread, then (in the same message to the
 * front end) the verdicts. Where others write to the store too, events come from its watch alone, and a verdict waits
 * until the events of its revision have passed.
 */
export class Writer {
  readonly #subscribers: Subscriber[] = [];
  #gathering: Proposal[] = [];
  #committing = 0;
  #revision = 0;
  #closed: (() => void) | undefined;
  readonly #shared: SharedFeed | undefined;
  readonly #past: SharedPast | undefined;
  /** Undefined before the first snapshot of everything, and again once it is used or of no use any more. */
  #first: FirstSnapshot | undefined;
  #firstIsTaken = false;
  /** Who wants the first snapshot as well while it is being read. */
  #second: Subscriber | undefined;
  /** What a shared store has told, events and verdicts, and whether some of it is to leave yet. */
  #followedEvents: WireEvent[] = [];
  #settled: Verdict[] = [];
  #telling = false;

  constructor(
    readonly storage: Storage,
    readonly counters: Int32Array,
    /** Called when the store fails in a way that must stop the server. */
    readonly fatal: (error: Error) => void,
  ) {
    if (!storage.shared) return;
    this.#past = new SharedPast(storage);
    this.#shared = new SharedFeed(storage, (events, revision, floor) => this.#followed(events, revision, floor), fatal);
  }

  /** Adds a thread. The front end is the one with counter 0. */
  connect(port: MessagePort, counter: number): void {
    const subscriber: Subscriber = { port, counter, prefixes: [], front: counter === 0 };
    this.#subscribers.push(subscriber);
    port.on('message', (message: ToWriter) => this.#take(message, subscriber));
    port.on('close', () => this.#subscribers.splice(this.#subscribers.indexOf(subscriber), 1));
  }

  async start(): Promise<number> {
    this.#revision = await (this.#shared ? this.#shared.start() : this.storage.revision());
    return this.#revision;
  }

  /** Commits what was proposed and closes the store. */
  async close(): Promise<void> {
    if (this.#committing > 0 || this.#gathering.length > 0)
      await new Promise<void>(resolve => (this.#closed = resolve));
    this.#shared?.stop();
    await this.storage.close();
  }

  #take(message: ToWriter, from: Subscriber): void {
    switch (message.is) {
      case 'propose':
        for (const proposal of message.proposals) this.#gathering.push(proposal);
        this.#flushSoon();
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
            this.#tell();
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
  /** One commit per turn of the loop: proposals that arrive together go together. */
  #flushSoon(): void {
    if (this.#scheduled) return;
    this.#scheduled = true;
    setImmediate(() => {
      this.#scheduled = false;
      if (this.#shared)
        for (const proposal of this.#gathering.splice(0)) void this.#commitShared(this.#shared, proposal);
      else if (this.#gathering.length > 0) void this.#commit();
    });
  }

  async #commit(): Promise<void> {
    const group = this.#gathering;
    this.#gathering = [];
    this.#committing++;
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
    this.#committing--;
    if (this.#closed && this.#committing === 0 && this.#gathering.length === 0) this.#closed();
  }

  /** Each goes its own way: revisions are given elsewhere, and one that waits for the store must not hold up others. */
  async #commitShared(feed: SharedFeed, proposal: Proposal): Promise<void> {
    this.#committing++;
    let verdict: Verdict;
    try {
      const [outcome] = await this.storage.commit([proposal.operations]);
      verdict = verdictOf(proposal.id, outcome!);
      if (outcome!.is === 'committed') await feed.reached(outcome!.revision, outcome!.events.length === 0);
      // Whoever lost a race goes on with what won it.
      if (outcome!.is === 'failed')
        await feed.reached(outcome!.current?.modified ?? outcome!.revision ?? 0, outcome!.current === undefined);
    } catch (error) {
      if (!(error instanceof Unavailable)) this.fatal(error as Error);
      verdict = { id: proposal.id, is: 'unavailable', message: (error as Error).message };
    }
    this.#settled.push(verdict);
    this.#tellSoon();
    this.#committed();
  }

  /** Events of a shared store, by whomever. */
  #followed(events: readonly WireEvent[], revision: number, floor: number | undefined): void {
    for (const event of events) this.#followedEvents.push(event);
    this.#revision = revision;
    this.#tellSoon();
    if (floor !== undefined) this.#tell(floor);
  }

  /** What a shared store tells in one turn of the loop goes in one message to each thread. */
  #tellSoon(): void {
    if (this.#telling) return;
    this.#telling = true;
    setImmediate(() => this.#tell());
  }

  /** Positions are told without events too: clients hear them from one server and name them to another. */
  #tell(floor?: number): void {
    if (!this.#telling) return;
    this.#telling = false;
    const events = this.#followedEvents;
    const verdicts = this.#settled;
    this.#followedEvents = [];
    this.#settled = [];
    for (const subscriber of this.#subscribers) if (!subscriber.front) this.#deliver(subscriber, events, []);
    for (const subscriber of this.#subscribers)
      if (subscriber.front) this.#deliver(subscriber, events, verdicts, true, floor);
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
    // The front end comes last: its message carries the replies, and by then every other thread can see the change.
    for (const subscriber of this.#subscribers) if (!subscriber.front) this.#deliver(subscriber, events, []);
    for (const subscriber of this.#subscribers) if (subscriber.front) this.#deliver(subscriber, events, verdicts);
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
    if (to.held) to.held.push(message);
    else this.#post(to, message);
  }

  #post(to: Subscriber, message: FromWriter): void {
    const [packed, transfer] = pack(message);
    this.#send(to, packed, transfer);
  }

  #send(to: Subscriber, message: FromWriter, transfer: readonly ArrayBuffer[] = []): void {
    to.port.postMessage(message, transfer);
    Atomics.add(this.counters, to.counter, 1);
  }

  /** Gives a second thread that wants everything what the first one got, and what was committed since. */
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
    // It may have been given up because too much was committed meanwhile.
    if (!this.#repeatFirst(second, [''])) void this.#snapshot(second, ['']).catch(this.fatal);
  }

  /**
   * The first snapshot of everything is shared, unless others write to the store: then who comes later goes on from
   * another position.
   */
  #shareFirst(prefixes: readonly string[]): FirstSnapshot | undefined {
    if (this.#firstIsTaken || this.#shared || prefixes.length !== 1 || prefixes[0] !== '') return undefined;
    this.#firstIsTaken = true;
    this.#first = new FirstSnapshot();
    setTimeout(() => (this.#first = undefined), FIRST_MS).unref();
    return this.#first;
  }

  async #snapshot(to: Subscriber, prefixes: readonly string[]): Promise<void> {
    to.prefixes = [...to.prefixes, ...prefixes];
    to.held ??= [];
    const sent = new Set<string>();
    let revision: number | undefined;
    while (revision === undefined) {
      try {
        revision = await this.#objects(to, prefixes, sent);
      } catch (error) {
        if (!(error instanceof Compacted)) throw error;
        // It took longer than history is kept: again, from where the stream goes on.
        await new Promise(resolve => setTimeout(resolve, RETRY_MS));
      }
    }
    const { held } = to;
    to.held = undefined;
    const gone = Array.from(sent, key => ({ key, revision: revision!, created: 0 }));
    if (gone.length > 0) this.#post(to, { is: 'events', revision, events: gone, verdicts: [] });
    for (const message of held) {
      if (message.is !== 'events') continue;
      const events = message.events.filter(e => e.revision > revision!);
      if (events.length > 0 || message.verdicts.length > 0 || message.revision > revision)
        this.#post(to, { ...message, events });
    }
  }

  /**
   * Sends all objects under the prefixes as of one revision; resolves with it. `sent` are keys of an earlier attempt;
   * those that are gone since are left in it, unless the attempt fails: then it has those of both.
   */
  async #objects(to: Subscriber, prefixes: readonly string[], sent: Set<string>): Promise<number> {
    // What is held continues a shared store's snapshot only if that is of the stream's position, however far the store
    // itself has come.
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
        // Nobody writes while the first snapshot is read: it needs no second attempt.
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

  /** A page of a snapshot; a thread that starts while the store is away waits for it. */
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

/** Past changes of a part of the store. */
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

/** What the front end is told of an outcome. */
function verdictOf(id: number, outcome: Outcome): Verdict {
  if (outcome.is === 'committed') return { id, is: 'committed', revision: outcome.revision };
  if (outcome.is === 'failed') return { id, is: 'stale' };
  return { id, is: outcome.error instanceof Unavailable ? 'unavailable' : 'error', message: outcome.error.message };
}

/**
 * Copies a message's values into one buffer that is transferred: one allocation and no per-value bookkeeping in the
 * receiving thread.
 */
function pack(message: FromWriter): [FromWriter, ArrayBuffer[]] {
  if (message.is === 'events' && message.events.length > 0) {
    const [events, transfer] = packEvents(message.events);
    return [{ ...message, events }, transfer];
  }
  if (message.is === 'page' && message.items.length > 0) {
    const [items, transfer] = packEvents(message.items);
    return [{ ...message, items }, transfer];
  }
  if (message.is === 'past') {
    const [events, transfer] = packPast(message.events);
    return [{ ...message, events }, transfer];
  }
  return [message, []];
}
