import { spawn } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { StoreOperation } from '../../core/api/index.js';
import type { Engine } from '../../plugins/storage/engine/engine.js';
import { checkRocksDb } from '../../plugins/storage/rocksdb/offline/check.js';
import plugin from '../../plugins/storage/rocksdb/index.js';
import { openRocksDb } from '../../plugins/storage/rocksdb/open.js';
import { committed } from '../conformance/storage.js';

let path: string;
const stores: Engine[] = [];

const openStore = async () => {
  const store = await openRocksDb({ path, historyMs: 3_600_000 });
  stores.push(store);
  return store;
};
const put = (key: string, value: string | Buffer): StoreOperation => ({ is: 'put', key, value: Buffer.from(value) });

beforeEach(async () => {
  path = await mkdtemp(join(tmpdir(), 'capstan-store-'));
});
afterEach(async () => {
  for (const store of stores.splice(0)) await store.close();
  await rm(path, { recursive: true });
});

describe('a RocksDB store', () => {
  it('cannot be opened a second time while it is in use', async () => {
    await openStore();
    await expect(openStore()).rejects.toThrow(/is in use by another process/);
  });

  it('opens after a crash that left an empty store without a mark', async () => {
    await (await openStore()).close();
    await rm(join(path, 'high-water'));
    expect(await (await openStore()).revision()).toBe(0);
  });

  it('completes a compaction that a crash interrupted', async () => {
    const store = await openStore();
    for (let i = 0; i < 2500; i++) void store.commit([[put('a', String(i))]]);
    const last = await committed(store, put('b', '1'));
    const step = store.compact(last);
    await store.close();
    await step;
    const again = await openStore();
    await again.compact(last);
    await again.close();
    const { rows, problems } = await checkRocksDb(path);
    expect(problems).toEqual([]);
    expect(rows).toMatchObject({ objects: [{ key: 'a' }, { key: 'b' }], older: 0, events: 0, compacted: last });
  });

  it('removes history that is older than configured, according to its clock', async () => {
    let now = 0;
    const store = await openRocksDb({ path, historyMs: 1000, now: () => now });
    stores.push(store);
    const first = await committed(store, put('a', '1'));
    await store.expireHistory();
    now = 500;
    await committed(store, put('a', '2'));
    await store.expireHistory();
    expect(store.compactedRevision()).toBe(0);
    now = 1000;
    await store.expireHistory();
    expect(store.compactedRevision()).toBe(first);
  });

  it('reports an invalid configuration with the path of the field', () => {
    expect(() => plugin.parse({})).toThrow(/^path: /);
    expect(() => plugin.parse({ path: '/x', historyMs: 'long' })).toThrow(/^historyMs: /);
    expect(plugin.parse({ path: '/x' })).toEqual({ path: '/x', historyMs: 300_000 });
  });

  it('keeps every acknowledged write through kill -9', async () => {
    const program = join(path, 'committer.mjs');
    await writeFile(program, committer(new URL('../../dist/plugins/storage/rocksdb/open.js', import.meta.url).href));
    let acknowledged = 0;
    for (const goal of [400, 900]) {
      acknowledged = await runUntilKilled(program, goal);
      const store = await openStore();
      const { items } = await store.range('k/');
      expect(await store.revision()).toBeGreaterThanOrEqual(acknowledged);
      expect(items.map(item => item.modified)).toEqual(items.map((_, i) => i + 1));
      expect(items.length).toBeGreaterThanOrEqual(acknowledged);
      for (const { value, modified } of items)
        expect(Buffer.from(value).toString()).toBe(`{"rv":"${modified}"}${'x'.repeat(1400)}`);
      await store.close();
    }
    expect(await readFile(join(path, 'high-water'), 'utf8')).toMatch(/^capstan-high-water /);
  });
});

/**
 * A program that commits groups from several committers and prints the highest revision up to which all are
 * acknowledged.
 */
const committer = (module: string) => `
const { openRocksDb } = await import(${JSON.stringify(module)});
const store = await openRocksDb({ path: process.argv[2], historyMs: 3600000 });
const value = Buffer.from('{"rv":""}' + 'x'.repeat(1400));
let next = await store.revision();
const one = async () => {
  for (;;) {
    const key = 'k/' + String(++next).padStart(8, '0');
    const [outcome] = await store.commit([[{ is: 'put', key, value, gap: 7, expect: 0 }]]);
    process.stdout.write(outcome.revision + '\\n');
  }
};
await Promise.all(Array.from({ length: 8 }, one));
`;

/**
 * Runs the program until it has acknowledged revision `goal`, and kills it. Resolves with the highest acknowledged one.
 */
function runUntilKilled(program: string, goal: number): Promise<number> {
  const child = spawn(process.execPath, [program, path], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let highest = 0;
  let rest = '';
  child.stdout.on('data', (chunk: Buffer) => {
    const lines = (rest + chunk).split('\n');
    rest = lines.pop()!;
    for (const line of lines) highest = Math.max(highest, Number(line));
    if (highest >= goal) child.kill('SIGKILL');
  });
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (_, signal) =>
      signal === 'SIGKILL' ? resolve(highest) : reject(new Error('the committer ended by itself')),
    );
  });
}
