import { type Outcome, type Storage, type Transaction, Unavailable } from '../../core/api/storage.js';
import type { Log } from '../../core/api/host.js';
import { traceIdOf } from '../../core/request/traceContext.js';
import { setImmediate } from '../../core/runtime/timers.js';
import type { OpenedStore, SubscriberChannel } from '../../core/threads/messages/lifecycle.js';
import type { Proposal, ToWriter, Verdict } from '../../core/threads/messages/messages.js';
import type { WireEvent } from '../../core/threads/messages/wireEvent.js';
import { Ledger } from './charges/ledger.js';
import { SharedLedger } from './charges/sharedLedger.js';
import { firstTransactions } from './firstObjects.js';
import { SharedHistory } from './sharedHistory.js';
import { type Answer, check, failedAnswer, readHistory, readRange } from './queries.js';
import { SharedFeed } from './sharedFeed.js';
import { SharedValues } from '../../core/threads/entries/sharedValues.js';
import { StartPages } from './startPages.js';
import { deliverAll, Subscriber } from './subscriber.js';

/**
 * The writer. It commits the proposals that arrive in one turn of the event loop as a group, while the store may still
 * sync earlier groups, and posts events and verdicts. It parses no object but those that are charged. The order for
 * each group is: durable; posted to all other threads; posted to the front ends, together with the verdicts. For a
 * store that other processes write to, events come only from its watch, and a verdict waits for the events of its
 * revision.
 */
export class Writer {
  readonly #subscribers: Subscriber[] = [];
  #proposals: Proposal[] = [];
  #isCommitScheduled = false;
  /** Groups being committed. */
  #commits = 0;
  /** The commits that have begun and are not published. */
  readonly #begun = new Set<Promise<unknown>>();
  #revision = 0;
  /** Called when nothing is left to commit. */
  #onIdle: (() => void) | undefined;
  readonly #shared: SharedFeed | undefined;
  readonly #history: SharedHistory | undefined;
  readonly #startPages: StartPages;
  readonly #values = new SharedValues();
  readonly #ledger: Ledger | undefined;
  readonly #sharedLedger: SharedLedger | undefined;
  /** Events and verdicts of a shared store that are to be posted at the end of this turn. */
  #sharedEvents: WireEvent[] = [];
  #sharedVerdicts: Verdict[] = [];
  #isPostScheduled = false;
  #isClosed = false;
  readonly fatal: (error: Error) => void;

