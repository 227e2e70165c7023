import { FLUSH_PAUSE_MS, FLUSH_SLICE_MS } from '../../core/limits.js';
import { monotonicTime } from '../../core/runtime/clock.js';
import { setImmediate, setTimeout } from '../../core/runtime/timers.js';

/** A connection with bytes to write. */
export interface Flushable {
  flush(): void;
}

/** A round this short is followed by the next one at once, in milliseconds. */
const BRIEF_MS = 1;
/** Number of connections between two readings of the clock. */
const PER_LOOK = 16;

/**
 * Flushes connections that are written at the same time because all of them are sent the same events: the watches of a
 * kind. A round flushes each that has something to write, in slices of time between which others are served. After a
 * long round there is a pause as long as that round, up to a limit: data written meanwhile goes out together, in one
 * system call for each connection instead of one for each event, and the writes that cause the events are not delayed.
 */
export class Rounds {
  #next: Flushable[] = [];
  #isScheduled = false;
  /** When the next round may begin. */
  #pausedUntil = 0;

  constructor(readonly now: () => number = monotonicTime) {}

  /** Flushes a connection in the next round. Add it again only after it was flushed. */
  add(connection: Flushable): void {
    this.#next.push(connection);
    if (!this.#isScheduled) this.#schedule();
  }

  #schedule(): void {
    this.#isScheduled = true;
    const pause = this.#pausedUntil - this.now();
    const begin = (): void => {
      const round = this.#next;
      this.#next = [];
      this.#run(round, 0, 0);
    };
    if (pause > 0) setTimeout(begin, pause);
    else setImmediate(begin);
  }

  /**
   * Flushes those from `at` on, `spent` milliseconds after the beginning of the round, without the time between slices.
   */
  #run(round: readonly Flushable[], at: number, spent: number): void {
    const began = this.now();
    let i = at;
    do round[i++]!.flush();
    while (i < round.length && (i % PER_LOOK !== 0 || this.now() - began < FLUSH_SLICE_MS));
    const ended = this.now();
    const total = spent + ended - began;
    if (i < round.length) {
      setImmediate(() => this.#run(round, i, total));
      return;
    }
    this.#pausedUntil = total < BRIEF_MS ? 0 : ended + Math.min(total, FLUSH_PAUSE_MS);
    this.#isScheduled = false;
    if (this.#next.length > 0) this.#schedule();
  }
}
