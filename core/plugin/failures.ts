import type { FailureKind } from './calls.js';

/** Points whose calls are on the way of a request; those that plugins define count as the last. */
const POINTS = ['authn', 'authz', 'mutate', 'validate', 'health', 'resource', 'other'] as const;
const KINDS: readonly FailureKind[] = ['error', 'timeout'];
const CELLS = POINTS.length * KINDS.length;

/** How often calls of one plugin at one point failed. */
export interface FailureCount {
  /** Place of the plugin among all of the server. */
  readonly plugin: number;
  readonly point: string;
  readonly kind: FailureKind;
  readonly count: number;
}

/** Failed calls of plugins in all threads, as numbers in memory that the threads share. */
export class FailureCounters {
  readonly #cells: Uint32Array;

  constructor(memory: SharedArrayBuffer) {
    this.#cells = new Uint32Array(memory);
  }

  /** Memory for so many plugins. */
  static memory(plugins: number): SharedArrayBuffer {
    return new SharedArrayBuffer(plugins * CELLS * Uint32Array.BYTES_PER_ELEMENT);
  }

  /** Counts one failure; `plugin` is the place of the plugin among all of the server. */
  add(plugin: number, point: string, kind: FailureKind): void {
    const known = (POINTS as readonly string[]).indexOf(point);
    const at = known < 0 ? POINTS.length - 1 : known;
    Atomics.add(this.#cells, plugin * CELLS + at * KINDS.length + KINDS.indexOf(kind), 1);
  }

  /** What was counted, without what never failed. */
  *[Symbol.iterator](): Generator<FailureCount> {
    for (let cell = 0; cell < this.#cells.length; cell++) {
      const count = Atomics.load(this.#cells, cell);
      if (count === 0) continue;
      const plugin = Math.floor(cell / CELLS);
      const point = POINTS[Math.floor((cell % CELLS) / KINDS.length)]!;
      yield { plugin, point, kind: KINDS[cell % KINDS.length]!, count };
    }
  }
}
