import { describe, expect, test } from 'vitest';
import { cellOf } from '../../core/plugin/calls/callCounters.js';
import { RunningCalls } from '../../core/plugin/calls/runningCalls.js';
import { OwnProgress, WatchedProgress } from '../../core/threads/progress.js';
import type { SchedulingTimes } from '../../core/threads/scheduling.js';
import { PING_MS, stallLimit, Unanswered } from '../../core/threads/stalls/stalls.js';

const PLUGINS = [
  { use: 'built-in', timeout: 40_000 },
  { use: 'quick', path: 'plugins[0]', timeout: 2000 },
  { use: 'slow', path: 'plugins[1]', timeout: 5000 },
  { use: 'default', path: 'plugins[2]' },
];
const [BUILT_IN, QUICK, SLOW, DEFAULT] = PLUGINS.map((_, place) => cellOf(place, 'mutator'));

/** The calls and the progress of a thread; `times` returns the time for which it has had a core. */
function threadOf(times: () => SchedulingTimes | undefined = () => undefined) {
  const calls = new RunningCalls(RunningCalls.memory(PLUGINS.length));
  const memory = OwnProgress.memory();
  const watched = new WatchedProgress(memory);
  const progress = {
    get step(): number {
      return watched.step;
    },
    get times(): SchedulingTimes | undefined {
      return times();
    },
  };
  return { calls, progress: new OwnProgress(memory), unanswered: new Unanswered(PLUGINS, calls, progress) };
}

describe('a thread that does not return is ended', () => {
  test.each([
    ['a plugin', QUICK, 3000],
    ['a plugin without a timeout', DEFAULT, 11_000],
    ['a built-in plugin, whose timeout limits only its waits', BUILT_IN, 11_000],
  ])('from a call of %s when its time limit and a second have passed', (_, cell, limit) => {
    const { calls } = threadOf();
    calls.countWaiting(SLOW!, 1);
    calls.enter(cell!);
    expect(stallLimit(PLUGINS, calls)).toBe(limit);
  });

  test('after a promise when the longest time limit of the waiting calls and a second have passed', () => {
    const { calls } = threadOf();
    calls.countWaiting(QUICK!, 1);
    expect(stallLimit(PLUGINS, calls)).toBe(3000);
    calls.countWaiting(SLOW!, 1);
    expect(stallLimit(PLUGINS, calls)).toBe(6000);
  });

  test('outside of any call after eleven seconds', () => {
    expect(stallLimit(PLUGINS, threadOf().calls)).toBe(11_000);
  });
});

/** Leaves `count` pings unanswered. Returns for each of them whether it ended the thread. */
const leave = (unanswered: Unanswered, count: number): boolean[] =>
  Array.from({ length: count }, () => unanswered.add().isStalled);

test.each(['call', 'job'])('the time starts again with each %s', next => {
  const { calls, progress, unanswered } = threadOf();
  const before = calls.enter(QUICK!);
  const most = stallLimit(PLUGINS, calls) / PING_MS;
  expect(leave(unanswered, most - 1)).not.toContain(true);
  if (next === 'call') {
    calls.leave(before);
    calls.enter(QUICK!);
  } else progress.step();
  expect(leave(unanswered, most - 1)).not.toContain(true);
  expect(leave(unanswered, 1)).toEqual([true]);
});

describe('the time of a thread', () => {
  test('does not count while it waits for a core', () => {
    const times = { ran: 0, waited: 0 };
    const { calls, unanswered } = threadOf(() => ({ ...times }));
    calls.enter(QUICK!);
    for (let i = 0; i < 40; i++) {
      expect(unanswered.add().isStalled).toBe(false);
      times.waited += PING_MS * 0.9;
      times.ran += PING_MS * 0.06;
    }
    times.ran += 3000;
    expect(unanswered.add()).toMatchObject({ isStalled: true });
  });

  test('counts while it is blocked, as in a synchronous call of the file system', () => {
    const { calls, unanswered } = threadOf(() => ({ ran: 5, waited: 7 }));
    calls.enter(QUICK!);
    expect(leave(unanswered, 3000 / PING_MS - 1)).not.toContain(true);
    expect(leave(unanswered, 1)).toEqual([true]);
  });
});
