import { Gauge, type Registry } from 'prom-client';
import { isWatch, type Route } from '../../request/route.js';
import { parseFlag } from '../../request/query.js';
import { nextTurn } from '../../runtime/timers.js';
import type { Resource } from '../../schema/resource.js';

/** Bucket bounds of the latency histogram in seconds: upstream's, so that its dashboards work unchanged. */
const BUCKET_BOUNDS = [
  0.005, 0.025, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1, 1.25, 1.5, 2, 3, 4, 5, 6, 8, 10, 15, 20, 30, 45, 60,
] as const;

const WRITES: ReadonlySet<string> = new Set(['POST', 'PUT', 'PATCH', 'DELETE']);
const VERBS: ReadonlyMap<string, string> = new Map([
  ['get', 'GET'],
  ['list', 'LIST'],
  ['watch', 'WATCH'],
  ['create', 'POST'],
  ['update', 'PUT'],
  ['patch', 'PATCH'],
  ['delete', 'DELETE'],
  ['deletecollection', 'DELETECOLLECTION'],
  ['post', 'POST'],
  ['put', 'PUT'],
  ['head', 'HEAD'],
]);

/** The counts of requests with the same labels. */
class Series {
  readonly codes = new Map<number, number>();
  readonly buckets: number[] = Array.from({ length: BUCKET_BOUNDS.length + 1 }, () => 0);
  seconds = 0;

  constructor(
    /** Names and values in text format. */
    readonly labels: string,
    /** Whether durations are recorded. Those of watches are not, because clients determine them. */
    readonly timed: boolean,
    /** For a deprecated version, the labels of the gauge that reports it. */
    readonly deprecated: string | undefined,
  ) {}

  count(code: number): void {
    this.codes.set(code, (this.codes.get(code) ?? 0) + 1);
  }

  observe(seconds: number): void {
    let i = 0;
    while (i < BUCKET_BOUNDS.length && seconds > BUCKET_BOUNDS[i]!) i++;
    this.buckets[i]!++;
    this.seconds += seconds;
  }

  add({ codes, buckets, seconds }: RequestCounts['series'][number]): void {
    for (const [code, count] of codes) this.codes.set(code, (this.codes.get(code) ?? 0) + count);
    for (const [i, count] of buckets.entries()) this.buckets[i]! += count;
    this.seconds += seconds;
  }
}

/** Labels in text format. */
const textOf = (labels: Readonly<Record<string, string>>): string =>
  Object.entries(labels)
    .map(([name, value]) => `${name}="${value}"`)
    .join(',');

/** Series formatted in one turn of the event loop, which takes about a millisecond. */
const SERIES_PER_TURN = 30;
const TOTAL = 'apiserver_request_total';
const DURATION = 'apiserver_request_duration_seconds';
const DEPRECATED = 'apiserver_requested_deprecated_apis';
/** The metrics that are written here, and not by a registry. */
export const REQUEST_METRICS: ReadonlySet<string> = new Set([TOTAL, DURATION, DEPRECATED]);
const TOTAL_HEAD =
  `# HELP ${TOTAL} Requests answered, by verb, resource, scope and status code.\n# TYPE ${TOTAL} ` + 'counter\n';
const DURATION_HEAD =
  `# HELP ${DURATION} How long requests took to be answered, by verb, resource and scope; watches are not counted.\n` +
  `# TYPE ${DURATION} histogram\n`;

const DEPRECATED_HEAD =
  `# HELP ${DEPRECATED} Deprecated versions that were requested, by the release that no longer has them.\n` +
  `# TYPE ${DEPRECATED} gauge\n`;

/** The histogram lines of a series; empty if no duration was recorded. */
function formatDurations({ labels, buckets, seconds }: Series): string {
  let cumulative = 0;
  let text = '';
  for (const [i, count] of buckets.entries()) {
    cumulative += count;
    text += `${DURATION}_bucket{${labels},le="${BUCKET_BOUNDS[i] ?? '+Inf'}"} ${cumulative}\n`;
  }
  return cumulative === 0
    ? ''
    : `${text}${DURATION}_sum{${labels}} ${seconds}\n${DURATION}_count{${labels}} ${cumulative}\n`;
}

/** The counts of one thread. */
export interface RequestCounts {
  readonly writing: number;
  readonly reading: number;
  readonly watching: number;
  readonly series: readonly {
    readonly labels: string;
    readonly timed: boolean;
    readonly deprecated: string | undefined;
    readonly codes: readonly (readonly [code: number, count: number])[];
    readonly buckets: readonly number[];
    readonly seconds: number;
  }[];
}

/**
 * Counts requests by status, their durations, and the requests in flight. Label values come from the registry, never
 * from the request, so that clients cannot create series.
 */
export class RequestMetrics {
  readonly #series = new Map<string, Series>();
  /** The same series by resource and a shorter key, for fast access. */
  readonly #byResource = new WeakMap<Resource, Map<string, Series>>();
  #writing = 0;
  #reading = 0;
  #watching = (): number => 0;
  #elsewhere: readonly RequestCounts[] = [];

