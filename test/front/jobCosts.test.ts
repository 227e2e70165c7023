import { expect, test } from 'vitest';
import { LONG_BATCH_MS, LONG_JOB_MS } from '../../core/limits.js';
import { JobCosts } from '../../workers/front/pool/jobCosts.js';

test('a kind counts as long after a job that took long, until a job did not', () => {
  const costs = new JobCosts();
  costs.record(['create'], LONG_JOB_MS - 1);
  expect(costs.isLong('create')).toBe(false);
  costs.record(['create'], LONG_JOB_MS);
  expect(costs.isLong('create')).toBe(true);
  costs.record(['create'], 0);
  expect(costs.isLong('create')).toBe(false);
});

test('a kind that is often expensive counts as short only after several cheap jobs in a row', () => {
  const costs = new JobCosts();
  for (let i = 0; i < 100; i++) costs.record(['create'], LONG_JOB_MS);
  let cheap = 0;
  for (; costs.isLong('create'); cheap++) costs.record(['create'], 0);
  expect(cheap).toBe(7);
});

test('every kind of a batch that took long counts as long until one of its jobs alone was cheap', () => {
  const costs = new JobCosts();
  costs.record(['create', 'update', undefined], LONG_BATCH_MS - 1);
  expect(costs.isLong('create')).toBe(false);
  costs.record(['create', 'update', undefined], LONG_BATCH_MS);
  expect([costs.isLong('create'), costs.isLong('update')]).toEqual([true, true]);
  costs.record(['update'], 1);
  costs.record(['create'], LONG_JOB_MS);
  expect([costs.isLong('create'), costs.isLong('update')]).toEqual([true, false]);
});
