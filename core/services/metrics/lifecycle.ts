import type { MetricDefinition } from '../../api/observe/metrics.js';
import { isLater, releasesBetween } from '../../model/text/releases.js';
import { RELEASE } from '../../release.js';

type Life = Pick<MetricDefinition, 'stability' | 'deprecated'>;

/**
 * The number of releases that show a deprecated metric, beginning with the one that deprecates it (spec, "Deprecation
 * policy: rules", 11b).
 */
const RELEASES_SHOWN = { stable: 3, beta: 1, alpha: 0 } as const;

const CURRENT = `${RELEASE.major}.${RELEASE.minor}`;

/** Whether a metric is deprecated in a release. */
export const isDeprecated = ({ deprecated }: Life, release = CURRENT): boolean =>
  deprecated !== undefined && !isLater(deprecated, release);

/** The help of a metric, which says whether it is deprecated. */
export const helpOf = (metric: MetricDefinition): string =>
  isDeprecated(metric) ? `(Deprecated from ${metric.deprecated}) ${metric.help}` : metric.help;

/** Whether a release does not show a metric any more. */
const isHidden = (metric: Life, release: string): boolean =>
  isDeprecated(metric, release) &&
  releasesBetween(metric.deprecated!, release) >= RELEASES_SHOWN[metric.stability ?? 'stable'];

/**
 * Whether a release shows a metric. `hiddenFor` is the previous release if the metrics that it showed are shown too,
 * and otherwise ''.
 */
export const isShown = (metric: Life, hiddenFor: string, release = CURRENT): boolean =>
  !isHidden(metric, release) || (hiddenFor !== '' && !isHidden(metric, hiddenFor));
