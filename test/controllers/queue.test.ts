import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { BackOff, ObjectKey } from '../../core/api/index.js';
import { BACK_OFF, WorkQueue } from '../../core/api/controller/queue.js';

const nothing = (): void => {};
const observer = { depth: nothing, added: nothing, began: nothing, ended: nothing, failed: nothing };
const keyOf = (name: string): ObjectKey => ({ resource: 'core/pods', namespace: 'shop', name });

interface Given {
  readonly workers?: number;
  readonly backOff?: BackOff;
  readonly observer?: Partial<typeof observer>;
}

const queueOf = (handle: (name: string) => Promise<unknown>, given: Given = {}): WorkQueue =>
  new WorkQueue({
    workers: 2,
    backOff: BACK_OFF,
    ...given,
    observer: { ...observer, ...given.observer },
    handle: async ({ name }) => (await handle(name)) as number | undefined,
  });

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

test('a key added several times while it waits is handled once', async () => {
  const seen: string[] = [];
  let release = nothing;
  const first = new Promise<void>(resolve => {
    release = resolve;
  });
  const queue = queueOf(
    async key => {
      seen.push(key);
      if (key === 'a') await first;
    },
    { workers: 1 },
  );
  for (const key of ['a', 'b', 'b', 'b']) queue.add(keyOf(key));
  release();
  await queue.idle();
  expect(seen).toEqual(['a', 'b']);
});

test('equal names in different namespaces or resources are different keys', async () => {
  let handled = 0;
  const queue = queueOf(async () => {
    handled++;
    return undefined;
  });
  queue.add(keyOf('a'));
  queue.add({ ...keyOf('a'), namespace: 'tea' });
  queue.add({ ...keyOf('a'), resource: 'core/secrets' });
  await queue.idle();
  expect(handled).toBe(3);
});

test('a key added while it is handled is handled again, never twice at once', async () => {
  let running = 0;
  let most = 0;
  let runs = 0;
  const queue = queueOf(async () => {
    most = Math.max(most, ++running);
    if (++runs === 1) queue.add(keyOf('a'));
    await Promise.resolve();
    running--;
  });
  queue.add(keyOf('a'));
  await queue.idle();
  expect([runs, most]).toEqual([2, 1]);
});

test('no more than the given number of keys are handled at a time', async () => {
  let running = 0;
  let most = 0;
  const queue = queueOf(
    async () => {
      most = Math.max(most, ++running);
      await Promise.resolve();
      running--;
    },
    { workers: 3 },
  );
  for (let i = 0; i < 20; i++) queue.add(keyOf(String(i)));
  await queue.idle();
  expect(most).toBe(3);
});

/** The pauses between the calls for a key, which all fail except the last one. */
async function pausesOf(calls: number, backOff?: BackOff): Promise<number[]> {
  const at: number[] = [];
  const queue = queueOf(async () => {
    at.push(Date.now());
    if (at.length < calls) throw new Error('conflict');
  }, backOff && { backOff });
  queue.add(keyOf('a'));
  await vi.runAllTimersAsync();
  return at.slice(1).map((time, i) => time - (at[i] ?? 0));
}

test('a failure is retried after a pause that doubles, within bounds', async () => {
  expect(await pausesOf(4)).toEqual([5, 10, 20]);
  expect((await pausesOf(2000)).at(-1)).toBe(30_000);
  expect(await pausesOf(6, { min: 100, max: 500 })).toEqual([100, 200, 400, 500, 500]);
});

test('after a success, the pauses start again from the shortest', async () => {
  const pauses: number[] = [];
  let calls = 0;
  const queue = queueOf(
    async () => {
      if (++calls % 3 !== 0) throw new Error('no');
    },
    { observer: { failed: (...[, , , pause]: readonly unknown[]) => void pauses.push(pause as number) } },
  );
  queue.add(keyOf('a'));
  await vi.runAllTimersAsync();
  queue.add(keyOf('a'));
  await vi.runAllTimersAsync();
  expect(pauses).toEqual([5, 10, 5, 10]);
});

test('a key is handled again after the time that its handler requested, or at once if it is added before', async () => {
  const at: number[] = [];
  const queue = queueOf(async () => {
    at.push(Date.now());
    return at.length < 4 ? 60_000 : undefined;
  });
  const began = Date.now();
  queue.add(keyOf('a'));
  await vi.advanceTimersByTimeAsync(60_000);
  await vi.advanceTimersByTimeAsync(1000);
  queue.add(keyOf('a'));
  await vi.runAllTimersAsync();
  expect(at.map(time => time - began)).toEqual([0, 60_000, 61_000, 121_000]);
});

test('close cancels all timers and handles no more keys', async () => {
  let runs = 0;
  const queue = queueOf(async () => {
    runs++;
    throw new Error('no');
  });
  queue.add(keyOf('a'));
  await queue.idle();
  expect(vi.getTimerCount()).toBe(1);
  queue.close();
  queue.add(keyOf('b'));
  expect(vi.getTimerCount()).toBe(0);
  expect(runs).toBe(1);
});
