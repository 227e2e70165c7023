import { timeText } from '../plugins/measures.js';
import { between, type Labels, quantile, type Snapshot } from '../metrics/snapshot.js';

/** A line of a chart. */
export interface Series {
  readonly label: string;
  /** Computes the value at a reading, which may depend on the previous one; null for none. */
  readonly value: (now: Snapshot, before: Snapshot) => number | null;
}

/** A chart of values with one unit. */
export interface Chart {
  readonly title: string;
  readonly note: string;
  readonly format: (value: number) => string;
  readonly series: readonly Series[];
}

const READS = ['GET', 'LIST'];
const WRITES = ['POST', 'PUT', 'PATCH', 'APPLY', 'DELETE', 'DELETECOLLECTION'];
const REQUESTS = 'apiserver_request_total';
const DURATION = 'apiserver_request_duration_seconds';
const THREADS = 'capstan_thread_busy_seconds_total';
const PLUGINS = 'capstan_plugin_duration_seconds';
/** The kinds of thread: every server has these four. */
const KINDS = [
  ['Front end', 'front'],
  ['Pool', 'pool'],
  ['Writer', 'writer'],
  ['Controllers', 'control'],
] as const;
const STAGES = [
  ['Authentication', 'authenticator'],
  ['Authorization', 'authorizer'],
  ['Mutation', 'mutator'],
  ['Validation', 'validator'],
] as const;

/** The increase of a counter per second. A counter that has become smaller has begun again. */
const rate =
  (name: string, labels?: Labels): Series['value'] =>
  (now, before) =>
    Math.max(0, now.sum(name, labels) - before.sum(name, labels)) / Math.max(0.001, now.at - before.at);

const gauge =
  (name: string, labels?: Labels): Series['value'] =>
  now =>
    now.sum(name, labels);

const durations =
  (part: number, verb: readonly string[]): Series['value'] =>
  (now, before) =>
    quantile(between(before.histogram(DURATION, { verb }), now.histogram(DURATION, { verb })), part) ?? null;

/** Seconds that a stage took per request, on average. */
const stage =
  (point: string): Series['value'] =>
  (now, before) => {
    const grown = (name: string, labels?: Labels) => now.sum(name, labels) - before.sum(name, labels);
    const requests = grown(REQUESTS);
    return requests > 0 ? Math.max(0, grown(`${PLUGINS}_sum`, { point })) / requests : null;
  };

/** Requests that were refused or failed, per second. */
const errors: Series['value'] = (now, before) => {
  const count = (of: Snapshot) =>
    of.samples(REQUESTS).reduce((sum, { labels, value }) => sum + (Number(labels.get('code')) >= 400 ? value : 0), 0);
  return Math.max(0, count(now) - count(before)) / Math.max(0.001, now.at - before.at);
};

const digits = (value: number): string => value.toLocaleString('en', { maximumSignificantDigits: 3 });
const perSecond = (value: number): string => `${digits(value)}/s`;
const asBytes = (value: number): string =>
  value >= 2 ** 30 ? `${digits(value / 2 ** 30)} GiB` : `${digits(value / 2 ** 20)} MiB`;

/** All charts of the page. */
export const CHARTS: readonly Chart[] = [
  {
    title: 'Requests',
    note: 'Answered in a second',
    format: perSecond,
    series: [
      { label: 'Reads', value: rate(REQUESTS, { verb: READS }) },
      { label: 'Writes', value: rate(REQUESTS, { verb: WRITES }) },
      { label: 'Refused or failed', value: errors },
    ],
  },
  {
    title: 'Latency',
    note: 'Time until the answer',
    format: timeText,
    series: [
      { label: 'Reads, median', value: durations(0.5, READS) },
      { label: 'Reads, 99 %', value: durations(0.99, READS) },
      { label: 'Writes, median', value: durations(0.5, WRITES) },
      { label: 'Writes, 99 %', value: durations(0.99, WRITES) },
    ],
  },
  {
    title: 'Stages',
    note: 'Time in plugins for each request, on average',
    format: timeText,
    series: STAGES.map(([label, point]) => ({ label, value: stage(point) })),
  },
  {
    title: 'Watches',
    note: 'Open now',
    format: digits,
    series: [{ label: 'Watches', value: gauge('apiserver_longrunning_requests') }],
  },
  {
    title: 'In flight',
    note: 'Requests that wait for their answer',
    format: digits,
    series: [
      { label: 'Reads', value: gauge('apiserver_current_inflight_requests', { request_kind: 'readOnly' }) },
      { label: 'Writes', value: gauge('apiserver_current_inflight_requests', { request_kind: 'mutating' }) },
    ],
  },
  {
    title: 'Queues of controllers',
    note: 'Objects that wait, and those that were added in a second',
    format: digits,
    series: [
      { label: 'Waiting', value: gauge('workqueue_depth') },
      { label: 'Added', value: rate('workqueue_adds_total') },
    ],
  },
  {
    title: 'Memory',
    note: 'Held by the process',
    format: asBytes,
    series: [{ label: 'Resident', value: gauge('process_resident_memory_bytes') }],
  },
  {
    title: 'Processor',
    note: 'Cores that all threads keep busy',
    format: digits,
    series: [{ label: 'Cores', value: rate('process_cpu_seconds_total') }],
  },
  {
    title: 'Threads',
    note: 'Busy at a time, on average',
    format: digits,
    series: KINDS.map(([label, thread]) => ({ label, value: rate(THREADS, { thread }) })),
  },
];

/** The values of a chart for uPlot: times, and then each series. */
export function dataOf({ series }: Chart, snapshots: readonly Snapshot[]): [number[], ...(number | null)[][]] {
  const later = snapshots.slice(1);
  return [later.map(({ at }) => at), ...series.map(({ value }) => later.map((now, i) => value(now, snapshots[i]!)))];
}
