import { Registry } from 'prom-client';
import { expect, test } from 'vitest';
import { ThreadMetrics } from '../../core/services/metrics/threads.js';
import type { ThreadReading } from '../../core/threads/scheduling.js';

const reading = (id: number, busy: number, ran?: number, thread: ThreadReading['thread'] = 'pool'): ThreadReading => ({
  thread,
  id,
  busy,
  ran,
});

/** The samples after readings. */
async function samplesAfter(...readings: readonly ThreadReading[][]): Promise<string[]> {
  const registry = new Registry();
  const metrics = new ThreadMetrics(registry);
  for (const all of readings) metrics.take(all);
  return (await registry.metrics()).split('\n').filter(line => line !== '' && !line.startsWith('#'));
}

test('the CPU times of threads of the same kind are added', async () => {
  expect(await samplesAfter([reading(1, 2000, 500), reading(2, 1000, 250), reading(0, 10, 20, 'front')])).toEqual([
    'capstan_threads{thread="pool"} 2',
    'capstan_threads{thread="front"} 1',
    'capstan_thread_busy_seconds_total{thread="pool"} 3',
    'capstan_thread_busy_seconds_total{thread="front"} 0.01',
    'capstan_thread_cpu_seconds_total{thread="pool"} 0.75',
    'capstan_thread_cpu_seconds_total{thread="front"} 0.02',
  ]);
});

test('the CPU times of a thread that has ended remain counted once', async () => {
  const replaced = [reading(1, 3000, 1000), reading(2, 1000, 500)];
  expect(await samplesAfter(replaced, [reading(-1, 0), reading(3, 500, 100)], [reading(3, 1000, 200)])).toEqual([
    'capstan_threads{thread="pool"} 1',
    'capstan_thread_busy_seconds_total{thread="pool"} 5',
    'capstan_thread_cpu_seconds_total{thread="pool"} 1.7',
  ]);
});

test('there is no CPU time if the system does not report it', async () => {
  expect(await samplesAfter([reading(1, 2000)])).toEqual([
    'capstan_threads{thread="pool"} 1',
    'capstan_thread_busy_seconds_total{thread="pool"} 2',
  ]);
});
