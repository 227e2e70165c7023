import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { stagesIn } from '../../bench/lib/stages.js';

/** A directory with a file for each thread, of lines with a time in nanoseconds and a mark. */
function marksOf(...threads: readonly string[][]): string {
  const directory = mkdtempSync(join(tmpdir(), 'marks-'));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  for (const [i, lines] of threads.entries()) writeFileSync(join(directory, String(i)), `${lines.join('\n')}\n`);
  return directory;
}

test('the stages of a write are the times between the messages of its threads', () => {
  const directory = marksOf(
    ['1000000000 job', '1000900000 verdict'],
    ['1000100000 jobTaken', '1000300000 proposal'],
    ['1000350000 proposalTaken', '1000700000 committed', '1000800000 committed'],
  );
  expect(Object.fromEntries(stagesIn(directory, 1).map(({ name, p50 }) => [name, p50]))).toEqual({
    'message to the pool': 100,
    'pipeline, in the pool': 200,
    'message to the writer': 50,
    'commit and sync, in the writer': 450,
    'message to the front end': 100,
    'all of these': 900,
  });
});

test('writes before the measured time, and those that miss a message, do not count', () => {
  const directory = marksOf(
    ['1000000000 job', '1000900000 verdict', '5000000000 job', '5000900000 verdict'],
    ['1000100000 jobTaken', '1000300000 proposal'],
    ['1000350000 proposalTaken', '1000700000 committed'],
  );
  expect(stagesIn(directory, 1).map(({ p50, p99 }) => [p50, p99])).toEqual(Array(6).fill([0, 0]));
});
