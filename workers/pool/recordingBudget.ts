import { monotonicTime } from '../../core/runtime/clock.js';

/**
 * Characters of JSON that a thread may write in a millisecond to see what mutators have changed: about a hundredth of
 * the time. They are counted, and not the time, as a machine that is busy with something else is slow.
 */
const CHARACTERS_PER_MS = 3000;
/** Characters that may be saved up: writes that come one by one are recorded as a whole. */
const SAVED_CHARACTERS = 2_000_000;

/**
 * The work of a pool thread for what is only recorded, and that nothing else needs. A busy thread leaves it out, so
 * that recording never takes more than a small part of its time.
 */
export class RecordingBudget {
  #left = SAVED_CHARACTERS;
  #at = monotonicTime();

  /** Whether there is time for it now. */
  get isLeft(): boolean {
    const now = monotonicTime();
    this.#left = Math.min(SAVED_CHARACTERS, this.#left + (now - this.#at) * CHARACTERS_PER_MS);
    this.#at = now;
    return this.#left > 0;
  }

  /** Counts a text that was written, and returns it. */
  spend(text: string): string {
    this.#left -= text.length;
    return text;
  }
}
