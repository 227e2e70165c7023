import { listeningBaseline } from '../lib/baseline.js';
import { type Bench, type Case, costOf, cpuPerOperation, type Row } from '../lib/case.js';
import { load } from '../lib/load.js';
import { configMap } from '../load/tasks.js';

interface Reading {
  readonly path: string;
  readonly connections: number;
}

/** The same GET against the server and against a bare handler that sends as many bytes. */
async function compare(
  bench: Bench,
  { path, connections }: Reading,
): Promise<[server: ReturnType<typeof load>, bare: ReturnType<typeof load>]> {
  const server = await bench.server();
  const bytes = Buffer.byteLength(await bench.admin('GET', path));
  const task = { is: 'repeat', path, connections, ms: bench.ms } as const;
  const ours = await load({ ...task, address: server }, server.pid);
  const bare = await listeningBaseline({ is: 'bare', bytes, ...bench.certificate });
  const theirs = await load({ ...task, address: bare }, bare.pid);
  await bare.close();
  return [Promise.resolve(ours), Promise.resolve(theirs)];
}

const get: Case = {
  name: 'get',
  async run(bench): Promise<Row[]> {
    await bench.admin('POST', '/api/v1/namespaces/bench/configmaps', JSON.parse(configMap('read', 'bench', 1500)));
    const reading = { path: '/api/v1/namespaces/bench/configmaps/read', connections: 32 };
    const [ours, theirs] = await Promise.all(await compare(bench, reading));
    const baselineUs = cpuPerOperation(theirs);
    const row = { case: 'get 1.5 KB', unit: 'requests/s', value: ours.operations / ours.seconds, ...costOf(ours), baselineUs };
    return [{ ...row, baseline: theirs.operations / theirs.seconds, aim: 0.5 }];
  },
};

/** Objects of the listed collection. */
const LISTED = 5000;

const list: Case = {
  name: 'list',
  async run(bench): Promise<Row[]> {
    const server = await bench.server();
    await bench.admin('POST', '/api/v1/namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'bench-list' } });
    const filling = { is: 'create', address: server, namespace: 'bench-list', prefix: 'l', bytes: 2000, clients: 32 } as const;
    await load({ ...filling, ms: 120_000, count: LISTED }, server.pid);
    const reading = { path: '/api/v1/namespaces/bench-list/configmaps', connections: 4 };
    const [ours, theirs] = await Promise.all(await compare(bench, reading));
    const rate = (measured: typeof ours): number => measured.bytes / measured.seconds / 1e6;
    const row = { case: 'list 5,000 of 2 KB', unit: 'MB/s', value: rate(ours), baseline: rate(theirs), aim: 0.7 };
    return [{ ...row, ...costOf(ours), baselineUs: cpuPerOperation(theirs) }];
  },
};

/** Reads against a bare handler. */
export const reads: readonly Case[] = [get, list];
