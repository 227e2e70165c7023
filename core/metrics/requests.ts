import { Gauge, type Registry } from 'prom-client';
import type { Route } from '../request/route.js';
import { flag } from '../request/query.js';
import type { Resource } from '../schema/resource.js';

/** Bounds of the latency histogram in seconds: those that dashboards for this kind of server know. */
const BOUNDS = [
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

/** What has been counted of requests with the same labels. */
class Series {
  readonly codes = new Map<number, number>();
  readonly buckets: number[] = Array.from({ length: BOUNDS.length + 1 }, () => 0);
  seconds = 0;

  constructor(
    /** Names and values, as they stand in the text. */
    readonly labels: string,
    /** Watches last as long as their clients like: their time tells nothing. */
    readonly timed: boolean,
  ) {}

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

/** Series written in one turn of the event loop: about a millisecond. */
const RUN = 30;
const TOTAL = 'apiserver_request_total';
const DURATION = 'apiserver_request_duration_seconds';
const TOTAL_HEAD = `# HELP ${TOTAL} Requests answered, by verb, resource, scope and status code.\n# TYPE ${TOTAL} counter\n`;
const DURATION_HEAD =
  `# HELP ${DURATION} How long requests took to be answered, by verb, resource and scope; watches are not counted.\n` +
  `# TYPE ${DURATION} histogram\n`;

/** The lines of one series in the histogram; none if nothing was timed. */
function durationsOf({ labels, buckets, seconds }: Series): string {
  let below = 0;
  let text = '';
  for (const [i, count] of buckets.entries()) {
    below += count;
    text += `${DURATION}_bucket{${labels},le="${BOUNDS[i] ?? '+Inf'}"} ${below}\n`;
  }
  return below === 0 ? '' : `${text}${DURATION}_sum{${labels}} ${seconds}\n${DURATION}_count{${labels}} ${below}\n`;
}

/**
 * Counts requests: how many of what were answered how, how long it took, how many are under way. Labels come from the
 * registry of resources, never from the request.
 */
export class RequestMetrics {
  readonly #series = new Map<string, Series>();
  /** The same series found without making their key; per resource, because resources come and go. */
  readonly #byResource = new WeakMap<Resource, Map<string, Series>>();
  #writing = 0;
  #reading = 0;

  /** Makes what is under way known to a registry. */
  register(registry: Registry): void {
    const [writing, reading] = [() => this.#writing, () => this.#reading];
    new Gauge({
      name: 'apiserver_current_inflight_requests',
      help: 'Requests under way, without watches.',
      labelNames: ['request_kind'],
      registers: [registry],
      collect() {
        this.set({ request_kind: 'mutating' }, writing());
        this.set({ request_kind: 'readOnly' }, reading());
      },
    });
  }

  /**
   * Counts and durations as text, made in runs between which other requests get their turn: there may be thousands of
   * series.
   */
  async text(): Promise<string> {
    const totals = [TOTAL_HEAD];
    const durations = [DURATION_HEAD];
    let made = 0;
    for (const series of [...this.#series.values()]) {
      for (const [code, count] of series.codes) totals.push(`${TOTAL}{${series.labels},code="${code}"} ${count}\n`);
      if (series.timed) durations.push(durationsOf(series));
      if (++made % RUN === 0) await new Promise(resolve => setImmediate(resolve));
    }
    return totals.join('') + durations.join('');
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
    if (series.timed) series.observe(milliseconds / 1000);
  }

  #of(route: Route): Series {
    const { target, resource } = route;
    const sub = route.subresource?.name ?? '';
    const dry = route.query.size > 0 && flag(route.query, 'dryRun') ? 'All' : '';
    const scope =
      target.is === 'path' || !resource ? '' : target.name ? 'resource' : target.namespace ? 'namespace' : 'cluster';
    // A method that nobody knows counts as `other`: methods come from outside.
    const verb = VERBS.get(target.verb) ?? 'other';
    const key = `${verb} ${sub} ${scope} ${dry}`;
    if (!resource) return this.#shared(key, verb, scope, dry, '');
    let known = this.#byResource.get(resource);
    if (!known) {
      known = new Map();
      this.#byResource.set(resource, known);
    }
    let found = known.get(key);
    if (!found) {
      found = this.#shared(key, verb, scope, dry, sub, resource);
      known.set(key, found);
    }
    return found;
  }

  #shared(key: string, verb: string, scope: string, dry: string, subresource: string, resource?: Resource): Series {
    const { group = '', version = '', plural = '' } = resource ?? {};
    const whole = resource ? `${group} ${version} ${plural} ${key}` : key;
    let series = this.#series.get(whole);
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
      series = new Series(
        Object.entries(labels)
          .map(([name, value]) => `${name}="${value}"`)
          .join(','),
        verb !== 'WATCH',
      );
      this.#series.set(whole, series);
    }
    return series;
  }
}
