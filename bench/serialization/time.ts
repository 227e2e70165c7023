import { Bench } from 'tinybench';
import { median } from '../lib/median.js';

/** A function that is measured. */
export type Run = () => unknown;

/** The time limits of a measurement. */
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

/** Keeps the result of a measured call until the next one, so that the compiler cannot eliminate the call. */
export function keepResult(result: unknown): void {
  kept.result = result;
}

const repeat = (run: Run, calls: number) => (): void => {
  for (let i = 0; i < calls; i++) keepResult(run());
};

/** The measurement of a function: a separate bench, so that benches can take turns. */
interface Plan {
  readonly bench: Bench;
  /** Calls in an iteration, a power of two. */
  readonly calls: number;
  /** The function has a turn in every n-th round. */
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

/**
 * Returns the microseconds per call of each function: the median over rounds of the mean of a round. Functions take
 * turns, and each round starts with a different one, so that other load on the machine affects all alike. Within a
 * round the mean counts, not the median: collecting a function's garbage is part of its cost.
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
