import { definePlugin, type MetricDefinition, metrics, type Plugin } from '../../core/api/index.js';

const WEBHOOK_LABELS = ['name', 'type', 'operation'];
const CONDITION_LABELS = ['name', 'kind', 'type', 'operation'];
const POLICY_LABELS = ['policy', 'policy_binding', 'error_type', 'enforcement_action'];
/** Upstream's bucket bounds for admission policies, in seconds. */
const POLICY_BUCKETS = [0.0000005, 0.001, 0.01, 0.1, 1];

/** Upstream's names and labels. */
const ADMISSION: readonly MetricDefinition[] = [
  {
    name: 'apiserver_admission_webhook_admission_duration_seconds',
    type: 'histogram',
    help: 'How long admission webhooks took.',
    labels: [...WEBHOOK_LABELS, 'rejected'],
    buckets: [0.005, 0.025, 0.1, 0.5, 1, 2.5, 10, 25],
  },
  {
    name: 'apiserver_admission_webhook_request_total',
    type: 'counter',
    help: 'Calls of admission webhooks.',
    labels: [...WEBHOOK_LABELS, 'code', 'rejected'],
  },
  {
    name: 'apiserver_admission_webhook_rejection_count',
    type: 'counter',
    help: 'Requests that admission webhooks, or their failures, have refused.',
    labels: [...WEBHOOK_LABELS, 'error_type', 'rejection_code'],
  },
  {
    name: 'apiserver_admission_webhook_fail_open_count',
    type: 'counter',
    help: 'Failed calls of admission webhooks that were ignored.',
    labels: ['name', 'type'],
  },
  {
    name: 'apiserver_admission_match_condition_evaluation_errors_total',
    type: 'counter',
    help: 'Match conditions that could not be evaluated.',
    labels: CONDITION_LABELS,
  },
  {
    name: 'apiserver_admission_match_condition_exclusions_total',
    type: 'counter',
    help: 'Requests that match conditions have excluded.',
    labels: CONDITION_LABELS,
  },
  {
    name: 'apiserver_admission_match_condition_evaluation_seconds',
    type: 'histogram',
    help: 'How long match conditions took.',
    labels: CONDITION_LABELS,
    buckets: [0.001, 0.005, 0.01, 0.025, 0.1, 0.2, 0.25],
  },
  {
    name: 'apiserver_validating_admission_policy_check_total',
    type: 'counter',
    help: 'Validations of policies that did not hold or failed.',
    labels: POLICY_LABELS,
  },
  {
    name: 'apiserver_validating_admission_policy_check_duration_seconds',
    type: 'histogram',
    help: 'How long such validations took.',
    labels: POLICY_LABELS,
    buckets: POLICY_BUCKETS,
  },
  {
    name: 'apiserver_mutating_admission_policy_check_total',
    type: 'counter',
    help: 'Mutations of policies that were made or failed.',
    labels: POLICY_LABELS,
  },
  {
    name: 'apiserver_mutating_admission_policy_check_duration_seconds',
    type: 'histogram',
    help: 'How long such mutations took.',
    labels: POLICY_LABELS,
    buckets: POLICY_BUCKETS,
  },
];

/** The metrics of admission webhooks, policies and match conditions. They exist whether these are enabled or not. */
export default definePlugin({
  name: 'admission-metrics',
  parse: () => null,
  contribute: () => [metrics.of(() => ADMISSION)],
}) satisfies Plugin<null>;
