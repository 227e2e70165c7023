import { Registry } from 'prom-client';
import type { ThreadData } from '../../threads/data.js';
import type { MetricDefinition } from '../../api/observe/metrics.js';
import type { Contributed } from '../../api/point.js';
import type { ObservedMetrics } from './observed.js';
import { registerPluginMetrics } from './plugins.js';
import { registerProcessMetrics } from './process.js';
import type { RequestCounts, RequestMetrics } from './requests.js';
import type { Scrape } from './scrape.js';

export { ObservedMetrics } from './observed.js';
export { healthMetrics } from './health.js';
export { RequestMetrics } from './requests.js';

/** The metrics at `/metrics`: requests, process, calls of plugins, and those of plugins. */
export function serverMetrics(
  requests: RequestMetrics,
  observed: ObservedMetrics,
  definitions: readonly Contributed<MetricDefinition>[],
  called: () => Pick<ThreadData, 'plugins' | 'calls'>,
  /** Resolves with the counts of the listening threads. */
  elsewhere: () => Promise<readonly RequestCounts[]>,
): Scrape {
  const registry = new Registry();
  requests.register(registry);
  registerProcessMetrics(registry);
  registerPluginMetrics(registry, called);
  observed.register(registry, definitions);
  return {
    contentType: registry.contentType,
    async text() {
      requests.setElsewhere(await elsewhere());
      return `${await requests.text()}\n${await registry.metrics()}`;
    },
  };
}
