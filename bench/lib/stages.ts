import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Mark } from '../latency/marks.js';

/** The stages of a write: from one mark to the next. */
const STAGES: readonly (readonly [name: string, from: Mark, to: Mark])[] = [
  ['message to the pool', 'job', 'jobTaken'],
  ['pipeline, in the pool', 'jobTaken', 'proposal'],
  ['message to the writer', 'proposal', 'proposalTaken'],
  ['commit and sync, in the writer', 'proposalTaken', 'committed'],
  ['message to the front end', 'committed', 'verdict'],
  ['all of these', 'job', 'verdict'],
  ['meanwhile, outcome to the front end', 'outcome', 'outcomeTaken'],
];
const NEEDED: readonly Mark[] = [...new Set(STAGES.flatMap(([, from, to]) => [from, to]))];

/** Median and 99th percentile of the duration of a stage, in microseconds. */
export interface Stage {
  readonly name: string;
  readonly p50: number;
  readonly p99: number;
}

/**
 * The marks in the files of a directory in order of time, each with a time in microseconds and the ids of its writes.
 */
const marksIn = (directory: string): (readonly [time: number, mark: Mark, ids: readonly string[]])[] =>
  readdirSync(directory)
    .flatMap(file => readFileSync(join(directory, file), 'utf8').trim().split('\n'))
    .map((line): readonly [number, Mark, readonly string[]] => {
      const [time, mark, ...ids] = line.split(' ');
      return [Number(BigInt(time!) / 100n) / 10, mark as Mark, ids];
    })
    .sort(([a], [b]) => a - b);

/**
 * The stages of writes in the last `seconds`, from the files of `bench/latency/marks.ts`. Incomplete writes do not
 * count. An id is reused once its previous write has the verdict.
 */
export function stagesIn(directory: string, seconds: number): readonly Stage[] {
  const marks = marksIn(directory);
  const since = (marks.at(-1)?.[0] ?? 0) - seconds * 1_000_000;
  const times = STAGES.map((): number[] => []);
  const writes = new Map<string, Map<Mark, number>>();
  for (const [time, mark, ids] of marks) {
    if (time < since) continue;
    for (const id of ids) {
      if (mark === 'job') writes.set(id, new Map());
      const write = writes.get(id);
      if (!write || write.has(mark)) continue;
      write.set(mark, time);
      if (write.size < NEEDED.length) continue;
      for (const [i, [, from, to]] of STAGES.entries()) times[i]!.push(write.get(to)! - write.get(from)!);
      writes.delete(id);
    }
  }
  return STAGES.map(([name], i) => {
    const sorted = times[i]!.sort((a, b) => a - b);
    const at = (share: number): number => sorted[Math.floor(sorted.length * share)] ?? 0;
    return { name, p50: at(0.5), p99: at(0.99) };
  });
}
