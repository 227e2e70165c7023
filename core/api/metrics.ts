import { ConfigError, type Contributed, definePoint } from './point.js';

/**
 * A metric at `/metrics`: a counter or, with `buckets`, a histogram. Plugins of the pool add to it by `host.observe`,
 * and authenticators by `CredentialUse.counters`. It has a limited number of series: further ones are counted with
 * `other` as the value of each label.
 *
 * @example
 * const calls: MetricDefinition = { name: 'directory_calls_total', help: 'Calls of the directory.', labels: ['code'] };
 */
export interface MetricDefinition {
  /** As Prometheus demands: letters, digits, `_` and `:`. */
  readonly name: string;
  readonly help: string;
  /** Names of the labels: letters, digits and `_`. Absent: none. */
  readonly labels?: readonly string[];
  /** Upper bounds of the buckets of a histogram, in ascending order. */
  readonly buckets?: readonly number[];
}

const METRIC_NAME = /^[a-zA-Z_:][a-zA-Z0-9_:]*$/;
const LABEL_NAME = /^[a-zA-Z_][a-zA-Z0-9_]*$/;
/** The label of a histogram's buckets. */
const BUCKET_LABEL = 'le';

const isAscending = (bounds: readonly unknown[]): boolean =>
  bounds.length > 0 && bounds.every((bound, i) => Number.isFinite(bound) && (i === 0 || bound! > bounds[i - 1]!));

/** Throws TypeError unless Prometheus can read the metric. */
function checkDefinition({ name, help, labels = [], buckets }: MetricDefinition): void {
  if (typeof name !== 'string' || !METRIC_NAME.test(name))
    throw new TypeError(`the name of a metric must be letters, digits, _ and :, not ${JSON.stringify(name)}`);
  if (typeof help !== 'string' || help === '') throw new TypeError(`the metric ${name} must have a text as help`);
  if (!Array.isArray(labels) || !labels.every(label => typeof label === 'string' && LABEL_NAME.test(label)))
    throw new TypeError(`the labels of the metric ${name} must be a list of names: letters, digits and _`);
  if (buckets === undefined) return;
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
 *   metrics.of(() => [{ name: 'api_keys_total', help: 'Requests with an API key.' }]),
 *   authenticator.of(() => new ApiKeys()), // counts by `use: { counters: ['api_keys_total'] }`
 * ],
 */
export const metrics = definePoint<readonly MetricDefinition[]>()('metrics', ['front'], withOwnNames, checkDefinitions);
