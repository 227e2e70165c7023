import type { BodySink } from '../../../core/api/listener.js';
import { BodyParts } from '../../../core/runtime/bodyParts.js';
import { InflowQueue } from './queue.js';

/** How a connection stops and continues to receive. */
export interface Flow {
  pause(): unknown;
  resume(): unknown;
}

/** Passes the body of a request to a sink. Once the sink has been closed or aborted, further parts are discarded. */
export class BodyReader {
  /** Whether the last part has arrived. */
  isComplete = false;
  /** Whether the sink takes no more. */
  isOver = false;
  #isPaused = false;
  readonly #parts: InflowQueue<Uint8Array>;
  /** Bytes that arrived while the sink was busy. They are passed on together: there may be a part for each byte. */
  readonly #late = new BodyParts();

  constructor(
    readonly sink: BodySink,
    readonly flow: Flow,
  ) {
    this.#parts = new InflowQueue({
      consume: part => sink.write(part),
      pause: () => this.#pause(),
      resume: () => this.#continue(),
      fail: error => this.#abort(error),
    });
  }

  /** Takes the next part, which belongs to the sink from then on. */
  take(part: Uint8Array, isLast = false): void {
    this.isComplete = isLast;
    if (!this.#parts.isBusy) this.#parts.add(part);
    else if (!this.isOver) this.#late.add(part);
    if (isLast) this.complete();
  }

  /** Call when all parts were taken. */
  complete(): void {
    this.isComplete = true;
    if (!this.#parts.isBusy) this.#close();
  }

  /** Call when the client has closed the connection, which is no longer used. */
  lose(): void {
    this.#isPaused = false;
    if (!this.isOver) this.#abort(new Error('the client closed the connection'));
  }

  /** Call before the answer is sent, after which the rest of the body is discarded. */
  drop(): void {
    // Creating an error is expensive, so none is created for a body that was read.
    if (!this.isOver) this.#abort(new Error('the request was answered before its body had arrived'));
    this.#resume();
  }

  #continue(): void {
    if (this.#late.size > 0) this.#parts.add(this.#late.take());
    if (this.isOver || this.#parts.isBusy) return;
    if (this.isComplete) this.#close();
    else this.#resume();
  }

  #pause(): void {
    if (this.isComplete || this.#isPaused) return;
    this.#isPaused = true;
    this.flow.pause();
  }

  /**
   * Must not be called while the answer to a complete request is made: uWS would then limit the time for the answer to
   * ten seconds.
   */
  #resume(): void {
    if (!this.#isPaused) return;
    this.#isPaused = false;
    this.flow.resume();
  }

  #close(): void {
    if (this.isOver) return;
    this.isOver = true;
    this.sink.close();
  }

  #abort(error: unknown): void {
    this.isOver = true;
    this.#parts.stop();
    this.#late.clear();
    if (!this.isComplete) this.#resume();
    this.sink.abort(error);
  }
}
