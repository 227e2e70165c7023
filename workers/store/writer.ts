import type { MessagePort } from 'node:worker_threads';
import { Compacted, FutureRevision, type Outcome, type Storage } from '../../core/api/storage.js';
import {
  type FromStore,
  type HistoryAsked,
  packEvents,
  type Proposal,
  type RangeAsked,
  type ToStore,
  type Verdict,
  type WireEvent,
} from '../../core/threads/messages.js';

/** Items of one snapshot message: bounds the size of a message. */
const SNAPSHOT_PAGE = 2000;

/** One connected thread: its port, its post counter, and what it wants to hear of. */
interface Subscriber {
  readonly port: MessagePort;
  readonly counter: number;
  prefixes: readonly string[];
  /** While its snapshot is being read: what was committed meanwhile. */
  held?: FromStore[];
  /** Verdicts go to the front end alone. */
  readonly front: boolean;
}

/**
 * The writer: gathers proposals while the store syncs, commits them as one group, then posts events and verdicts. It never parses an object.
 * Order of every group: durable, then events to every thread, then (in the same message to the front end) the verdicts.
 */
export class Writer {
  readonly #subscribers: Subscriber[] = [];
  #gathering: Proposal[] = [];
  #committing = 0;
  #revision = 0;
  #closed: (() => void) | undefined;

  constructor(
    readonly storage: Storage,
    readonly counters: Int32Array,
    /** Called when the store fails in a way that must stop the server. */
    readonly fatal: (error: Error) => void,
  ) {}

