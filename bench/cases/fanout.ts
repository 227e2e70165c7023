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

const fanning = (writers: number, watchers: number, aim: number): Case => ({
  name: `fanout-${writers}x${watchers}`,
  async run(bench): Promise<Row[]> {
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
    const row = { case: `watch, ${writers} writers, ${watchers} watchers`, unit: 'deliveries/s', aim, ...costOf(ours) };
    const value = ours.operations / ours.seconds;
    const note = `${lag(ours)} (baseline ${lag(theirs)})`;
    return [{ ...row, value, baseline: theirs.operations / theirs.seconds, baselineUs: cpuPerOperation(theirs), note }];
  },
});

/** Deliveries to watchers against a broadcast that sends each event by itself. */
export const fanout: readonly Case[] = [fanning(1, 100, 0.6), fanning(1, 1000, 0.6), fanning(16, 100, 2), fanning(16, 1000, 2)];
