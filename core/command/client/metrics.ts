import { type Sample, samplesIn } from '../../model/text/metricsText.js';
import { type ApiClient, refusedPathError } from './request.js';

/** Requests of one verb and resource since the start of the server. */
export interface RequestCount {
  readonly verb: string;
  /** The resource with its group; '' for paths outside the resources. */
  readonly resource: string;
  requests: number;
  /** The number of requests that were answered with 400 or above. */
  errors: number;
  /** The number of measured durations. Those of watches are not measured. */
  timed: number;
  seconds: number;
  /** Cumulative buckets: the number of durations up to each upper bound, by the bound in seconds. */
  readonly buckets: Map<number, number>;
}

/** The metrics of a server that `status` and `top` show, at one time. */
export interface Metrics {
  readonly cpuSeconds: number;
  /** 0 if the platform does not report it. */
  readonly residentBytes: number;
  /** Seconds since 1970. */
  readonly started: number;
  readonly watches: number;
  readonly inFlight: number;
  readonly requests: ReadonlyMap<string, RequestCount>;
}

/** The count of a verb and resource, which is created if there is none. */
function countOf(counts: Map<string, RequestCount>, labels: Sample['labels']): RequestCount {
  const [verb = '', group = '', plural = ''] = ['verb', 'group', 'resource'].map(name => labels.get(name));
  const resource = group === '' ? plural : `${plural}.${group}`;
  const key = `${verb} ${resource}`;
  let found = counts.get(key);
  if (!found) {
    found = { verb, resource, requests: 0, errors: 0, timed: 0, seconds: 0, buckets: new Map() };
    counts.set(key, found);
  }
  return found;
}

function addRequest(counts: Map<string, RequestCount>, { name, labels, value }: Sample): void {
  const count = countOf(counts, labels);
  if (name === 'apiserver_request_total') {
    count.requests += value;
    if (Number(labels.get('code')) >= 400) count.errors += value;
  } else if (name.endsWith('_sum')) count.seconds += value;
  else if (name.endsWith('_count')) count.timed += value;
  else if (name.endsWith('_bucket')) {
    const bound = Number(labels.get('le')?.replace('+Inf', 'Infinity'));
    count.buckets.set(bound, (count.buckets.get(bound) ?? 0) + value);
  }
}

/** Reads the text that a server answers at `/metrics`. A metric that is missing is 0. */
export function readMetrics(text: string): Metrics {
  const sums = new Map<string, number>();
  const requests = new Map<string, RequestCount>();
  for (const sample of samplesIn(text)) {
    if (sample.name.startsWith('apiserver_request_')) addRequest(requests, sample);
    else sums.set(sample.name, (sums.get(sample.name) ?? 0) + sample.value);
  }
  const sum = (name: string): number => sums.get(name) ?? 0;
  return {
    cpuSeconds: sum('process_cpu_seconds_total'),
    residentBytes: sum('process_resident_memory_bytes'),
    started: sum('process_start_time_seconds'),
    watches: sum('apiserver_longrunning_requests'),
    inFlight: sum('apiserver_current_inflight_requests'),
    requests,
  };
}

/** Asks a server for its metrics. Rejects with AnswerError, which names the remedy, if the server refuses. */
export async function metricsOf(client: ApiClient): Promise<Metrics> {
  const { status, text } = await client.text('/metrics');
  if (status === 200) return readMetrics(text);
  throw refusedPathError('/metrics', status);
}
