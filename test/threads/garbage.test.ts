import { expect, test } from 'vitest';
import { IdleCollector } from '../../core/threads/garbage.js';

const MB = 2 ** 20;

/** A thread whose load the test sets; a garbage collection leaves `live` bytes. */
function fakeThread() {
  const thread = { bytes: 40 * MB, live: 30 * MB, busy: 0, collections: 0 };
  const collector = new IdleCollector({
    bytes: () => thread.bytes,
    busyShare: () => thread.busy,
    collect() {
      thread.collections++;
      thread.bytes = thread.live;
    },
  });
  return { thread, collector };
}

test('the garbage of a start is collected once, when the thread is idle, but not at the first check', () => {
  const { thread, collector } = fakeThread();
  collector.look();
  expect(thread.collections).toBe(0);
  for (let i = 0; i < 20; i++) collector.look();
  expect([thread.collections, thread.bytes]).toEqual([1, 30 * MB]);
});

test('a thread that has worked keeps its optimized code until it has been idle for a minute', () => {
  const { thread, collector } = fakeThread();
  collector.look();
  thread.bytes = 100 * MB;
  for (let look = 0; look < 30; look++) {
    thread.busy = look % 10 === 0 ? 0.5 : 0;
    collector.look();
  }
  expect(thread.collections).toBe(0);
  Object.assign(thread, { busy: 0.5 });
  collector.look();
  thread.busy = 0;
  for (let look = 1; look < 12; look++) collector.look();
  expect(thread.collections).toBe(0);
  collector.look();
  expect([thread.collections, thread.bytes]).toEqual([1, 30 * MB]);
});

test('a heap that has grown is collected once, when its thread is idle', () => {
  const { thread, collector } = fakeThread();
  collector.look();
  Object.assign(thread, { bytes: 200 * MB, busy: 0.8 });
  collector.look();
  expect(thread.collections).toBe(0);
  thread.busy = 0.01;
  collector.look();
  collector.look();
  expect([thread.collections, thread.bytes]).toEqual([1, 30 * MB]);
});

test('a heap that is large because of live objects is collected less and less often, until these are garbage', () => {
  const { thread, collector } = fakeThread();
  collector.look();
  Object.assign(thread, { bytes: 200 * MB, live: 190 * MB });
  for (let i = 0; i < 1000; i++) collector.look();
  expect(thread.collections).toBeGreaterThan(1);
  expect(thread.collections).toBeLessThan(25);
  thread.live = 35 * MB;
  for (let i = 0; i < 64; i++) collector.look();
  expect(thread.bytes).toBe(35 * MB);
  Object.assign(thread, { bytes: 80 * MB, collections: 0 });
  collector.look();
  expect([thread.collections, thread.bytes]).toEqual([1, 35 * MB]);
});

test('memory of a burst that is live at the first collection is collected at the next', () => {
  const { thread, collector } = fakeThread();
  collector.look();
  Object.assign(thread, { bytes: 200 * MB, live: 150 * MB });
  collector.look();
  thread.live = 40 * MB;
  collector.look();
  expect([thread.collections, thread.bytes]).toEqual([2, 40 * MB]);
});
