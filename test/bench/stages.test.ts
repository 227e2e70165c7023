import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { stagesIn } from '../../bench/lib/stages.js';

/** A directory with a file for each thread. A line has a time in nanoseconds, a mark and the ids of writes. */
function marksOf(...threads: readonly string[][]): string {
  const directory = mkdtempSync(join(tmpdir(), 'marks-'));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  for (const [i, lines] of threads.entries()) writeFileSync(join(directory, String(i)), `${lines.join('\n')}\n`);
  return directory;
}

test('the stages of a write are the times between the messages of its threads, also if writes share messages', () => {
  const directory = marksOf(
    ['1000000000 job 7 8', '1000400000 outcomeTaken 7 8', '1000900000 verdict 8', '1000950000 verdict 7'],
    ['1000100000 jobTaken 7 8', '1000300000 proposal 8 7', '1000310000 outcome 7 8'],
    ['1000350000 proposalTaken 8', '1000360000 proposalTaken 7', '1000800000 committed 8', '1000850000 committed 7'],
  );
  expect(Object.fromEntries(stagesIn(directory, 1).map(({ name, p50 }) => [name, p50]))).toEqual({
    'message to the pool': 100,
    'pipeline, in the pool': 200,
    'message to the writer': 60,
    'commit and sync, in the writer': 490,
    'message to the front end': 100,
    'all of these': 950,
    'meanwhile, outcome to the front end': 90,
  });
});

test('writes before the measured time, and writes without all messages, do not count', () => {
  const directory = marksOf(
    ['1000000000 job 7', '1000900000 verdict 7', '5000000000 job 7', '5000900000 verdict 7'],
    ['1000100000 jobTaken 7', '1000300000 proposal 7'],
    ['1000350000 proposalTaken 7', '1000700000 committed 7'],
  );
  expect(stagesIn(directory, 1).map(({ p50, p99 }) => [p50, p99])).toEqual(Array(7).fill([0, 0]));
});
