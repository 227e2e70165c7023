import { Registry } from 'prom-client';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { ObservedMetrics } from '../../core/services/metrics/index.js';
import { isShown } from '../../core/services/metrics/lifecycle.js';
import type { ObservedValues } from '../../core/threads/messages/lifecycle.js';
import { Observations } from '../../core/threads/observations.js';
import type { MetricDefinition } from '../../core/api/index.js';
import { RELEASE } from '../../core/release.js';

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

test('a gauge shows the last of several values, a counter their sum, a histogram all; negative ones are dropped', async () => {
  const registry = new Registry();
  const metrics = new ObservedMetrics({ warn: vi.fn() }, '');
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

const release = (minor: number): string => `${RELEASE.major}.${minor}`;

test.each([
  ['stable', '[R407] [R410]', 3],
  ['beta', '[R408] [R411]', 1],
  ['alpha', '[R409] [R412]', 0],
] as const)(
  'a deprecated metric that is %s is shown until it is hidden, one release longer with the flag, and then never again %s [R416] [R418]',
  (stability, _ids, releases) => {
    const metric = { stability, deprecated: release(30) };
    const minors = [28, 29, 30, 31, 32, 33, 34, 35];
    const shown = (hiddenFor: (minor: number) => string): number[] =>
      minors.filter(minor => isShown(metric, hiddenFor(minor), release(minor)));
    expect(shown(() => '')).toEqual(minors.filter(minor => minor < 30 + releases));
    expect(shown(minor => release(minor - 1))).toEqual(minors.filter(minor => minor <= 30 + releases));
  },
);

test('a deprecated metric is marked in its help and in the log; a hidden one is counted without being shown [R413] [R414] [R415] [R417]', async () => {
  const current = Number(RELEASE.minor);
  const definitions = (['new_total', 'old_total', 'hidden_total'] as const).map((name, i) => ({
    plugin: 'test',
    value: { type: 'counter', name, help: 'Calls.', deprecated: release([current + 1, current, current - 3][i]!) },
  }));
  const observe = async (hiddenFor: string) => {
    const [registry, warn] = [new Registry(), vi.fn()];
    const metrics = new ObservedMetrics({ warn }, hiddenFor);
    metrics.register(registry, definitions as never);
    for (const { value } of definitions) metrics.observe(value.name, {}, 1);
    return { lines: (await registry.metrics()).split('\n').filter(line => !line.startsWith('# TYPE')), warn };
  };
  const { lines, warn } = await observe('');
  const old = `(Deprecated from ${release(current)}) Calls.`;
  expect(lines.filter(Boolean)).toEqual([
    '# HELP new_total Calls.',
    'new_total 1',
    `# HELP old_total ${old}`,
    'old_total 1',
  ]);
  expect(warn.mock.calls).toEqual([[{ metric: 'old_total', deprecated: release(current) }, 'a metric is deprecated']]);
  expect((await observe(release(current - 1))).lines).toContain('hidden_total 1');
});
