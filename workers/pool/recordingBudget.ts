import { monotonicTime } from '../../core/runtime/clock.js';

/**
 * JSON values that a thread may copy or compare in a millisecond to find the changes of mutators: a thousandth of the
 * time, or up to a hundredth on a machine whose caches others use. Values are counted instead of measuring time,
 * because a machine that is busy with something else is slow.
 */
const VALUES_PER_MS = 10;
/** Values that may be saved up, for some 50 pods: writes that come one by one are recorded as a whole. */
const SAVED_VALUES = 100_000;
/** Characters of a text that take as long to write as a value takes to copy. */
const CHARACTERS_PER_VALUE = 16;

/**
 * The work of a pool thread that only the records of decisions need. A busy thread leaves it out, so
 * that recording never takes more than a small part of its time.
 */
export class RecordingBudget {
  #left = SAVED_VALUES;
  #at = monotonicTime();

  /** Whether there is time for it now. */
  get isLeft(): boolean {
    const now = monotonicTime();
    this.#left = Math.min(SAVED_VALUES, this.#left + (now - this.#at) * VALUES_PER_MS);
    this.#at = now;
    return this.#left > 0;
  }

  /** Counts values that were copied or compared. */
  spend(values: number): void {
    this.#left -= values;
  }

  /** Counts a text that was written. */
  spendText({ length }: string): void {
    this.spend(length / CHARACTERS_PER_VALUE);
  }
}
