import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { Log } from '../../core/api/index.js';
import { CallCounters, cellOf } from '../../core/plugin/calls/callCounters.js';
import { RunningCalls } from '../../core/plugin/calls/runningCalls.js';
import type { ThreadData } from '../../core/threads/data.js';
import { Inspection } from '../../core/threads/inspection.js';
import type { SchedulingTimes } from '../../core/threads/scheduling.js';
import { EventLoopWatch, WATCH_PING_MS } from '../../core/threads/stalls/eventLoopWatch.js';
import { partly } from '../support/values.js';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** Lets the watch check once more, and lets the immediates run that this check has set, in the next millisecond. */
const lookAgain = (): void => void vi.advanceTimersByTime(WATCH_PING_MS + 1);

/** The watch of a thread that is in a call of a store with a time limit of two seconds. */
function watched(times: () => SchedulingTimes | undefined) {
  const data = partly<ThreadData>({
    plugins: [{ use: 'store', path: 'plugins[0]', name: 'store', points: ['storage'], timeout: 2000 }],
    calls: CallCounters.memory(1),
    inspection: Inspection.memory(),
  });
  const running = RunningCalls.memory(1);
  new RunningCalls(running).enter(cellOf(0, 'storage'));
  const parts = {
    thread: 'the writer',
    data,
    running,
    log: partly<Log>({ error: vi.fn() }),
    times,
    ping: vi.fn(),
    stalled: vi.fn(),
  };
  const watch = new EventLoopWatch(parts);
  watch.begin(1);
  return { watch, ...parts };
}

test('a thread that does not return from a call of a plugin is ended after the time limit and a second', () => {
  const { ping, stalled } = watched(() => undefined);
  vi.advanceTimersByTime(3000);
  expect(stalled).not.toHaveBeenCalled();
  lookAgain();
  expect(ping).toHaveBeenCalledTimes(1);
  expect(stalled).toHaveBeenCalledExactlyOnceWith({ plugin: 'store', point: 'storage' });
  vi.advanceTimersByTime(60_000);
  expect(stalled).toHaveBeenCalledTimes(1);
});

test('a thread that waits for a core is not ended', () => {
  const times = { ran: 0, waited: 0 };
  const { stalled } = watched(() => ({ ...times }));
  for (let i = 0; i < 100; i++) {
    vi.advanceTimersByTime(WATCH_PING_MS);
    times.waited += WATCH_PING_MS;
  }
  expect(stalled).not.toHaveBeenCalled();
  times.ran += 3000;
  lookAgain();
  expect(stalled).toHaveBeenCalledTimes(1);
});

test.each(['answered', 'end'] as const)(
  'a thread is not ended by a late check if `%s` is called before the next turn of the event loop',
  call => {
    let ran = 0;
    const { watch, stalled } = watched(() => {
      // Simulates messages that arrived before the late check: they are handled before immediates that the check sets.
      if (ran > 0) setImmediate(() => watch[call]());
      return { ran, waited: 0 };
    });
    vi.advanceTimersByTime(2 * WATCH_PING_MS);
    ran = 60_000;
    lookAgain();
    expect(stalled).not.toHaveBeenCalled();
  },
);

test('a thread that answers is checked again', () => {
  const { watch, ping, stalled } = watched(() => undefined);
  for (let i = 0; i < 100; i++) {
    vi.advanceTimersByTime(WATCH_PING_MS);
    watch.answered();
  }
  expect([ping.mock.calls.length, stalled.mock.calls.length]).toEqual([100, 0]);
  watch.end();
  expect(vi.getTimerCount()).toBe(0);
});
