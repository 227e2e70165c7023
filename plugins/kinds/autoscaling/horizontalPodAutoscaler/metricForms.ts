import {
  exactNumberAt,
  isAbsent,
  isRecord,
  recordAt,
  stringAt,
  type UnknownRecord,
  valueAt,
} from '../../../../core/model/record.js';

/*
 * The two forms of a metric: that of version 2, and the older one that annotations of version 1 hold. `target` is the
 * word for metrics of the spec, `current` for those of the status: it is a member of the newer form, and begins the
 * names of the amounts in the older one.
 */

/** What the amounts of a metric are. */
export type Side = 'target' | 'current';

/** The member with the source of a metric, by the type of the metric. */
export const METRIC_SOURCES: ReadonlyMap<string, string> = new Map([
  ['Resource', 'resource'],
  ['ContainerResource', 'containerResource'],
  ['Pods', 'pods'],
  ['Object', 'object'],
  ['External', 'external'],
]);

/** An object without its absent members. */
const compact = (members: UnknownRecord): UnknownRecord =>
  Object.fromEntries(Object.entries(members).filter(([, value]) => !isAbsent(value)));

/** The quantity at a path; undefined if there is none. */
function quantityAt(from: unknown, ...path: string[]): string | undefined {
  const value = valueAt(from, ...path);
  return typeof value === 'string' ? value : exactNumberAt(from, ...path)?.toString();
}

function toOlderSource(type: string, source: UnknownRecord, side: Side): UnknownRecord {
  const amounts = recordAt(source, side);
  const [value, average] = [quantityAt(amounts, 'value'), quantityAt(amounts, 'averageValue')];
  const selector = recordAt(source, 'metric', 'selector');
  const metricName = stringAt(source, 'metric', 'name');
  const measured = side === 'current' ? '0' : undefined;
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
        target: recordAt(source, 'describedObject') ?? {},
        metricName,
        [`${side}Value`]: value ?? '0',
        selector,
        averageValue: average,
      });
    case 'Pods':
      return compact({ metricName, [`${side}AverageValue`]: average ?? '0', selector });
    default:
      return compact({
        name: stringAt(source, 'name'),
        [`${side}AverageUtilization`]: exactNumberAt(amounts, 'averageUtilization'),
        [`${side}AverageValue`]: average ?? measured,
        container: source['container'],
      });
  }
}

function toNewerSource(type: string, source: UnknownRecord, side: Side): UnknownRecord {
  const [value, average] = [quantityAt(source, `${side}Value`), quantityAt(source, `${side}AverageValue`)];
  /** The amounts; in a target with its type. */
  const amounts = (kind: string, members: UnknownRecord): UnknownRecord => ({
    [side]: compact({ type: side === 'target' ? kind : undefined, ...members }),
  });
  const metric = (selector: string): UnknownRecord =>
    compact({ name: stringAt(source, 'metricName'), selector: recordAt(source, selector) });
  switch (type) {
    case 'External':
      return {
        metric: metric('metricSelector'),
        ...amounts(value === undefined ? 'AverageValue' : 'Value', { value, averageValue: average }),
      };
    case 'Object': {
      const own = quantityAt(source, 'averageValue');
      const target =
        own === undefined || side === 'current'
          ? amounts('Value', { value: value ?? '0', averageValue: own })
          : amounts('AverageValue', { averageValue: own });
      return { describedObject: recordAt(source, 'target') ?? {}, ...target, metric: metric('selector') };
    }
    case 'Pods':
      return { metric: metric('selector'), ...amounts('AverageValue', { averageValue: average ?? '0' }) };
    default: {
      const averageUtilization = exactNumberAt(source, `${side}AverageUtilization`);
      const kind = averageUtilization === undefined ? 'AverageValue' : 'Utilization';
      const container = type === 'ContainerResource' ? { container: stringAt(source, 'container') } : {};
      return {
        name: stringAt(source, 'name'),
        ...amounts(kind, { averageValue: average, averageUtilization }),
        ...container,
      };
    }
  }
}

/** Rewrites the source of each metric. Sources of unknown types are left out. */
const convertMetrics = (
  metrics: readonly unknown[],
  side: Side,
  convert: (type: string, source: UnknownRecord, side: Side) => UnknownRecord,
): UnknownRecord[] =>
  metrics.map(metric => {
    const type = stringAt(metric, 'type');
    const name = METRIC_SOURCES.get(type);
    const source = name === undefined ? undefined : recordAt(metric, name);
    return { type, ...(source ? { [name!]: convert(type, source, side) } : {}) };
  });

/** Metrics of version 2 in the older form. */
export const toOlderMetrics = (metrics: readonly unknown[], side: Side): UnknownRecord[] =>
  convertMetrics(metrics, side, toOlderSource);

/** Metrics in the older form as those of version 2; undefined for anything but a list of objects. */
export const toNewerMetrics = (metrics: unknown, side: Side): UnknownRecord[] | undefined =>
  Array.isArray(metrics) && metrics.every(isRecord) ? convertMetrics(metrics, side, toNewerSource) : undefined;
