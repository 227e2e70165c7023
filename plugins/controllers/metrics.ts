import { definePlugin, type MetricDefinition, metrics, type Plugin } from '../../core/api/index.js';

const LABELS = ['name'];
/** Upstream's bucket bounds for queues, in seconds. */
const BUCKETS = [1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 0.01, 0.1, 1, 10];

/** Upstream's metrics of queues, and one of our own. */
const CONTROLLERS: readonly MetricDefinition[] = [
  {
    name: 'workqueue_adds_total',
    type: 'counter',
    help: 'Keys that were added to the queues of controllers.',
    labels: LABELS,
  },
  {
    name: 'workqueue_depth',
    type: 'gauge',
    help: 'Keys that wait in the queues of controllers.',
    labels: LABELS,
  },
  {
    name: 'workqueue_retries_total',
    type: 'counter',
    help: 'Keys that are tried again after a failure.',
    labels: LABELS,
  },
  {
    name: 'workqueue_queue_duration_seconds',
    type: 'histogram',
    help: 'How long keys waited in the queues of controllers.',
    labels: LABELS,
    buckets: BUCKETS,
  },
  {
    name: 'workqueue_work_duration_seconds',
    type: 'histogram',
    help: 'How long controllers took for a key.',
    labels: LABELS,
    buckets: BUCKETS,
  },
  {
    name: 'capstan_reconciles_total',
    type: 'counter',
    help: 'Keys that controllers have reconciled: success, after (again after some time) or error.',
    labels: ['controller', 'result'],
  },
];

/** Upstream's metrics of APIServices. */
const API_SERVICES: readonly MetricDefinition[] = [
  {
    name: 'aggregator_unavailable_apiservice',
    type: 'gauge',
    help: 'Whether the server of an APIService is not available: 1, otherwise 0.',
    labels: LABELS,
  },
  {
    name: 'aggregator_unavailable_apiservice_total',
    type: 'counter',
    help: 'How often the server of an APIService has become unavailable, by the reason.',
    labels: ['name', 'reason'],
  },
];

/** The metrics of the reconcilers of all plugins. */
export default definePlugin({
  name: 'controller-metrics',
  parse: () => null,
  contribute: () => [metrics.of(() => [...CONTROLLERS, ...API_SERVICES])],
}) satisfies Plugin<null>;
