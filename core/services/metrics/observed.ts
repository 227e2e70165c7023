import { Counter, Histogram, type Registry } from 'prom-client';
import { METRIC_SERIES } from '../../limits.js';
import type { Observation } from '../../threads/messages/lifecycle.js';

/** A metric that plugins of the pool observe: a histogram if it has bounds, otherwise a counter. */
interface Definition {
  readonly help: string;
  readonly labels: readonly string[];
  readonly buckets?: readonly number[];
}

const WEBHOOK_LABELS = ['name', 'type', 'operation'];
const CONDITION_LABELS = ['name', 'kind', 'type', 'operation'];
const POLICY_LABELS = ['policy', 'policy_binding', 'error_type', 'enforcement_action'];
const CONVERSION_LABELS = ['result', 'failure_type'];
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

type Instrument = Counter | Histogram;

function instrumentOf(name: string, { help, labels, buckets }: Definition): Instrument {
  const common = { name, help, labelNames: [...labels], registers: [] };
  return buckets ? new Histogram({ ...common, buckets: [...buckets] }) : new Counter(common);
}

/** The metrics that the plugins of the pool observe. Each has a limited number of series. */
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
