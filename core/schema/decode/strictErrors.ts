import { BODY_BYTES, STRICT_ERRORS } from '../../limits.js';

/**
 * The strict decoding errors of a request body (unknown and duplicate fields), in order. Their number has upstream's
 * limit, and their total length that of a body: each contains a path, which may be as long as the body.
 */
export class StrictErrors {
  readonly texts: string[] = [];
  #remaining = BODY_BYTES;

  /** Whether another error would be kept. */
  get hasRoom(): boolean {
    return this.texts.length < STRICT_ERRORS && this.#remaining > 0;
  }

  /** Adds an error unless the limit is reached; with `once`, unless it exists already. */
  add(text: string, once = false): void {
    if (!this.hasRoom) return;
    this.#remaining -= text.length;
    if (!once || !this.texts.includes(text)) this.texts.push(text);
  }
}
