import { listeningBaseline } from '../lib/baseline.js';
import { admin, type Capstan } from '../lib/capstan.js';
import { type Bench, type Case, costOf, cpuPerOperation, rateOf, type Row } from '../lib/case.js';
import { type Loaded, load } from '../lib/load.js';
import type { Address } from '../load/connection.js';
import { configMap } from '../load/tasks.js';

const BYTES = 1500;

/** Writers and watchers in a namespace of their own, at a server; `address` says as whom. */
export async function fanoutAt(
  server: Capstan,
  address: Address,
  size: { readonly writers: number; readonly watchers: number; readonly ms: number },
): Promise<Loaded> {
  const namespace = `bench-fanout-${size.writers}-${size.watchers}`;
  const writePath = `/api/v1/namespaces/${namespace}/configmaps`;
  await admin(server, 'POST', '/api/v1/namespaces', {
    apiVersion: 'v1',
    kind: 'Namespace',
    metadata: { name: namespace },
  });
  for (let i = 0; i < size.writers; i++)
    await admin(server, 'POST', writePath, JSON.parse(configMap(`w${i}`, namespace, BYTES)));
  const watchPath = `${writePath}?watch=1&resourceVersion=0&labelSelector=%21none`;
  return await load({ is: 'fanout', address, watchPath, writePath, namespace, bytes: BYTES, ...size }, server.pid);
}

/** How late deliveries are, and whether any were missing. */
const lag = ({ p50, p99, dropped, errors, bytes, seconds }: Loaded): string =>
  `lag p50 ${p50.toFixed(1)} ms, p99 ${p99.toFixed(1)} ms; ${dropped} dropped; ${Math.round(bytes / seconds)} writes/s${errors ? `; ${errors} errors` : ''}`;

async function measure(bench: Bench, writers: number, watchers: number): Promise<{ ours: Loaded; theirs: Loaded }> {
  const server = await bench.server();
  const size = { writers, watchers, ms: bench.ms };
  const ours = await fanoutAt(server, server, size);
  const bare = await listeningBaseline({ is: 'broadcast', ...bench.certificate });
  const paths = { watchPath: '/', writePath: '' };
  const theirs = await load(
    { is: 'fanout', address: bare, ...paths, namespace: 'bench', bytes: BYTES, ...size },
    bare.pid,
  );
  await bare.close();
  return { ours, theirs };
}

/** A row of deliveries beside a baseline's. */
export function deliveries(name: string, { ours, theirs }: { ours: Loaded; theirs: Loaded }, aim?: number): Row {
  const rates = { value: rateOf(ours), baseline: rateOf(theirs) };
  const note = `${lag(ours)} (baseline ${lag(theirs)})`;
  return {
    case: name,
    unit: 'deliveries/s',
    aim,
    ...rates,
    ...costOf(ours),
    baselineUs: cpuPerOperation(theirs),
    note,
  };
}

const fanning = (writers: number, watchers: number, aim: number): Case => ({
  name: `fanout-${writers}x${watchers}`,
  run: async (bench): Promise<Row[]> => [
    deliveries(`watch, ${writers} writers, ${watchers} watchers`, await measure(bench, writers, watchers), aim),
  ],
});

/**
 * Very many watchers of one busy collection: how much gets through, and how late the latest events are, from the write
 * to the client.
 */
const crowd: Case = {
  name: 'watchers-5000',
  async run(bench): Promise<Row[]> {
    const watchers = bench.short ? 1000 : 5000;
    const measured = await measure(bench, 4, watchers);
    const { ours, theirs } = measured;
    const name = `watch, 4 writers, ${watchers} watchers`;
    const latest = { case: `${name}, p99 lag`, unit: 'ms', value: ours.p99, baseline: theirs.p99 };
    return [deliveries(name, measured, 1), { ...latest, atMost: true, note: `p50 ${ours.p50.toFixed(1)} ms` }];
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
