import { join } from 'node:path';
import { runBaseline } from '../lib/baseline.js';
import { type Case, costOf, type Row, rateOf, timesOf } from '../lib/case.js';
import { load } from '../lib/load.js';

const BYTES = 1500;

/** Creates, or updates of one object per client, compared with a loop of synced batches. */
const writeCase = (is: 'create' | 'update', clients: number, aim?: number): Case => ({
  name: `${is}-${clients}`,
  async run(bench): Promise<Row[]> {
    const server = await bench.server();
    const prefix = `${is[0]}${clients}-${Date.now()}-`;
    const task = { is, address: server, namespace: 'bench', prefix, bytes: BYTES, clients, ms: bench.ms } as const;
    const ours = await load(task, server.pid);
    const row = { case: `durable ${is}, ${clients} clients`, unit: `${is}s/s`, value: rateOf(ours), ...costOf(ours) };
    if (bench.against) return [row];
    const dir = join(bench.dir, `${is}-batches-${clients}`);
    const raw = await runBaseline({ is: 'batches', dir, batch: clients, bytes: BYTES, ms: bench.ms });
    return [{ ...row, baseline: raw.perSecond, aim, baselineUs: raw.user + raw.system, note: timesOf(ours) }];
  },
});

/** Durable writes, compared with a loop of synced batches of the same sizes. */
export const creates: readonly Case[] = [
  writeCase('create', 1),
  writeCase('create', 16),
  writeCase('create', 64, 0.12),
  writeCase('update', 1),
  writeCase('update', 16),
  writeCase('update', 64),
];
