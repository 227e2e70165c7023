import { listeningBaseline } from '../lib/baseline.js';
import { type Bench, type Case, costOf, cpuPerOperation, type Row } from '../lib/case.js';
import { type Loaded, load } from '../lib/load.js';
import { configMap } from '../load/tasks.js';

const BYTES = 1500;

/** A namespace with one object per writer. */
async function prepare(bench: Bench, namespace: string, writers: number): Promise<void> {
  await bench.admin('POST', '/api/v1/namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } });
  for (let i = 0; i < writers; i++) {
    await bench.admin('POST', `/api/v1/namespaces/${namespace}/configmaps`, JSON.parse(configMap(`w${i}`, namespace, BYTES)));
  }
}

const lag = ({ p50, p99, dropped, errors, bytes, seconds }: Loaded): string =>
  `lag p50 ${p50.toFixed(1)} ms, p99 ${p99.toFixed(1)} ms; ${dropped} dropped; ${Math.round(bytes / seconds)} writes/s${errors ? `; ${errors} errors` : ''}`;

async function measure(bench: Bench, writers: number, watchers: number): Promise<{ ours: Loaded; theirs: Loaded }> {
  const server = await bench.server();
  const namespace = `bench-fanout-${writers}-${watchers}`;
  await prepare(bench, namespace, writers);
  const writePath = `/api/v1/namespaces/${namespace}/configmaps`;
  const watchPath = `${writePath}?watch=1&resourceVersion=0&labelSelector=%21none`;
  const task = { is: 'fanout', watchPath, writePath, namespace, bytes: BYTES, writers, watchers, ms: bench.ms } as const;
  const ours = await load({ ...task, address: server }, server.pid);
  const bare = await listeningBaseline({ is: 'broadcast', ...bench.certificate });
  const theirs = await load({ ...task, address: bare }, bare.pid);
  await bare.close();
  return { ours, theirs };
}

function deliveries(writers: number, watchers: number, aim: number, { ours, theirs }: { ours: Loaded; theirs: Loaded }): Row {
  const row = { case: `watch, ${writers} writers, ${watchers} watchers`, unit: 'deliveries/s', aim, ...costOf(ours) };
  const note = `${lag(ours)} (baseline ${lag(theirs)})`;
  const value = ours.operations / ours.seconds;
  return { ...row, value, baseline: theirs.operations / theirs.seconds, baselineUs: cpuPerOperation(theirs), note };
}

const fanning = (writers: number, watchers: number, aim: number): Case => ({
  name: `fanout-${writers}x${watchers}`,
  run: async (bench): Promise<Row[]> => [deliveries(writers, watchers, aim, await measure(bench, writers, watchers))],
});

/** Very many watchers of one busy collection: how much gets through, and how late the latest events are, from the write to the client. */
const crowd: Case = {
  name: 'watchers-5000',
  async run(bench): Promise<Row[]> {
    const watchers = bench.short ? 1000 : 5000;
    const measured = await measure(bench, 4, watchers);
    const { ours, theirs } = measured;
    const latest = { case: `watch, 4 writers, ${watchers} watchers, p99 lag`, unit: 'ms', value: ours.p99, baseline: theirs.p99 };
    return [deliveries(4, watchers, 1, measured), { ...latest, atMost: true, note: `p50 ${ours.p50.toFixed(1)} ms` }];
  },
};

/** Deliveries to watchers against a broadcast that sends each event by itself. */
export const fanout: readonly Case[] = [
  fanning(1, 100, 0.6),
  fanning(1, 1000, 0.6),
  fanning(16, 100, 2),
  fanning(16, 1000, 2),
  crowd,
];
