import { Registry } from 'prom-client';
import { processMetrics } from './process.js';
import type { RequestMetrics } from './requests.js';

export { healthMetrics } from './health.js';
export { RequestMetrics } from './requests.js';

/** What `/metrics` answers: the text format of Prometheus. */
export interface Scrape {
  readonly contentType: string;
  text(): Promise<string>;
}

/** The metrics of one server. */
export function scrapeOf(requests: RequestMetrics): Scrape {
  const registry = new Registry();
  requests.register(registry);
  processMetrics(registry);
  return {
    contentType: registry.contentType,
    text: async () => `${await requests.text()}\n${await registry.metrics()}`,
  };
}
