import { BODY_BYTES, COMPLAINTS } from '../limits.js';

/**
 * Texts about one body that do not keep it from being read, in the order in which they come. As many as upstream keeps,
 * and not many more characters than a body has: each names a path, which may be as long as the body itself.
 */
export class Complaints {
  readonly texts: string[] = [];
  #left = BODY_BYTES;

  /** Whether another text would be kept; where not, none need be made. */
  get open(): boolean {
    return this.texts.length < COMPLAINTS && this.#left > 0;
  }

  /** Keeps a text; `once`: unless it is there already. */
  add(text: string, once = false): void {
    if (!this.open) return;
    this.#left -= text.length;
    if (!once || !this.texts.includes(text)) this.texts.push(text);
  }
}
