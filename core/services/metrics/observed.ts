import { isDeepStrictEqual } from 'node:util';
import { Counter, Gauge, Histogram, type Registry } from 'prom-client';
import type { Log } from '../../api/host.js';
import type { MetricDefinition } from '../../api/observe/metrics.js';
import { ConfigError, type Contributed } from '../../api/point.js';
import { METRIC_SERIES, OBSERVATIONS_WAITING } from '../../limits.js';
import type { ObservedValues } from '../../threads/messages/lifecycle.js';
import { helpOf, isDeprecated, isShown } from './lifecycle.js';
import { REQUEST_METRICS } from './requests.js';

/** The largest number of metrics whose refused observations are logged. */
const WARNED_METRICS = 100;

type Instrument = Counter | Gauge | Histogram;

function instrumentOf(definition: MetricDefinition): Instrument {
  const { name, labels = [] } = definition;
  const common = { name, help: helpOf(definition), labelNames: [...labels], registers: [] };
  switch (definition.type) {
    case 'counter':
      return new Counter(common);
    case 'gauge':
      return new Gauge(common);
    case 'histogram':
      return new Histogram({ ...common, buckets: [...definition.buckets] });
  }
}

/** Counts values. Throws an Error for labels that the metric does not have, and for a counter that would decrease. */
function count(instrument: Instrument, labels: ObservedValues['labels'], values: readonly number[]): void {
  if (instrument instanceof Gauge) instrument.set(labels, values.at(-1) ?? 0);
  else if (instrument instanceof Histogram) for (const value of values) instrument.observe(labels, value);
  else if (values.every(value => value >= 0)) instrument.inc(labels, sumOf(values));
  else for (const value of values) instrument.inc(labels, value);
}

const sumOf = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0);

/** The metrics of plugins, and their observations. Each has a limited number of series. */
export class ObservedMetrics {
  #registry: Registry | undefined;
  /** Values observed before the metrics were registered, because the store opens earlier. */
  #early: ObservedValues[] = [];
  readonly #defined = new Map<string, MetricDefinition>();
  readonly #instruments = new Map<string, Instrument>();
  readonly #series = new Map<string, Set<string>>();
  readonly #warned = new Set<string>();

  constructor(
    readonly log: Pick<Log, 'warn'>,
    /** The previous release, if metrics that are hidden since then are to be shown; otherwise ''. */
    readonly hiddenFor: string,
  ) {}

  /** Adds the metrics of plugins to a registry that has all others. Throws ConfigError for a name that is taken. */
  register(registry: Registry, definitions: readonly Contributed<MetricDefinition>[]): void {
    this.#registry = registry;
    this.check(definitions);
    this.replace(definitions);
    this.take(this.#early.splice(0));
  }

  /** Throws ConfigError if a metric has the name of one of the server's own. */
  check(definitions: readonly Contributed<MetricDefinition>[]): void {
    for (const { plugin, value } of definitions) {
      const isTaken = this.#registry?.getSingleMetric(value.name) && !this.#defined.has(value.name);
      if (isTaken || REQUEST_METRICS.has(value.name))
        throw new ConfigError(`plugins: ${plugin}`, `the server has a metric ${value.name} itself: use another name`);
    }
  }

  /** Replaces the metrics. A metric with the same definition keeps its values. */
  replace(definitions: readonly Contributed<MetricDefinition>[]): void {
    const wanted = new Map(definitions.map(({ value }) => [value.name, value]));
    for (const [name, definition] of this.#defined) {
      if (isDeepStrictEqual(definition, wanted.get(name))) continue;
      this.#registry?.removeSingleMetric(name);
      for (const known of [this.#defined, this.#instruments, this.#series]) known.delete(name);
    }
    for (const [name, definition] of wanted) {
      if (this.#defined.has(name)) continue;
      const instrument = instrumentOf(definition);
      this.#defined.set(name, definition);
      // Hidden metrics are counted and not shown, so that the counting code does not depend on the release.
      this.#instruments.set(name, instrument);
      if (!isShown(definition, this.hiddenFor)) continue;
      this.#registry?.registerMetric(instrument);
      const { deprecated } = definition;
      if (isDeprecated(definition)) this.log.warn({ metric: name, deprecated }, 'a metric is deprecated');
    }
  }

  /** Counts one value, as `take` does. */
  observe(metric: string, labels: ObservedValues['labels'], value: number): void {
    this.take([{ metric, labels, values: [value] }]);
  }

  /** Counts observations. Those that do not fit a metric are logged once per metric. */
  take(observations: readonly ObservedValues[]): void {
    if (!this.#registry) {
      this.#early.push(...observations.slice(0, OBSERVATIONS_WAITING - this.#early.length));
      return;
    }
    for (const { metric, labels, values } of observations) {
      const instrument = this.#instruments.get(metric);
      if (!instrument) {
        this.#warn(metric, 'no plugin defines it at the point metrics');
        continue;
      }
      const bounded = this.#isNew(metric, labels) ? othersOf(labels) : labels;
      try {
        count(instrument, bounded, values);
      } catch (error) {
        this.#warn(metric, (error as Error).message);
      }
    }
  }

  #warn(metric: string, why: string): void {
    if (this.#warned.has(metric) || this.#warned.size >= WARNED_METRICS) return;
    this.#warned.add(metric);
    this.log.warn({ metric, why }, 'what a plugin has counted in a metric is lost');
  }

  /** Whether the labels would create a series beyond the limit. */
  #isNew(metric: string, labels: ObservedValues['labels']): boolean {
    const known = this.#series.get(metric) ?? new Set<string>();
    this.#series.set(metric, known);
    const key = JSON.stringify(labels);
    if (known.has(key)) return false;
    if (known.size >= METRIC_SERIES) return true;
    known.add(key);
    return false;
  }
}

const othersOf = (labels: ObservedValues['labels']): Record<string, string> =>
  Object.fromEntries(Object.keys(labels).map(name => [name, 'other']));
