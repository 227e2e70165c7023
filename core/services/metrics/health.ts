import { Counter, Gauge, Registry } from 'prom-client';
import type { OnResult } from '../health/answer.js';
import type { Naming } from '../../naming.js';
import type { Scrape } from './scrape.js';

/** The metrics at `/metrics/slis`: the last result and the number of results of each health check. */
export function healthMetrics(naming: Naming): { readonly scrape: Scrape; readonly observe: OnResult } {
  const registry = new Registry();
  const registers = [registry];
  const name = naming.variable('orchestrator_healthcheck');
  const last = new Gauge({ name, help: 'Whether a health check passed.', labelNames: ['name', 'type'], registers });
  const all = new Counter({
    name: `${name}s_total`,
    help: 'Results of health checks.',
    labelNames: ['name', 'status', 'type'],
    registers,
  });
  return {
    scrape: { contentType: registry.contentType, text: () => registry.metrics() },
    observe(type, check, passed) {
      last.set({ name: check, type }, passed ? 1 : 0);
      all.inc({ name: check, status: passed ? 'success' : 'error', type });
    },
  };
}
