import { definePlugin, type MetricDefinition, metrics, type Plugin } from '../../core/api/index.js';

const LABELS = ['result', 'failure_type'];

/** Upstream's names and labels. */
const CONVERSION: readonly MetricDefinition[] = [
  {
    name: 'apiserver_conversion_webhook_request_total',
    type: 'counter',
    help: 'Calls of conversion webhooks.',
    labels: LABELS,
  },
  {
    name: 'apiserver_conversion_webhook_duration_seconds',
    type: 'histogram',
    help: 'How long conversion webhooks took.',
    labels: LABELS,
    buckets: [0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 30, 45, 60],
  },
];

/** The metrics of conversion webhooks. */
export default definePlugin({
  name: 'conversion-metrics',
  parse: () => null,
  contribute: () => [metrics.of(() => CONVERSION)],
}) satisfies Plugin<null>;
