/*
 * The job that a thread of the pool runs, in memory that the front end reads: there is no message about it. The thread
 * takes a step before each job and before it sends what its jobs have made; the front end can take all of the thread's
 * jobs away between two steps, but for those that run. The second of two threads sees that: a job is never completed by
 * both.
 */

/** Where a thread is in a batch. */
export interface Position {
  /** Id of the batch; 0 before the first one. */
  readonly batch: number;
  /** Index of the job that runs, or `SENT`. */
  readonly at: number;
  /** The jobs before it that have begun and wait for something, as bits. */
  readonly waiting: number;
}

/**
 * The index of a job at which the batch has ended instead of running it: its proposals are sent, and its outcomes will
 * be.
 */
export const SENT = -1;

/** Whether a job stays with a thread at a position whose other jobs are taken from it. */
export const isKept = (position: Position, batch: number, at: number): boolean =>
  position.batch === batch && (position.at === at || ((position.waiting >> at) & 1) === 1);

/** Numbers of a position in memory. There are two: that of the current step, and that of the one to come. */
const NUMBERS = 3;
/** Bytes before the positions: the number of the step, which is negative while the thread's jobs are taken. */
const STEP_BYTES = 8;
/** Steps are counted up to this number, and then from zero. */
const STEPS = 2 ** 30;

abstract class Progress {
  protected readonly steps: Int32Array;
  readonly #numbers: Float64Array;

  constructor(memory: SharedArrayBuffer) {
    this.steps = new Int32Array(memory, 0, 1);
    this.#numbers = new Float64Array(memory, STEP_BYTES);
  }

  protected positionAt(step: number): Position {
    const first = (step & 1) * NUMBERS;
    return { batch: this.#numbers[first]!, at: this.#numbers[first + 1]!, waiting: this.#numbers[first + 2]! };
  }

  protected write(step: number, batch: number, at: number, waiting: number): void {
    const first = (step & 1) * NUMBERS;
    this.#numbers[first] = batch;
    this.#numbers[first + 1] = at;
    this.#numbers[first + 2] = waiting;
  }
}

/** The progress of this thread. */
export class OwnProgress extends Progress {
  #step = 0;

  /** Allocates the memory of a thread. */
  static memory(): SharedArrayBuffer {
    const memory = new SharedArrayBuffer(STEP_BYTES + 2 * NUMBERS * Float64Array.BYTES_PER_ELEMENT);
    new Float64Array(memory, STEP_BYTES)[1] = SENT;
    return memory;
  }

  /** Steps to a position. Returns false, and stays, while the jobs of the thread are taken. */
  advance(batch: number, at: number, waiting: number): boolean {
    const next = (this.#step + 1) % STEPS;
    this.write(next, batch, at, waiting);
    if (Atomics.compareExchange(this.steps, 0, this.#step, next) !== this.#step) return false;
    this.#step = next;
    return true;
  }

  /** Where the last step has led. */
  get position(): Position {
    return this.positionAt(this.#step);
  }
}

/** The progress of another thread. */
export class WatchedProgress extends Progress {
  /** A number that differs after each step of the thread. */
  get step(): number {
    return Atomics.load(this.steps, 0);
  }

  /** Where the thread is, if it takes no step meanwhile. */
  get position(): Position {
    const { step } = this;
    return this.positionAt(step < 0 ? ~step : step);
  }

  /**
   * Takes the jobs of the thread, but for those of its position, which is returned. Undefined if the thread has taken
   * another step than `step`, or its jobs are taken already.
   */
  take(step: number): Position | undefined {
    if (step < 0 || Atomics.compareExchange(this.steps, 0, step, ~step) !== step) return undefined;
    return this.positionAt(step);
  }

  /** Lets the thread run jobs again. It must have none that were taken. */
  giveBack(): void {
    const { step } = this;
    if (step < 0) Atomics.store(this.steps, 0, ~step);
  }
}
