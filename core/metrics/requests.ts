import { Counter, Gauge, type Histogram, type Registry } from 'prom-client';
import type { Route } from '../front/route.js';
import { flag } from '../front/query.js';
import type { Resource } from '../schema/resource.js';

/** Bounds of the latency histogram in seconds: those that dashboards for this kind of server know. */
const BOUNDS = [0.005, 0.025, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1, 1.25, 1.5, 2, 3, 4, 5, 6, 8, 10, 15, 20, 30, 45, 60] as const;
const LABELS = ['verb', 'dry_run', 'group', 'version', 'resource', 'subresource', 'scope', 'component'] as const;
const TOTAL_LABELS = [...LABELS, 'code'] as const;

type Labels = { readonly [label in (typeof LABELS)[number]]: string };

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

/** What has been counted of requests with the same labels. */
class Series {
  readonly codes = new Map<number, number>();
  readonly buckets: number[] = Array.from({ length: BOUNDS.length + 1 }, () => 0);
  seconds = 0;

  constructor(readonly labels: Labels) {}

  count(code: number): void {
    this.codes.set(code, (this.codes.get(code) ?? 0) + 1);
  }

  observe(seconds: number): void {
    let i = 0;
    while (i < BOUNDS.length && seconds > BOUNDS[i]!) i++;
    this.buckets[i]!++;
    this.seconds += seconds;
  }
}

const DURATION = 'apiserver_request_duration_seconds';

/** The lines of one series in the histogram; none if nothing was timed. */
function durationsOf({ labels, buckets, seconds }: Series): object[] {
  let below = 0;
  const lines = buckets.map((count, i) => {
    below += count;
    return { metricName: `${DURATION}_bucket`, labels: { ...labels, le: BOUNDS[i] ?? '+Inf' }, value: below };
  });
  if (below === 0) return [];
  return [
    ...lines,
    { metricName: `${DURATION}_sum`, labels, value: seconds },
    { metricName: `${DURATION}_count`, labels, value: below },
  ];
}

/** The histogram of all series: it is written when it is asked for, so that a request only adds to numbers. */
const durations = (series: () => Iterable<Series>): Histogram =>
  ({
    name: DURATION,
    get: async () => ({
      name: DURATION,
      help: 'How long requests took to be answered, by verb, resource and scope; watches are not counted.',
      type: 'histogram',
      aggregator: 'sum',
      values: [...series()].flatMap(durationsOf),
    }),
    reset: () => undefined,
  }) as unknown as Histogram;

/** Counts requests: how many of what were answered how, how long it took, how many are under way. Labels come from the registry of resources, never from the request. */
export class RequestMetrics {
  readonly #series = new Map<string, Series>();
  /** The same series found without making their key; per resource, because resources come and go. */
  readonly #byResource = new WeakMap<Resource, Map<string, Series>>();
  #writing = 0;
  #reading = 0;

  /** Makes the metrics known to a registry. */
  register(registry: Registry): void {
    const registers = [registry];
    const series = () => this.#series.values();
    const [writing, reading] = [() => this.#writing, () => this.#reading];
    new Counter({
      name: 'apiserver_request_total',
      help: 'Requests answered, by verb, resource, scope and status code.',
      labelNames: TOTAL_LABELS,
      registers,
      collect() {
        this.reset();
        for (const { labels, codes } of series())
          for (const [code, count] of codes) this.inc({ ...labels, code: String(code) }, count);
      },
    });
    registry.registerMetric(durations(series));
    new Gauge({
      name: 'apiserver_current_inflight_requests',
      help: 'Requests under way, without watches.',
      labelNames: ['request_kind'],
      registers,
      collect() {
        this.set({ request_kind: 'mutating' }, writing());
        this.set({ request_kind: 'readOnly' }, reading());
      },
    });
  }

  begin(method: string): void {
    if (WRITES.has(method)) this.#writing++;
    else this.#reading++;
  }

  /** The request was answered with `status`, or is gone without an answer (0); `milliseconds` since it began. */
  end(method: string, route: Route, status: number, milliseconds: number): void {
    if (WRITES.has(method)) this.#writing--;
    else this.#reading--;
    if (status === 0) return;
    const series = this.#of(route);
    series.count(status);
    if (series.labels.verb !== 'WATCH') series.observe(milliseconds / 1000);
  }

  #of(route: Route): Series {
    const { target, resource } = route;
    const sub = route.subresource?.name ?? '';
    const dry = route.query.size > 0 && flag(route.query, 'dryRun') ? 'All' : '';
    const scope = target.is === 'path' || !resource ? '' : target.name ? 'resource' : target.namespace ? 'namespace' : 'cluster';
    const key = `${target.verb} ${sub} ${scope} ${dry}`;
    if (!resource) return this.#shared(key, target.verb, scope, dry, '');
    let known = this.#byResource.get(resource);
    if (!known) {
      known = new Map();
      this.#byResource.set(resource, known);
    }
    let found = known.get(key);
    if (!found) {
      found = this.#shared(key, target.verb, scope, dry, sub, resource);
      known.set(key, found);
    }
    return found;
  }

  #shared(key: string, verb: string, scope: string, dry: string, subresource: string, resource?: Resource): Series {
    const { group = '', version = '', plural = '' } = resource ?? {};
    const shown = VERBS.get(verb) ?? 'other';
    const whole = resource ? `${group} ${version} ${plural} ${key}` : `${shown} ${dry}`;
    let series = this.#series.get(whole);
    if (!series) {
      series = new Series({
        verb: shown,
        dry_run: dry,
        group,
        version,
        resource: plural,
        subresource,
        scope,
        component: 'apiserver',
      });
      this.#series.set(whole, series);
    }
    return series;
  }
}
