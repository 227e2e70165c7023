import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { MessageChannel, type Worker } from 'node:worker_threads';
import { THREAD_CLOSE_MS } from '../limits.js';
import type { ThreadData } from '../threads/data.js';
import type { ControllerResponse, ControllerRequest, FromControl, ToControl } from '../threads/messages.js';
import { controlThread, type StoreThread } from './threads.js';

/** What the controllers' thread needs of the server. */
export interface ControlParts {
  /** What a thread that begins now is started with. */
  readonly data: () => ThreadData;
  readonly store: StoreThread;
  /** Other processes have controllers on the same store: one of them is elected. */
  readonly shared: boolean;
  /** Makes a request of a controller. */
  readonly handle: (request: ControllerRequest, reply: (response: ControllerResponse) => void) => void;
  readonly started: (controller: string) => void;
  readonly ready: () => void;
}

/** The controllers' thread; one that lost its leadership ends, and the next begins as a candidate. */
export class Control {
  /** Of this process in elections: a thread that follows another need not wait until its lease is over. */
  readonly #identity = `${hostname()}_${randomUUID()}`;
  #worker: Worker;
  #closing = false;
  #fail: (error: Error) => void = () => undefined;
  /** Resolves when the thread fails. */
  readonly failed = new Promise<Error>(resolve => {
    this.#fail = resolve;
  });

  constructor(readonly parts: ControlParts) {
    this.#worker = this.#begin();
  }

  /** Ends, once its plugins have released what they hold and leadership is handed over. */
  async close(): Promise<void> {
    this.#closing = true;
    const worker = this.#worker;
    let timer: NodeJS.Timeout | undefined;
    await new Promise<void>(resolve => {
      timer = setTimeout(resolve, THREAD_CLOSE_MS);
      worker.once('exit', () => resolve());
      worker.on('message', (message: FromControl) => 'is' in message && message.is === 'closed' && resolve());
      worker.postMessage({ is: 'close' } satisfies ToControl);
    });
    clearTimeout(timer);
    await worker.terminate();
  }

  #begin(): Worker {
    const { data, store, shared } = this.parts;
    const { port1, port2 } = new MessageChannel();
    const counter = store.counterFor();
    store.connect(port2, counter);
    const worker = controlThread(data(), { port: port1, counter, shared, identity: this.#identity });
    worker.once('error', error => this.#fail(error as Error));
    worker.on('message', (message: FromControl) => this.#take(message, worker));
    return worker;
  }

  #take(message: FromControl, worker: Worker): void {
    if (!('is' in message)) this.parts.handle(message, response => worker.postMessage(response));
    else if (message.is === 'started') this.parts.started(message.controller);
    else if (message.is === 'ready') this.parts.ready();
    else if (message.is === 'demoted')
      void worker.terminate().then(() => {
        if (!this.#closing) this.#worker = this.#begin();
      });
  }
}
