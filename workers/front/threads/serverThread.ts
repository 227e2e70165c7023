import { EventEmitter } from 'node:events';
import { MessageChannel, type MessagePort, Worker } from 'node:worker_threads';
import { type ThreadData, threadFlags } from '../../../core/threads/data.js';
import type { FailedGuest, GuestMessage, SharedThreadData } from '../../../core/threads/sharedThread.js';

/**
 * The members of a server's thread that the front end uses. The thread is a worker, or a guest in one that servers
 * share.
 */
export interface ServerThread {
  /** -1 once it has ended. */
  readonly threadId: number;
  /** For a guest, that of the worker that it shares. */
  readonly performance: Worker['performance'];
  on(name: 'message', listener: (message: unknown) => void): unknown;
  once(name: 'error', listener: (error: Error) => void): unknown;
  once(name: 'exit', listener: (code: number) => void): unknown;
  removeAllListeners(name: 'exit'): unknown;
  postMessage(message: unknown, transfer?: readonly MessagePort[]): void;
  /** Ends a worker at once; a guest only after it has closed, since its code cannot be ended otherwise. */
  terminate(): Promise<unknown>;
}

/** How a thread is created. */
export interface ThreadOptions {
  /** The module of the thread, which calls `runThreadOrGuests`. */
  readonly module: URL;
  readonly data: ThreadData;
  readonly youngGenerationMb: number;
  /** Whether it may be a guest in the thread with this module that other servers of the process use. */
  readonly isGuest: boolean;
}

/** A worker that servers share. It ends with its last guest. */
interface SharedWorker {
  readonly worker: Worker;
  readonly guests: Set<Guest>;
}

const sharedWorkers = new Map<string, SharedWorker>();

/** Creates a thread. */
export function createThread(options: ThreadOptions): ServerThread {
  if (!options.isGuest) return createWorker(options, options.data);
  const { module, data } = options;
  const shared = sharedWorkers.get(module.href) ?? createShared(options);
  return new Guest(shared, data, () => {
    if (shared.guests.size > 0) return undefined;
    sharedWorkers.delete(module.href);
    return shared.worker.terminate();
  });
}

function createWorker({ module, youngGenerationMb }: ThreadOptions, workerData: ThreadData | SharedThreadData): Worker {
  return new Worker(module, {
    workerData,
    resourceLimits: { maxYoungGenerationSizeMb: youngGenerationMb },
    ...threadFlags(),
  });
}

function createShared(options: ThreadOptions): SharedWorker {
  // A shared worker has no plugins of its own. Each guest has those of its server: the first server may close before
  // others.
  const { href } = options.module;
  const worker = createWorker(options, { ...options.data, plugins: [], resources: [], isShared: true });
  const shared: SharedWorker = { worker, guests: new Set() };
  sharedWorkers.set(href, shared);
  let error: Error | undefined;
  const forget = (): void => {
    if (sharedWorkers.get(href) === shared) sharedWorkers.delete(href);
  };
  worker.once('error', thrown => {
    error = thrown;
    // The worker is ending, and would take along a guest that begins now.
    forget();
  });
  worker.once('exit', code => {
    forget();
    for (const guest of shared.guests) guest.end(code, error);
  });
  return shared;
}

/** A guest in a shared worker. Its events are those of a worker. */
class Guest extends EventEmitter implements ServerThread {
  readonly #port: MessagePort;
  threadId: number;

  constructor(
    readonly shared: SharedWorker,
    data: ThreadData,
    /** Called when it has left the worker. */
    readonly left: () => Promise<unknown> | undefined,
  ) {
    super();
    const { port1, port2: port } = new MessageChannel();
    this.#port = port1;
    this.threadId = shared.worker.threadId;
    shared.guests.add(this);
    port1.on('message', (message: FailedGuest | { readonly is: 'other' }) => {
      if (message.is === 'guestFailed') this.#fail(message.error);
      else this.emit('message', message);
    });
    shared.worker.postMessage({ data, port } satisfies GuestMessage, [port]);
  }

  get performance(): Worker['performance'] {
    return this.shared.worker.performance;
  }

  postMessage(message: unknown, transfer: readonly MessagePort[] = []): void {
    this.#port.postMessage(message, transfer);
  }

  async terminate(): Promise<void> {
    if (this.threadId === -1) return;
    this.end(1);
    await this.left();
  }

  /** To be called when it has ended, with an error or an exit code. */
  end(code: number, error?: Error): void {
    this.shared.guests.delete(this);
    this.threadId = -1;
    this.#port.close();
    if (error) this.emit('error', error);
    this.emit('exit', code);
  }

  #fail(fields: FailedGuest['error']): void {
    const error = Object.assign(new Error(fields.message), fields);
    this.end(1, error);
    void this.left();
  }
}

/** Servers of this process that have threads. */
let servers = 0;

/** Counts a server of this process. Returns whether there is another one, and a function that ends the count. */
export function countServer(): { readonly isFurther: boolean; readonly end: () => void } {
  servers++;
  return { isFurther: servers > 1, end: () => void servers-- };
}
