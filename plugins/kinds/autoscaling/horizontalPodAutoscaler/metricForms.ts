import type { MetricSpec as OlderSpec, MetricStatus as OlderStatus } from '../../../../kinds/autoscaling/v1.js';
import type {
  CrossVersionObjectReference,
  MetricIdentifier,
  MetricSpec,
  MetricStatus,
  MetricTarget,
  MetricValueStatus,
} from '../../../../kinds/autoscaling/v2.js';
import type { LabelSelector } from '../../../../kinds/meta/v1.js';
import { isAbsent } from '../../../../core/model/record.js';
import type { Quantity } from '../../../../core/model/scalars.js';

/*
 * The two forms of a metric: that of version 2, and the older one that annotations of version 1 hold. `target` is the
 * word for metrics of the spec, `current` for those of the status: it is a member of the newer form, and begins the
 * names of the amounts in the older one.
 */

/** The kinds of amounts of a metric. */
export type Side = 'target' | 'current';

/** The members with the sources of a metric. */
export type SourceName = Exclude<keyof MetricSpec, 'type'>;

/** The member with the source of a metric, by the type of the metric. */
export const METRIC_SOURCES: ReadonlyMap<string, SourceName> = new Map([
  ['Resource', 'resource'],
  ['ContainerResource', 'containerResource'],
  ['Pods', 'pods'],
  ['Object', 'object'],
  ['External', 'external'],
]);

/** A source of any type in version 2. */
export interface NewerSource {
  readonly metric?: MetricIdentifier;
  readonly describedObject?: CrossVersionObjectReference;
  readonly name?: string;
  readonly container?: string;
  readonly target?: MetricTarget;
  readonly current?: MetricValueStatus;
}

/** A source of any type in the older form. */
type OlderSource = {
  readonly [Name in `${Side}Value` | `${Side}AverageValue` | 'averageValue']?: Quantity;
} & {
  readonly [Name in `${Side}AverageUtilization`]?: number;
} & {
  readonly metricName?: string;
  readonly metricSelector?: LabelSelector;
  readonly selector?: LabelSelector;
  readonly target?: CrossVersionObjectReference;
  readonly name?: string;
  readonly container?: string;
};

const ZERO = '0' as Quantity;
const NO_OBJECT: CrossVersionObjectReference = { kind: '', name: '' };

/** An object without its absent members. */
const compact = <T extends object>(members: T): T =>
  Object.fromEntries(Object.entries(members).filter(([, value]) => !isAbsent(value))) as T;

function toOlderSource(type: string, source: NewerSource, side: Side): OlderSource {
  const amounts: Partial<MetricTarget & MetricValueStatus> = source[side] ?? {};
  const { value, averageValue: average, averageUtilization } = amounts;
  const { name: metricName = '', selector } = source.metric ?? {};
  const measured = side === 'current' ? ZERO : undefined;
  switch (type) {
    case 'External':
      return compact({
        metricName,
        metricSelector: selector,
        [`${side}Value`]: value ?? measured,
        [`${side}AverageValue`]: average,
      });
    case 'Object':
      return compact({
        target: source.describedObject ?? NO_OBJECT,
        metricName,
        [`${side}Value`]: value ?? ZERO,
        selector,
        averageValue: average,
      });
    case 'Pods':
      return compact({ metricName, [`${side}AverageValue`]: average ?? ZERO, selector });
    default:
      return compact({
        name: source.name ?? '',
        [`${side}AverageUtilization`]: averageUtilization,
        [`${side}AverageValue`]: average ?? measured,
        container: source.container,
      });
  }
}

function toNewerSource(type: string, source: OlderSource, side: Side): NewerSource {
  const [value, average] = [source[`${side}Value`], source[`${side}AverageValue`]];
  /** The amounts; in a target with its type. */
  const amounts = (kind: string, members: Omit<MetricTarget, 'type'>): NewerSource => ({
    [side]: compact({ type: side === 'target' ? kind : undefined, ...members }),
  });
  const metric = (selector: LabelSelector | undefined): MetricIdentifier =>
    compact({ name: source.metricName ?? '', selector });
  switch (type) {
    case 'External':
      return {
        metric: metric(source.metricSelector),
        ...amounts(value === undefined ? 'AverageValue' : 'Value', { value, averageValue: average }),
      };
    case 'Object': {
      const own = source.averageValue;
      const target =
        own === undefined || side === 'current'
          ? amounts('Value', { value: value ?? ZERO, averageValue: own })
          : amounts('AverageValue', { averageValue: own });
      return { describedObject: source.target ?? NO_OBJECT, ...target, metric: metric(source.selector) };
    }
    case 'Pods':
      return { metric: metric(source.selector), ...amounts('AverageValue', { averageValue: average ?? ZERO }) };
    default: {
      const averageUtilization = source[`${side}AverageUtilization`];
      const kind = averageUtilization === undefined ? 'AverageValue' : 'Utilization';
      const container = type === 'ContainerResource' ? { container: source.container ?? '' } : {};
      return {
        name: source.name ?? '',
        ...amounts(kind, { averageValue: average, averageUtilization }),
        ...container,
      };
    }
  }
}

/** Metrics of both forms, of the spec and of the status. */
interface Metrics {
  readonly target: { readonly newer: MetricSpec; readonly older: OlderSpec };
  readonly current: { readonly newer: MetricStatus; readonly older: OlderStatus };
}

/** Rewrites the source of each metric. Sources of unknown types are left out. */
const convertMetrics = <Source>(
  metrics: readonly { readonly type: string; readonly [name: string]: unknown }[],
  convert: (type: string, source: Source) => object,
): object[] =>
  metrics.map(metric => {
    const { type } = metric;
    const name = METRIC_SOURCES.get(type);
    const source = name && (metric[name] as Source | undefined);
    return { type, ...(source ? { [name]: convert(type, source) } : {}) };
  });

/** Metrics of version 2 in the older form. */
export const toOlderMetrics = <S extends Side>(
  metrics: readonly Metrics[S]['newer'][],
  side: S,
): Metrics[S]['older'][] =>
  convertMetrics<NewerSource>(metrics, (type, source) => toOlderSource(type, source, side)) as Metrics[S]['older'][];

/** Metrics in the older form as those of version 2. */
export const toNewerMetrics = <S extends Side>(
  metrics: readonly Metrics[S]['older'][],
  side: S,
): Metrics[S]['newer'][] =>
  convertMetrics<OlderSource>(metrics, (type, source) => toNewerSource(type, source, side)) as Metrics[S]['newer'][];
