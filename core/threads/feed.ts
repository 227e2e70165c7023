import { type MessagePort, receiveMessageOnPort } from 'node:worker_threads';
import type { WriterChannel } from './messages/lifecycle.js';
import type { FedMessage } from './messages/messages.js';
import { Ring } from './messages/ring.js';
import { countMemory } from './entries/sharedValues.js';
import { decodeFromWriter } from './messages/wire.js';

/** Index of the word among the counters that is 1 while the writer sends messages to several front ends. */
export const PUBLISHING = 0;
/**
 * How long a thread waits for the writer to send these messages, which takes microseconds unless the writer has no core
 * or has ended.
 */
const PUBLISHING_MS = 1000;
/** The longest time for which a thread that waits for a message sleeps before it checks again. */
const LOOK_MS = 2;

/**
 * A thread's end of its channel to the writer. The writer counts its messages in shared memory, after each of them.
 * `catchUp` compares the count and takes, synchronously, every message that was sent before any client was answered; so
 * every read sees every acknowledged write. Messages are posted or, if the thread need not be woken for them, written
 * to the ring of the channel (docs/decisions/0011).
 */
export class StoreFeed {
  readonly port: MessagePort;
  readonly #counter: number;
  readonly #ring: Ring | undefined;
  #received = 0;
  /** The memory of the values of events. */
  #memory: SharedArrayBuffer | undefined;
  /** Whether a message is being handled. `catchUp` then does nothing, so that events are handled in order. */
  #isTaking = false;

  constructor(
    { port, counter, ring }: WriterChannel,
    readonly counters: Int32Array,
    readonly take: (message: FedMessage) => void,
  ) {
    this.port = port;
    this.#counter = counter;
    this.#ring = ring && new Ring(ring);
    port.on('message', (data: unknown) => {
      this.#takeWritten();
      this.#takeOne(data);
      this.#takeWritten();
    });
  }

  /**
   * Handles every message that the writer has counted, and those that it is sending to several front ends now. Does
   * nothing while a message is being handled.
   */
  catchUp(): void {
    if (this.#isTaking) return;
    if (Atomics.load(this.counters, PUBLISHING) === 1) Atomics.wait(this.counters, PUBLISHING, 1, PUBLISHING_MS);
    while (!this.#isTaking && this.#isBehind()) {
      // The next message was counted, so if it is not in the ring, it is the first one on the port.
      const written = this.#ring?.read(this.#received);
      const next = written ? { message: written } : receiveMessageOnPort(this.port);
      if (!next) break;
      this.#takeOne(next.message);
    }
  }

  /**
   * Handles messages until `isDone` returns true, without returning to the event loop, and waits for those that the
   * writer has not sent yet. Does nothing while a message is being handled.
   */
  takeUntil(isDone: () => boolean): void {
    while (!this.#isTaking && !isDone()) {
      Atomics.wait(this.counters, this.#counter, this.#received, LOOK_MS);
      this.catchUp();
    }
  }

  /** Whether a message was counted that was not received. A received message may not have been counted yet. */
  #isBehind(): boolean {
    return ((Atomics.load(this.counters, this.#counter) - this.#received) | 0) > 0;
  }

  /** Takes the messages of the ring that are next in order: a message with a later number follows a posted one. */
  #takeWritten(): void {
    if (!this.#ring) return;
    for (let data = this.#ring.read(this.#received); data; data = this.#ring.read(this.#received)) this.#takeOne(data);
  }

  #takeOne(data: unknown): void {
    this.#received = (this.#received + 1) | 0;
    this.#isTaking = true;
    try {
      const message = decodeFromWriter(data, this.#memory);
      if (message.is === 'memory' || message.is === 'moved') countMemory(message.memory);
      if (message.is === 'memory') this.#memory = message.memory;
      else this.take(message);
    } finally {
      this.#isTaking = false;
    }
  }
}
