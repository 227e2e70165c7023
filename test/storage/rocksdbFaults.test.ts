import { execFile } from 'node:child_process';
import { chmod, mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openMemory, MemoryRecords } from '../../plugins/storage/memory.js';
import { openRocksDb } from '../../plugins/storage/rocksdb/open.js';
import { committed } from '../conformance/storage.js';
import { mayMount, put } from './rocksdbFiles.js';

const run = promisify(execFile);
const OPEN = new URL('../../dist/plugins/storage/rocksdb/open.js', import.meta.url).href;
const program = (name: string): string => new URL(name, import.meta.url).pathname;

let directory: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'capstan-faults-'));
});
afterEach(async () => {
  await chmod(join(directory, 'store'), 0o700).catch(() => undefined);
  await rm(directory, { recursive: true, force: true });
});

interface Filled {
  readonly acknowledged: number;
  readonly refused: string;
  readonly told: string;
  readonly later: string;
  readonly unready: string;
  /** The number of objects that can be read afterwards, or the reason why they cannot. */
  readonly stillReads: number | string;
  readonly refusedOpen?: string;
  readonly kept: number;
  readonly next: string;
}

const quoted = (words: readonly string[]): string => words.map(word => `'${word}'`).join(' ');

/** Runs the program that fills the disk in a shell that limits it. */
async function fill(bound: string, ballast: number): Promise<Filled> {
  const words = [process.execPath, program('./fullDisk.mjs'), OPEN, join(directory, 'data'), String(ballast)];
  const { stdout } = await run('sh', ['-c', `${bound} ${quoted(words)}`]);
  return JSON.parse(stdout) as Filled;
}

/** The required behavior after a failed write of any cause. */
function stopsAcknowledging(filled: Filled, reason: RegExp): void {
  expect(filled.refused).toMatch(/the store failed and must be opened again/);
  expect(filled.refused).toMatch(reason);
  expect(filled).toMatchObject({ told: filled.refused, unready: filled.refused, later: 'error', next: 'committed' });
  expect(filled.acknowledged).toBeGreaterThan(10);
  if (typeof filled.stillReads === 'number') expect(filled.stillReads).toBe(filled.acknowledged);
  else expect(filled.stillReads).toMatch(reason);
  expect(filled.kept).toBe(filled.acknowledged);
}

describe('a store whose disk is full', () => {
  it('stops acknowledging at the first failed write, reports it, reads all or nothing, and loses nothing [R010]', async () => {
    stopsAcknowledging(await fill('ulimit -f 2000;', 0), /File too large/i);
  });

  it.runIf(mayMount())(
    'does the same on a full file system, where an open is refused and changes nothing',
    async () => {
      await mkdir(join(directory, 'mount'));
      const inside = join(directory, 'mount');
      // An open writes the commit log into the database, and so needs as much space again.
      const words = [process.execPath, program('./fullDisk.mjs'), OPEN, join(inside, 'data'), '40000000'];
      const line = `mount -t tmpfs -o size=70m none '${inside}' && exec ${quoted(words)}`;
      const filled = JSON.parse((await run('unshare', ['-rm', 'sh', '-c', line])).stdout) as Filled;
      stopsAcknowledging(filled, /No space left on device/i);
      expect(filled.refusedOpen).toMatch(/has no space left: free some and start again, no data is lost/);
    },
  );

  it('also stops after a failed compaction, because a torn row must not be followed by others', async () => {
    const records = new MemoryRecords();
    const store = await openMemory({ records });
    await committed(store, put('a', '1'));
    const last = await committed(store, put('a', '2'));
    const { batch } = records;
    records.batch = () => ({ ...batch.call(records), write: () => Promise.reject(new Error('input/output error')) });
    await expect(store.compact(last)).rejects.toThrow(/input\/output error/);
    expect((await store.failed).message).toMatch(/must be opened again: input\/output error/);
    expect(await store.commit([[put('b', '1')]])).toMatchObject([{ is: 'error' }]);
    await store.close();
  });
});

it('refuses a directory that the user cannot write, with this reason', async () => {
  const path = join(directory, 'store');
  const store = await openRocksDb({ path, historyMs: 1000 });
  await committed(store, put('a', '1'));
  await store.close();
  await chmod(directory, 0o755);
  await chmod(path, 0o555);
  await chmod(join(path, 'db'), 0o555);
  const { stdout } = await run(process.execPath, [program('./readOnly.mjs'), OPEN, path]);
  await chmod(join(path, 'db'), 0o755);
  expect((JSON.parse(stdout) as { message: string }).message).toMatch(
    /cannot be written by this user: change its owner or mode/,
  );
});
