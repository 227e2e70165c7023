import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { Exchange } from '../../core/api/listener.js';
import { HEALTH_ACCESS_MS } from '../../core/limits.js';
import { HealthAccess } from '../../workers/front/access/healthAccess.js';

const PATHS = ['/livez', '/readyz', '/healthz'];

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

function recorded() {
  const paths: string[] = [];
  const access = new HealthAccess(async (exchange: Exchange) => void paths.push(exchange.path));
  return { paths, access };
}

test('the permissions for all health endpoints are evaluated again, once for all policy changes within a short time', async () => {
  const { paths, access } = recorded();
  for (let i = 0; i < 100; i++) access.policyChanged();
  expect(paths).toEqual([]);
  await vi.advanceTimersByTimeAsync(HEALTH_ACCESS_MS);
  expect(paths).toEqual(PATHS);
  access.policyChanged();
  await vi.advanceTimersByTimeAsync(HEALTH_ACCESS_MS);
  expect(paths).toEqual([...PATHS, ...PATHS]);
});

test('permissions that cannot be evaluated are ignored', async () => {
  const access = new HealthAccess(async () => {
    throw new Error('the pool has ended');
  });
  await expect(access.refresh()).resolves.toBeUndefined();
});

test('after close no permissions are evaluated', async () => {
  const { paths, access } = recorded();
  access.policyChanged();
  access.close();
  access.policyChanged();
  await vi.advanceTimersByTimeAsync(HEALTH_ACCESS_MS);
  expect(paths).toEqual([]);
});
