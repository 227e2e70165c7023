import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Mark } from '../latency/marks.js';

/** The stages of a write between threads: from one mark to the next. */
const STAGES: readonly (readonly [name: string, from: Mark, to: Mark])[] = [
  ['message to the pool', 'job', 'jobTaken'],
  ['pipeline, in the pool', 'jobTaken', 'proposal'],
  ['message to the writer', 'proposal', 'proposalTaken'],
  ['commit and sync, in the writer', 'proposalTaken', 'committed'],
  ['message to the front end', 'committed', 'verdict'],
  ['all of these', 'job', 'verdict'],
];
/** Marks of which a write has the first; of `committed`, the last: the writer posts to the front end last. */
const NEEDED: readonly Mark[] = ['job', 'jobTaken', 'proposal', 'proposalTaken', 'committed', 'verdict'];

/** How long a stage took, in microseconds. */
export interface Stage {
  readonly name: string;
  readonly p50: number;
  readonly p99: number;
}

/**
 * The stages of writes by one client in the last `seconds`, from the files of `bench/latency/marks.ts`. Incomplete
 * writes do not count.
 */
export function stagesIn(directory: string, seconds: number): readonly Stage[] {
  const marks = readdirSync(directory)
    .flatMap(file => readFileSync(join(directory, file), 'utf8').trim().split('\n'))
    .map((line): [number, Mark] => {
      const [time, mark] = line.split(' ');
      return [Number(BigInt(time!) / 100n) / 10, mark as Mark];
    })
    .sort(([a], [b]) => a - b);
  const since = (marks.at(-1)?.[0] ?? 0) - seconds * 1_000_000;
  const times = STAGES.map((): number[] => []);
  let write = new Map<Mark, number>();
  for (const [time, mark] of marks) {
    if (time < since) continue;
    if (mark === 'job') write = new Map();
    if (mark === 'committed' || !write.has(mark)) write.set(mark, time);
    if (mark !== 'verdict' || !NEEDED.every(needed => write.has(needed))) continue;
    for (const [i, [, from, to]] of STAGES.entries()) times[i]!.push(write.get(to)! - write.get(from)!);
    write = new Map();
  }
  return STAGES.map(([name], i) => {
    const sorted = times[i]!.sort((a, b) => a - b);
    const at = (share: number): number => sorted[Math.floor(sorted.length * share)] ?? 0;
    return { name, p50: at(0.5), p99: at(0.99) };
  });
}
