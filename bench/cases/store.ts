import { join } from 'node:path';
import type { Bench, Case, Row } from '../lib/case.js';
import { startCapstan } from '../lib/capstan.js';
import { startEtcd } from '../lib/etcd.js';
import { residentAtRest } from '../lib/process.js';
import { measure } from '../store/tasks.js';

const KILOBYTE = 1024;
/** The size of objects in comparisons of puts: that of creates in other cases. */
const PUT_BYTES = 1500;
const WRITERS = 64;

const storeOf = (bench: Bench, name: string): string => join(bench.dir, `store-${name}`);

/** Time and memory to open a store with all of its history. */
const openCase = (most: number): Case => ({
  name: `store-open-${most / 1000}k`,
  async run(bench): Promise<Row[]> {
    const count = bench.short ? most / 10 : most;
    const path = storeOf(bench, `open-${count}`);
    await measure('fill', { path, count, size: KILOBYTE });
    // The first open turns the rest of the log into a table; the second is like a restart.
    await measure('open', { path });
    const { ms, cpuMs, residentMb, heapMb } = await measure('open', { path });
    const note = `CPU ${Math.round(cpuMs!)} ms, heap ${Math.round(heapMb!)} MB: ${Math.round((heapMb! * 2 ** 20) / count)} bytes an object`;
    return [
      {
        case: `store open, ${count.toLocaleString('en-US')} objects of 1 KB`,
        unit: 'ms',
        value: ms!,
        residentMb,
        note,
      },
    ];
  },
});

const compaction: Case = {
  name: 'store-compaction',
  async run(bench): Promise<Row[]> {
    const given = { path: storeOf(bench, 'compaction'), writers: 16, size: PUT_BYTES, ms: bench.ms };
    const { p50, p99, worst, perSecond, alone } = await measure('compaction', given);
    const note = `p50 ${p50!.toFixed(2)} (${alone!.p50!.toFixed(2)}), worst ${worst!.toFixed(1)} (${alone!.worst!.toFixed(1)}), ${Math.round(perSecond!)} (${Math.round(alone!.perSecond!)}) puts/s; in brackets without compaction`;
    return [
      {
        case: 'commit while history is compacted, 16 writers',
        unit: 'ms p99',
        value: p99!,
        baseline: alone!.p99!,
        aim: 2,
        atMost: true,
        note,
      },
    ];
  },
};

const puts: Case = {
  name: `store-puts-${WRITERS}`,
  async run(bench): Promise<Row[]> {
    const load = { writers: WRITERS, size: PUT_BYTES, ms: bench.ms };
    const ours = await measure('puts', { path: storeOf(bench, 'puts'), ...load });
    const row = {
      case: `durable puts at the storage interface, ${WRITERS} writers`,
      unit: 'puts/s',
      value: ours.perSecond!,
    };
    const note = `p99 ${ours.p99!.toFixed(1)} ms`;
    const etcd = await startEtcd(storeOf(bench, 'etcd'));
    if (!etcd) return [{ ...row, note: `${note}; no etcd installed to compare with` }];
    const theirs = await measure('etcdPuts', { url: etcd.url, ...load });
    await etcd.stop();
    return [{ ...row, baseline: theirs.perSecond!, aim: 5, note: `${note} (etcd ${theirs.p99!.toFixed(1)} ms)` }];
  },
};

/** Resident memory of a server with many objects, compared with 1.6 times their size plus 150 MB. */
const memory: Case = {
  name: 'store-memory',
  async run(bench): Promise<Row[]> {
    const count = bench.short ? 10_000 : 100_000;
    const dataDir = join(bench.dir, 'memory');
    await measure('fill', { path: join(dataDir, 'data', 'store'), count, size: KILOBYTE });
    const server = await startCapstan({ dataDir, tls: bench.tls });
    const residentMb = (await residentAtRest(server.pid, bench.quietMs)) / 2 ** 20;
    await server.close();
    const allowed = (1.6 * count * KILOBYTE) / 2 ** 20 + 150;
    return [
      {
        case: `resident after a restart, ${count.toLocaleString('en-US')} objects of 1 KB`,
        unit: 'MB',
        value: residentMb,
        baseline: allowed,
        aim: 1,
        atMost: true,
        residentMb,
        note: `ready in ${Math.round(server.startMs)} ms; baseline is 1.6 times the bytes stored and 150 MB`,
      },
    ];
  },
};

/** Memory that cached objects hold if each was committed together with many others that have changed since. */
const churn: Case = {
  name: 'store-memory-churn',
  async run(): Promise<Row[]> {
    const load = { groups: 5000, hot: 63, size: KILOBYTE };
    const ours = await measure('churn', { ...load, tidy: true });
    const without = await measure('churn', { ...load, tidy: false });
    const note = `${(ours.ms! * 1000).toFixed(0)} µs a group (${(without.ms! * 1000).toFixed(0)}); objects are 5 MB; baseline: without moving them`;
    const row = {
      case: 'bytes held by 5,000 cold objects, each created beside 63 hot ones',
      unit: 'MB',
      value: ours.residentMb!,
    };
    return [{ ...row, baseline: without.residentMb!, aim: 0.25, atMost: true, note }];
  },
};

/** The embedded store alone, and the memory of a server that has opened it. */
export const stores: readonly Case[] = [
  openCase(10_000),
  openCase(100_000),
  openCase(300_000),
  compaction,
  puts,
  memory,
  churn,
];
