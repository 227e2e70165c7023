import { Bench } from 'tinybench';

/** A function that is measured. */
export type Run = () => unknown;

/** How long runs are measured. */
export interface Rounds {
  readonly rounds: number;
  /** Milliseconds that each function runs in each round; at least once. */
  readonly roundMs: number;
}

/** Microseconds that one timed iteration takes at least: a reading of the clock costs about 0.05. */
const ITERATION_US = 50;
const MOST_CALLS = 1024;
/** A function that is slower than this runs in every third round only. */
const SLOW_MS = 500;

const kept: { result: unknown } = { result: undefined };

/** Keeps the result of a measured call until the next one, so that the compiler cannot leave the call out. */
export function keepResult(result: unknown): void {
  kept.result = result;
}

const repeat = (run: Run, calls: number) => (): void => {
  for (let i = 0; i < calls; i++) keepResult(run());
};

/** How a function is measured: a bench of its own, so that benches can take turns. */
interface Plan {
  readonly bench: Bench;
  /** Calls in an iteration, a power of two. */
  readonly calls: number;
  /** It has a turn in every n-th round. */
  readonly everyRounds: number;
}

/** Also warms the function up. */
function planOf(run: Run, roundMs: number): Plan {
  for (let calls = 1; ; calls *= 2) {
    const began = performance.now();
    repeat(run, calls)();
    const ms = performance.now() - began;
    if (ms * 1000 < ITERATION_US && calls < MOST_CALLS) continue;
    const bench = new Bench({ time: roundMs, iterations: 1, warmup: false, throws: true });
    return { bench: bench.add('run', repeat(run, calls)), calls, everyRounds: ms > SLOW_MS ? 3 : 1 };
  }
}

const median = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[values.length >> 1] ?? Number.NaN;

/**
 * Microseconds per call of each function: medians over rounds of the mean of a round. In every round each function
 * has its turn, and every round begins with another one, so that what else happens on the machine falls on all alike. The
 * mean, not the median, counts within a round: collections of the garbage that a function makes are part of its cost.
 */
export function timesOf(runs: readonly Run[], { rounds, roundMs }: Rounds): number[] {
  const plans = runs.map(run => planOf(run, roundMs));
  const means = runs.map((): number[] => []);
  for (let round = 0; round < rounds; round++) {
    for (let i = 0; i < runs.length; i++) {
      const at = (round + i) % runs.length;
      const { bench, calls, everyRounds } = plans[at]!;
      if (round % everyRounds > 0) continue;
      const [task] = bench.runSync();
      means[at]!.push((task!.result!.latency.mean * 1000) / calls);
    }
  }
  return means.map(median);
}
