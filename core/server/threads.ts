import { MessageChannel, Worker, type MessagePort } from 'node:worker_threads';
import { StoreError } from '../api/storage.js';
import { StoreFeed } from '../threads/feed.js';
import { QUIET_YOUNG_GENERATION_MB, YOUNG_GENERATION_MB } from '../limits.js';
import { type ThreadData, threadFlags } from '../threads/data.js';
import type { FromWriter } from '../threads/messages.js';

/** Threads that may hear of commits at once, replaced pool workers included. */
export const COUNTERS = 1024;

const entry = (path: string): URL => new URL(`../../workers/${path}`, import.meta.url);

/** Bounds of the heaps of threads that handle bytes. */
const HEAP = { maxYoungGenerationSizeMb: QUIET_YOUNG_GENERATION_MB };

/** What the writer says once the store is open. */
export type OpenedStore = Extract<FromWriter, { is: 'ready' }>;

/** The writer's thread, and the front end's feed from it. */
export class StoreThread {
  readonly #worker: Worker;
  readonly #begin: MessagePort;
  readonly #counters: Int32Array;
  #nextCounter = 1;
  /** Resolves when the thread ends without having been asked to, or when its store can no longer write. */
  readonly failed: Promise<Error>;
  readonly #ended: Promise<unknown>;
  /** Listened for from the start: it may come before anybody asks. */
  readonly #first: Promise<FromWriter | { is: 'unusable'; message: string }>;
  #closing = false;

  constructor(data: ThreadData) {
    this.#counters = new Int32Array(data.counters);
    const { port1, port2: begin } = new MessageChannel();
    this.#begin = port1;
    this.#worker = new Worker(entry('store/main.js'), {
      workerData: { ...data, begin },
      transferList: [begin],
      resourceLimits: HEAP,
      ...threadFlags(),
    });
    this.#first = new Promise(resolve => this.#worker.once('message', resolve));
    this.#ended = new Promise(resolve => this.#worker.once('exit', resolve));
    this.failed = new Promise(resolve => {
      this.#worker.on('message', (message: { is: string; message?: string }) => {
        if (message.is === 'failed') resolve(new StoreError(message.message));
      });
      this.#worker.once('error', error => resolve(error));
      this.#worker.once('exit', code => {
        if (!this.#closing) resolve(new Error(`the writer ended with code ${code}`));
      });
    });
  }

  /**
   * Lets the thread load its plugins: native libraries that the main thread needs too must have been loaded there, as
   * they do not load there after another thread.
   */
  begin(): void {
    this.#begin.postMessage(undefined);
  }

  /** Resolves once the store is open. Throws StoreError if it cannot be. */
  async ready(): Promise<OpenedStore> {
    const first = await Promise.race([this.#first, this.failed]);
    if (first instanceof Error) throw first;
    if (first.is === 'unusable') throw new StoreError(first.message);
    if (first.is !== 'ready') throw new Error(`the writer began with ${first.is}`);
    return first;
  }

  /**
   * A counter of posts for a new thread. 0 is the front end's, whoever comes first: it is the one that verdicts go to.
   */
  counterFor(): number {
    const counter = this.#nextCounter < COUNTERS ? this.#nextCounter : 1 + (this.#nextCounter % (COUNTERS - 1));
    this.#nextCounter++;
    Atomics.store(this.#counters, counter, 0);
    return counter;
  }

  /** Connects a thread's port to the writer. */
  connect(port: MessagePort, counter: number): void {
    this.#worker.postMessage({ is: 'connect', port, counter }, [port]);
  }

  /** The front end's own feed. */
  feed(take: (message: FromWriter) => void): StoreFeed {
    const { port1, port2 } = new MessageChannel();
    const counter = 0;
    this.connect(port2, counter);
    return new StoreFeed(port1, this.#counters, counter, take);
  }

  /** Commits what was proposed, closes the store, ends the thread. */
  async close(): Promise<void> {
    this.#closing = true;
    this.begin();
    this.#worker.postMessage({ is: 'close' });
    await this.#ended;
  }
}

/** A pool thread, whose end of the channel to the writer is `start.port`. */
export function poolThread(data: ThreadData, start: { readonly port: MessagePort; readonly counter: number }): Worker {
  return new Worker(entry('pipeline/main.js'), {
    workerData: { ...data, start },
    transferList: [start.port],
    resourceLimits: { maxYoungGenerationSizeMb: YOUNG_GENERATION_MB },
    ...threadFlags(),
  });
}

/** The control thread's worker. */
export function controlThread(
  data: ThreadData,
  start: {
    readonly port: MessagePort;
    readonly counter: number;
    readonly shared: boolean;
    readonly identity: string;
  },
): Worker {
  return new Worker(entry('control/main.js'), {
    workerData: { ...data, start },
    transferList: [start.port],
    resourceLimits: HEAP,
    ...threadFlags(),
  });
}
