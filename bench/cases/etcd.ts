import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { startCapstan } from '../lib/capstan.js';
import { type Bench, type Case, costOf, type Row } from '../lib/case.js';
import { startEtcd } from '../lib/etcd.js';
import { load } from '../lib/load.js';

const BYTES = 1500;
const WORKER = fileURLToPath(new URL('../store/etcdWorker.js', import.meta.url));

interface Rates {
  readonly plugin: number;
  readonly transactions: number;
  readonly puts: number;
}

/** Rates at etcd itself and at the plugin. */
async function rates(bench: Bench, url: string, writers: number): Promise<Rates> {
  const [ms, rounds] = bench.short ? [bench.ms / 4, 3] : [bench.ms / 4, 5];
  const args = [WORKER, url, writers, BYTES, ms, rounds].map(String);
  const { stdout } = await promisify(execFile)(process.execPath, args);
  return JSON.parse(stdout) as Rates;
}

const MISSING = 'skipped: no etcd is installed';

const interfaces = (writers: number, aim?: number): Case => ({
  name: `etcd-puts-${writers}`,
  async run(bench): Promise<Row[]> {
    const row = { case: `etcd plugin, guarded creates, ${writers} writers`, unit: 'puts/s' };
    const etcd = await startEtcd(join(bench.dir, `etcd-puts-${writers}`));
    if (!etcd) return [{ ...row, value: Number.NaN, note: MISSING }];
    const { plugin, transactions, puts } = await rates(bench, etcd.url, writers);
    await etcd.close();
    return [
      {
        ...row,
        value: plugin,
        baseline: transactions,
        aim,
        note: `etcd alone: the same transactions; plain puts ${Math.round(puts)}/s`,
      },
    ];
  },
});

const serving: Case = {
  name: 'etcd-create',
  async run(bench): Promise<Row[]> {
    const name = (clients: number) => `durable create over etcd, ${clients} clients`;
    const etcd = await startEtcd(join(bench.dir, 'etcd-create'));
    if (!etcd) return [{ case: name(64), unit: 'creates/s', value: Number.NaN, note: MISSING }];
    const flags = ['--storage-backend=etcd', `--etcd-servers=${etcd.url}`];
    const server = await startCapstan({ dataDir: join(bench.dir, 'over-etcd'), tls: bench.tls, flags });
    const admin = { ...server, token: server.adminToken };
    const rows: Row[] = [];
    for (const clients of [1, 16, 64]) {
      const task = {
        is: 'create',
        address: admin,
        namespace: 'default',
        prefix: `c${clients}-`,
        bytes: BYTES,
        clients,
        ms: bench.ms,
      } as const;
      const ours = await load(task, server.pid);
      const { transactions } = await rates(bench, etcd.url, clients);
      const note = `p50 ${ours.p50.toFixed(1)} ms, p99 ${ours.p99.toFixed(1)} ms${ours.errors ? `, ${ours.errors} errors` : ''}`;
      const row = { case: name(clients), unit: 'creates/s', value: ours.operations / ours.seconds, baseline: transactions };
      rows.push({ ...row, ...costOf(ours), note });
    }
    await server.close();
    await etcd.close();
    return rows;
  },
};

const ALONE = fileURLToPath(new URL('../store/etcdAlone.js', import.meta.url));

/** Operations per second of etcd by itself. */
async function alone(url: string, kind: 'update' | 'get' | 'list', clients: number, ms: number): Promise<number> {
  const { stdout } = await promisify(execFile)(process.execPath, [ALONE, url, kind, clients, BYTES, ms].map(String));
  return Number(stdout);
}

/** Objects of a list, as many as `etcdAlone` reads. */
const LISTED = 1000;
const LISTS = 4;

/** Updates, reads and lists of a server over etcd, each beside etcd alone. */
const mixed: Case = {
  name: 'etcd-mixed',
  async run(bench): Promise<Row[]> {
    const etcd = await startEtcd(join(bench.dir, 'etcd-mixed'));
    if (!etcd) return [{ case: 'updates, reads and lists over etcd', unit: '', value: Number.NaN, note: MISSING }];
    const flags = ['--storage-backend=etcd', `--etcd-servers=${etcd.url}`];
    const server = await startCapstan({ dataDir: join(bench.dir, 'mixed-over-etcd'), tls: bench.tls, flags });
    const address = { ...server, token: server.adminToken };
    const common = { address, namespace: 'default', bytes: BYTES, ms: bench.ms } as const;
    const maps = '/api/v1/namespaces/default/configmaps';
    const rows: Row[] = [];
    const measure = async (
      name: string,
      kind: Parameters<typeof alone>[1],
      clients: number,
      task: Parameters<typeof load>[0],
    ) => {
      const ours = await load(task, server.pid);
      const row = { case: `over etcd: ${name}`, unit: `${kind}s/s`, ...costOf(ours) };
      rows.push({ ...row, value: ours.operations / ours.seconds, baseline: await alone(etcd.url, kind, clients, bench.ms) });
    };
    for (const clients of [1, 16, 64])
      await measure(`updates, ${clients} clients`, 'update', clients, {
        is: 'update',
        prefix: `u${clients}-`,
        clients,
        ...common,
      });
    for (const connections of [1, 16, 64])
      await measure(`gets, ${connections} clients`, 'get', connections, {
        is: 'repeat',
        path: `${maps}/u1-0`,
        connections,
        ...common,
      });
    await load({ is: 'create', prefix: 'l', clients: 32, count: LISTED, ...common, namespace: 'default' }, server.pid);
    const listing = {
      is: 'repeat',
      path: `${maps}?fieldSelector=metadata.name%21%3Dnone`,
      connections: LISTS,
      ...common,
    } as const;
    await measure(`lists of ${LISTED}, ${LISTS} clients`, 'list', LISTS, listing);
    await server.close();
    await etcd.close();
    return rows;
  },
};

/** The etcd plugin and a server over it, beside the same transactions at etcd alone. */
export const etcds: readonly Case[] = [interfaces(1), interfaces(16), interfaces(64, 0.85), serving, mixed];
