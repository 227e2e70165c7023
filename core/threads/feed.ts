import { type MessagePort, receiveMessageOnPort } from 'node:worker_threads';
import type { FromWriter } from './messages.js';
import { decodeFromWriter } from './wire.js';

/**
 * A thread's end of its channel to the writer. The writer counts its posts in shared memory, after each post. `catchUp`
 * compares the count and takes, synchronously, every message that was posted before any client was answered; so every
 * read sees every acknowledged write.
 */
export class StoreFeed {
  #received = 0;
  /** A message is being taken: `catchUp` does nothing then, so that handlers of events see all events in order. */
  #isTaking = false;

  constructor(
    readonly port: MessagePort,
    readonly counters: Int32Array,
    readonly counter: number,
    readonly take: (message: FromWriter) => void,
  ) {
    port.on('message', (data: unknown) => this.#takeOne(data));
  }

  /** Takes every message that the writer has counted before it returns. Does nothing while a message is being taken. */
  catchUp(): void {
    while (!this.#isTaking && this.#received !== Atomics.load(this.counters, this.counter)) {
      const next = receiveMessageOnPort(this.port);
      if (!next) break;
      this.#takeOne(next.message);
    }
  }

  #takeOne(data: unknown): void {
    this.#received = (this.#received + 1) | 0;
    this.#isTaking = true;
    try {
      this.take(decodeFromWriter(data));
    } finally {
      this.#isTaking = false;
    }
  }
}
