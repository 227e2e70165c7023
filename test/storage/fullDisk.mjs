// Commits into a store until it refuses, on a disk that a ballast file helps to fill; then frees the ballast and opens
// again. Prints one JSON line: the acknowledged writes, the refusal, and the content afterwards.
import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';

const [, , module, directory, ballastBytes] = process.argv;
const { openRocksDb } = await import(module);
const open = () => openRocksDb({ path: `${directory}/store`, historyMs: 3_600_000 });
mkdirSync(directory, { recursive: true });
if (Number(ballastBytes) > 0) writeFileSync(`${directory}/ballast`, Buffer.alloc(Number(ballastBytes)));
const store = await open();
let told;
void store.failed.then(error => {
  told = error.message;
});
const value = Buffer.from('x'.repeat(20_000));
let acknowledged = 0;
let refused;
for (let i = 0; refused === undefined && i < 10_000; i++) {
  const key = `k/${String(i).padStart(6, '0')}`;
  const [outcome] = await store.commit([[{ is: 'put', key, value: Buffer.concat([Buffer.from(key), value]) }]]);
  if (outcome.is === 'committed') acknowledged = outcome.revision;
  else refused = outcome.error.message;
}
const [later] = await store.commit([[{ is: 'put', key: 'later', value }]]);
const unready = await store.check().then(
  () => undefined,
  error => error.message,
);
// If RocksDB failed before the commit log, it lacks the last acknowledged writes, and a read rejects.
const stillReads = await store.range('k/').then(
  ({ items }) => items.length,
  error => error.message,
);
await store.close().catch(() => undefined);
// The space that a refused write has freed is also used up.
if (Number(ballastBytes) > 0)
  try {
    for (let i = 0; ; i++) writeFileSync(`${directory}/rest-${i}`, Buffer.alloc(64 * 1024));
  } catch {}
const refusedOpen = await open().then(
  again => again.close(),
  error => error.message,
);
for (const file of readdirSync(directory)) if (file !== 'store') rmSync(`${directory}/${file}`);
const again = await open();
const { items } = await again.range('k/');
const kept = items.filter((item, i) => item.modified === i + 1).length;
const [next] = await again.commit([[{ is: 'put', key: 'next', value: Buffer.from('1') }]]);
await again.close();
console.log(
  JSON.stringify({
    acknowledged,
    refused,
    told,
    later: later.is,
    unready,
    stillReads,
    refusedOpen,
    kept,
    next: next.is,
  }),
);
