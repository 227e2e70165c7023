import { join } from 'node:path';
import { measuredBaseline } from '../lib/baseline.js';
import { type Case, costOf, type Row, rateOf, timesOf } from '../lib/case.js';
import { load } from '../lib/load.js';

const BYTES = 1500;

/** Creates, or updates of one object per client, against the same loop of synced batches. */
const writing = (is: 'create' | 'update', clients: number, aim?: number): Case => ({
  name: `${is}-${clients}`,
  async run(bench): Promise<Row[]> {
    const server = await bench.server();
    const prefix = `${is[0]}${clients}-${Date.now()}-`;
    const task = { is, address: server, namespace: 'bench', prefix, bytes: BYTES, clients, ms: bench.ms } as const;
    const ours = await load(task, server.pid);
    const row = { case: `durable ${is}, ${clients} clients`, unit: `${is}s/s`, value: rateOf(ours), ...costOf(ours) };
    if (bench.against) return [row];
    const dir = join(bench.dir, `${is}-batches-${clients}`);
    const raw = await measuredBaseline({ is: 'batches', dir, batch: clients, bytes: BYTES, ms: bench.ms });
    return [{ ...row, baseline: raw.perSecond, aim, baselineUs: raw.user + raw.system, note: timesOf(ours) }];
  },
});

/** Durable writes against a loop of synced batches of the same sizes. */
export const creates: readonly Case[] = [
  writing('create', 1),
  writing('create', 16),
  writing('create', 64, 0.12),
  writing('update', 1),
  writing('update', 16),
  writing('update', 64),
];
