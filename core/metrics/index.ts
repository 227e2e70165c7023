import { Registry } from 'prom-client';
import type { ThreadData } from '../threads/data.js';
import { registerPluginMetrics } from './plugins.js';
import { registerProcessMetrics } from './process.js';
import type { RequestMetrics } from './requests.js';

export { healthMetrics } from './health.js';
export { RequestMetrics } from './requests.js';

/** Metrics in the text format of Prometheus. */
export interface Scrape {
  readonly contentType: string;
  text(): Promise<string>;
}

/** The metrics at `/metrics`: requests, process and plugins. */
export function serverMetrics(requests: RequestMetrics, data: Pick<ThreadData, 'plugins' | 'calls'>): Scrape {
  const registry = new Registry();
  requests.register(registry);
  registerProcessMetrics(registry);
  registerPluginMetrics(registry, data);
  return {
    contentType: registry.contentType,
    text: async () => `${await requests.text()}\n${await registry.metrics()}`,
  };
}
