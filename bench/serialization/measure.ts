import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { ENGINES, type Operation, runsOf } from './engines.js';
import { makeSamples } from './samples.js';
import { type Rounds, timesOf } from './time.js';

/** Time and bytes that one engine needs for one operation on one sample. */
export interface Measurement {
  readonly sample: string;
  readonly engine: string;
  readonly operation: Operation;
  /** Microseconds per operation. */
  readonly us: number;
  /** Length of the encoded value. */
  readonly bytes: number;
  /** Bytes allocated per operation; undefined if garbage was collected before the operation ended. */
  readonly allocated?: number;
}

/** Bytes per call, by sample, engine and operation. */
export type Allocations = { [key: string]: number };

/** The key of a figure in `Allocations`. */
export const keyOf = (sample: string, engine: string, operation: Operation): string =>
  [sample, engine, operation].join('/');

const WORKER = fileURLToPath(new URL('./allocations.js', import.meta.url));
/** The number of megabytes that can be allocated before V8 collects garbage. */
const YOUNG_MB = 512;

async function allocationsOf(items: number): Promise<Allocations> {
  const young = ['min', 'max'].map(bound => `--${bound}-semi-space-size=${YOUNG_MB}`);
  const { stdout } = await promisify(execFile)(process.execPath, ['--expose-gc', ...young, WORKER, String(items)]);
  return JSON.parse(stdout) as Allocations;
}

/** Measures every engine on every sample, with `items` objects in lists. */
export async function measure(items: number, rounds: Rounds): Promise<Measurement[]> {
  const allocations = await allocationsOf(items);
  return makeSamples(items).flatMap(sample => {
    const all = ENGINES.map(engine => runsOf(engine, sample));
    return (['encode', 'decode'] as const).flatMap(operation => {
      const times = timesOf(
        all.map(({ run }) => run[operation]),
        rounds,
      );
      return ENGINES.map(
        (engine, i): Measurement => ({
          sample: sample.name,
          engine: engine.name,
          operation,
          us: times[i]!,
          bytes: all[i]!.bytes.length,
          allocated: allocations[keyOf(sample.name, engine.name, operation)],
        }),
      );
    });
  });
}
