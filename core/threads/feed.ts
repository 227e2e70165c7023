import { type MessagePort, receiveMessageOnPort } from 'node:worker_threads';
import type { FromStore } from './messages.js';

/**
 * A thread's end of its port to the writer. The writer counts its posts in shared memory after each post, so `catchUp` can take, synchronously,
 * every message that was posted before a reply anywhere: this is what makes every read see every acknowledged write.
 */
export class StoreFeed {
  #received = 0;
  #draining = false;

  constructor(
    readonly port: MessagePort,
    readonly counters: Int32Array,
    readonly counter: number,
    readonly take: (message: FromStore) => void,
  ) {
    port.on('message', (message: FromStore) => this.#one(message));
  }

  /** Takes all messages the writer has counted, before returning. */
  catchUp(): void {
    if (this.#received === Atomics.load(this.counters, this.counter) || this.#draining) return;
    this.#draining = true;
    try {
      while (this.#received !== Atomics.load(this.counters, this.counter)) {
        const next = receiveMessageOnPort(this.port);
        if (!next) break;
        this.#one(next.message as FromStore);
      }
    } finally {
      this.#draining = false;
    }
  }

  #one(message: FromStore): void {
    this.#received = (this.#received + 1) | 0;
    this.take(message);
  }
}
