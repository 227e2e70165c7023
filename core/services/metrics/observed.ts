import { Counter, Gauge, Histogram, type Registry } from 'prom-client';
import { METRIC_SERIES } from '../../limits.js';
import type { Observation } from '../../threads/messages/lifecycle.js';

/** A metric that plugins observe: a histogram if it has bounds, a gauge if it says so, otherwise a counter. */
interface Definition {
  readonly help: string;
  readonly labels: readonly string[];
  readonly buckets?: readonly number[];
  readonly isGauge?: boolean;
}

const WEBHOOK_LABELS = ['name', 'type', 'operation'];
const CONDITION_LABELS = ['name', 'kind', 'type', 'operation'];
const POLICY_LABELS = ['policy', 'policy_binding', 'error_type', 'enforcement_action'];
const CONVERSION_LABELS = ['result', 'failure_type'];
const RELOAD_LABELS = ['status', 'apiserver_id_hash'];
/** Upstream's bucket bounds for admission policies, in seconds. */
const POLICY_BUCKETS = [0.0000005, 0.001, 0.01, 0.1, 1];

/** Upstream's names and labels. */
const METRICS: Readonly<Record<string, Definition>> = {
  apiserver_admission_webhook_admission_duration_seconds: {
    help: 'How long admission webhooks took.',
    labels: [...WEBHOOK_LABELS, 'rejected'],
    buckets: [0.005, 0.025, 0.1, 0.5, 1, 2.5, 10, 25],
  },
  apiserver_admission_webhook_request_total: {
    help: 'Calls of admission webhooks.',
    labels: [...WEBHOOK_LABELS, 'code', 'rejected'],
  },
  apiserver_admission_webhook_rejection_count: {
    help: 'Requests that admission webhooks, or their failures, have refused.',
    labels: [...WEBHOOK_LABELS, 'error_type', 'rejection_code'],
  },
  apiserver_admission_webhook_fail_open_count: {
    help: 'Failed calls of admission webhooks that were ignored.',
    labels: ['name', 'type'],
  },
  apiserver_admission_match_condition_evaluation_errors_total: {
    help: 'Match conditions that could not be evaluated.',
    labels: CONDITION_LABELS,
  },
  apiserver_admission_match_condition_exclusions_total: {
    help: 'Requests that match conditions have excluded.',
    labels: CONDITION_LABELS,
  },
  apiserver_admission_match_condition_evaluation_seconds: {
    help: 'How long match conditions took.',
    labels: CONDITION_LABELS,
    buckets: [0.001, 0.005, 0.01, 0.025, 0.1, 0.2, 0.25],
  },
  apiserver_validating_admission_policy_check_total: {
    help: 'Validations of policies that did not hold or failed.',
    labels: POLICY_LABELS,
  },
  apiserver_validating_admission_policy_check_duration_seconds: {
    help: 'How long such validations took.',
    labels: POLICY_LABELS,
    buckets: POLICY_BUCKETS,
  },
  apiserver_mutating_admission_policy_check_total: {
    help: 'Mutations of policies that were made or failed.',
    labels: POLICY_LABELS,
  },
  apiserver_mutating_admission_policy_check_duration_seconds: {
    help: 'How long such mutations took.',
    labels: POLICY_LABELS,
    buckets: POLICY_BUCKETS,
  },
  apiserver_authentication_config_controller_automatic_reloads_total: {
    help: 'Changes of the authentication file, by whether they were used.',
    labels: RELOAD_LABELS,
  },
  apiserver_authentication_config_controller_automatic_reload_last_timestamp_seconds: {
    help: 'When the authentication file last changed, by whether that was used.',
    labels: RELOAD_LABELS,
    isGauge: true,
  },
  apiserver_authentication_jwt_authenticator_latency_seconds: {
    help: 'How long tokens of identity providers took that were not known.',
    labels: ['result', 'jwt_issuer_hash'],
    buckets: Array.from({ length: 15 }, (_, i) => 0.001 * 2 ** i),
  },
  apiserver_authorization_config_controller_automatic_reloads_total: {
    help: 'Changes of the authorization file, by whether they were used.',
    labels: RELOAD_LABELS,
  },
  apiserver_authorization_config_controller_automatic_reload_last_timestamp_seconds: {
    help: 'When the authorization file last changed, by whether that was used.',
    labels: RELOAD_LABELS,
    isGauge: true,
  },
  apiserver_authorization_decisions_total: {
    help: 'Decisions of the authorizers of an authorization file.',
    labels: ['type', 'name', 'decision'],
  },
  apiserver_authorization_webhook_evaluations_total: {
    help: 'Calls of webhooks for access.',
    labels: ['name', 'result'],
  },
  apiserver_authorization_webhook_duration_seconds: {
    help: 'How long such calls took.',
    labels: ['name', 'result'],
    buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
  },
  apiserver_authorization_webhook_evaluations_fail_open_total: {
    help: 'Failures of such webhooks that were left to other authorizers.',
    labels: ['name', 'result'],
  },
  apiserver_authorization_match_condition_evaluation_seconds: {
    help: 'How long match conditions of such webhooks took.',
    labels: ['type', 'name'],
    buckets: [0.001, 0.005, 0.01, 0.025, 0.1, 0.2, 0.25],
  },
  apiserver_authorization_match_condition_evaluation_errors_total: {
    help: 'Match conditions of such webhooks that could not be evaluated.',
    labels: ['type', 'name'],
  },
  apiserver_authorization_match_condition_exclusions_total: {
    help: 'Requests that match conditions kept from such webhooks.',
    labels: ['type', 'name'],
  },
  apiserver_delegated_authn_request_total: {
    help: 'Calls of the webhook for tokens, by the code of the answer.',
    labels: ['code'],
  },
  apiserver_delegated_authn_request_duration_seconds: {
    help: 'How long such calls took.',
    labels: ['code'],
    buckets: [0.25, 0.5, 0.7, 1, 1.5, 3, 5, 10],
  },
  authentication_token_cache_request_total: {
    help: 'Bearer tokens of identity providers and of the webhook, by whether they were known.',
    labels: ['status'],
  },
  authentication_token_cache_fetch_total: {
    help: 'Such tokens that were verified, by whether that succeeded.',
    labels: ['status'],
  },
  apiserver_conversion_webhook_request_total: {
    help: 'Calls of conversion webhooks.',
    labels: CONVERSION_LABELS,
  },
  apiserver_conversion_webhook_duration_seconds: {
    help: 'How long conversion webhooks took.',
    labels: CONVERSION_LABELS,
    buckets: [0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 30, 45, 60],
  },
};

