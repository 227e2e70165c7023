import { spawn } from 'node:child_process';
import { cpSync, readdirSync } from 'node:fs';
import { copyFile, cp, mkdir, mkdtemp, open, readdir, readFile, rm, stat, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import * as fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { storeCommand } from '../../core/command/store/store.js';
import type { Engine } from '../../plugins/storage/engine/engine.js';
import { loadStore } from '../../plugins/storage/engine/open.js';
import { metaKey } from '../../plugins/storage/engine/records.js';
import { checkRocksDb } from '../../plugins/storage/rocksdb/offline/check.js';
import { writeMark } from '../../plugins/storage/rocksdb/files/highWater.js';
import { readLog } from '../../plugins/storage/rocksdb/log/logContent.js';
import type { LoggedRecords } from '../../plugins/storage/rocksdb/log/loggedRecords.js';
import { openRocksDb } from '../../plugins/storage/rocksdb/open.js';
import { openRecords } from '../../plugins/storage/rocksdb/records.js';
import { planRecovery, recover } from '../../plugins/storage/rocksdb/offline/recover.js';
import { Captured } from '../command/server.js';
import { committed } from '../conformance/storage.js';
import { contents, fillStore, keyOf, noise, put } from './rocksdbFiles.js';
import { eventually } from '../support/eventually.js';

let root: string;
let path: string;
const stores: Engine[] = [];
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'capstan-crash-'));
  path = join(root, 'store');
});
afterEach(async () => {
  for (const store of stores.splice(0)) await store.close().catch(() => undefined);
  await rm(root, { recursive: true, force: true });
});

async function openStore(at = path): Promise<Engine> {
  const store = await openRocksDb({ path: at, historyMs: 3_600_000 });
  stores.push(store);
  return store;
}

/**
 * Copies the files as a crash of the process would leave them now. It is synchronous, so that the store cannot act
 * meanwhile.
 */
function crash(name = 'crashed'): string {
  const copy = join(root, name);
  cpSync(path, copy, { recursive: true });
  return copy;
}

const databaseLog = (at: string): string =>
  join(
    at,
    'db',
    readdirSync(join(at, 'db'))
      .filter(file => /^\d+\.log$/.test(file))
      .sort()
      .at(-1)!,
  );
const segment = (at: string): string => join(at, 'log', 'segment-1');

/** Opens a store and expects the objects of `fillStore` with revisions 1 to `count`, and nothing else. */
async function expectObjects(at: string, count: number): Promise<void> {
  const store = await openStore(at);
  const { items, revision } = await store.range('');
  expect(revision).toBe(count);
  expect(items.map(({ key, modified }) => [key, modified])).toEqual(
    Array.from({ length: count }, (_, i) => [keyOf(i + 1), i + 1]),
  );
  for (const { value, modified } of items) expect(Buffer.from(value).toString()).toBe(noise(modified, 500));
  expect(await committed(store, put('next', '1'))).toBe(count + 1);
  await store.close();
  expect((await checkRocksDb(at)).problems).toEqual([]);
}

/** Commits as `fillStore`, without waiting until RocksDB has them. */
async function commitOnly(store: Engine, from: number, to: number): Promise<void> {
  for (let i = from; i <= to; i++) await committed(store, put(keyOf(i), noise(i, 500)));
}

async function files(at: string): Promise<Map<string, string>> {
  const entries = await readdir(at, { recursive: true, withFileTypes: true });
  const names = entries.filter(entry => entry.isFile()).map(entry => join(entry.parentPath, entry.name));
  return new Map(await Promise.all(names.sort().map(async name => [name, await readFile(name, 'latin1')] as const)));
}

