import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { LONGEST_TIMER_MS } from '../../core/limits.js';
import { Compactor } from '../../plugins/storage/etcd/compactor.js';
import type { Connection } from '../../plugins/storage/etcd/connection.js';
import { Keys } from '../../plugins/storage/etcd/values.js';
import { partly } from '../support/values.js';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

test.each([1000, LONGEST_TIMER_MS + 1000])('the history of etcd is kept for %d milliseconds', async interval => {
  let revision = 0;
  const call = (): Promise<unknown> =>
    Promise.resolve({ header: { revision: ++revision }, succeeded: true, responses: [] });
  const compacted: number[] = [];
  const compactor = new Compactor(
    partly<Connection>({ call: call as Connection['call'] }),
    new Keys('/registry'),
    interval,
    async upTo => void compacted.push(upTo),
  );
  const pass = (milliseconds: number) => vi.advanceTimersByTimeAsync(milliseconds);
  await pass(interval - 1);
  expect(revision).toBe(0);
  await pass(1);
  expect([revision, compacted]).toEqual([1, []]);
  await pass(interval);
  expect(compacted).toEqual([1]);
  compactor.close();
  await pass(2 * interval);
  expect(compacted).toEqual([1]);
});
