/** The way in which a call has failed. */
export type FailureKind = 'error' | 'timeout';

/** Extension points with calls that are counted. Points that plugins define are all counted as the last one. */
const POINTS = [
  'authenticator',
  'authorizer',
  'mutator',
  'validator',
  'healthCheck',
  'resourceType',
  'resourceSource',
  'httpDocuments',
  'httpSite',
  'tokenIssuer',
  'controller',
  'converter',
  'storage',
  'listener',
  'auditSink',
  'metrics',
  'postStartHook',
  'service',
  'other',
] as const;
/** The number of points that are counted separately. */
export const POINT_COUNT = POINTS.length;
/** The point with this index. */
export const pointOf = (index: number): string => POINTS[index]!;
/** The cell of a plugin at a point, from 1 on: `plugin` is its index among all plugins of the server. */
export function cellOf(plugin: number, point: string): number {
  const known = (POINTS as readonly string[]).indexOf(point);
  return plugin * POINT_COUNT + (known < 0 ? POINT_COUNT - 1 : known) + 1;
}
const KINDS: readonly FailureKind[] = ['error', 'timeout'];
/** Upper bounds of the buckets of durations, in seconds: from a synchronous call to the longest time limit. */
export const DURATION_BOUNDS = [0.0001, 0.001, 0.005, 0.025, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30] as const;

/**
 * Cells of one plugin at one point: failures, buckets including one above the last bound, and the sum as two numbers.
 */
const FIRST_BUCKET = KINDS.length;
const SUM = FIRST_BUCKET + DURATION_BOUNDS.length + 1;
const CELLS = SUM + 2;
/** The sum counts units of 100 ns; its second cell counts the overflows of the first one. */
const UNITS_PER_MS = 10_000;
const CELL_RANGE = 2 ** 32;

/** The counts of the calls of one plugin at one point. */
export interface CallCount {
  /** Index of the plugin among all plugins of the server. */
  readonly plugin: number;
  readonly point: string;
  readonly failures: Readonly<Record<FailureKind, number>>;
  /** Calls per bucket, not cumulative; the last bucket has the calls above the last bound. */
  readonly buckets: readonly number[];
  readonly seconds: number;
}

/** Counters of the calls of plugins, in memory that all threads share. */
export class CallCounters {
  readonly #cells: Uint32Array;

  constructor(memory: SharedArrayBuffer) {
    this.#cells = new Uint32Array(memory);
  }

  /** Allocates memory for this number of plugins. */
  static memory(plugins: number): SharedArrayBuffer {
    return new SharedArrayBuffer(plugins * POINTS.length * CELLS * Uint32Array.BYTES_PER_ELEMENT);
  }

  /** The counters of one plugin at one point; `plugin` is the index of the plugin among all plugins of the server. */
  of(plugin: number, point: string): PointCounters {
    const cell = (cellOf(plugin, point) - 1) * CELLS;
    return new PointCounters(this.#cells.subarray(cell, cell + CELLS));
  }

  /** All counts, without points that were never called. */
  *[Symbol.iterator](): Generator<CallCount> {
    for (let at = 0; at * CELLS < this.#cells.length; at++) {
      const plugin = Math.floor(at / POINTS.length);
      const point = POINTS[at % POINTS.length]!;
      const counted = new PointCounters(this.#cells.subarray(at * CELLS, (at + 1) * CELLS)).read();
      if (counted) yield { plugin, point, ...counted };
    }
  }
}

/** The counters of one plugin at one point. */
export class PointCounters {
  constructor(readonly cells: Uint32Array) {}

  /** Counts a failure, in addition to the call. */
  countFailure(kind: FailureKind): void {
    Atomics.add(this.cells, KINDS.indexOf(kind), 1);
  }

  /** Counts a call that took `ms` milliseconds. */
  countCall(milliseconds: number): void {
    let bucket = 0;
    while (bucket < DURATION_BOUNDS.length && milliseconds > DURATION_BOUNDS[bucket]! * 1000) bucket++;
    Atomics.add(this.cells, FIRST_BUCKET + bucket, 1);
    const units = Math.round(milliseconds * UNITS_PER_MS);
    const before = Atomics.add(this.cells, SUM, units % CELL_RANGE);
    const overflows = Math.floor((before + units) / CELL_RANGE);
    if (overflows > 0) Atomics.add(this.cells, SUM + 1, overflows);
  }

  /** The counts; undefined if there was no call. */
  read(): Omit<CallCount, 'plugin' | 'point'> | undefined {
    const [error = 0, timeout = 0, ...others] = this.cells.map((_, i) => Atomics.load(this.cells, i));
    const buckets = others.slice(0, DURATION_BOUNDS.length + 1);
    const [low = 0, high = 0] = others.slice(DURATION_BOUNDS.length + 1);
    if (error + timeout === 0 && buckets.every(count => count === 0)) return undefined;
    const seconds = (high * CELL_RANGE + low) / (UNITS_PER_MS * 1000);
    return { failures: { error, timeout }, buckets, seconds };
  }
}
