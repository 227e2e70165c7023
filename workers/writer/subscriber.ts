import type { MessagePort } from 'node:worker_threads';
import { monotonicTime } from '../../core/runtime/clock.js';
import { clearTimeout, setTimeout } from '../../core/runtime/timers.js';
import { PUBLISHING } from '../../core/threads/feed.js';
import type { SubscriberChannel } from '../../core/threads/messages/lifecycle.js';
import type {
  EventsMessage,
  FromWriter,
  MovedMessage,
  StartPageMessage,
  ToWriter,
  Verdict,
} from '../../core/threads/messages/messages.js';
import { frontOf } from '../../core/threads/proposalIds.js';
import { Ring } from '../../core/threads/messages/ring.js';
import { packStartPage } from '../../core/threads/entries/startPage.js';
import { decodeToWriter, encodeFromWriter } from '../../core/threads/messages/wire.js';
import type { WireEvent } from '../../core/threads/messages/wireEvent.js';

/** Pause between two posts that wake a thread for events: the delay of controllers while there are many writes. */
const WAKE_MS = 5;

/** A connected thread: its channel and counter, and the key prefixes that it has subscribed to. */
export class Subscriber {
  #prefixes: readonly string[] = [];
  /** Set while start pages are read: messages about their keys, to be posted after them. */
  #deferred: (EventsMessage | MovedMessage)[] | undefined;
  /** The key prefixes of these pages. */
  #loading: readonly string[] = [];
  /** The memory of the values of events that the thread was sent last. */
  #memory: ArrayBufferLike | undefined;

  readonly #port: MessagePort;
  /** Index of the thread's counter. */
  readonly #counter: number;
  readonly #ring: Ring | undefined;
  readonly #reacts: boolean;
  /** When a thread that reacts to events was woken last. */
  #woken = Number.NEGATIVE_INFINITY;
  /** Set while it is to be woken later. */
  #timer: NodeJS.Timeout | undefined;
  /** Messages sent, modulo 2^32. */
  #sent = 0;

  /** Number of the front end that the thread has, which is sent the verdicts on its proposals. */
  readonly front: number | undefined;

  constructor(
    { port, counter, ring, reacts, front }: SubscriberChannel,
    readonly counters: Int32Array,
  ) {
    this.front = front;
    this.#port = port;
    this.#counter = counter;
    this.#ring = ring && new Ring(ring);
    this.#reacts = reacts;
  }

  /** Closes the channel. */
  end(): void {
    this.#port.close();
  }

  /** To be called when the channel is closed. */
  close(): void {
    clearTimeout(this.#timer);
  }

  /** Calls `take` with each message of the thread. */
  listen(take: (message: ToWriter) => void): void {
    this.#port.on('message', (data: unknown) => take(decodeToWriter(data)));
  }

  /** Posts a message. */
  post(message: Exclude<FromWriter, StartPageMessage>): void {
    this.#send(...encodeFromWriter(message));
  }

  /** Posts a start page, whose memory is transferred unless it is shared. */
  postStartPage(message: StartPageMessage): void {
    const { memory } = message.page;
    this.#send(message, memory instanceof ArrayBuffer ? [memory] : []);
  }

  /** Adds key prefixes: from now on the thread is sent their events. */
  subscribe(prefixes: readonly string[]): void {
    this.#prefixes = [...this.#prefixes, ...prefixes];
  }

  /**
   * Posts verdicts and the events of subscribed keys. Posts nothing where there are none, unless `always`: then the
   * message carries only the revision.
   */
  deliver(message: EventsMessage, always = false): void {
    const followed = this.#followsAll ? message.events : message.events.filter(({ key }) => this.#follows(key));
    const events = this.#deferred ? this.#sendOthers(message, followed) : followed;
    if (events.length === 0 && message.verdicts.length === 0 && !always) return;
    if (this.#deferred) this.#deferred.push({ ...message, events });
    else this.#sendEvents({ ...message, events });
  }

  /** Posts which values of subscribed keys were moved. */
  deliverMoved(message: MovedMessage): void {
    const moved = this.#followsAll ? message : partOf(message, key => this.#follows(key));
    this.#sendMoved(partOf(moved, key => !this.#isLoading(key)));
    this.#deferred?.push(partOf(moved, key => this.#isLoading(key)));
  }

  /**
   * Holds back events of keys with these prefixes from now on, while start pages of them are read. Others are sent: the
   * thread must see every acknowledged write to objects that it has already.
   */
  defer(prefixes: readonly string[]): void {
    this.#deferred ??= [];
    this.#loading = prefixes;
  }

  /**
   * Ends the start pages of `revision`: posts the events that were held back, without events that they contain. To be
   * called by `publish`, since the thread may serve clients as soon as its start pages have ended.
   */
  endStartPages(revision: number): void {
    this.postStartPage({ is: 'startPage', revision, page: packStartPage([], false), last: true });
    const deferred = this.#deferred ?? [];
    this.#deferred = undefined;
    this.#loading = [];
    for (const message of deferred) {
      if (message.is === 'moved') {
        this.#sendMoved(message);
        continue;
      }
      const events = message.events.filter(event => event.revision > revision);
      if (events.length > 0 || message.verdicts.length > 0 || message.revision > revision)
        this.#postEvents({ ...message, events });
    }
  }

  get #followsAll(): boolean {
    return this.#prefixes.includes('');
  }

  #follows(key: string): boolean {
    return this.#prefixes.some(prefix => key.startsWith(prefix));
  }

