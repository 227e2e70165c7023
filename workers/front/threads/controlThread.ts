import { hostname } from 'node:os';
import { controller } from '../../../core/api/control.js';
import type { Log } from '../../../core/api/host.js';
import { QUIET_YOUNG_GENERATION_MB, THREAD_CLOSE_MS } from '../../../core/limits.js';
import type { FixedResources } from '../../../core/plugin/servedResources.js';
import { randomUUID } from '../../../core/runtime/random.js';
import { hasOnlyBuiltIns, hasOwnPluginAt, type ThreadData } from '../../../core/threads/data.js';
import type {
  ControllerRequest,
  ControllerResponse,
  FromControlThread,
  ObservedValues,
  ToControlThread,
} from '../../../core/threads/messages/lifecycle.js';
import { readThread, type ThreadReading } from '../../../core/threads/scheduling.js';
import { culpritsOf, threadError } from '../../../core/plugin/calls/blame.js';
import { RunningCalls } from '../../../core/plugin/calls/runningCalls.js';
import { EventLoopWatch } from '../../../core/threads/stalls/eventLoopWatch.js';
import { closeThread } from './closeThread.js';
import { createThread, type ServerThread } from './serverThread.js';
import type { StoreThread } from './writerThread.js';

/** The parts of the server that the control thread needs. */
export interface ControlParts {
  readonly log: Log;
  /** Returns the data for a thread that is created now. */
  readonly data: () => ThreadData;
  readonly store: StoreThread;
  /** Whether other processes run controllers on the same store: then one process is elected. */
  readonly shared: boolean;
  /** Whether the store had no objects when it was opened. */
  readonly isNew: boolean;
  /**
   * Whether there are other servers in this process: then controllers of built-in plugins run in a thread that these
   * share.
   */
  readonly isFurther: boolean;
  /** Makes a request of a controller. */
  readonly handle: (request: ControllerRequest, reply: (response: ControllerResponse) => void) => unknown;
  /** Returns the resources of plugins, and the built-in ones. */
  readonly resources: () => FixedResources;
  /** Takes the counts of controllers. */
  readonly observed: (observations: readonly ObservedValues[]) => void;
  /** Called when a controller has started. */
  readonly started: (controller: string) => void;
  /** Called when the controllers are loaded, here or in the process that leads (`elsewhere`). */
  readonly loaded: (elsewhere: boolean) => void;
}

/** The control thread; one that has lost its leadership ends, and the next begins as a candidate. */
export class ControlThread {
  /** The same for all threads of this process: the next need not wait for the lease of the last to expire. */
  readonly #identity = `${hostname()}_${randomUUID()}`;
  #worker!: ServerThread;
  /** Id of the thread in the operating system, once it has begun. */
  #nativeId = 0;
  #watch!: EventLoopWatch;
  /** The last replacement of the thread. Replacements are made one after the other, so that no two threads are left. */
  #replaced: Promise<void> = Promise.resolve();
  #isClosing = false;
  /** Whether the next thread is the first on a new store. */
  #isNew: boolean;
  #fail: (error: Error) => void = () => undefined;
  /** Resolves when the thread fails. */
  readonly failed = new Promise<Error>(resolve => {
    this.#fail = resolve;
  });

  constructor(readonly parts: ControlParts) {
    this.#isNew = parts.isNew;
    this.#create(parts.data(), error => this.#fail(error));
  }

  /**
   * Ends the thread as `close` does, and begins another one with other plugins. Rejects with the error if these cannot
   * be made: then the controllers of the server run without them.
   */
  restart(): Promise<void> {
    return this.#inTurn(() => this.#restart());
  }

