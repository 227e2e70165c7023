import { startBaseline } from '../lib/baseline.js';
import { type Capstan, sendAsAdmin } from '../lib/capstan.js';
import { type Bench, type Case, costOf, cpuPerOperation, rateOf, type Row } from '../lib/case.js';
import { type Loaded, load } from '../lib/load.js';
import type { Address } from '../load/connection.js';
import { configMap } from '../load/tasks.js';

const BYTES = 1500;

/** The numbers of clients, and of the watchers that read protobuf. */
interface FanoutSize {
  readonly writers: number;
  readonly watchers: number;
  readonly ms: number;
  readonly protobuf?: 'half';
  readonly tokens?: readonly string[];
}

/** Runs writers and watchers in their own namespace of a server, with the credentials of `address`. */
export async function runFanout(server: Capstan, address: Address, size: FanoutSize): Promise<Loaded> {
  const namespace = `bench-fanout-${size.writers}-${size.watchers}`;
  const writePath = `/api/v1/namespaces/${namespace}/configmaps`;
  await sendAsAdmin(server, 'POST', '/api/v1/namespaces', {
    apiVersion: 'v1',
    kind: 'Namespace',
    metadata: { name: namespace },
  });
  for (let i = 0; i < size.writers; i++)
    await sendAsAdmin(server, 'POST', writePath, JSON.parse(configMap(`w${i}`, namespace, BYTES)));
  const watchPath = `${writePath}?watch=1&resourceVersion=0&labelSelector=%21none`;
  return await load({ is: 'fanout', address, watchPath, writePath, namespace, bytes: BYTES, ...size }, server.pid);
}

/** Describes the lag of deliveries, and whether watches were closed. */
const lagNote = ({ p50, p99, dropped, errors, bytes, seconds }: Loaded): string =>
  `lag p50 ${p50.toFixed(1)} ms, p99 ${p99.toFixed(1)} ms; ${dropped} watches closed; ${Math.round(bytes / seconds)} writes/s${errors ? `; ${errors} errors` : ''}`;

async function measure(
  bench: Bench,
  writers: number,
  watchers: number,
  protobuf?: 'half',
): Promise<{ ours: Loaded; theirs: Loaded }> {
  const server = await bench.server();
  const size = { writers, watchers, ms: bench.ms };
  const tokens = [server.token, server.adminToken];
  const ours = await runFanout(server, server, { ...size, protobuf, tokens });
  const bare = await startBaseline({ is: 'broadcast', ...bench.certificate });
  const paths = { watchPath: '/', writePath: '' };
  const theirs = await load(
    { is: 'fanout', address: bare, ...paths, namespace: 'bench', bytes: BYTES, ...size },
    bare.pid,
  );
  await bare.close();
  return { ours, theirs };
}

/** Makes the row of deliveries and those of the baseline. */
export function deliveriesRow(name: string, { ours, theirs }: { ours: Loaded; theirs: Loaded }, aim?: number): Row {
  const rates = { value: rateOf(ours), baseline: rateOf(theirs) };
  const note = `${lagNote(ours)} (baseline ${lagNote(theirs)})`;
  return {
    case: name,
    unit: 'deliveries/s',
    aim,
    ...rates,
    ...costOf(ours),
    baselineUs: cpuPerOperation(theirs),
    note,
  };
}

function fanoutCase(writers: number, watchers: number, aim: number, protobuf?: 'half'): Case {
  const title = `watch, ${writers} writers, ${watchers} watchers${protobuf ? ', half of them in protobuf' : ''}`;
  return {
    name: `fanout-${writers}x${watchers}${protobuf ? '-protobuf' : ''}`,
    run: async (bench): Promise<Row[]> => [
      deliveriesRow(title, await measure(bench, writers, watchers, protobuf), aim),
    ],
  };
}

/**
 * Very many watchers of one busy collection: deliveries per second, and the longest lag, from the write to the
 * client.
 */
const manyWatchers: Case = {
  name: 'watchers-10000',
  async run(bench): Promise<Row[]> {
    const watchers = bench.short ? 1000 : 10_000;
    const measured = await measure(bench, 1, watchers);
    const { ours, theirs } = measured;
    const name = `watch, 1 writer, ${watchers} watchers`;
    const latest = { case: `${name}, p99 lag`, unit: 'ms', value: ours.p99, baseline: theirs.p99 };
    return [deliveriesRow(name, measured, 1), { ...latest, atMost: true, note: `p50 ${ours.p50.toFixed(1)} ms` }];
  },
};

/** Deliveries to watchers, compared with a broadcast that sends each event separately. */
export const fanout: readonly Case[] = [
  fanoutCase(1, 100, 0.6),
  fanoutCase(1, 1000, 0.6),
  fanoutCase(16, 100, 2),
  fanoutCase(16, 1000, 2),
  fanoutCase(16, 1000, 2, 'half'),
  manyWatchers,
];
