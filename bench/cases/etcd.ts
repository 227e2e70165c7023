import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { type Capstan, startCapstan } from '../lib/capstan.js';
import { type Bench, type Case, costOf, type Row, rateOf, timesOf } from '../lib/case.js';
import type { Etcd } from '../../test/storage/etcd.js';
import { startEtcd } from '../lib/etcd.js';
import { load } from '../lib/load.js';
import type { Task } from '../load/tasks.js';
import { deliveriesRow, runFanout } from './fanout.js';

const BYTES = 1500;
const WORKER = fileURLToPath(new URL('../store/etcdWorker.js', import.meta.url));

interface Rates {
  readonly plugin: number;
  readonly transactions: number;
  readonly puts: number;
}

/** Measures the rates of etcd itself and of the plugin. */
async function measureRates(bench: Bench, url: string, writers: number): Promise<Rates> {
  const [ms, rounds] = bench.short ? [bench.ms / 4, 3] : [bench.ms / 4, 5];
  const args = [WORKER, url, writers, BYTES, ms, rounds].map(String);
  const { stdout } = await promisify(execFile)(process.execPath, args);
  return JSON.parse(stdout) as Rates;
}

const MISSING = 'skipped: no etcd is installed';

const putsCase = (writers: number, aim?: number): Case => ({
  name: `etcd-puts-${writers}`,
  async run(bench): Promise<Row[]> {
    const row = { case: `etcd plugin, guarded creates, ${writers} writers`, unit: 'puts/s' };
    const etcd = await startEtcd(join(bench.dir, `etcd-puts-${writers}`));
    if (!etcd) return [{ ...row, value: Number.NaN, note: MISSING }];
    const { plugin, transactions, puts } = await measureRates(bench, etcd.url, writers);
    await etcd.stop();
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

/** A case with a server over its own etcd. */
const overEtcd = (
  name: string,
  what: string,
  run: (bench: Bench, server: Capstan, etcd: Etcd) => Promise<Row[]>,
): Case => ({
  name,
  async run(bench): Promise<Row[]> {
    const etcd = await startEtcd(join(bench.dir, name));
    if (!etcd) return [{ case: what, unit: '', value: Number.NaN, note: MISSING }];
    const flags = ['--storage-backend=etcd', `--etcd-servers=${etcd.url}`];
    const server = await startCapstan({ dataDir: join(bench.dir, `${name}-server`), tls: bench.tls, flags });
    const rows = await run(bench, server, etcd);
    await server.close();
    await etcd.stop();
    return rows;
  },
});

const creates = overEtcd('etcd-create', 'durable creates over etcd', async (bench, server, etcd) => {
  const address = { ...server, token: server.adminToken };
  const rows: Row[] = [];
  for (const clients of [1, 16, 64]) {
    const given = { namespace: 'default', prefix: `c${clients}-`, bytes: BYTES, clients, ms: bench.ms };
    const ours = await load({ is: 'create', address, ...given }, server.pid);
    const { transactions } = await measureRates(bench, etcd.url, clients);
    const row = { case: `durable create over etcd, ${clients} clients`, unit: 'creates/s' };
    rows.push({ ...row, value: rateOf(ours), baseline: transactions, ...costOf(ours), note: timesOf(ours) });
  }
  return rows;
});

const ALONE = fileURLToPath(new URL('../store/etcdAlone.js', import.meta.url));
type AloneKind = 'update' | 'get' | 'list';

/** Measures operations per second of etcd alone. */
async function measureAlone(url: string, kind: AloneKind, clients: number, ms: number): Promise<number> {
  const { stdout } = await promisify(execFile)(process.execPath, [ALONE, url, kind, clients, BYTES, ms].map(String));
  return Number(stdout);
}

/** The number of objects in a list, the same as in etcdAlone.ts. */
const LISTED = 1000;
const LISTS = 4;

/** Updates, reads and lists of a server over etcd, each compared with etcd alone. */
const mixed = overEtcd('etcd-mixed', 'updates, reads and lists over etcd', async (bench, server, etcd) => {
  const address = { ...server, token: server.adminToken };
  const common = { address, namespace: 'default', bytes: BYTES, ms: bench.ms } as const;
  const maps = '/api/v1/namespaces/default/configmaps';
  const rows: Row[] = [];
  const measure = async (name: string, kind: AloneKind, clients: number, task: Task): Promise<void> => {
    const ours = await load(task, server.pid);
    const baseline = await measureAlone(etcd.url, kind, clients, bench.ms);
    rows.push({ case: `over etcd: ${name}`, unit: `${kind}s/s`, ...costOf(ours), value: rateOf(ours), baseline });
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
  await load({ is: 'create', prefix: 'l', clients: 32, count: LISTED, ...common }, server.pid);
  const path = `${maps}?fieldSelector=metadata.name%21%3Dnone`;
  await measure(`lists of ${LISTED}, ${LISTS} clients`, 'list', LISTS, {
    is: 'repeat',
    path,
    connections: LISTS,
    ...common,
  });
  return rows;
});

/** Writers and watchers of a server over etcd, compared with the same number for etcd alone. */
const watches = overEtcd('etcd-watch', 'watches over etcd', async (bench, server, etcd) => {
  const address = { ...server, token: server.adminToken };
  const rows: Row[] = [];
  for (const [writers, watchers] of [
    [1, 100],
    [16, 100],
    [16, 1000],
  ] as const) {
    const size = { writers, watchers, ms: bench.ms };
    const ours = await runFanout(server, address, size);
    const namespace = `alone-${writers}-${watchers}`;
    const theirs = await load({ is: 'etcdFanout', url: etcd.url, namespace, bytes: BYTES, ...size }, etcd.pid);
    rows.push(deliveriesRow(`over etcd: watch, ${writers} writers, ${watchers} watchers`, { ours, theirs }));
  }
  return rows;
});

/** The etcd plugin and a server over it, compared with the same work for etcd alone. */
export const etcds: readonly Case[] = [putsCase(1), putsCase(16), putsCase(64, 0.85), creates, mixed, watches];
