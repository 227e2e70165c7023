import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { type Capstan, sendAsAdmin, startCapstan } from '../lib/capstan.js';
import { type Bench, type Case, cpuPerOperation, type Row, rateOf, timesOf } from '../lib/case.js';
import { type Loaded, load } from '../lib/load.js';
import { stagesIn } from '../lib/stages.js';

const BYTES = 1500;
/** Threads of V8, libuv and RocksDB: garbage collection, syncs. */
const OTHERS = 'helper threads';
const ROLES = ['front end', 'pool', 'writer', 'control', OTHERS];

/** Costs of one write in each kind of thread: wake-ups, and CPU time. Without /proc there are no such rows. */
function rowsByThread(name: string, { roles }: Capstan, { threads, operations }: Loaded): Row[] {
  const known = roles();
  return ROLES.map(role => {
    let [wakeUps, cpu] = [0, 0];
    for (const [thread, used] of threads)
      if ((known.get(thread) ?? OTHERS) === role) {
        wakeUps += used.wakeUps;
        cpu += used.cpu;
      }
    return {
      case: `${name}: ${role}`,
      unit: 'wake-ups each',
      value: wakeUps / operations,
      userUs: cpu / operations,
      systemUs: 0,
      note: 'system time is part of the user time',
    };
  });
}

/**
 * How long the stages of a create by one client take, on a server of its own: noting the times costs a few
 * microseconds.
 */
async function rowsByStage({ dir, tls, ms }: Bench): Promise<Row[]> {
  const marks = join(dir, 'marks');
  mkdirSync(marks);
  const server = await startCapstan({ dataDir: join(dir, 'stages'), tls, marks });
  try {
    await sendAsAdmin(server, 'POST', '/api/v1/namespaces', { metadata: { name: 'bench' } });
    const address = { ...server, token: server.adminToken };
    const task = { is: 'create', address, namespace: 'bench', prefix: 's', bytes: BYTES, clients: 1, ms } as const;
    const { p50, p99, seconds } = await load(task, server.pid);
    const all = { name: 'all, at the client', p50: p50 * 1000, p99: p99 * 1000 };
    return [...stagesIn(marks, seconds), all].map(stage => ({
      case: `create, 1 client: ${stage.name}`,
      unit: '\u00b5s, median',
      value: stage.p50,
      note: `p99 ${stage.p99.toFixed(0)} \u00b5s`,
    }));
  } finally {
    await server.close();
  }
}

const latency: Case = {
  name: 'latency',
  async run(bench): Promise<Row[]> {
    const server = await bench.server();
    const rows: Row[] = [];
    for (const clients of [1, 64]) {
      const prefix = `l${clients}-${Date.now()}-`;
      const task = { is: 'create', address: server, namespace: 'bench', prefix, bytes: BYTES, clients } as const;
      const loaded = await load({ ...task, ms: bench.ms }, server.pid);
      const name = `create, ${clients === 1 ? '1 client' : `${clients} clients`}`;
      const { user } = loaded.cpu;
      rows.push({
        case: name,
        unit: 'creates/s',
        value: rateOf(loaded),
        userUs: user / loaded.operations,
        systemUs: cpuPerOperation(loaded) - user / loaded.operations,
        note: timesOf(loaded),
      });
      rows.push(...rowsByThread(name, server, loaded));
    }
    return [...rows, ...(await rowsByStage(bench))];
  },
};

/** Where the time of one write goes: CPU time and wake-ups of each thread, and the time of each stage. */
export const latencies: readonly Case[] = [latency];
