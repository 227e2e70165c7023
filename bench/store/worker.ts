/** One measurement of a store in a separate process: `node worker.js TASK JSON` prints its result as JSON. */
import { rmSync } from 'node:fs';
import { Client, credentials } from '@grpc/grpc-js';
import { BufferCompactor, type Part } from '../../core/threads/entries/bufferCompactor.js';
import { SharedValues } from '../../core/threads/entries/sharedValues.js';
import { Put } from '../../plugins/storage/etcd/protocol.js';
import { openRocksDb } from '../../plugins/storage/rocksdb/open.js';
import { readAtRest } from '../lib/process.js';
import type { Measured, Tasks } from './tasks.js';

const HISTORY_MS = 3_600_000;
/** The number of keys to which one committer writes, one after the other. */
const KEYS = 500;

const open = (path: string, historyMs = HISTORY_MS) => openRocksDb({ path, historyMs });
type Engine = Awaited<ReturnType<typeof open>>;

const objectOf = (size: number): Buffer =>
  Buffer.from(`{"metadata":{"resourceVersion":""},"data":"${'x'.repeat(Math.max(0, size - 46))}"}`);
const GAP = 32;

/** Writes `count` objects, 500 transactions at a time. */
async function fill({ path, count, size }: Tasks['fill']): Promise<Measured> {
  const engine = await open(path);
  const value = objectOf(size);
  for (let i = 0; i < count; i += KEYS) {
    const keys = Array.from(
      { length: Math.min(KEYS, count - i) },
      (_, j) => `core/configmaps/bench/object-${String(i + j).padStart(8, '0')}`,
    );
    await engine.commit(keys.map(key => [{ is: 'put' as const, key, value, gap: GAP }]));
  }
  await engine.close();
  return {};
}

/** Opens a store: measures the time, and the memory that it keeps. */
async function measureOpen({ path }: Tasks['open']): Promise<Measured> {
  globalThis.gc?.();
  const before = process.memoryUsage();
  const cpu = process.cpuUsage();
  const start = performance.now();
  const engine = await open(path);
  const ms = performance.now() - start;
  const { user, system } = process.cpuUsage(cpu);
  globalThis.gc?.();
  const after = process.memoryUsage();
  await engine.close();
  return {
    ms,
    cpuMs: (user + system) / 1000,
    residentMb: (after.rss - before.rss) / 2 ** 20,
    heapMb: (after.heapUsed - before.heapUsed) / 2 ** 20,
  };
}

/** Runs concurrent writers, each of which waits for its put before the next: measures rate and times. */
async function measurePuts(
  writers: number,
  ms: number,
  put: (writer: number, i: number) => Promise<void>,
): Promise<Measured> {
  const times: number[] = [];
  const start = performance.now();
  await Promise.all(
    Array.from({ length: writers }, async (_, writer) => {
      for (let i = 0; performance.now() - start < ms; i++) {
        const begun = performance.now();
        await put(writer, i);
        times.push(performance.now() - begun);
      }
    }),
  );
  const seconds = (performance.now() - start) / 1000;
  times.sort((a, b) => a - b);
  const at = (share: number): number => times[Math.min(times.length - 1, Math.floor(times.length * share))]!;
  return { perSecond: times.length / seconds, p50: at(0.5), p99: at(0.99), worst: times.at(-1)! };
}

const putter =
  (engine: Engine, value: Buffer) =>
  async (writer: number, i: number): Promise<void> => {
    const key = `core/pods/namespace-${writer}/pod-${i % KEYS}`;
    const [outcome] = await engine.commit([[{ is: 'put', key, value, gap: GAP }]]);
    if (outcome?.is !== 'committed') throw new Error('not committed');
  };

async function puts({ path, writers, size, ms }: Tasks['puts']): Promise<Measured> {
  const engine = await open(path);
  const measured = await measurePuts(writers, ms, putter(engine, objectOf(size)));
  await engine.close();
  rmSync(path, { recursive: true });
  return measured;
}

/** Runs the same load twice: alone, and while history is compacted repeatedly. */
async function compaction({ path, writers, size, ms }: Tasks['compaction']): Promise<Measured> {
  const engine = await open(path);
  const put = putter(engine, objectOf(size));
  const alone = await measurePuts(writers, ms, put);
  let running = true;
  const compacting = (async () => {
    for (; running; await new Promise(resolve => setTimeout(resolve, 20)))
      await engine.compact(await engine.revision());
  })();
  const beside = await measurePuts(writers, ms, put);
  running = false;
  await compacting;
  await engine.close();
  rmSync(path, { recursive: true });
  return { ...beside, alone };
}

/**
 * Keeps objects of commit groups as the front end does: measures the memory held in the end, and the time per group.
 */
async function churn({ groups, hot, size, tidy }: Tasks['churn']): Promise<Measured> {
  const buffers = new BufferCompactor();
  const values = new SharedValues();
  const kept = new Map<string, { value: Part }>();
  const value = objectOf(size);
  globalThis.gc?.();
  const before = process.memoryUsage.rss();
  const start = performance.now();
  for (let group = 0; group < groups; group++) {
    const keys = Array.from({ length: hot + 1 }, (_, i) => (i === 0 ? `cold-${group}` : `hot-${i}`));
    const changed = keys.map(key => ({ key, revision: group, created: group, value }));
    for (const { key, value } of values.share(changed)) {
      const replaced = kept.get(key);
      if (replaced) buffers.remove(replaced.value);
      buffers.add(value!);
      kept.set(key, { value: value! });
    }
    if (tidy) {
      await buffers.compact<{ value: Part }>({
        items: () => kept.values(),
        valueIn: item => item.value,
        move: (item, value) => {
          item.value = value;
        },
        moved: () => {},
      });
    }
  }
  const ms = (performance.now() - start) / groups;
  globalThis.gc?.();
  // Memory is freed by a separate thread after the collection.
  const after = await readAtRest(() => process.memoryUsage.rss(), 200);
  return { ms, residentMb: (after - before) / 2 ** 20 };
}

async function etcdPuts({ url, writers, size, ms }: Tasks['etcdPuts']): Promise<Measured> {
  const client = new Client(url.replace(/^http:\/\//, ''), credentials.createInsecure());
  const value = objectOf(size);
  const measured = await measurePuts(writers, ms, (writer, i) => {
    const key = Buffer.from(`/registry/pods/namespace-${writer}/pod-${i % KEYS}`);
    return new Promise<void>((resolve, reject) => {
      client.makeUnaryRequest(Put.path, Put.encode, Put.decode, { key, value }, error =>
        error ? reject(error) : resolve(),
      );
    });
  });
  client.close();
  return measured;
}

const TASKS = { fill, open: measureOpen, puts, compaction, churn, etcdPuts };
const [, , task = '', json = '{}'] = process.argv;
const run = TASKS[task as keyof typeof TASKS] as (given: unknown) => Promise<Measured>;
console.log(JSON.stringify(await run(JSON.parse(json))));
