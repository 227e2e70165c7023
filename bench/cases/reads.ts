import { join } from 'node:path';
import { startBaseline } from '../lib/baseline.js';
import { startCapstan } from '../lib/capstan.js';
import { type Bench, type Case, costOf, cpuPerOperation, type Row } from '../lib/case.js';
import { type Loaded, load } from '../lib/load.js';
import { configMap } from '../load/tasks.js';

/** A GET of one path, over a number of connections. */
interface Reading {
  readonly path: string;
  readonly connections: number;
}

/** Sends the same GET to the server, and to a bare handler that answers with as many bytes. */
async function compare(bench: Bench, { path, connections }: Reading): Promise<[server: Loaded, bare: Loaded]> {
  const server = await bench.server();
  const bytes = Buffer.byteLength(await bench.sendAsAdmin('GET', path));
  const task = { is: 'repeat', path, connections, ms: bench.ms } as const;
  const ours = await load({ ...task, address: server }, server.pid);
  const bare = await startBaseline({ is: 'bare', bytes, ...bench.certificate });
  const theirs = await load({ ...task, address: bare }, bare.pid);
  await bare.close();
  return [ours, theirs];
}

const get: Case = {
  name: 'get',
  async run(bench): Promise<Row[]> {
    await bench.sendAsAdmin(
      'POST',
      '/api/v1/namespaces/bench/configmaps',
      JSON.parse(configMap('read', 'bench', 1500)),
    );
    const reading = { path: '/api/v1/namespaces/bench/configmaps/read', connections: 32 };
    const [ours, theirs] = await compare(bench, reading);
    const baselineUs = cpuPerOperation(theirs);
    const row = {
      case: 'get 1.5 KB',
      unit: 'requests/s',
      value: ours.operations / ours.seconds,
      ...costOf(ours),
      baselineUs,
    };
    return [{ ...row, baseline: theirs.operations / theirs.seconds, aim: 0.5 }];
  },
};

/** The number of objects in the list. */
const LISTED = 5000;

const list: Case = {
  name: 'list',
  async run(bench): Promise<Row[]> {
    const server = await bench.server();
    await bench.sendAsAdmin('POST', '/api/v1/namespaces', {
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: { name: 'bench-list' },
    });
    const filling = {
      is: 'create',
      address: server,
      namespace: 'bench-list',
      prefix: 'l',
      bytes: 2000,
      clients: 32,
    } as const;
    await load({ ...filling, ms: 120_000, count: LISTED }, server.pid);
    const reading = { path: '/api/v1/namespaces/bench-list/configmaps', connections: 4 };
    const [ours, theirs] = await compare(bench, reading);
    const rate = (measured: typeof ours): number => measured.bytes / measured.seconds / 1e6;
    const row = { case: 'list 5,000 of 2 KB', unit: 'MB/s', value: rate(ours), baseline: rate(theirs), aim: 0.7 };
    return [{ ...row, ...costOf(ours), baselineUs: cpuPerOperation(theirs) }];
  },
};

/**
 * A consistent list of many small objects by one reader: the time until the last byte has arrived, compared with as
 * many bytes from one buffer. It has its own server, so that no other case has these objects in memory.
 */
const largeList: Case = {
  name: 'list-large',
  async run(bench): Promise<Row[]> {
    const count = bench.short ? 5000 : 300_000;
    const ms = bench.short ? bench.ms : 30_000;
    const server = await startCapstan({ dataDir: join(bench.dir, 'large'), tls: bench.tls });
    const address = { ...server, token: server.adminToken };
    const filling = { is: 'create', address, namespace: 'default', prefix: 'o', bytes: 1000, clients: 64 } as const;
    await load({ ...filling, ms: 600_000, count }, server.pid);
    const path = '/api/v1/namespaces/default/configmaps';
    const task = { is: 'repeat', path, connections: 1, ms } as const;
    const ours = await load({ ...task, address }, server.pid);
    await server.close();
    const bytes = Math.round(ours.bytes / ours.operations);
    const bare = await startBaseline({ is: 'bare', bytes, ...bench.certificate });
    const theirs = await load({ ...task, address: bare }, bare.pid);
    await bare.close();
    const shared = { unit: 'ms', aim: 3, atMost: true, baselineUs: cpuPerOperation(theirs) };
    const what = `list ${count.toLocaleString('en-US')} of 1 KB (${Math.round(bytes / 1e6)} MB)`;
    return [
      { case: `${what}, p50`, value: ours.p50, baseline: theirs.p50, ...shared, ...costOf(ours) },
      { case: `${what}, p99`, value: ours.p99, baseline: theirs.p99, ...shared, ...costOf(ours) },
    ];
  },
};

/** Reads, compared with a bare handler. */
export const reads: readonly Case[] = [get, list, largeList];