type Instrument = Counter | Histogram | Gauge;

function instrumentOf(name: string, { help, labels, buckets, isGauge }: Definition): Instrument {
  const common = { name, help, labelNames: [...labels], registers: [] };
  if (isGauge) return new Gauge(common);
  return buckets ? new Histogram({ ...common, buckets: [...buckets] }) : new Counter(common);
}

/** The metrics that plugins of the pool and of the main thread observe. Each has a limited number of series. */
export class ObservedMetrics {
  readonly #instruments = new Map(
    Object.entries(METRICS).map(([name, definition]) => [name, instrumentOf(name, definition)]),
  );
  readonly #series = new Map<string, Set<string>>();

  register(registry: Registry): void {
    for (const instrument of this.#instruments.values()) registry.registerMetric(instrument);
  }

  /** Counts observations. Those of unknown metrics are ignored. */
  take(observations: readonly Observation[]): void {
    for (const { metric, labels, value } of observations) {
      const instrument = this.#instruments.get(metric);
      if (!instrument) continue;
      const bounded = this.#isNew(metric, labels) ? othersOf(labels) : labels;
      if (instrument instanceof Counter) instrument.inc(bounded, value);
      else if (instrument instanceof Gauge) instrument.set(bounded, value);
      else instrument.observe(bounded, value);
    }
  }

  /** Whether the labels would make a series beyond the limit. */
  #isNew(metric: string, labels: Observation['labels']): boolean {
    const known = this.#series.get(metric) ?? new Set<string>();
    this.#series.set(metric, known);
    const key = JSON.stringify(labels);
    if (known.has(key)) return false;
    if (known.size >= METRIC_SERIES) return true;
    known.add(key);
    return false;
  }
}

const othersOf = (labels: Observation['labels']): Record<string, string> =>
  Object.fromEntries(Object.keys(labels).map(name => [name, 'other']));