  async #restart(): Promise<void> {
    const former = this.#worker;
    this.#watch.end();
    former.removeAllListeners('exit');
    await closeThread(former, THREAD_CLOSE_MS);
    await former.terminate();
    if (this.#isClosing) return;
    const data = this.parts.data();
    const begin = (plugins: ThreadData['plugins']): Promise<void> =>
      new Promise((resolve, reject) => this.#create({ ...data, plugins }, reject, resolve));
    try {
      await begin(data.plugins);
    } catch (error) {
      if (!this.#isClosing)
        await begin(data.plugins.map(one => (one.path === undefined ? one : { ...one, threads: [] })));
      throw error;
    }
  }

  /** Ends the thread, once its plugins have released their resources and its leadership is given up. */
  async close(): Promise<void> {
    this.#isClosing = true;
    this.#watch.end();
    await closeThread(this.#worker, THREAD_CLOSE_MS);
    await this.#worker.terminate();
  }

  /** The times of the thread that runs now. */
  get reading(): ThreadReading {
    return readThread('control', this.#worker, this.#nativeId);
  }

  #inTurn(replace: () => Promise<void>): Promise<void> {
    const replaced = this.#replaced.then(replace);
    this.#replaced = replaced.catch(() => undefined);
    return replaced;
  }

  /** Begins a thread. `failed` is called if its plugins cannot be made, `loaded` when they are. */
  #create(threadData: ThreadData, failed: (error: Error) => void, loaded: () => void = () => undefined): void {
    const { store, shared, resources, isFurther, log } = this.parts;
    const running = RunningCalls.memory(threadData.plugins.length);
    const worker = createThread({
      module: new URL('../../control/main.js', import.meta.url),
      data: { ...threadData, running },
      youngGenerationMb: QUIET_YOUNG_GENERATION_MB,
      // A thread that has lost its leadership must end at once, which a guest cannot do.
      isGuest: isFurther && !shared && hasOnlyBuiltIns(threadData),
    });
    this.#worker = worker;
    const watch = new EventLoopWatch({
      thread: 'the control thread',
      data: threadData,
      running,
      log,
      ping: () => worker.postMessage({ is: 'ping' } satisfies ToControlThread),
      stalled: () => void worker.terminate(),
    });
    this.#watch = watch;
    this.#nativeId = 0;
    let isLoaded = false;
    const fail = (why: string, error?: Error): void => {
      this.#fail(threadError('the control thread', culpritsOf(error, running, threadData), why, error));
    };
    worker.once('error', error => {
      worker.removeAllListeners('exit');
      watch.end();
      if (isLoaded) fail(error.message, error);
      else failed(error);
    });
    worker.once('exit', code => {
      watch.end();
      if (!this.#isClosing) fail(`exit code ${code}`);
    });
    worker.on('message', posted => {
      const message = posted as FromControlThread;
      if (message.is === 'ready') this.#nativeId = message.nativeId;
      if (message.is === 'pong') watch.answered();
      if (message.is === 'loaded') {
        isLoaded = true;
        if (hasOwnPluginAt(threadData, [controller.name])) watch.begin(this.#nativeId);
        loaded();
      }
      if (worker === this.#worker) this.#take(message, worker);
    });
    const writer = store.channel({ reacts: true });
    const isNew = this.#isNew;
    this.#isNew = false;
    const inputs = { writer, shared, isNew, identity: this.#identity, resources: resources() };
    worker.postMessage({ is: 'begin', ...inputs } satisfies ToControlThread, [writer.port]);
  }

  #take(message: FromControlThread, worker: ServerThread): void {
    switch (message.is) {
      case 'request':
        this.parts.handle(message, response =>
          worker.postMessage({ is: 'response', ...response } satisfies ToControlThread),
        );
        break;
      case 'started':
        this.parts.started(message.controller);
        break;
      case 'observed':
        this.parts.observed(message.observations);
        break;
      case 'loaded':
        this.parts.loaded(message.elsewhere);
        break;
      case 'demoted':
        void this.#inTurn(() => this.#replace(worker));
        break;
      case 'ready':
      case 'pong':
      case 'closed':
        break;
    }
  }

  /** Replaces a thread that has lost its leadership, unless it has been replaced since. */
  async #replace(worker: ServerThread): Promise<void> {
    if (worker !== this.#worker || this.#isClosing) return;
    this.#watch.end();
    worker.removeAllListeners('exit');
    await worker.terminate();
    if (!this.#isClosing) this.#create(this.parts.data(), error => this.#fail(error));
  }
}
