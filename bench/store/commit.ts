/**
 * Durable puts per second of the RocksDB store with 1, 16 and 64 concurrent committers, compared with a bare loop of
 * synced RocksDB batches of as many values of the same size; and the time to open a store of 200,000 objects of 2 KB.
 * Prints medians of alternating rounds.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { median } from '../lib/median.js';
import { openRecords } from '../../plugins/storage/rocksdb/records.js';
import { openRocksDb } from '../../plugins/storage/rocksdb/open.js';

const ROUNDS = 5;
const ROUND_MS = 1000;
const VALUE = Buffer.from(`{"metadata":{"resourceVersion":""},"data":"${'x'.repeat(1450)}"}`);
const GAP = 32;
const HISTORY_MS = 3_600_000;

const directory = () => mkdtemp(join(tmpdir(), 'capstan-bench-'));
const perSecond = (count: number, start: number) => Math.round((count * 1000) / (performance.now() - start));

/** Puts per second of the store. Each committer waits for its put before it sends the next. */
async function storeRate(committers: number): Promise<number> {
  const path = await directory();
  const engine = await openRocksDb({ path, historyMs: HISTORY_MS });
  let count = 0;
  const start = performance.now();
  const committer = async (me: number) => {
    for (let i = 0; performance.now() - start < ROUND_MS; i++) {
      const key = `pods/namespace-${me}/pod-${i % 500}`;
      const [outcome] = await engine.commit([[{ is: 'put', key, value: VALUE, gap: GAP }]]);
      if (outcome?.is !== 'committed') throw new Error('not committed');
      count++;
    }
  };
  await Promise.all(Array.from({ length: committers }, (_, me) => committer(me)));
  const rate = perSecond(count, start);
  await engine.close();
  await rm(path, { recursive: true });
  return rate;
}

/** Puts per second of synced batches of `size` values, one after the other. */
async function batchRate(size: number): Promise<number> {
  const path = await directory();
  const records = await openRecords(path);
  let count = 0;
  const start = performance.now();
  while (performance.now() - start < ROUND_MS) {
    const batch = records.batch();
    for (let i = 0; i < size; i++) batch.put(Buffer.from(`pods/namespace-${i}/pod-${count++}`), VALUE);
    await batch.write(true);
  }
  const rate = perSecond(count, start);
  await records.close();
  await rm(path, { recursive: true });
  return rate;
}

/** Milliseconds to open a store with a number of objects. */
async function openingMs(objects: number, size: number): Promise<number> {
  const path = await directory();
  const value = Buffer.alloc(size, 'x');
  const engine = await openRocksDb({ path, historyMs: HISTORY_MS });
  for (let i = 0; i < objects; i += 500) {
    await engine.commit(
      Array.from({ length: 500 }, (_, j) => [{ is: 'put' as const, key: `pods/default/pod-${i + j}`, value }]),
    );
  }
  await engine.close();
  const start = performance.now();
  const again = await openRocksDb({ path, historyMs: HISTORY_MS });
  const took = performance.now() - start;
  await again.close();
  await rm(path, { recursive: true });
  return took;
}

for (const committers of [1, 16, 64]) {
  const ours: number[] = [];
  const theirs: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    theirs.push(await batchRate(committers));
    ours.push(await storeRate(committers));
  }
  const [a, b] = [median(ours), median(theirs)];
  console.log(
    `${committers} committers: store ${a} puts/s, bare batches of ${committers} ${b} puts/s, ratio ${(a / b).toFixed(2)}`,
  );
}
console.log(`open 200,000 objects of 2 KB with their history: ${Math.round(await openingMs(200_000, 2048))} ms`);
