/**
 * Measures puts into etcd by concurrent writers, in a separate process: `node etcdWorker.js URL WRITERS BYTES MS
 * ROUNDS`. Rounds of the plugin, of guarded writes by the same gRPC client without it, and of plain puts alternate.
 * Prints the medians of their rates as JSON.
 */
import { median } from '../lib/median.js';
import { Connection } from '../../plugins/storage/etcd/connection.js';
import { Put, Txn } from '../../plugins/storage/etcd/protocol.js';
import { EtcdStore } from '../../plugins/storage/etcd/store.js';
import { modRevisionEquals } from '../../plugins/storage/etcd/transaction.js';

const [url = '', ...numbers] = process.argv.slice(2);
const [writers = 1, bytes = 1500, ms = 1000, rounds = 3] = numbers.map(Number);
const value = Buffer.from(`{"metadata":{"resourceVersion":""},"data":"${'x'.repeat(Math.max(0, bytes - 46))}"}`);
const GAP = 32;

/** Writes per second. Each writer waits for its write before the next. */
async function rateOf(put: (key: string) => Promise<unknown>): Promise<number> {
  const run = `${Date.now()}-${Math.random()}`;
  let count = 0;
  const began = performance.now();
  await Promise.all(
    Array.from({ length: writers }, async (_, writer) => {
      for (let i = 0; performance.now() - began < ms; i++) {
        await put(`core/pods/namespace-${writer}/pod-${run}-${i}`);
        count++;
      }
    }),
  );
  return (count * 1000) / (performance.now() - began);
}

const connection = new Connection({ servers: [url], prefix: '/raw' });
const store = await new EtcdStore({ servers: [url], prefix: '/registry' }).start();
const kinds = {
  plugin: async (key: string) => {
    const [outcome] = await store.commit([[{ is: 'put', key, value, gap: GAP, expect: 0 }]]);
    if (outcome?.is !== 'committed') throw new Error('not committed');
  },
  transactions: (name: string) => {
    const key = Buffer.from(`/raw/${name}`);
    return connection.call(Txn, {
      compare: [modRevisionEquals(key, 0)],
      success: [{ put: { key, value } }],
      failure: [{ range: { key } }],
    });
  },
  puts: (name: string) => connection.call(Put, { key: Buffer.from(`/raw/${name}`), value }),
};
const rates = new Map<string, number[]>();
for (let round = 0; round < rounds; round++)
  for (const [kind, put] of Object.entries(kinds)) rates.set(kind, [...(rates.get(kind) ?? []), await rateOf(put)]);
await store.close();
connection.close();
const medians = Array.from(rates, ([kind, all]) => [kind, median(all)]);
console.log(JSON.stringify(Object.fromEntries(medians)));