  /** Returns the counts of this thread. */
  counts(): RequestCounts {
    const series = Array.from(this.#series.values(), ({ labels, timed, deprecated, codes, buckets, seconds }) => ({
      labels,
      timed,
      deprecated,
      codes: [...codes],
      buckets,
      seconds,
    }));
    return { writing: this.#writing, reading: this.#reading, watching: this.#watching(), series };
  }

  /** Sets the function that returns the number of open watches in this thread. */
  countWatches(count: () => number): void {
    this.#watching = count;
  }

  /** Sets the counts of other threads, for the next texts and gauges. */
  setElsewhere(counts: readonly RequestCounts[]): void {
    this.#elsewhere = counts;
  }

  /** Registers the gauges of requests in flight and of watches. */
  register(registry: Registry): void {
    const writing = () => this.#elsewhere.reduce((sum, counts) => sum + counts.writing, this.#writing);
    const reading = () => this.#elsewhere.reduce((sum, counts) => sum + counts.reading, this.#reading);
    new Gauge({
      name: 'apiserver_current_inflight_requests',
      help: 'Requests in flight, without watches.',
      labelNames: ['request_kind'],
      registers: [registry],
      collect() {
        this.set({ request_kind: 'mutating' }, writing());
        this.set({ request_kind: 'readOnly' }, reading());
      },
    });
    const watching = () => this.#elsewhere.reduce((sum, counts) => sum + counts.watching, this.#watching());
    new Gauge({
      name: 'apiserver_longrunning_requests',
      help: 'Open watches.',
      labelNames: ['verb', 'component'],
      registers: [registry],
      collect() {
        this.set({ verb: 'WATCH', component: 'apiserver' }, watching());
      },
    });
  }

  /**
   * Counts and durations in text format. Yields to the event loop in between, because there may be thousands of series.
   */
  async text(): Promise<string> {
    const totals = [TOTAL_HEAD];
    const durations = [DURATION_HEAD];
    const deprecated = new Set<string>();
    let made = 0;
    for (const series of this.#allSeries()) {
      for (const [code, count] of series.codes) totals.push(`${TOTAL}{${series.labels},code="${code}"} ${count}\n`);
      if (series.timed) durations.push(formatDurations(series));
      if (series.deprecated !== undefined) deprecated.add(`${DEPRECATED}{${series.deprecated}} 1\n`);
      if (++made % SERIES_PER_TURN === 0) await nextTurn();
    }
    return [...totals, ...durations, ...(deprecated.size > 0 ? [DEPRECATED_HEAD, ...deprecated] : [])].join('');
  }

  /** The series of all threads, each once. */
  #allSeries(): readonly Series[] {
    if (this.#elsewhere.length === 0) return [...this.#series.values()];
    const all = new Map<string, Series>();
    for (const { series } of [this.counts(), ...this.#elsewhere])
      for (const one of series) {
        let sum = all.get(one.labels);
        if (!sum) all.set(one.labels, (sum = new Series(one.labels, one.timed, one.deprecated)));
        sum.add(one);
      }
    return [...all.values()];
  }

  /** Counts a request as in flight, until `end`. */
  begin(method: string): void {
    if (WRITES.has(method)) this.#writing++;
    else this.#reading++;
  }

  /** Records the end of a request. A `status` of 0 means that the client closed the connection before the answer. */
  end(method: string, route: Route, status: number, milliseconds: number): void {
    if (WRITES.has(method)) this.#writing--;
    else this.#reading--;
    if (status === 0) return;
    const series = this.#seriesOf(route);
    series.count(status);
    if (series.timed) series.observe(milliseconds / 1000);
  }

  #seriesOf(route: Route): Series {
    const { target, resource } = route;
    const sub = route.subresource?.name ?? '';
    const dry = route.query.size > 0 && parseFlag(route.query, 'dryRun') ? 'All' : '';
    const scope =
      target.is === 'path' || !resource ? '' : target.name ? 'resource' : target.namespace ? 'namespace' : 'cluster';
    // Unknown methods share one label value, because clients choose them.
    const verb = isWatch(route) ? 'WATCH' : (VERBS.get(target.verb) ?? 'other');
    const key = `${verb} ${sub} ${scope} ${dry}`;
    if (!resource) return this.#sharedSeries(key, verb, scope, dry, '');
    let known = this.#byResource.get(resource);
    if (!known) {
      known = new Map();
      this.#byResource.set(resource, known);
    }
    let found = known.get(key);
    if (!found) {
      found = this.#sharedSeries(key, verb, scope, dry, sub, resource);
      known.set(key, found);
    }
    return found;
  }

  #sharedSeries(
    key: string,
    verb: string,
    scope: string,
    dry: string,
    subresource: string,
    resource?: Resource,
  ): Series {
    const { group = '', version = '', plural = '' } = resource ?? {};
    const fullKey = resource ? `${group} ${version} ${plural} ${key}` : key;
    let series = this.#series.get(fullKey);
    if (!series) {
      const labels = {
        verb,
        dry_run: dry,
        group,
        version,
        resource: plural,
        subresource,
        scope,
        component: 'apiserver',
      };
      const deprecated =
        resource?.warning === undefined
          ? undefined
          : {
              group,
              version,
              resource: plural,
              subresource,
              removed_release: resource.deprecation?.removed ?? '',
            };
      series = new Series(textOf(labels), verb !== 'WATCH', deprecated && textOf(deprecated));
      this.#series.set(fullKey, series);
    }
    return series;
  }
}
