import { Counter, type Metric, type Registry } from 'prom-client';
import { type CallCount, CallCounters, DURATION_BOUNDS, type FailureKind } from '../../plugin/calls/callCounters.js';
import { importPlugin } from '../../plugin/load/module.js';
import type { PluginSpec, ThreadData } from '../../threads/data.js';

const FAILURES: ReadonlyMap<FailureKind, readonly [name: string, help: string]> = new Map([
  ['error', ['capstan_plugin_errors_total', 'Calls of plugins that failed with something else than a refusal.']],
  ['timeout', ['capstan_plugin_timeouts_total', 'Calls of plugins that did not answer within their time.']],
]);
const DURATION = 'capstan_plugin_duration_seconds';

/** The counts of one plugin at one point, and the names in its labels. */
interface Series extends CallCount {
  readonly labels: { readonly plugin: string; readonly point: string };
}

/** One line of the text format. */
interface Value {
  readonly metricName: string;
  readonly labels: { readonly [name: string]: string | number };
  readonly value: number;
}

/** The lines of a histogram, whose buckets are cumulative. */
function histogramOf({ labels, buckets, seconds }: Series): Value[] {
  let count = 0;
  const lines = buckets.map((calls, i): Value => {
    count += calls;
    return {
      metricName: `${DURATION}_bucket`,
      labels: { ...labels, le: DURATION_BOUNDS[i] ?? '+Inf' },
      value: count,
    };
  });
  return [
    ...lines,
    { metricName: `${DURATION}_sum`, labels, value: seconds },
    { metricName: `${DURATION}_count`, labels, value: count },
  ];
}

/** Registers the metrics of plugin calls in all threads, by plugin and point. */
export function registerPluginMetrics(
  registry: Registry,
  /** The plugins that are called now. Their counters restart when others replace them. */
  called: () => Pick<ThreadData, 'plugins' | 'calls'>,
): void {
  // This thread has not imported most of the server's own plugins.
  const nameOf = async ({ name, use }: PluginSpec): Promise<string> => name ?? (await importPlugin(use)).name;
  const read = (): Promise<Series[]> => {
    const { plugins, calls } = called();
    return Promise.all(
      Array.from(new CallCounters(calls), async one => ({
        ...one,
        labels: { plugin: await nameOf(plugins[one.plugin]!), point: one.point },
      })),
    );
  };
  for (const [kind, [name, help]] of FAILURES)
    new Counter({
      name,
      help,
      labelNames: ['plugin', 'point'],
      registers: [registry],
      async collect() {
        const all = await read();
        this.reset();
        for (const { labels, failures } of all) if (failures[kind] > 0) this.inc(labels, failures[kind]);
      },
    });
  // The library's histogram accepts only single observations, but these counts are sums of all threads.
  const duration = {
    name: DURATION,
    help: 'How long calls of plugins took, failed ones included.',
    type: 'histogram',
    get: async () => ({ ...duration, values: (await read()).flatMap(histogramOf) }),
  };
  registry.registerMetric(duration as unknown as Metric);
}