  constructor(
    readonly storage: Storage,
    readonly counters: Int32Array,
    /** Called when the store fails in a way that must stop the server, but not when it is closed. */
    fatal: (error: Error) => void,
    readonly log: Log,
  ) {
    this.fatal = error => this.#isClosed || fatal(error);
    if (storage.shared) {
      this.#history = new SharedHistory(storage);
      this.#shared = new SharedFeed(
        storage,
        (events, revision, floor) => this.#takeShared(events, revision, floor),
        this.fatal,
      );
      this.#sharedLedger = new SharedLedger(storage);
    } else
      this.#ledger = new Ledger(storage, {
        commit: (group, verdictsOf) => this.#commitGroup(group, verdictsOf),
        publish: verdicts => this.#publish([], verdicts),
        settled: async () => void (await Promise.allSettled(this.#begun)),
        verdictOn: (proposal, outcome) => this.#verdictOn(proposal, outcome),
      });
    this.#startPages = new StartPages(storage, this.#shared, () => this.#revision, counters, this.fatal);
  }

  /** Adds a thread. */
  connect(channel: SubscriberChannel): void {
    const subscriber = new Subscriber(channel, this.counters);
    this.#subscribers.push(subscriber);
    subscriber.listen(message => this.#take(message, subscriber));
    channel.port.on('close', () => {
      subscriber.close();
      this.#subscribers.splice(this.#subscribers.indexOf(subscriber), 1);
    });
  }

  /**
   * Resolves with the revision of the store, and whether it was new. A new one gets the objects of the file
   * `firstObjects`, in one group, before any thread reads it. Those that a crash leaves out are written by controllers.
   */
  async start(firstObjects?: string): Promise<Pick<OpenedStore, 'revision' | 'isNew'>> {
    this.#revision = await (this.#shared ? this.#shared.start() : this.storage.revision());
    const isNew = this.#revision === 0;
    if (isNew && firstObjects !== undefined && !this.#shared) {
      await this.storage.commit(firstTransactions(firstObjects));
      this.#revision = await this.storage.revision();
    }
    return { revision: this.#revision, isNew };
  }

  /** Commits the proposals that have arrived, then closes the store and the channels. */
  async close(): Promise<void> {
    if (this.#commits > 0 || this.#proposals.length > 0) await new Promise<void>(resolve => (this.#onIdle = resolve));
    this.#shared?.stop();
    this.#isClosed = true;
    this.#startPages.close();
    await this.storage.close();
    for (const subscriber of this.#subscribers) subscriber.end();
  }

  #take(message: ToWriter, from: Subscriber): void {
    switch (message.is) {
      case 'propose':
        for (const proposal of message.proposals) this.#proposals.push(proposal);
        this.#scheduleCommit();
        break;
      case 'subscribe':
        this.#startPages.subscribe(from, message.prefixes);
        break;
      case 'moved':
        for (const subscriber of this.#subscribers) if (subscriber !== from) subscriber.deliverMoved(message);
        break;
      case 'check':
        void this.#answer(from, message, check(this.storage, message.requestId));
        break;
      case 'sync':
        void this.#answer(from, message, this.#sync(message.requestId));
        break;
      case 'range':
        void this.#answer(from, message, readRange(this.storage, message));
        break;
      case 'history':
        void this.#answer(from, message, readHistory(this.storage, this.#history, message));
        break;
    }
  }

  /** Posts the answer to a request, or its failure. */
  async #answer(to: Subscriber, { requestId }: { readonly requestId: number }, answer: Promise<Answer>): Promise<void> {
    try {
      to.post(await answer);
    } catch (error) {
      to.post(failedAnswer(requestId, error));
    }
  }

  async #sync(requestId: number): Promise<Answer> {
    await this.#shared?.sync();
    this.#postShared();
    return { is: 'synced', requestId };
  }

  /** Commits at the end of the turn: proposals that arrive together are one group. */
  #scheduleCommit(): void {
    if (this.#isCommitScheduled) return;
    this.#isCommitScheduled = true;
    setImmediate(() => {
      this.#isCommitScheduled = false;
      const proposals = this.#proposals.splice(0);
      if (this.#shared) for (const proposal of proposals) void this.#commitShared(this.#shared, proposal);
      else void this.#commit(proposals);
    });
  }

  async #commit(proposals: readonly Proposal[]): Promise<void> {
    const charged: Proposal[] = [];
    const others: Proposal[] = [];
    for (const proposal of proposals) (this.#ledger!.takes(proposal) ? charged : others).push(proposal);
    this.#commits++;
    try {
      await Promise.all([
        others.length > 0 &&
          this.#commitGroup(
            others.map(({ operations }) => operations),
            outcomes => outcomes.map((outcome, i) => this.#verdictOn(others[i]!, outcome)),
          ),
        charged.length > 0 && this.#ledger!.add(charged),
      ]);
    } catch (error) {
      this.fatal(error as Error);
    } finally {
      this.#committed();
    }
  }

  /** The verdict on a proposal. A proposal that fails in the store is answered with 500; the reason is logged. */
  #verdictOn({ id, trace }: Proposal, outcome: Outcome): Verdict {
    const verdict = verdictOf(id, outcome);
    if (verdict.is === 'error')
      this.log.error(
        { error: verdict.message, ...(trace && { traceId: traceIdOf(trace) }) },
        'the store failed to commit a write',
      );
    return verdict;
  }

  /** Commits a group and publishes its events with verdicts on it. Throws the errors of the store. */
  #commitGroup(
    group: readonly Transaction[],
    verdictsOf: (outcomes: readonly Outcome[]) => readonly Verdict[],
  ): Promise<readonly Outcome[]> {
    const commit = async (): Promise<readonly Outcome[]> => {
      const outcomes = await this.storage.commit(group);
      this.#publish(outcomes, verdictsOf(outcomes));
      return outcomes;
    };
    const begun = commit();
    this.#begun.add(begun);
    const end = (): void => void this.#begun.delete(begun);
    begun.then(end, end);
    return begun;
  }

  #committed(): void {
    this.#commits--;
    if (this.#onIdle && this.#commits === 0 && this.#proposals.length === 0) this.#onIdle();
  }

  #publish(outcomes: readonly Outcome[], verdicts: readonly Verdict[]): void {
    const committed: WireEvent[] = [];
    for (const outcome of outcomes) {
      if (outcome.is !== 'committed') continue;
      for (const { key, revision, created, value } of outcome.events) committed.push({ key, revision, created, value });
      this.#revision = Math.max(this.#revision, outcome.revision);
    }
    const events = this.#values.share(committed);
    this.#startPages.committed(events);
    deliverAll(this.#subscribers, { revision: this.#revision, events, verdicts }, this.counters);
  }

  /** Commits one proposal to a shared store: one that waits for the store must not delay others. */
  async #commitShared(feed: SharedFeed, proposal: Proposal): Promise<void> {
    this.#commits++;
    let verdict: Verdict;
    try {
      const { operations, charges } = proposal;
      const outcome = charges
        ? await this.#sharedLedger!.commit({ ...proposal, charges })
        : (await this.storage.commit([operations]))[0]!;
      verdict = this.#verdictOn(proposal, outcome);
      if (outcome.is === 'committed') await feed.waitFor(outcome.revision, outcome.events.length === 0);
      // The next attempt starts from the object that this one conflicted with.
      if (outcome.is === 'failed')
        await feed.waitFor(outcome.current?.modified ?? outcome.revision ?? 0, outcome.current === undefined);
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

  /** Posts revisions without events too, to the front ends: a client may take one from another server. */
  #postShared(floor?: number): void {
    if (!this.#isPostScheduled) return;
    this.#isPostScheduled = false;
    const events = this.#values.share(this.#sharedEvents);
    const verdicts = this.#sharedVerdicts;
    this.#sharedEvents = [];
    this.#sharedVerdicts = [];
    deliverAll(this.#subscribers, { revision: this.#revision, events, verdicts, floor }, this.counters, true);
  }
}

/** The verdict on the proposal with this id. */
function verdictOf(id: number, outcome: Outcome): Verdict {
  if (outcome.is === 'committed') return { id, is: 'committed', revision: outcome.revision };
  if (outcome.is === 'failed') return { id, is: 'stale' };
  return { id, is: outcome.error instanceof Unavailable ? 'unavailable' : 'error', message: outcome.error.message };
}
