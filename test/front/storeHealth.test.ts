import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { STORE_HEALTH_MS } from '../../core/limits.js';
import { StoreHealth } from '../../workers/front/state/storeHealth.js';

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'performance'] });
});
afterEach(() => {
  vi.useRealTimers();
});

test('the first check waits for the first read, and later ones answer at once', async () => {
  const read = vi.fn(async () => undefined);
  const health = new StoreHealth(read);
  const first = health.check();
  expect(first).toBeInstanceOf(Promise);
  await first;
  expect(health.check()).toBeUndefined();
  expect(read).toHaveBeenCalledOnce();
});

test('the store is read regularly without requests, so that a check answers at once', async () => {
  const read = vi.fn(async () => undefined);
  const health = new StoreHealth(read);
  await vi.advanceTimersByTimeAsync(5 * STORE_HEALTH_MS);
  expect(health.check()).toBeUndefined();
  expect(read).toHaveBeenCalledTimes(11);
  health.close();
  await vi.advanceTimersByTimeAsync(5 * STORE_HEALTH_MS);
  expect(read).toHaveBeenCalledTimes(11);
});

test('a failure of the store is reported as soon as it is detected, and its recovery at the next check', async () => {
  let isBroken = false;
  const health = new StoreHealth(async () => {
    if (isBroken) throw new Error('disk gone');
  });
  await health.check();
  isBroken = true;
  await vi.advanceTimersByTimeAsync(STORE_HEALTH_MS / 2);
  await expect(health.check()).rejects.toThrow('disk gone');
  isBroken = false;
  await expect(health.check()).resolves.toBeUndefined();
  health.close();
});

test('a store that does not answer fails checks once the last successful read is too old', async () => {
  let isStuck = false;
  const health = new StoreHealth(() => (isStuck ? new Promise(() => undefined) : Promise.resolve()));
  await health.check();
  isStuck = true;
  await vi.advanceTimersByTimeAsync(STORE_HEALTH_MS + 1);
  expect(health.check()).toBeInstanceOf(Promise);
  health.close();
});
