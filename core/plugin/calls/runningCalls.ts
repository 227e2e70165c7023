import { POINT_COUNT, pointOf } from './callCounters.js';

/** A plugin, by its index among all plugins of the server, at an extension point. */
export interface CallPlace {
  readonly plugin: number;
  readonly point: string;
}

/** Index of the first cell of a plugin at a point (`cellOf`). The cell before it names the running call. */
const FIRST_CELL = 1;

/**
 * The calls of plugins that a thread is executing, in memory that another thread can read if this one no longer
 * answers: the call that is running, the number of calls that wait for a promise, for each plugin and point, and the
 * number of calls that have begun.
 */
export class RunningCalls {
  readonly #cells: Int32Array;
  readonly #begun: number;

  constructor(memory: SharedArrayBuffer) {
    this.#cells = new Int32Array(memory);
    this.#begun = this.#cells.length - 1;
  }

  /** Allocates memory for this number of plugins. */
  static memory(plugins: number): SharedArrayBuffer {
    return new SharedArrayBuffer((FIRST_CELL + plugins * POINT_COUNT + 1) * Int32Array.BYTES_PER_ELEMENT);
  }

  /** A number that changes with each call that begins. */
  get begun(): number {
    return this.#cells[this.#begun]!;
  }

  /** Marks the call of a cell (`cellOf`) as the running one. Returns the argument for `leave`. */
  enter(cell: number): number {
    const before = this.#cells[0]!;
    this.#cells[0] = cell;
    this.#cells[this.#begun]!++;
    return before;
  }

  /** Marks the previous call as the running one. */
  leave(before: number): void {
    this.#cells[0] = before;
  }

  /** Changes the number of calls of a cell that wait for a promise, by 1 or -1. */
  countWaiting(cell: number, change: 1 | -1): void {
    this.#cells[cell]! += change;
  }

  /** The running call or, if there is none, the waiting ones, one of which may have continued. */
  get suspects(): CallPlace[] {
    const running = this.#cells[0]!;
    if (running > 0) return [placeOf(running)];
    const waiting: CallPlace[] = [];
    for (let cell = FIRST_CELL; cell < this.#begun; cell++) if (this.#cells[cell]! > 0) waiting.push(placeOf(cell));
    return waiting;
  }
}

const placeOf = (cell: number): CallPlace => ({
  plugin: Math.floor((cell - 1) / POINT_COUNT),
  point: pointOf((cell - 1) % POINT_COUNT),
});
