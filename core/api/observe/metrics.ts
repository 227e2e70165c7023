import { isRelease } from '../../model/text/releases.js';
import { ConfigError, type Contributed, definePoint } from '../point.js';

/**
 * A metric at `/metrics`. Plugins of the pool and controllers add to it by `host.observe`, and authenticators by
 * `CredentialUse.counters`. It has a limited number of series: further ones are counted with `other` as the value of
 * each label.
 *
 * @example
 * const calls: MetricDefinition = { name: 'calls_total', type: 'counter', help: 'Calls by code.', labels: ['code'] };
 */
export type MetricDefinition = {
  /** As Prometheus requires: letters, digits, `_` and `:`. */
  readonly name: string;
  readonly help: string;
  /** Names of the labels: letters, digits and `_`. Absent: none. */
  readonly labels?: readonly string[];
  /** Determines how long the metric is shown once it is deprecated: 3 releases, 1, or none. Absent: stable. */
  readonly stability?: 'stable' | 'beta' | 'alpha';
  /**
   * The release of the server, `1.31`, that deprecates the metric. Its help says so. It is hidden when its time has
   * passed, shown for one more release with `--show-hidden-metrics-for-version`, and never again.
   */
  readonly deprecated?: string;
} & (
  | { readonly type: 'counter' | 'gauge' }
  /** `buckets`: their upper bounds, in ascending order. */
  | { readonly type: 'histogram'; readonly buckets: readonly number[] }
);

const TYPES: readonly unknown[] = ['counter', 'gauge', 'histogram'];
const STABILITIES: readonly unknown[] = ['stable', 'beta', 'alpha'];

const METRIC_NAME = /^[a-zA-Z_:][a-zA-Z0-9_:]*$/;
const LABEL_NAME = /^[a-zA-Z_][a-zA-Z0-9_]*$/;
/** The label of a histogram's buckets. */
const BUCKET_LABEL = 'le';

const isAscending = (bounds: readonly unknown[]): boolean =>
  bounds.length > 0 && bounds.every((bound, i) => Number.isFinite(bound) && (i === 0 || bound! > bounds[i - 1]!));

/** Throws TypeError unless Prometheus can read the metric. */
function checkDefinition(definition: MetricDefinition): void {
  const { name, type, help, labels = [], stability = 'stable', deprecated } = definition;
  if (typeof name !== 'string' || !METRIC_NAME.test(name))
    throw new TypeError(`the name of a metric must be letters, digits, _ and :, not ${JSON.stringify(name)}`);
  if (!TYPES.includes(type)) throw new TypeError(`the type of the metric ${name} must be counter, gauge or histogram`);
  if (typeof help !== 'string' || help === '') throw new TypeError(`the metric ${name} must have a text as help`);
  if (!Array.isArray(labels) || !labels.every(label => typeof label === 'string' && LABEL_NAME.test(label)))
    throw new TypeError(`the labels of the metric ${name} must be a list of names: letters, digits and _`);
  if (!STABILITIES.includes(stability))
    throw new TypeError(`the stability of the metric ${name} must be stable, beta or alpha`);
  if (deprecated !== undefined && !(typeof deprecated === 'string' && isRelease(deprecated)))
    throw new TypeError(`the member deprecated of the metric ${name} must be a release, as 1.31`);
  if (definition.type !== 'histogram') return;
  const { buckets } = definition;
  if (!Array.isArray(buckets) || !isAscending(buckets))
    throw new TypeError(`the buckets of the metric ${name} must be a list of ascending numbers`);
  if (labels.includes(BUCKET_LABEL))
    throw new TypeError(`the metric ${name} cannot have the label ${BUCKET_LABEL}: its buckets have it`);
}

/** Throws TypeError unless these are definitions of metrics. */
function checkDefinitions(definitions: readonly MetricDefinition[]): void {
  if (!Array.isArray(definitions)) throw new TypeError('it must be a list of metrics');
  for (const definition of definitions) checkDefinition((definition as MetricDefinition | null) ?? ({} as never));
}

/** All metrics. Throws ConfigError for two with one name. */
function withOwnNames(
  inputs: readonly Contributed<readonly MetricDefinition[]>[],
): readonly Contributed<MetricDefinition>[] {
  const byName = new Map<string, Contributed<MetricDefinition>>();
  for (const input of inputs)
    for (const value of input.value) {
      const other = byName.get(value.name);
      if (other)
        throw new ConfigError(
          `plugins: ${input.plugin}`,
          `the plugin ${other.plugin} defines the metric ${value.name} already: use another name`,
        );
      byName.set(value.name, { ...input, value });
    }
  return [...byName.values()];
}

/**
 * Metrics of plugins. All of them are at `/metrics`; two cannot have one name.
 *
 * @example
 * contribute: () => [
 *   metrics.of(() => [{ name: 'api_keys_total', type: 'counter', help: 'Requests with an API key.' }]),
 *   authenticator.of(() => new ApiKeys()), // counts by `use: { counters: ['api_keys_total'] }`
 * ],
 */
export const metrics = definePoint<readonly MetricDefinition[]>()('metrics', ['front'], withOwnNames, checkDefinitions);