  /** Adds a thread. The front end is the one with counter 0. */
  connect(port: MessagePort, counter: number): void {
    const subscriber: Subscriber = { port, counter, prefixes: [], front: counter === 0 };
    this.#subscribers.push(subscriber);
    port.on('message', (message: ToStore) => this.#take(message, subscriber));
    port.on('close', () => this.#subscribers.splice(this.#subscribers.indexOf(subscriber), 1));
  }

  async start(): Promise<number> {
    this.#revision = await this.storage.revision();
    return this.#revision;
  }

  /** Commits what was proposed and closes the store. */
  async close(): Promise<void> {
    if (this.#committing > 0 || this.#gathering.length > 0) await new Promise<void>(resolve => (this.#closed = resolve));
    await this.storage.close();
  }

  #take(message: ToStore, from: Subscriber): void {
    switch (message.is) {
      case 'propose':
        for (const proposal of message.proposals) this.#gathering.push(proposal);
        this.#flushSoon();
        return;
      case 'subscribe':
        void this.#snapshot(from, message.prefixes).catch(this.fatal);
        return;
      case 'connect':
        this.connect(message.port, message.counter);
        return;
      case 'check':
        void this.storage.check().then(
          () => this.#post(from, { is: 'checked', ask: message.ask }),
          error => this.#post(from, { is: 'checked', ask: message.ask, error: String(error) }),
        );
        return;
      case 'range':
        void this.#range(from, message);
        return;
      case 'history':
        void this.#history(from, message);
        return;
      case 'close':
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
      if (this.#gathering.length > 0) void this.#commit();
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
      this.#committing--;
      if (this.#closed && this.#committing === 0 && this.#gathering.length === 0) this.#closed();
    }
  }

  #publish(group: readonly Proposal[], outcomes: readonly Outcome[]): void {
    const verdicts: Verdict[] = [];
    const events: WireEvent[] = [];
    for (const [i, outcome] of outcomes.entries()) {
      const { id } = group[i]!;
      if (outcome.is === 'committed') {
        for (const e of outcome.events) events.push({ key: e.key, revision: e.revision, created: e.created, value: e.value });
        this.#revision = Math.max(this.#revision, outcome.revision);
        verdicts.push({ id, is: 'committed', revision: outcome.revision });
      } else if (outcome.is === 'failed') verdicts.push({ id, is: 'stale' });
      else verdicts.push({ id, is: 'error', message: outcome.error.message });
    }
    // The front end comes last: its message carries the replies, and by then every other thread can see the change.
    for (const subscriber of this.#subscribers) if (!subscriber.front) this.#deliver(subscriber, events, []);
    for (const subscriber of this.#subscribers) if (subscriber.front) this.#deliver(subscriber, events, verdicts);
  }

  #deliver(to: Subscriber, events: readonly WireEvent[], verdicts: readonly Verdict[]): void {
    const wanted = to.prefixes.includes('') ? events : events.filter(e => to.prefixes.some(prefix => e.key.startsWith(prefix)));
    if (wanted.length === 0 && verdicts.length === 0) return;
    const message: FromStore = { is: 'events', revision: this.#revision, events: wanted, verdicts };
    if (to.held) to.held.push(message);
    else this.#post(to, message);
  }

  #post(to: Subscriber, message: FromStore): void {
    const [packed, transfer] = pack(message);
    to.port.postMessage(packed, transfer);
    Atomics.add(this.counters, to.counter, 1);
  }

  async #snapshot(to: Subscriber, prefixes: readonly string[]): Promise<void> {
    to.prefixes = [...to.prefixes, ...prefixes];
    to.held ??= [];
    let revision: number | undefined;
    for (const [i, prefix] of prefixes.entries()) {
      let after: string | undefined;
      for (;;) {
        const page = await this.storage.range(prefix, { limit: SNAPSHOT_PAGE, after, revision });
        revision ??= page.revision;
        after = page.items.at(-1)?.key;
        const items = page.items.map(s => ({ key: s.key, revision: s.modified, created: s.created, value: s.value }));
        this.#post(to, { is: 'snapshot', revision, items, last: i === prefixes.length - 1 && !page.more });
        if (!page.more) break;
      }
    }
    if (prefixes.length === 0) this.#post(to, { is: 'snapshot', revision: this.#revision, items: [], last: true });
    const { held } = to;
    to.held = undefined;
    for (const message of held) {
      if (message.is !== 'events') continue;
      const events = message.events.filter(e => e.revision > revision!);
      if (events.length > 0 || message.verdicts.length > 0) this.#post(to, { ...message, events });
    }
  }

  async #range(to: Subscriber, ask: RangeAsked): Promise<void> {
    try {
      const page = await this.storage.range(ask.prefix, {
        revision: ask.revision,
        limit: ask.limit || undefined,
        after: ask.after || undefined,
      });
      const items = page.items.map(s => ({ key: s.key, revision: s.modified, created: s.created, value: s.value }));
      this.#post(to, { is: 'page', ask: ask.ask, revision: page.revision, items, more: page.more, remaining: page.remaining });
    } catch (error) {
      this.#failed(to, ask.ask, error);
    }
  }

  async #history(to: Subscriber, ask: HistoryAsked): Promise<void> {
    const stop = new AbortController();
    const events: (WireEvent & { previous?: Uint8Array })[] = [];
    try {
      await new Promise<void>((resolve, reject) => {
        const done = (revision: number): void => {
          if (revision < ask.to) return;
          stop.abort();
          resolve();
        };
        this.storage
          .watch(
            ask.prefix,
            ask.from,
            (batch, revision) => {
              for (const e of batch) {
                if (e.revision > ask.to) continue;
                events.push({
                  key: e.key,
                  revision: e.revision,
                  created: e.created,
                  value: e.value,
                  previous: e.previous?.value,
                });
              }
              done(revision);
            },
            stop.signal,
          )
          .then(resolve, reject);
      });
      this.#post(to, { is: 'past', ask: ask.ask, events });
    } catch (error) {
      this.#failed(to, ask.ask, error);
    }
  }

  #failed(to: Subscriber, ask: number, error: unknown): void {
    const why = error instanceof Compacted ? 'compacted' : error instanceof FutureRevision ? 'future' : 'error';
    this.#post(to, { is: 'failed', ask, why, message: String((error as Error).message) });
  }
}

/** Copies a message's values into one buffer that is transferred: one allocation and no per-value bookkeeping in the receiving thread. */
function pack(message: FromStore): [FromStore, ArrayBuffer[]] {
  if (message.is === 'events' && message.events.length > 0) {
    const [events, transfer] = packEvents(message.events);
    return [{ ...message, events }, transfer];
  }
  if ((message.is === 'snapshot' || message.is === 'page') && message.items.length > 0) {
    const [items, transfer] = packEvents(message.items);
    return [{ ...message, items }, transfer];
  }
  return [message, []];
}
