import { Registry } from 'prom-client';
import type { ThreadData } from '../../threads/data.js';
import type { ThreadReading } from '../../threads/scheduling.js';
import type { MetricDefinition } from '../../api/observe/metrics.js';
import type { Contributed } from '../../api/point.js';
import { featureStates } from '../../features/gates.js';
import { namingOf } from '../../naming.js';
import { registerFeatureMetrics } from './features.js';
import type { ObservedMetrics } from './observed.js';
import { registerPluginMetrics } from './plugins.js';
import { registerProcessMetrics } from './process.js';
import type { RequestCounts, RequestMetrics } from './requests.js';
import type { Scrape } from './scrape.js';
import { ThreadMetrics } from './threads.js';

export { ObservedMetrics } from './observed.js';
export { healthMetrics } from './health.js';
export { RequestMetrics } from './requests.js';

/** Sources of the metrics that are read at each scrape. */
export interface MetricSources {
  /** The plugins that are called now. */
  readonly called: () => Pick<ThreadData, 'plugins' | 'calls'>;
  /** Resolves with the counts of the listening threads. */
  readonly countsElsewhere: () => Promise<readonly RequestCounts[]>;
  /** Reads the times of all threads. */
  readonly readThreads: () => readonly ThreadReading[];
  /** The naming, and the feature gates that are on. */
  readonly data: Pick<ThreadData, 'naming' | 'features' | 'enablement'>;
}

/** The metrics at `/metrics`: requests, process, feature gates, threads, calls of plugins, and those of plugins. */
export function serverMetrics(
  requests: RequestMetrics,
  observed: ObservedMetrics,
  definitions: readonly Contributed<MetricDefinition>[],
  { called, countsElsewhere, readThreads, data }: MetricSources,
): Scrape {
  const registry = new Registry();
  requests.register(registry);
  registerProcessMetrics(registry);
  registerFeatureMetrics(registry, namingOf(data.naming), featureStates(data.features, data.enablement.minor));
  const threads = new ThreadMetrics(registry);
  registerPluginMetrics(registry, called);
  observed.register(registry, definitions);
  return {
    contentType: registry.contentType,
    async text() {
      requests.setElsewhere(await countsElsewhere());
      threads.take(readThreads());
      return `${await requests.text()}\n${await registry.metrics()}`;
    },
  };
}