/** Expects that an open is refused in one line, that a check reports the same, and that neither changes a file. */
async function expectRefusal(at: string, named: RegExp): Promise<void> {
  const before = await files(at);
  const message = await openStore(at).then(
    () => 'opened',
    (error: Error) => error.message,
  );
  expect(message).toMatch(named);
  expect(message).toMatch(/capstan store recover`$/);
  expect(message).not.toContain('\n');
  expect((await checkRocksDb(at)).problems.join('\n')).toMatch(named);
  expect(contents(await files(at))).toEqual(contents(before));
}

/** Runs statements in a process with an open store `store` and a function `commit`, which ends itself with SIGKILL. */
async function killed(statements: string): Promise<void> {
  const program = `
    const { openRocksDb } = await import(${JSON.stringify(resolve('dist/plugins/storage/rocksdb/open.js'))});
    const store = await openRocksDb({ path: process.argv[1], historyMs: 3600000 });
    const commit = async (key, value) => {
      const [outcome] = await store.commit([[{ is: 'put', key, value }]]);
      if (outcome.is !== 'committed') throw outcome.error;
    };
    ${statements}
    process.kill(process.pid, 'SIGKILL');`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', program, path], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const signal = await new Promise(done => child.on('close', (_, by) => done(by)));
  expect(signal).toBe('SIGKILL');
}

/** Resolves when RocksDB neither writes nor merges tables, so that its files can be copied. */
async function untilQuiet(store: Engine): Promise<void> {
  const { database } = store.records as LoggedRecords;
  await store.check();
  const running = ['mem-table-flush-pending', 'num-running-flushes', 'compaction-pending', 'num-running-compactions'];
  await eventually(
    () => Promise.all(running.map(name => database.property(`rocksdb.${name}`))),
    values => values.every(value => value === '0'),
  );
}

async function flipAt(file: string, at: number): Promise<void> {
  const handle = await open(file, 'r+');
  const byte = Buffer.alloc(1);
  await handle.read(byte, 0, 1, at);
  byte[0]! ^= 0x5a;
  await handle.write(byte, 0, 1, at);
  await handle.close();
}

describe('a RocksDB store whose process was killed', () => {
  it('has the acknowledged writes that RocksDB did not have', async () => {
    const store = await openStore();
    await commitOnly(store, 1, 1);
    // No timer runs between the acknowledgment and the copy.
    const copy = crash();
    expect((await checkRocksDb(copy)).rows).toMatchObject({ revision: 1 });
    const database = await openRecords(join(copy, 'db'), { readOnly: true });
    expect((await loadStore(database)).revision).toBe(0);
    await database.close();
    await expectObjects(copy, 1);
  });

  it('killed right after an acknowledgment has the acknowledged write', async () => {
    await killed(`for (let i = 0; i < 40; i++) await commit('k' + i, Buffer.from('x'));`);
    const log = await readLog(path);
    expect(log!.last - log!.first + 1).toBe(40);
    const store = await openStore();
    expect((await store.range('')).items.length).toBe(40);
  });

  it('is sound for a check, which reports the records to apply, and needs no recovery', async () => {
    const store = await openStore();
    await fillStore(store, 5);
    await commitOnly(store, 6, 6);
    const copy = crash('data/store');
    const before = await files(copy);
    const io = new Captured();
    expect(await storeCommand(['check', `--data-dir=${join(root, 'data')}`], io)).toBe(0);
    expect(io.lines.join('\n')).toMatch(/commit log: [\d.]+ kB, 6 records to apply\n[\s\S]*objects: 6,/);
    expect(await planRecovery(copy)).toMatchObject({ problems: [], objects: 6, revision: 6 });
    expect(await recover(copy, { acceptLoss: false })).toMatchObject({ problems: [] });
    expect(await files(copy)).toEqual(before);
  });

  it('killed during a compaction has the same objects, and completes the compaction', async () => {
    const store = await openStore();
    for (let i = 1; i <= 300; i++) await committed(store, put('a', String(i)));
    await store.compact(300);
    await committed(store, put('b', '1'));
    await untilQuiet(store);
    const copy = crash();
    const again = await openStore(copy);
    expect((await again.range('')).items.map(({ key, modified }) => [key, modified])).toEqual([
      ['a', 300],
      ['b', 301],
    ]);
    expect(again.compactedRevision()).toBe(300);
    await again.compact(300);
    await again.close();
    const { rows, problems } = await checkRocksDb(copy);
    expect(problems).toEqual([]);
    expect(rows).toMatchObject({ older: 0, events: 1 });
  });
});

describe('a RocksDB store after a power failure', () => {
  let durable: number;
  /**
   * A copy of a store after 100 commits. Only the first `durable` bytes of RocksDB's log, which hold none of them, are
   * synced.
   */
  async function failure(): Promise<string> {
    const store = await openStore();
    durable = (await stat(databaseLog(path))).size;
    await fillStore(store, 100);
    return crash();
  }

  it.each([0, 0.2, 0.77, 0.999])('has everything if RocksDB kept %d of its log', async kept => {
    const copy = await failure();
    const log = databaseLog(copy);
    await truncate(log, durable + Math.floor(((await stat(log)).size - durable) * kept));
    await expectObjects(copy, 100);
  });

  it.each([
    ['zeros', 0.3, 0],
    ['other bytes', 0.6, 0xa7],
    ['zeros', 0.01, 0],
  ])('has everything if there are %s in the log of RocksDB, and writes after them', async (_, at, byte) => {
    const copy = await failure();
    const log = databaseLog(copy);
    const bytes = await readFile(log);
    const from = durable + Math.floor((bytes.length - durable) * at);
    await writeFile(log, bytes.fill(byte, from, from + 4096));
    expect((await checkRocksDb(copy)).problems).toEqual([]);
    await expectObjects(copy, 100);
  });

  it('has everything if RocksDB lost the end of a log and kept a later one', async () => {
    // RocksDB begins another log after 16 MB, and removes the one before when it has written the table.
    let logs: string[] = [];
    for (let attempt = 0; attempt < 5 && logs.length < 2; attempt++) {
      await rm(path, { recursive: true, force: true });
      await killed(`
        const { readdirSync } = await import('node:fs');
        const logs = () => readdirSync(process.argv[1] + '/db').filter(file => file.endsWith('.log')).length;
        for (let i = 1; logs() < 2; i++) {
          await commit('k' + String(i).padStart(5, '0'), Buffer.alloc(100_000, i));
          if (i % 3 === 0) await store.get('k00001');
        }`);
      logs = readdirSync(join(path, 'db'))
        .filter(file => file.endsWith('.log'))
        .sort();
    }
    expect(logs.length).toBe(2);
    const older = join(path, 'db', logs[0]!);
    // RocksDB synced its log at 11 MB, when the commit log began its fourth segment.
    await truncate(older, (await stat(older)).size - 2_000_000);
    const again = await openStore();
    const { items } = await again.range('');
    expect(items.length).toBeGreaterThan(150);
    expect(items.map(({ modified }) => modified)).toEqual(items.map((_, i) => i + 1));
    await again.close();
    expect((await checkRocksDb(path)).problems).toEqual([]);
  });

  it('is refused if the commit log does not contain all writes that RocksDB has lost', async () => {
    const store = await openStore();
    await fillStore(store, 50);
    await store.close();
    const old = join(root, 'old');
    await cp(join(path, 'db'), old, { recursive: true });
    const again = await openStore();
    await commitOnly(again, 51, 60);
    await again.close();
    await commitOnly(await openStore(), 61, 70);
    const copy = crash();
    await rm(join(copy, 'db'), { recursive: true });
    await cp(old, join(copy, 'db'), { recursive: true });
    await writeMark(copy, { store: (await readLog(copy))!.store, revision: 50 });
    await expectRefusal(copy, /db is damaged: writes 51 to 60 are missing, and the log does not have them/);
    const plan = await planRecovery(copy);
    expect(plan).toMatchObject({ objects: 60, missing: [{ from: 51, to: 60 }] });
    await recover(copy, { acceptLoss: true });
    const recovered = await openStore(copy);
    expect((await recovered.range('')).items.length).toBe(60);
    await recovered.close();
    expect((await checkRocksDb(copy)).problems).toEqual([]);
  });

  it('is refused if synced writes of RocksDB are damaged', async () => {
    const store = await openStore();
    await fillStore(store, 50);
    await store.close();
    const again = await openStore();
    await store.close();
    await commitOnly(again, 51, 60);
    await again.get(keyOf(60));
    await untilQuiet(again);
    const copy = crash();
    const first = join(copy, 'db', readdirSync(join(copy, 'db')).find(file => file.endsWith('.sst'))!);
    await truncate(first, 1000);
    await expectRefusal(copy, /\.sst has 1000 bytes instead of \d+/);
  });
});

describe('the commit log of a RocksDB store', () => {
  it('may end within a record that was not acknowledged', async () => {
    const store = await openStore();
    await fillStore(store, 10);
    const before = (await readLog(path))!.bytes;
    await commitOnly(store, 11, 11);
    const copy = crash();
    for (const kept of [1, 20, 300]) {
      const torn = join(root, `torn-${kept}`);
      await cp(copy, torn, { recursive: true });
      const bytes = await readFile(segment(torn));
      await writeFile(segment(torn), bytes.fill(0, 4096 + before + kept));
      await expectObjects(torn, 10);
    }
  });

  it('that is damaged before its end is refused; a recovery keeps the readable objects and the damaged files', async () => {
    const store = await openStore();
    await commitOnly(store, 1, 20);
    const copy = crash();
    await flipAt(segment(copy), 4096 + 7000);
    await expectRefusal(copy, /log is damaged: .*segment-1 at byte \d+: record \d+ is missing or damaged, and later/);
    await expect(recover(copy, { acceptLoss: false })).rejects.toThrow(/--accept-loss/);
    const plan = await recover(copy, { acceptLoss: true });
    expect(plan.objects).toBe(19);
    expect(await readdir(join(plan.damagedFilesPath!, 'log'))).toEqual(['segment-1']);
    const again = await openStore(copy);
    expect((await again.range('')).items.length).toBe(19);
    await again.close();
    expect((await checkRocksDb(copy)).problems).toEqual([]);
  });

  it('that ends before the last write in RocksDB is refused', async () => {
    const store = await openStore();
    await fillStore(store, 10);
    const copy = crash();
    const bytes = await readFile(segment(copy));
    await writeFile(segment(copy), bytes.fill(0, 4096 + 3000));
    await expectRefusal(copy, /log is damaged: it ends with record \d+, but the database has record 10/);
  });

  it('that is missing is refused after a crash, and created again if the store was closed', async () => {
    const store = await openStore();
    await fillStore(store, 10);
    const copy = crash();
    await rm(join(copy, 'log'), { recursive: true });
    await expectRefusal(copy, /log is missing, but the store was not closed: its last writes may be lost/);
    await store.close();
    await rm(join(path, 'log'), { recursive: true });
    await expectObjects(path, 10);
  });

  it('of another store is refused', async () => {
    await fillStore(await openStore(), 3);
    await fillStore(await openStore(join(root, 'other')), 3);
    const copy = crash();
    await copyFile(segment(join(root, 'other')), segment(copy));
    await expectRefusal(copy, /log belongs to the store [-\w]+, but .*db is [-\w]+; restore the matching files/);
  });

  it('is continued over many segments and reopens, and closing leaves nothing to apply', async () => {
    const store = await openStore();
    const value = (i: number) => `${i};`.padEnd(700_000, String(i));
    for (let i = 1; i <= 80; i++) await committed(store, put(`k${i}`, value(i)));
    await untilQuiet(store);
    const copy = crash();
    expect((await readdir(join(copy, 'log'))).length).toBeLessThanOrEqual(4);
    await store.close();
    expect(await readLog(path)).toMatchObject({ first: 81, last: 80 });
    for (const at of [copy, path]) {
      const again = await openStore(at);
      const { items } = await again.range('');
      expect(items.length).toBe(80);
      for (const { key, value: stored } of items)
        expect(Buffer.from(stored).toString()).toBe(value(Number(key.slice(1))));
      await again.close();
    }
  });

  it('accepts a group of commits that is larger than a segment', async () => {
    const store = await openStore();
    const group = Array.from({ length: 25 }, (_, i) => [
      { is: 'put' as const, key: `k${i}`, value: Buffer.alloc(1_000_000, i) },
    ]);
    expect((await store.commit(group)).every(({ is }) => is === 'committed')).toBe(true);
    await untilQuiet(store);
    const again = await openStore(crash());
    expect((await again.range('')).items.map(({ value }) => value[5])).toEqual(
      [...group.keys()].sort((a, b) => (`k${a}` < `k${b}` ? -1 : 1)),
    );
  });

  it('after any bytes of its last batch are lost, keeps every other commit', async () => {
    const sizes = fc.array(fc.integer({ min: 0, max: 3000 }), { minLength: 1, maxLength: 8 });
    const fraction = fc.double({ min: 0, max: 1, noNaN: true });
    let run = 0;
    await fc.assert(
      fc.asyncProperty(sizes, fraction, async (lengths, kept) => {
        path = join(root, `run-${++run}`);
        const store = await openStore();
        for (const [i, length] of lengths.entries()) {
          await store.get('k0');
          await committed(store, put(`k${i}`, noise(i, length)));
        }
        const copy = crash(`copy-${run}`);
        await store.close();
        const ends = (await readLog(copy))!.bytes + 4096;
        const lost = Math.ceil(lengths.at(-1)! * (1 - kept));
        const bytes = await readFile(segment(copy));
        await writeFile(segment(copy), bytes.fill(0, ends - lost, ends));
        const again = await openStore(copy);
        const revision = await again.revision();
        expect([lengths.length - 1, lengths.length]).toContain(revision);
        expect((await again.range('')).items.map(({ value }) => Buffer.from(value).toString())).toEqual(
          lengths.slice(0, revision).map((length, i) => noise(i, length)),
        );
        await again.close();
      }),
      { numRuns: 15 },
    );
  });
});

describe('a RocksDB store of a release without a commit log', () => {
  it('is opened and gets a commit log; older releases then refuse it', async () => {
    await mkdir(path);
    const records = await openRecords(join(path, 'db'), { create: true });
    const { id } = await loadStore(records);
    const batch = records.batch();
    batch.put(metaKey('format'), Buffer.from('2'));
    await batch.write(true);
    await records.close();
    await writeMark(path, { store: id, revision: 0 });
    const store = await openStore();
    await fillStore(store, 5);
    await store.close();
    await expectObjects(path, 5);
    expect((await checkRocksDb(path)).rows).toMatchObject({ format: '4', id });
  });
});
