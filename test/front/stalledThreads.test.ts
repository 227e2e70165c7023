import { describe, expect, test } from 'vitest';
import { cellOf } from '../../core/plugin/calls/callCounters.js';
import { RunningCalls } from '../../core/plugin/calls/runningCalls.js';
import { OwnProgress, WatchedProgress } from '../../core/threads/progress.js';
import { mostUnanswered, PING_MS, Unanswered } from '../../workers/front/pool/stalledThreads.js';

const PLUGINS = [
  { use: 'built-in', timeout: 40_000 },
  { use: 'quick', path: 'plugins[0]', timeout: 2000 },
  { use: 'slow', path: 'plugins[1]', timeout: 5000 },
  { use: 'default', path: 'plugins[2]' },
];
const [BUILT_IN, QUICK, SLOW, DEFAULT] = PLUGINS.map((_, place) => cellOf(place, 'mutator'));

/** The calls and the progress of a thread. */
function threadOf() {
  const calls = new RunningCalls(RunningCalls.memory(PLUGINS.length));
  const memory = OwnProgress.memory();
  const unanswered = new Unanswered(PLUGINS, calls, new WatchedProgress(memory));
  return { calls, progress: new OwnProgress(memory), unanswered };
}

/** The milliseconds after which a thread is ended. */
const limitOf = (calls: RunningCalls): number => mostUnanswered(PLUGINS, calls) * PING_MS;

describe('a thread that does not return is ended', () => {
  test.each([
    ['a plugin', QUICK, 3000],
    ['a plugin without a timeout', DEFAULT, 11_000],
    ['a built-in plugin, which has its timeout for what it waits for', BUILT_IN, 11_000],
  ])('from a call of %s when its time limit and a second have passed', (_, cell, limit) => {
    const { calls } = threadOf();
    calls.countWaiting(SLOW!, 1);
    calls.enter(cell!);
    expect(limitOf(calls)).toBe(limit);
  });

  test('behind a promise when the longest limit of the calls that wait and a second have passed', () => {
    const { calls } = threadOf();
    calls.countWaiting(QUICK!, 1);
    expect(limitOf(calls)).toBe(3000);
    calls.countWaiting(SLOW!, 1);
    expect(limitOf(calls)).toBe(6000);
  });

  test('from no call after eleven seconds', () => {
    expect(limitOf(threadOf().calls)).toBe(11_000);
  });
});

test.each(['call', 'job'])('the time begins again with each %s', next => {
  const { calls, progress, unanswered } = threadOf();
  const before = calls.enter(QUICK!);
  const most = mostUnanswered(PLUGINS, calls);
  const add = (count: number): boolean[] => Array.from({ length: count }, () => unanswered.add());
  expect(add(most - 1)).not.toContain(true);
  if (next === 'call') {
    calls.leave(before);
    calls.enter(QUICK!);
  } else progress.step();
  expect(add(most - 1)).not.toContain(true);
  expect(add(1)).toEqual([true]);
});
