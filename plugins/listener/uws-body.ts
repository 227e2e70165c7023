import { BODY_BYTES } from '../../core/limits.js';
import { goneAway, tooLarge } from './common.js';

const NOTHING = new Uint8Array(0);

/**
 * A body above its limit is read and dropped before the refusal, up to this many times the limit: an answer before the
 * end of the body resets the connection.
 */
const DRAINED = 8;

/**
 * Collects a request's body from the moment it is attached. What arrives before `read` is kept up to the server's own
 * limit, because uWS drops data that nobody takes; beyond a limit data is dropped and the reader gets a refusal.
 */
export class BodyCollector {
  private parts: Uint8Array[] = [];
  private size = 0;
  private limit = BODY_BYTES;
  private complete = false;
  private gone = false;
  private reader: { resolve(body: Uint8Array): void; reject(error: Error): void } | undefined;

  /** Takes one chunk; its memory belongs to uWS and is copied. */
  take(chunk: ArrayBuffer, last: boolean): void {
    this.size += chunk.byteLength;
    this.complete = last;
    if (this.size > this.limit) this.parts = [];
    else if (chunk.byteLength > 0) this.parts.push(new Uint8Array(chunk.slice(0)));
    this.settle();
  }

  /** The client went away. */
  lose(): void {
    if (this.complete) return;
    this.gone = true;
    this.parts = [];
    this.settle();
  }

  /** Called once. */
  read(limit: number): Promise<Uint8Array> {
    this.limit = Math.min(limit, this.limit);
    return new Promise((resolve, reject) => {
      this.reader = { resolve, reject };
      this.settle();
    });
  }

  private settle(): void {
    const reader = this.reader;
    if (!reader) return;
    if (this.size > this.limit && (this.complete || this.size > DRAINED * this.limit))
      reader.reject(tooLarge(this.limit));
    else if (this.complete && this.size <= this.limit) reader.resolve(this.joined());
    else if (this.gone) reader.reject(goneAway());
    else return;
    this.reader = undefined;
  }

  private joined(): Uint8Array {
    const [only = NOTHING] = this.parts;
    const body = this.parts.length > 1 ? Buffer.concat(this.parts, this.size) : only;
    this.parts = [];
    return body;
  }
}
