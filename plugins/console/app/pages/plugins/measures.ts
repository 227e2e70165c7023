import { type Histogram, type Labels, quantile, type Snapshot, valuesOf } from '../metrics/snapshot.js';

/** How many times something was called, failed or refused, and how long the calls took. */
export interface Measure {
  readonly count: number;
  /** Seconds; undefined without a call. */
  readonly mean: number | undefined;
  readonly slow: number | undefined;
  readonly refused: number;
}

/** A plugin at a point of extension. */
export interface PluginMeasure extends Measure {
  readonly plugin: string;
  readonly point: string;
  readonly timeouts: number;
}

const measureOf = (histogram: Histogram, refused: number): Measure => ({
  count: histogram.count,
  mean: histogram.count > 0 ? histogram.sum / histogram.count : undefined,
  slow: quantile(histogram, 0.99),
  refused,
});

const PLUGIN = 'capstan_plugin_duration_seconds';

/** The plugins that were called since the start of the server, those that took longest in total first. */
export function pluginsIn(snapshot: Snapshot): PluginMeasure[] {
  const samples = snapshot.samples(`${PLUGIN}_count`);
  return samples
    .map(({ labels }): PluginMeasure & { readonly total: number } => {
      const [plugin = '', point = ''] = [labels.get('plugin'), labels.get('point')];
      const histogram = snapshot.histogram(PLUGIN, { plugin, point });
      return {
        plugin,
        point,
        total: histogram.sum,
        timeouts: snapshot.sum('capstan_plugin_timeouts_total', { plugin, point }),
        ...measureOf(histogram, snapshot.sum('capstan_plugin_errors_total', { plugin, point })),
      };
    })
    .sort((a, b) => b.total - a.total);
}

/** The calls of a policy, in all of its bindings. `rules` is part of the name of the metric. */
export function policyIn(snapshot: Snapshot, rules: 'validating' | 'mutating', policy: string): Measure {
  const name = `apiserver_${rules}_admission_policy_check`;
  const histogram = snapshot.histogram(`${name}_duration_seconds`, { policy });
  const actions = valuesOf(snapshot.samples(`${name}_total`, { policy }), 'enforcement_action');
  const refusing = actions.filter(action => action === 'deny');
  const labels: Labels = { policy, enforcement_action: refusing };
  return measureOf(histogram, refusing.length > 0 ? snapshot.sum(`${name}_total`, labels) : 0);
}

/** The calls of a webhook. */
export function webhookIn(snapshot: Snapshot, name: string, type: 'validating' | 'admit'): Measure {
  const labels = { name, type };
  const histogram = snapshot.histogram('apiserver_admission_webhook_admission_duration_seconds', labels);
  return measureOf(histogram, snapshot.sum('apiserver_admission_webhook_rejection_count', labels));
}

/** Seconds as people read them. */
export function timeText(seconds: number | undefined): string {
  if (seconds === undefined) return '–';
  const digits = (value: number): string => value.toLocaleString('en', { maximumSignificantDigits: 3 });
  if (seconds >= 1) return `${digits(seconds)} s`;
  return seconds >= 0.001 ? `${digits(seconds * 1e3)} ms` : `${digits(seconds * 1e6)} µs`;
}
