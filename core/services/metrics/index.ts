import { Registry } from 'prom-client';
import type { ThreadData } from '../../threads/data.js';
import type { CredentialMetrics } from './credentials.js';
import type { ObservedMetrics } from './observed.js';
import { registerPluginMetrics } from './plugins.js';
import { registerProcessMetrics } from './process.js';
import type { RequestCounts, RequestMetrics } from './requests.js';
import type { Scrape } from './scrape.js';

export { CredentialMetrics } from './credentials.js';
export { ObservedMetrics } from './observed.js';
export { healthMetrics } from './health.js';
export { RequestMetrics } from './requests.js';

/** The metrics at `/metrics`: requests, credentials, webhooks and policies, process and plugins. */
export function serverMetrics(
  requests: RequestMetrics,
  credentials: CredentialMetrics,
  observed: ObservedMetrics,
  called: () => Pick<ThreadData, 'plugins' | 'calls'>,
  /** Resolves with the counts of the listening threads. */
  elsewhere: () => Promise<readonly RequestCounts[]>,
): Scrape {
  const registry = new Registry();
  requests.register(registry);
  credentials.register(registry);
  observed.register(registry);
  registerProcessMetrics(registry);
  registerPluginMetrics(registry, called);
  return {
    contentType: registry.contentType,
    async text() {
      requests.setElsewhere(await elsewhere());
      return `${await requests.text()}\n${await registry.metrics()}`;
    },
  };
}
