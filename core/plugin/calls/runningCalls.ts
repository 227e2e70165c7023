import { POINT_COUNT, pointOf } from './callCounters.js';

/** A plugin, by its index among all plugins of the server, at an extension point. */
export interface CallPlace {
  readonly plugin: number;
  readonly point: string;
}

/**
 * The calls of plugins that a thread is in, in memory that another thread can read when this one no longer answers: the
 * call that runs now, and for each plugin and point how many calls wait for a promise.
 */
export class RunningCalls {
  readonly #cells: Int32Array;

  constructor(memory: SharedArrayBuffer) {
    this.#cells = new Int32Array(memory);
  }

  /** Allocates memory for this number of plugins. */
  static memory(plugins: number): SharedArrayBuffer {
    return new SharedArrayBuffer((1 + plugins * POINT_COUNT) * Int32Array.BYTES_PER_ELEMENT);
  }

  /** Marks the call of a cell (`cellOf`) as the one that runs. Returns what `leave` needs. */
  enter(cell: number): number {
    const before = this.#cells[0]!;
    this.#cells[0] = cell;
    return before;
  }

  /** Marks the call before as the one that runs. */
  leave(before: number): void {
    this.#cells[0] = before;
  }

  /** Counts calls of a cell that wait for a promise: 1 more, or -1. */
  countWaiting(cell: number, change: 1 | -1): void {
    this.#cells[cell]! += change;
  }

  /** The call that runs; without one, those that wait: one of them may go on now. */
  get suspects(): CallPlace[] {
    const running = this.#cells[0]!;
    if (running > 0) return [placeOf(running)];
    return Array.from(this.#cells.keys()).flatMap(cell => (cell > 0 && this.#cells[cell]! > 0 ? [placeOf(cell)] : []));
  }
}

const placeOf = (cell: number): CallPlace => ({
  plugin: Math.floor((cell - 1) / POINT_COUNT),
  point: pointOf((cell - 1) % POINT_COUNT),
});
