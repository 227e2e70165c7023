import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { runBaseline } from '../lib/baseline.js';
import { type Bench, type Case, costOf, type Row, rateOf, timesOf } from '../lib/case.js';
import { load } from '../lib/load.js';
import { median } from '../lib/median.js';

const BYTES = 1500;
/** The pause between two polls, in milliseconds. */
const LOOK_MS = 20;

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

const QUOTAS = 5;
/** The number of turns of each kind: other work on the machine affects both alike. */
const TURNS = 3;

/** Namespaces without and with quotas; resolves when these are counted. */
async function makeNamespaces({ sendAsAdmin }: Bench): Promise<readonly [plain: string, limited: string]> {
  const names = ['plain', 'limited'].map(name => `${name}-${Date.now()}`) as [string, string];
  for (const name of names) await sendAsAdmin('POST', '/api/v1/namespaces', { metadata: { name } });
  const quotas = `/api/v1/namespaces/${names[1]}/resourcequotas`;
  const hard = { configmaps: '1000000', 'count/configmaps': '1000000' };
  for (let i = 0; i < QUOTAS; i++) await sendAsAdmin('POST', quotas, { metadata: { name: `q${i}` }, spec: { hard } });
  const isCounted = async (): Promise<boolean> => {
    const { items } = JSON.parse(await sendAsAdmin('GET', quotas)) as {
      readonly items: readonly { readonly status?: { readonly used?: object } }[];
    };
    return items.every(({ status }) => status?.used !== undefined);
  };
  while (!(await isCounted())) await setTimeout(LOOK_MS);
  return names;
}

/** The CPU time of a create in a namespace with quotas, compared with one without. */
const inQuotas = (clients: number): Case => ({
  name: `create-quotas-${clients}`,
  async run(bench): Promise<Row[]> {
    const server = await bench.server();
    const namespaces = await makeNamespaces(bench);
    const costs: [number[], number[]] = [[], []];
    for (let turn = 0; turn < TURNS; turn++)
      for (const [i, namespace] of namespaces.entries()) {
        const task = { is: 'create', address: server, namespace, prefix: `t${turn}-`, bytes: BYTES, clients } as const;
        const { userUs = 0, systemUs = 0 } = costOf(await load({ ...task, ms: bench.ms / TURNS }, server.pid));
        costs[i]!.push(userUs + systemUs);
      }
    const [plain, limited] = costs.map(median) as [number, number];
    const row = {
      case: `create under ${QUOTAS} quotas, ${clients} clients`,
      unit: 'µs of CPU',
      atMost: true,
      aim: 1.3,
    };
    return [{ ...row, value: limited, baseline: plain, note: 'medians of turns' }];
  },
});

/** Durable writes, compared with a loop of synced batches of the same sizes. */
export const creates: readonly Case[] = [
  writeCase('create', 1),
  writeCase('create', 16),
  writeCase('create', 64, 0.12),
  inQuotas(64),
  writeCase('update', 1),
  writeCase('update', 16),
  writeCase('update', 64),
];