  #isLoading(key: string): boolean {
    return this.#loading.some(prefix => key.startsWith(prefix));
  }

  /** Sends the events of keys that no start pages are read of. Returns the others. */
  #sendOthers(message: EventsMessage, events: readonly WireEvent[]): readonly WireEvent[] {
    const others = events.filter(({ key }) => !this.#isLoading(key));
    if (others.length === 0) return events;
    this.#sendEvents({ ...message, events: others, verdicts: [] });
    return events.filter(({ key }) => this.#isLoading(key));
  }

  #sendMoved(message: MovedMessage): void {
    if (message.keys.length > 0) this.#send(message);
  }

  #postEvents(message: EventsMessage): void {
    this.#sendMemory(message);
    this.post(message);
  }

  /** Posts the memory of the values of a message, unless the thread has it. */
  #sendMemory({ events }: EventsMessage): void {
    const memory = events.find(({ value }) => value)?.value?.buffer;
    if (!memory || memory === this.#memory) return;
    this.#memory = memory;
    this.#send({ is: 'memory', memory });
  }

  /**
   * Sends events without waking the thread, if there is room in the ring. Clients wait for verdicts. A thread that
   * reacts to events is woken by `wake`.
   */
  #sendEvents(message: EventsMessage): void {
    this.#sendMemory(message);
    const [data, transfer] = encodeFromWriter(message);
    const isQuiet = message.verdicts.length === 0 && data instanceof Uint8Array;
    if (isQuiet && this.#ring?.write(this.#sent, data)) this.#count();
    else this.#send(data, transfer);
  }

  /**
   * Wakes a thread that reacts to events and has not taken all: now, or WAKE_MS after it was woken last. To be called
   * when the front ends were sent the events: clients wait for those, and only one core may be free.
   */
  wake(): void {
    if (!this.#reacts || !this.#ring || this.#timer || this.#ring.isEmpty) return;
    const pause = this.#woken + WAKE_MS - monotonicTime();
    if (pause <= 0) this.#wakeNow();
    else this.#timer = setTimeout(() => this.#wakeNow(), Math.ceil(pause)).unref();
  }

  #wakeNow(): void {
    this.#timer = undefined;
    if (this.#ring!.isEmpty) return;
    this.#woken = monotonicTime();
    this.post({ is: 'events', revision: 0, events: [], verdicts: [] });
  }

  #send(data: unknown, transfer: readonly ArrayBuffer[] = []): void {
    this.#port.postMessage(data, transfer);
    this.#count();
  }

  /** Counts a message after it was sent: a thread that sees the count finds the message in the ring or on the port. */
  #count(): void {
    this.#sent = (this.#sent + 1) | 0;
    Atomics.add(this.counters, this.#counter, 1);
  }
}

/** The keys of a message that `has` selects. */
const partOf = ({ is, memory, keys, places }: MovedMessage, has: (key: string) => boolean): MovedMessage => ({
  is,
  memory,
  keys: keys.filter(has),
  places: places.filter((_, i) => has(keys[i]!)),
});

/**
 * Calls `send`, which sends several messages. Until the last one is sent, threads wait before they read
 * (`StoreFeed.catchUp`): one of them may answer a client, or read for it, before others or itself have all messages.
 */
export function publish(counters: Int32Array, send: () => void): void {
  Atomics.store(counters, PUBLISHING, 1);
  try {
    send();
  } finally {
    Atomics.store(counters, PUBLISHING, 0);
    Atomics.notify(counters, PUBLISHING);
  }
}

/**
 * Delivers events to every thread, to those with a front end last: its message has the verdicts, and requests that
 * follow them may be run by any thread. Threads that react to events are woken after that.
 */
export function deliverAll(
  subscribers: readonly Subscriber[],
  { events, verdicts, revision, floor }: DeliveredEvents,
  counters: Int32Array,
  always = false,
): void {
  const fronts = subscribers.filter(({ front }) => front !== undefined);
  const others = subscribers.filter(({ front }) => front === undefined);
  for (const subscriber of others) subscriber.deliver({ is: 'events', revision, events, verdicts: [] });
  if (fronts.length === 1) fronts[0]!.deliver({ is: 'events', revision, events, verdicts, floor }, always);
  else
    publish(counters, () => {
      for (const subscriber of fronts) {
        const own = verdicts.filter(({ id }) => frontOf(id) === subscriber.front);
        subscriber.deliver({ is: 'events', revision, events, verdicts: own, floor }, always);
      }
    });
  for (const subscriber of subscribers) subscriber.wake();
}

/** The events that are delivered to all threads at once. */
export interface DeliveredEvents {
  readonly revision: number;
  readonly events: readonly WireEvent[];
  readonly verdicts: readonly Verdict[];
  readonly floor?: number;
}
