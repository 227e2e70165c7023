import fs from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { createRequire, syncBuiltinESMExports } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Database } from '../../plugins/storage/rocksdb/binding.js';
import type { Engine } from '../../plugins/storage/engine/engine.js';
import { checkRocksDb } from '../../plugins/storage/rocksdb/offline/check.js';
import { openRocksDb } from '../../plugins/storage/rocksdb/open.js';
import { committed } from '../conformance/storage.js';
import { put } from './rocksdbFiles.js';

/** Replaces the function that writes a batch to RocksDB. The original is passed as `apply`. */
function replaceWrites(replaced: (apply: () => Promise<void>) => Promise<void>): void {
  library.write = function write_(this: Database) {
    const batch = write.call(this);
    const apply = batch.flush.bind(batch);
    batch.flush = () => replaced(apply);
    return batch;
  };
}

const { prototype: library } = createRequire(import.meta.url)('rocksdb') as { prototype: Database };
const { flush, write } = library;
const { fdatasyncSync, writeSync } = fs;

let path: string;
const stores: Engine[] = [];
beforeEach(async () => {
  path = await mkdtemp(join(tmpdir(), 'capstan-log-faults-'));
});
afterEach(async () => {
  restore();
  for (const store of stores.splice(0)) await store.close().catch(() => undefined);
  await rm(path, { recursive: true, force: true });
});

function restore(): void {
  Object.assign(library, { flush, write });
  fs.fdatasyncSync = fdatasyncSync;
  fs.writeSync = writeSync;
  syncBuiltinESMExports();
}

async function openStore(): Promise<Engine> {
  const store = await openRocksDb({ path, historyMs: 3_600_000 });
  stores.push(store);
  return store;
}

const fail = (message: string) => (): never => {
  throw new Error(message);
};

describe('a failure of the commit log', () => {
  it.each([
    ['write', () => (fs.writeSync = fail('EIO: i/o error, write'))],
    ['sync', () => (fs.fdatasyncSync = fail('EIO: i/o error, fdatasync'))],
  ])(
    'in a %s is answered with an error, as is every later commit; reads continue, and nothing is lost',
    async (_, break_) => {
      const store = await openStore();
      await committed(store, put('a', '1'));
      break_();
      syncBuiltinESMExports();
      const [refused] = await store.commit([[put('b', '1')]]);
      restore();
      expect(refused).toMatchObject({
        is: 'error',
        error: { message: expect.stringMatching(/must be opened again: EIO/) },
      });
      expect((await store.failed).message).toMatch(/EIO/);
      expect(await store.commit([[put('c', '1')]])).toMatchObject([{ is: 'error' }]);
      expect((await store.range('')).items.map(({ key }) => key)).toEqual(['a']);
      await store.close();
      const again = await openStore();
      const { items } = await again.range('');
      // Until then it is unknown whether the refused commit is stored.
      expect([['a'], ['a', 'b']]).toContainEqual(items.map(({ key }) => key));
      expect(await committed(again, put('d', '1'))).toBe(items.length + 1);
      await again.close();
      expect((await checkRocksDb(path)).problems).toEqual([]);
    },
  );
});

describe('a failed write of RocksDB', () => {
  it('fails the store after the commit was acknowledged, and the next open finds the commit', async () => {
    const store = await openStore();
    await committed(store, put('a', '1'));
    await store.get('a');
    replaceWrites(() => Promise.reject(new Error('not applied', { cause: new Error('IO error: Input/output error') })));
    await committed(store, put('b', '1'));
    expect((await store.failed).message).toMatch(/must be opened again: IO error: Input\/output error/);
    expect(await store.commit([[put('c', '1')]])).toMatchObject([{ is: 'error' }]);
    await expect(store.range('')).rejects.toThrow(/Input\/output error/);
    await store.close();
    restore();
    const again = await openStore();
    expect((await again.range('')).items.map(({ key }) => key)).toEqual(['a', 'b']);
  });

  it('during a close rejects the close, and leaves the log for the next open', async () => {
    const store = await openStore();
    await committed(store, put('a', '1'));
    library.flush = () => Promise.reject(new Error('IO error: Input/output error'));
    await expect(store.close()).rejects.toThrow(/Input\/output error/);
    restore();
    expect((await (await openStore()).range('')).items.map(({ key }) => key)).toEqual(['a']);
  });
});

describe('a slow RocksDB', () => {
  it('delays reads, but delays commits only if too many of them wait for it', async () => {
    const store = await openStore();
    let release: () => void = () => {};
    const held = new Promise<void>(resolve => (release = resolve));
    let writes = 0;
    replaceWrites(async apply => {
      writes++;
      await held;
      await apply();
    });
    const value = Buffer.alloc(500_000, 'x');
    let acknowledged = 0;
    const commits = Array.from({ length: 40 }, async (_, i) => {
      const [outcome] = await store.commit([[{ is: 'put', key: `k${i}`, value }]]);
      if (outcome!.is === 'committed') acknowledged++;
      return outcome!.is;
    });
    // These are in one group; the next one waits.
    await Promise.all(commits);
    const reading = store.get('k0');
    let read = false;
    void reading.then(() => (read = true));
    const waiting = committed(store, put('later', '1'));
    let later = false;
    void waiting.then(() => (later = true));
    await new Promise(resolve => setImmediate(resolve));
    expect({ acknowledged, read, later, writes }).toEqual({
      acknowledged: 40,
      read: false,
      later: false,
      writes: 1,
    });
    release();
    expect((await reading)?.value.length).toBe(500_000);
    expect(await waiting).toBe(41);
  });
});
