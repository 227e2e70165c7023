import { SLICE_MS } from '../../../core/limits.js';
import { monotonicTime } from '../../../core/runtime/clock.js';
import { setImmediate } from '../../../core/runtime/timers.js';

/** Weight of the items between two readings of the clock. A reading costs as much as an item or two. */
const WEIGHT_PER_LOOK = 16;
/** The share of a slice that one computation gets before the next one runs, in milliseconds. */
const SHARE_MS = SLICE_MS / 4;

/** A computation that waits for its next slice. */
interface Waiting {
  /** Continues until the clock shows `deadline`. Returns true when it has ended. */
  step(deadline: number): boolean;
  resolve(): void;
  reject(error: unknown): void;
}

/**
 * Long computations of the main thread, in slices. All of them together have one slice in each turn of the event loop,
 * so that other requests wait for one slice at most, however many computations there are; they share it in the order in
 * which they came.
 */
export class Slices {
  #waiting: Waiting[] = [];
  /** Time that computations have had in this turn. */
  #spent = 0;
  #isScheduled = false;

  /**
   * Visits items in order until `visit` returns false. Begins at once if no other call waits and this turn has time
   * left. `weigh` returns the duration of a visit, relative to that of an item of weight 1. Rejects with the error that
   * `visit` throws.
   */
  forEach<T>(
    items: readonly T[],
    visit: (item: T) => boolean | undefined,
    weigh: (item: T) => number = () => 1,
  ): Promise<void> {
    let next = 0;
    const step = (deadline: number): boolean => {
      let weight = 0;
      while (next < items.length) {
        const item = items[next++]!;
        weight += weigh(item);
        if (visit(item) === false) return true;
        if (weight < WEIGHT_PER_LOOK) continue;
        weight = 0;
        if (monotonicTime() >= deadline) return next === items.length;
      }
      return true;
    };
    return new Promise((resolve, reject) => {
      this.#waiting.push({ step, resolve, reject });
      if (this.#waiting.length === 1) this.#run();
      else this.#schedule();
    });
  }

  /** The items that are kept, in order; `keep` is called like `visit` of `forEach`. */
  async filter<T>(items: readonly T[], keep: (item: T) => boolean, weigh?: (item: T) => number): Promise<T[]> {
    const kept: T[] = [];
    await this.forEach(
      items,
      item => {
        if (keep(item)) kept.push(item);
        return true;
      },
      weigh,
    );
    return kept;
  }

  /** Runs computations in the order in which they came, for the rest of this turn's slice. */
  #run(): void {
    const began = monotonicTime();
    const deadline = began + SLICE_MS - this.#spent;
    let now = began;
    while (this.#waiting.length > 0 && now < deadline) {
      const first = this.#waiting.shift()!;
      if (!runUntil(Math.min(deadline, now + SHARE_MS), first)) this.#waiting.push(first);
      now = monotonicTime();
    }
    this.#spent += now - began;
    this.#schedule();
  }

  /** Continues in the next turn, which has a slice of its own. */
  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    setImmediate(() => {
      this.#isScheduled = false;
      this.#spent = 0;
      if (this.#waiting.length > 0) this.#run();
    });
  }
}

/** Runs a computation until the deadline. Returns true if it has ended. */
function runUntil(deadline: number, { step, resolve, reject }: Waiting): boolean {
  try {
    if (!step(deadline)) return false;
    resolve();
  } catch (error) {
    reject(error);
  }
  return true;
}
