import { MessageChannel, type MessagePort } from 'node:worker_threads';
import type { Log } from '../../../core/api/host.js';
import { StoreError } from '../../../core/api/storage.js';
import { LISTENING_THREADS, WRITER_YOUNG_GENERATION_MB } from '../../../core/limits.js';
import { hasOwnPluginAt, type ThreadData } from '../../../core/threads/data.js';
import { PUBLISHING, StoreFeed } from '../../../core/threads/feed.js';
import { type Culprits, culpritsOf, isKnown, threadError } from '../../../core/plugin/calls/blame.js';
import { RunningCalls } from '../../../core/plugin/calls/runningCalls.js';
import type {
  FromWriterThread,
  MainThread,
  ObservedValues,
  OpenedStore,
  SubscriberChannel,
  ToWriterThread,
  WriterChannel,
} from '../../../core/threads/messages/lifecycle.js';
import type { FedMessage } from '../../../core/threads/messages/messages.js';
import { MAIN_FRONT } from '../../../core/threads/proposalIds.js';
import { readThread, type ThreadReading } from '../../../core/threads/scheduling.js';
import { Inspection } from '../../../core/threads/inspection.js';
import { EventLoopWatch } from '../../../core/threads/stalls/eventLoopWatch.js';
import { createRing } from '../../../core/threads/messages/ring.js';
import { closeThread } from './closeThread.js';
import { createThread, type ServerThread } from './serverThread.js';

/** Threads that may be connected to the writer at once, replaced threads of the pool included. */
export const COUNTERS = 1024;
/** The counter of the front end with the number 0; those of the others follow. */
const FIRST_FRONT = PUBLISHING + 1;
/** The counters of all other threads begin here. */
const FIRST_OTHER = FIRST_FRONT + LISTENING_THREADS + 1;

/** The writer's thread, and the channels of all other threads to it. */
export class StoreThread {
  readonly #worker: ServerThread;
  readonly #counters: Int32Array;
  readonly #inspection: Inspection;
  readonly #watch: EventLoopWatch;
  /** The plugin that did not return, for which the thread was ended. */
  #culprits: Culprits | undefined;
  #nextOther = 0;
  #isOpen = false;
  /** Id of the thread in the operating system, once the store is open. */
  #nativeId = 0;
  #isClosing = false;
  readonly #opened: Promise<OpenedStore>;
  /** Resolves when the thread ends without having been closed, or when its store can no longer write. */
  readonly failed: Promise<Error>;

  constructor(
    data: ThreadData,
    /** Whether the thread may be one that other servers use, see `createThread`. */
    isGuest: boolean,
    /** Takes the counts of plugins of the thread. */
    observed: (observations: readonly ObservedValues[]) => void,
    log: Log,
  ) {
    const running = RunningCalls.memory(data.plugins.length);
    this.#counters = new Int32Array(data.counters);
    this.#inspection = new Inspection(data.inspection);
    this.#worker = createThread({
      module: new URL('../../writer/main.js', import.meta.url),
      data: { ...data, running },
      youngGenerationMb: WRITER_YOUNG_GENERATION_MB,
      isGuest,
    });
    this.#watch = new EventLoopWatch({
      thread: 'the writer',
      data,
      running,
      log,
      ping: () => this.#post({ is: 'ping' }),
      stalled: culprits => {
        this.#culprits = culprits;
        void this.#worker.terminate();
      },
    });
    let opened: (store: OpenedStore) => void;
    this.#opened = new Promise(resolve => (opened = resolve));
    this.failed = new Promise(resolve => {
      this.#worker.on('message', posted => {
        const message = posted as FromWriterThread;
        if (message.is === 'failed') resolve(new StoreError(message.message));
        if (message.is === 'observed') observed(message.observations);
        if (message.is === 'pong') this.#watch.answered();
        if (message.is === 'mainPing') this.#answerPing();
        if (message.is !== 'ready') return;
        this.#isOpen = true;
        this.#nativeId = message.nativeId;
        if (hasOwnPluginAt(data, ['storage'])) this.#watch.begin(message.nativeId);
        opened(message);
      });
      this.#worker.once('error', error => {
        this.#worker.removeAllListeners('exit');
        this.#watch.end();
        const culprits = culpritsOf(error, running, data);
        if (!this.#isOpen) resolve(new StoreError(error.message, { cause: error }));
        // Without a culprit, the error is the store's own, and its message is complete.
        else resolve(isKnown(culprits) ? threadError('the writer', culprits, error.message, error) : error);
      });
      this.#worker.once('exit', code => {
        this.#watch.end();
        const culprits = (): Culprits => this.#culprits ?? culpritsOf(undefined, running, data);
        if (!this.#isClosing) resolve(threadError('the writer', culprits(), `exit code ${code}`));
      });
    });
  }

  /**
   * Has the thread load its plugins and open the store. To be called when the main thread has loaded its own plugins: a
   * native library cannot be loaded there once another thread has it. A new store gets the objects of `firstObjects`.
   */
  begin(firstObjects?: string): void {
    this.#post({ is: 'begin', firstObjects });
  }

  /** Has the thread end the process when the main thread no longer returns to its event loop (MainWatch). */
  watchMain(main: MainThread): void {
    this.#inspection.look();
    this.#post({ is: 'watchMain', main });
  }

  /** Resolves when the store is open. Throws StoreError if it cannot be opened. */
  async ready(): Promise<OpenedStore> {
    const failure = this.failed.then(error => Promise.reject(error));
    return await Promise.race([this.#opened, failure]);
  }

  /** The times of the thread. */
  get reading(): ThreadReading {
    return readThread('writer', this.#worker, this.#nativeId);
  }

  /** Connects another thread to the writer; the result is that thread's end of the channel. */
  channel({ reacts, front }: Pick<SubscriberChannel, 'reacts' | 'front'>): WriterChannel {
    const counter = this.#newCounter(front);
    const ring = createRing();
    return { port: this.#connect({ counter, ring, reacts, front }), counter, ring };
  }

  /** Connects the front end of this thread. To be called once. The front end is woken for every message. */
  feed(take: (message: FedMessage) => void): StoreFeed {
    const counter = this.#newCounter(MAIN_FRONT);
    const port = this.#connect({ counter, reacts: true, front: MAIN_FRONT });
    return new StoreFeed({ port, counter }, this.#counters, take);
  }

  /** The counter of a front end; for any other thread, the one that was given to a thread least recently. */
  #newCounter(front: number | undefined): number {
    const counter =
      front === undefined ? FIRST_OTHER + (this.#nextOther++ % (COUNTERS - FIRST_OTHER)) : FIRST_FRONT + front;
    Atomics.store(this.#counters, counter, 0);
    return counter;
  }

  /** Commits the open proposals, closes the store and ends the thread. */
  async close(): Promise<void> {
    this.#isClosing = true;
    await closeThread(this.#worker);
    this.#watch.end();
    await this.#worker.terminate();
  }

  /** Answers that this thread returns to its event loop; it may be stopped at a breakpoint before the next question. */
  #answerPing(): void {
    this.#inspection.look();
    this.#post({ is: 'mainPong' });
  }

  #connect(end: Omit<SubscriberChannel, 'port'>): MessagePort {
    const { port1, port2: port } = new MessageChannel();
    this.#post({ is: 'connect', port, ...end }, [port]);
    return port1;
  }

  #post(message: ToWriterThread, transfer: MessagePort[] = []): void {
    this.#worker.postMessage(message, transfer);
  }
}
