import { Registry } from 'prom-client';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { ObservedMetrics } from '../../core/services/metrics/index.js';
import type { ObservedValues } from '../../core/threads/messages/lifecycle.js';
import { Observations } from '../../core/threads/observations.js';
import type { MetricDefinition } from '../../core/api/index.js';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

test('values with the same labels are posted together, in their order', () => {
  const posted: (readonly ObservedValues[])[] = [];
  const observations = new Observations(all => posted.push(all));
  observations.add('depth', { queue: 'a' }, 3);
  observations.add('depth', { queue: 'b' }, 1);
  observations.add('depth', { queue: 'a' }, 2);
  vi.runAllTimers();
  observations.add('depth', { queue: 'a' }, 5);
  vi.runAllTimers();
  expect(posted).toEqual([
    [
      { metric: 'depth', labels: { queue: 'a' }, values: [3, 2] },
      { metric: 'depth', labels: { queue: 'b' }, values: [1] },
    ],
    [{ metric: 'depth', labels: { queue: 'a' }, values: [5] }],
  ]);
});

test('a gauge shows the last of several values, a counter their sum, a histogram all; one below zero is lost', async () => {
  const registry = new Registry();
  const metrics = new ObservedMetrics({ warn: vi.fn() });
  const define = (value: MetricDefinition) => ({ plugin: 'test', value }) as never;
  metrics.register(registry, [
    define({ type: 'gauge', name: 'depth', help: 'h' }),
    define({ type: 'counter', name: 'calls_total', help: 'h' }),
    define({ type: 'histogram', name: 'seconds', help: 'h', buckets: [1] }),
  ]);
  metrics.take(['depth', 'calls_total', 'seconds'].map(metric => ({ metric, labels: {}, values: [3, 0.5] })));
  metrics.take([{ metric: 'calls_total', labels: {}, values: [1, -1] }]);
  const text = await registry.metrics();
  expect(text.split('\n').filter(line => line !== '' && !line.startsWith('#'))).toEqual([
    'depth 0.5',
    'calls_total 4.5',
    'seconds_bucket{le="1"} 1',
    'seconds_bucket{le="+Inf"} 2',
    'seconds_sum 3.5',
    'seconds_count 2',
  ]);
});
