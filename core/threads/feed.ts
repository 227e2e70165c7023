import { type MessagePort, receiveMessageOnPort } from 'node:worker_threads';
import type { FromWriter } from './messages.js';

/**
 * A thread's end of its port to the writer. The writer counts its posts in shared memory after each post, so `catchUp`
 * can take, synchronously, every message that was posted before a reply anywhere: this is what makes every read see
 * every acknowledged write.
 */
export class StoreFeed {
  #received = 0;
  /**
   * A message is being taken: the next one waits, so that whoever looks while told of an event hears all events in
   * their order.
   */
  #taking = false;

  constructor(
    readonly port: MessagePort,
    readonly counters: Int32Array,
    readonly counter: number,
    readonly take: (message: FromWriter) => void,
  ) {
    port.on('message', (message: FromWriter) => this.#one(message));
  }

  /** Takes all messages the writer has counted, before returning; nothing while one is being taken. */
  catchUp(): void {
    while (!this.#taking && this.#received !== Atomics.load(this.counters, this.counter)) {
      const next = receiveMessageOnPort(this.port);
      if (!next) break;
      this.#one(next.message as FromWriter);
    }
  }

  #one(message: FromWriter): void {
    this.#received = (this.#received + 1) | 0;
    this.#taking = true;
    try {
      this.take(message);
    } finally {
      this.#taking = false;
    }
  }
}
