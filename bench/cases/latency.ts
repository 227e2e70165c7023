import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { type Capstan, sendAsAdmin, startCapstan } from '../lib/capstan.js';
import { type Bench, type Case, cpuPerOperation, type Row, rateOf, timesOf } from '../lib/case.js';
import { type Loaded, load } from '../lib/load.js';
import { sumOfUses } from '../lib/process.js';
import { stagesIn } from '../lib/stages.js';

const BYTES = 1500;
const CLIENTS = [1, 16, 64];
/** Threads of V8, libuv and RocksDB: garbage collection, syncs. */
const OTHERS = 'helper threads';
const ALL = 'all threads';
const ROLES = ['front end', 'pool', 'writer', 'control', OTHERS];

/**
 * The cost of one write in each kind of thread: wake-ups, time on a core and without one, other context switches, and
 * system calls. Only Linux reports these; on other systems one row says so.
 */
function rowsByThread(name: string, { roles }: Capstan, { threads, operations }: Loaded): Row[] {
  if (threads.size === 0)
    return [{ case: `${name}: threads`, unit: 'wake-ups each', value: 0, note: 'not known on this operating system' }];
  const known = roles();
  const usesOf = (role: string) =>
    Array.from(threads).flatMap(([thread, use]) => ((known.get(thread) ?? OTHERS) === role ? [use] : []));
  return [...ROLES, ALL].map(role => {
    const { cpu, waited, wakeUps, preemptions, calls } = sumOfUses(role === ALL ? threads.values() : usesOf(role));
    const each = (amount: number, digits = 1): string => (amount / operations).toFixed(digits);
    return {
      case: `${name}: ${role}`,
      unit: 'wake-ups each',
      value: wakeUps / operations,
      userUs: cpu / operations,
      systemUs: 0,
      note: `waits ${each(waited)} \u00b5s for a core, preempted ${each(preemptions, 2)}, ${each(calls)} reads and writes`,
    };
  });
}

/**
 * The durations of the stages of a create by some clients, on a separate server, since recording the times takes a few
 * microseconds for each.
 */
async function rowsByStage({ dir, tls, ms }: Bench, clients: number): Promise<Row[]> {
  const [marks, dataDir] = [join(dir, `marks-${clients}`), join(dir, `stages-${clients}`)];
  mkdirSync(marks);
  const server = await startCapstan({ dataDir, tls, marks });
  try {
    await sendAsAdmin(server, 'POST', '/api/v1/namespaces', { metadata: { name: 'bench' } });
    const address = { ...server, token: server.adminToken };
    const task = { is: 'create', address, namespace: 'bench', prefix: 's', bytes: BYTES, clients, ms } as const;
    const { p50, p99, seconds } = await load(task, server.pid);
    const all = { name: 'all, at the client', p50: p50 * 1000, p99: p99 * 1000 };
    return [...stagesIn(marks, seconds), all].map(stage => ({
      case: `${nameOf(clients)}: ${stage.name}`,
      unit: '\u00b5s, median',
      value: stage.p50,
      note: `p99 ${stage.p99.toFixed(0)} \u00b5s`,
    }));
  } finally {
    await server.close();
  }
}

const nameOf = (clients: number): string => `create, ${clients === 1 ? '1 client' : `${clients} clients`}`;

/** The costs of a create by some clients, and of each kind of thread. */
async function rowsByCost(bench: Bench, clients: number): Promise<Row[]> {
  const server = await bench.server();
  const prefix = `l${clients}-${Date.now()}-`;
  const task = { is: 'create', address: server, namespace: 'bench', prefix, bytes: BYTES, clients } as const;
  const loaded = await load({ ...task, ms: bench.ms }, server.pid);
  const { user } = loaded.cpu;
  const row = {
    case: nameOf(clients),
    unit: 'creates/s',
    value: rateOf(loaded),
    userUs: user / loaded.operations,
    systemUs: cpuPerOperation(loaded) - user / loaded.operations,
    note: timesOf(loaded),
  };
  return [row, ...rowsByThread(nameOf(clients), server, loaded)];
}

const latency: Case = {
  name: 'latency',
  async run(bench): Promise<Row[]> {
    const rows: Row[] = [];
    for (const clients of CLIENTS) rows.push(...(await rowsByCost(bench, clients)));
    // Only the costs are compared with those of another build.
    if (bench.against) return rows;
    for (const clients of CLIENTS) rows.push(...(await rowsByStage(bench, clients)));
    return rows;
  },
};

/** The times of one write: CPU time, waits and wake-ups of each thread, and the time of each stage. */
export const latencies: readonly Case[] = [latency];
