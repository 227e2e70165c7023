import type { BodySink } from '../api/listener.js';
import { Refusal } from '../model/refusal.js';
import { BodyParts } from '../runtime/bodyParts.js';

/**
 * Collects the body of a request.
 *
 * @example
 * const whole = new WholeBody(3 * 1024 * 1024);
 * exchange.body(whole);
 * const bytes = await whole.bytes;
 */
export class WholeBody implements BodySink {
  /**
   * The body, once it is complete. Rejects with Refusal RequestEntityTooLarge above the limit, or with the error that
   * ended the body early; the received bytes are then discarded.
   */
  readonly bytes: Promise<Uint8Array>;
  readonly #parts = new BodyParts();
  #size = 0;
  #resolve!: (bytes: Uint8Array) => void;
  #reject!: (error: unknown) => void;

  /** `limit`: the maximum size in bytes. */
  constructor(readonly limit: number) {
    this.bytes = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
  }

  /** Number of bytes that have arrived. */
  get size(): number {
    return this.#size;
  }

  write(part: Uint8Array): void | Promise<void> {
    this.#size += part.length;
    if (this.#size > this.limit)
      throw new Refusal('RequestEntityTooLarge', `Request entity too large: limit is ${this.limit}`);
    this.#parts.add(part);
  }

  close(): void {
    this.#resolve(this.#parts.take());
  }

  abort(error: unknown): void {
    this.#parts.clear();
    this.#reject(error);
  }
}
