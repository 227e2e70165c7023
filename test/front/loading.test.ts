import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { LOADING_MS } from '../../core/limits.js';
import { Loading } from '../../workers/front/state/loading.js';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

test('requests wait until their resource is loaded, and requests that need all resources until the last is loaded', async () => {
  const loading = new Loading();
  const order: string[] = [];
  const note = (name: string) => () => void order.push(name);
  void loading.first.then(note('first'));
  void loading.all.then(note('all'));
  void loading.waitFor('core/pods')!.then(note('pods'));
  void loading.waitFor('core/secrets')!.then(note('secrets'));
  void loading.waitFor()!.then(note('everything'));
  loading.complete(['core/pods', 'core/events']);
  await vi.advanceTimersByTimeAsync(0);
  expect(order).toEqual(['first', 'secrets']);
  expect(loading.waitFor('core/secrets')).toBeUndefined();
  loading.complete(['core/events']);
  await vi.advanceTimersByTimeAsync(0);
  expect(order).toEqual(['first', 'secrets', 'pods']);
  expect(loading.waitFor()).toBeDefined();
  loading.complete();
  await vi.advanceTimersByTimeAsync(0);
  expect(order.slice(3).sort()).toEqual(['all', 'everything']);
  expect(loading.waitFor()).toBeUndefined();
});

test('a request that has waited too long is refused', async () => {
  const loading = new Loading();
  const refused = expect(loading.waitFor('core/pods')).rejects.toMatchObject({ reason: 'ServiceUnavailable' });
  await vi.advanceTimersByTimeAsync(LOADING_MS);
  await refused;
  loading.complete();
});
