import { definePlugin, type MetricDefinition, metrics, type Plugin } from '../../core/api/index.js';

const CONDITION_LABELS = ['type', 'name'];
const CALL_LABELS = ['name', 'result'];

/** Upstream's names and labels. */
const AUTHORIZATION: readonly MetricDefinition[] = [
  {
    name: 'apiserver_authorization_webhook_evaluations_total',
    type: 'counter',
    help: 'Calls of webhooks for access.',
    labels: CALL_LABELS,
  },
  {
    name: 'apiserver_authorization_webhook_duration_seconds',
    type: 'histogram',
    help: 'How long such calls took.',
    labels: CALL_LABELS,
    buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
  },
  {
    name: 'apiserver_authorization_webhook_evaluations_fail_open_total',
    type: 'counter',
    help: 'Failures of such webhooks that were left to other authorizers.',
    labels: CALL_LABELS,
  },
  {
    name: 'apiserver_authorization_match_condition_evaluation_seconds',
    type: 'histogram',
    help: 'How long match conditions of such webhooks took.',
    labels: CONDITION_LABELS,
    buckets: [0.001, 0.005, 0.01, 0.025, 0.1, 0.2, 0.25],
  },
  {
    name: 'apiserver_authorization_match_condition_evaluation_errors_total',
    type: 'counter',
    help: 'Match conditions of such webhooks that could not be evaluated.',
    labels: CONDITION_LABELS,
  },
  {
    name: 'apiserver_authorization_match_condition_exclusions_total',
    type: 'counter',
    help: 'Requests that match conditions kept from such webhooks.',
    labels: CONDITION_LABELS,
  },
];

/** The metrics of authorizers. */
export default definePlugin({
  name: 'authorization-metrics',
  parse: () => null,
  contribute: () => [metrics.of(() => AUTHORIZATION)],
}) satisfies Plugin<null>;
