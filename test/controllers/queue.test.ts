import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { WorkQueue } from '../../plugins/controllers/queue.js';

const nothing = (): void => {};
const log = { debug: nothing, info: nothing, warn: nothing, error: nothing };
const queueOf = (handle: (key: string) => Promise<void>, workers = 2): WorkQueue =>
  new WorkQueue({ name: 'test', log, workers, handle });

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

test('a key added several times while it waits is handled once', async () => {
  const seen: string[] = [];
  let release = nothing;
  const first = new Promise<void>(resolve => {
    release = resolve;
  });
  const queue = queueOf(async key => {
    seen.push(key);
    if (key === 'a') await first;
  }, 1);
  for (const key of ['a', 'b', 'b', 'b']) queue.add(key);
  release();
  await queue.idle();
  expect(seen).toEqual(['a', 'b']);
});

test('a key added while it is handled is handled again, never twice at once', async () => {
  let running = 0;
  let most = 0;
  let runs = 0;
  const queue = queueOf(async () => {
    most = Math.max(most, ++running);
    if (++runs === 1) queue.add('a');
    await Promise.resolve();
    running--;
  });
  queue.add('a');
  await queue.idle();
  expect([runs, most]).toEqual([2, 1]);
});

test('no more than the given number of keys are handled at a time', async () => {
  let running = 0;
  let most = 0;
  const queue = queueOf(async () => {
    most = Math.max(most, ++running);
    await Promise.resolve();
    running--;
  }, 3);
  for (let i = 0; i < 20; i++) queue.add(String(i));
  await queue.idle();
  expect(most).toBe(3);
});

test('a failure is retried after a pause that doubles', async () => {
  const at: number[] = [];
  const queue = queueOf(async () => {
    at.push(Date.now());
    if (at.length < 4) throw new Error('conflict');
  });
  queue.add('a');
  await vi.runAllTimersAsync();
  expect(at.slice(1).map((time, i) => time - (at[i] ?? 0))).toEqual([5, 10, 20]);
});

test('close cancels all timers and handles no more keys', async () => {
  let runs = 0;
  const queue = queueOf(async () => {
    runs++;
    throw new Error('no');
  });
  queue.add('a');
  await queue.idle();
  expect(vi.getTimerCount()).toBe(1);
  queue.close();
  queue.add('b');
  expect(vi.getTimerCount()).toBe(0);
  expect(runs).toBe(1);
});
