import type { UpgradeOptions } from '../../../core/api/listener.js';
import { WEBSOCKET_WAITING_BYTES } from '../../../core/limits.js';
import type { Flow } from './bodyReader.js';
import { InflowQueue } from './queue.js';

/** Close code for the normal end of a stream (RFC 6455, 7.4.1). */
export const NORMAL = 1000;
/** Close code for a client that sends more than is taken. */
const POLICY_VIOLATION = 1008;
/** Close code for a failure of the server. */
const INTERNAL_ERROR = 1011;

/** Memory in bytes that a waiting message takes, with its overhead. */
const sizeOf = (bytes: Uint8Array): number => bytes.length + 64;

/** A message of a client. */
interface Message {
  readonly bytes: Uint8Array;
  readonly isBinary: boolean;
}

/** Passes the messages that a WebSocket receives to their receiver, and closes the connection if too many wait. */
export class IncomingMessages {
  readonly #queue: InflowQueue<Message>;
  /** Bytes of the messages that wait. */
  #waiting = 0;

  /** `flow`: how the connection stops receiving, if it can. `close`: closes it with a code. */
  constructor(
    receive: UpgradeOptions['receive'],
    readonly close: (code: number) => void,
    flow?: Flow,
  ) {
    this.#queue = new InflowQueue({
      consume: ({ bytes, isBinary }) => {
        // The first one has not waited.
        this.#waiting = Math.max(0, this.#waiting - sizeOf(bytes));
        return receive(bytes, isBinary);
      },
      pause: () => void flow?.pause(),
      resume: () => void flow?.resume(),
      fail: () => close(INTERNAL_ERROR),
    });
  }

  /** Takes the next message, whose bytes belong to the receiver from then on. */
  take(bytes: Uint8Array, isBinary: boolean): void {
    if (this.#queue.isBusy) this.#waiting += sizeOf(bytes);
    if (this.#waiting > WEBSOCKET_WAITING_BYTES) {
      this.stop();
      this.close(POLICY_VIOLATION);
    } else this.#queue.add({ bytes, isBinary });
  }

  /** Passes no more messages on. */
  stop(): void {
    this.#queue.stop();
  }
}
