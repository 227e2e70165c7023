/*
 * The job that a thread of the pool is in, in memory that the front end reads: messages would cost too much, and a
 * thread that does not return sends none. A thread that takes no step for long does not return from its job.
 */
import type { RunId } from './runs.js';
import { ownNativeId, type SchedulingTimes, schedulingTimesOf } from './scheduling.js';

/** Numbers of a step in memory. There are two: that of the current step, and that of the one to come. */
const NUMBERS = 2;
/** The place of the native id of the thread, after the count of steps and both of them. */
const NATIVE_ID = 1 + 2 * NUMBERS;
/** No job. */
const NONE = -1;
/** Steps are counted up to this number, and then from zero. */
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

  /** The thread begins a job; undefined: it has begun all jobs of a batch, and continues with some later. */
  step(run?: RunId): void {
    this.#step = (this.#step + 1) % STEPS;
    // The other place than that of the current step: a reader that has seen the old count still reads the old numbers.
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
   * The job that the thread is in, if it takes no step meanwhile; undefined if it is in none, or continues with one
   * that has waited.
   */
  get running(): RunId | undefined {
    const first = 1 + (this.step & 1) * NUMBERS;
    const word = this.#memory[first]!;
    return word === NONE ? undefined : { word, number: this.#memory[first + 1]! };
  }

  /** For how long the thread has had a core, and has waited for one; undefined if that is not known. */
  get times(): SchedulingTimes | undefined {
    return schedulingTimesOf(this.#memory[NATIVE_ID]!);
  }
}
