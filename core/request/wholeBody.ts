import type { BodySink } from '../api/listener.js';
import { Refusal } from '../model/refusal.js';

const NOTHING = new Uint8Array(0);

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
   * The body, once it is complete. Rejects with Refusal RequestEntityTooLarge above the limit, and with what else ends
   * the body before it is complete. Then no part of it is kept.
   */
  readonly bytes: Promise<Uint8Array>;
  #parts: Uint8Array[] = [];
  #size = 0;
  #resolve!: (bytes: Uint8Array) => void;
  #reject!: (error: unknown) => void;

  /** `limit`: the most bytes. */
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
    this.#parts.push(part);
  }

  close(): void {
    const parts = this.#parts;
    this.#parts = [];
    this.#resolve(parts.length > 1 ? Buffer.concat(parts, this.#size) : (parts[0] ?? NOTHING));
  }

  abort(error: unknown): void {
    this.#parts = [];
    this.#reject(error);
  }
}
