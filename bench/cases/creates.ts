import { join } from 'node:path';
import { measuredBaseline } from '../lib/baseline.js';
import { type Case, costOf, type Row } from '../lib/case.js';
import { load } from '../lib/load.js';

const BYTES = 1500;

const creating = (clients: number, aim?: number): Case => ({
  name: `create-${clients}`,
  async run(bench): Promise<Row[]> {
    const server = await bench.server();
    const prefix = `c${clients}-${Date.now()}-`;
    const task = { is: 'create', address: server, namespace: 'bench', prefix, bytes: BYTES, clients, ms: bench.ms } as const;
    const ours = await load(task, server.pid);
    const dir = join(bench.dir, `batches-${clients}`);
    const raw = await measuredBaseline({ is: 'batches', dir, batch: clients, bytes: BYTES, ms: bench.ms });
    const row = { case: `durable create, ${clients} clients`, unit: 'creates/s', value: ours.operations / ours.seconds };
    const note = `p50 ${ours.p50.toFixed(1)} ms, p99 ${ours.p99.toFixed(1)} ms${ours.errors ? `, ${ours.errors} errors` : ''}`;
    return [{ ...row, baseline: raw.perSecond, aim, ...costOf(ours), baselineUs: raw.user + raw.system, note }];
  },
});

/** Updates of one object per client against the same loop. */
const updating = (clients: number): Case => ({
  name: `update-${clients}`,
  async run(bench): Promise<Row[]> {
    const server = await bench.server();
    const task = {
      is: 'update',
      address: server,
      namespace: 'bench',
      prefix: `u${clients}-`,
      bytes: BYTES,
      clients,
      ms: bench.ms,
    } as const;
    const ours = await load(task, server.pid);
    const dir = join(bench.dir, `update-batches-${clients}`);
    const raw = await measuredBaseline({ is: 'batches', dir, batch: clients, bytes: BYTES, ms: bench.ms });
    const row = { case: `durable update, ${clients} clients`, unit: 'updates/s', value: ours.operations / ours.seconds };
    const note = `p50 ${ours.p50.toFixed(1)} ms, p99 ${ours.p99.toFixed(1)} ms${ours.errors ? `, ${ours.errors} errors` : ''}`;
    return [{ ...row, baseline: raw.perSecond, ...costOf(ours), baselineUs: raw.user + raw.system, note }];
  },
});

/** Durable creates against a loop of synced batches of the same sizes. */
export const creates: readonly Case[] = [creating(1), creating(16), creating(64, 0.12), updating(1), updating(16), updating(64)];
