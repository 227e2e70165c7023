import { Counter, type Registry } from 'prom-client';
import { FailureCounters } from '../plugin/failures.js';
import type { FailureKind } from '../plugin/calls.js';
import { importPlugin } from '../plugin/module.js';
import type { ThreadData } from '../threads/data.js';

const METRICS: ReadonlyMap<FailureKind, readonly [name: string, help: string]> = new Map([
  ['error', ['capstan_plugin_errors_total', 'Calls of plugins that failed with something else than a refusal.']],
  ['timeout', ['capstan_plugin_timeouts_total', 'Calls of plugins that did not answer within their time.']],
]);

/** Registers the counters of failed plugin calls in all threads, by plugin and point. */
export function registerPluginMetrics(
  registry: Registry,
  { plugins, failures }: Pick<ThreadData, 'plugins' | 'failures'>,
): void {
  const counters = new FailureCounters(failures);
  // This thread has not imported most of the server's own plugins, and most of them never fail.
  const nameOf = async (place: number): Promise<string> => {
    const { name, use } = plugins[place]!;
    return name ?? (await importPlugin(use)).name;
  };
  for (const [kind, [name, help]] of METRICS)
    new Counter({
      name,
      help,
      labelNames: ['plugin', 'point'],
      registers: [registry],
      async collect() {
        const found = [...counters].filter(counted => counted.kind === kind);
        const names = await Promise.all(found.map(({ plugin }) => nameOf(plugin)));
        this.reset();
        for (const [i, { point, count }] of found.entries()) this.inc({ plugin: names[i]!, point }, count);
      },
    });
}
