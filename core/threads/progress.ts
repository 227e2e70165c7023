/**
 * The current job of a pool thread, in memory that the front end reads: messages would cost too much, and a blocked
 * thread sends none. A thread that takes no step for a long time is blocked in its job.
 */
import type { RunId } from './runs.js';
import { ownNativeId, type SchedulingTimes, schedulingTimesOf } from './scheduling.js';

/** Numbers that describe a step in memory, which has room for two: the current step and the next one. */
const NUMBERS = 2;
/** The place of the native id of the thread, after the count of steps and both of them. */
const NATIVE_ID = 1 + 2 * NUMBERS;
/** No job. */
const NONE = -1;
/** Steps are counted modulo this number. */
const STEPS = 2 ** 30;

/** The progress of this thread. */
export class OwnProgress {
  readonly #memory: Int32Array;
  #step = 0;

  constructor(memory: SharedArrayBuffer) {
    this.#memory = new Int32Array(memory);
    this.#memory[NATIVE_ID] = ownNativeId();
  }

  /** Allocates the memory of a thread. */
  static memory(): SharedArrayBuffer {
    const memory = new SharedArrayBuffer((NATIVE_ID + 1) * Int32Array.BYTES_PER_ELEMENT);
    new Int32Array(memory)[1] = NONE;
    return memory;
  }

  /**
   * Records that the thread begins a job; undefined: it has begun all jobs of a batch, and continues some of them
   * later.
   */
  step(run?: RunId): void {
    this.#step = (this.#step + 1) % STEPS;
    // Not the place of the current step: a reader that has seen the old count still reads the old numbers.
    const first = 1 + (this.#step & 1) * NUMBERS;
    this.#memory[first] = run ? run.word : NONE;
    this.#memory[first + 1] = run ? run.number : 0;
    Atomics.store(this.#memory, 0, this.#step);
  }
}

/** The progress of another thread. */
export class WatchedProgress {
  readonly #memory: Int32Array;

  constructor(memory: SharedArrayBuffer) {
    this.#memory = new Int32Array(memory);
  }

  /** A number that differs after each step of the thread. */
  get step(): number {
    return Atomics.load(this.#memory, 0);
  }

  /**
   * The current job of the thread; undefined if it has none, or continues one that has waited. Valid only if `step` has
   * not changed meanwhile.
   */
  get running(): RunId | undefined {
    const first = 1 + (this.step & 1) * NUMBERS;
    const word = this.#memory[first]!;
    return word === NONE ? undefined : { word, number: this.#memory[first + 1]! };
  }

  /** How long the thread has had a core, and has waited for one; undefined if that is not known. */
  get times(): SchedulingTimes | undefined {
    return schedulingTimesOf(this.#memory[NATIVE_ID]!);
  }
}
