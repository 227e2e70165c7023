import { copyFile, cp, readdir, readFile, rm, stat, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { checkRocksDb } from '../../plugins/storage/rocksdb/offline/check.js';
import { checkLog, maskedCrc } from '../../plugins/storage/rocksdb/log/logFile.js';
import { planRecovery, recover } from '../../plugins/storage/rocksdb/offline/recover.js';
import { committed } from '../conformance/storage.js';
import { contents, flip, keyOf, noise, put, Scene } from './rocksdbFiles.js';

let scene: Scene;
beforeEach(async () => {
  scene = await Scene.make();
});
afterEach(() => scene.dispose());

const OBJECTS = 120;
const HELP = /restore a snapshot, or run `capstan store recover`/;

/** Truncates a file to half of its size. */
async function halve(file: string): Promise<void> {
  await truncate(file, Math.floor((await stat(file)).size / 2));
}

interface Fault {
  readonly name: string;
  /** True for a store of an earlier release, which left the objects in RocksDB's log when it was closed. */
  readonly isOld?: true;
  damage(): Promise<unknown>;
  /** Texts that the errors of the open and the check contain. */
  readonly named: RegExp;
  /** The objects that a recovery keeps. */
  readonly kept: 'all' | 'some' | 'none';
}

const FAULTS: readonly Fault[] = [
  {
    name: 'its log lost its end',
    isOld: true,
    damage: async () => halve(await scene.newest(/\.log$/)),
    named: /revisions \d+ to 120 are missing/,
    kept: 'some',
  },
  {
    name: 'its log is gone',
    isOld: true,
    damage: async () => rm(await scene.newest(/\.log$/)),
    named: /revisions 1 to 120 are missing/,
    kept: 'none',
  },
  {
    name: 'a byte in the middle of its log flipped',
    isOld: true,
    damage: async () => flip(await scene.newest(/\.log$/), 0.5),
    named: /\d+\.log is damaged at byte \d+, and complete writes follow/,
    kept: 'some',
  },
  {
    name: 'a byte in the last commit of its log flipped',
    isOld: true,
    damage: async () => flip(await scene.newest(/\.log$/), 0.999),
    named: /\d+\.log is damaged at byte \d+, and complete writes follow/,
    kept: 'some',
  },
  {
    name: 'its table is gone',
    damage: async () => rm(await scene.table()),
    named: /\d+\.sst is missing/,
    kept: 'none',
  },
  {
    name: 'its table lost its end',
    damage: async () => halve(await scene.table()),
    named: /\d+\.sst has \d+ bytes instead of \d+/,
    kept: 'none',
  },
  {
    name: 'its events and index are damaged',
    damage: async () => flip(await scene.table(), 0.01, 400),
    named: /\d+\.sst|fails its checksum|Corruption/,
    kept: 'some',
  },
  {
    name: 'its list of files is gone',
    damage: async () => rm(await scene.newest(/MANIFEST/)),
    named: /MANIFEST-\d+ is missing/,
    kept: 'all',
  },
  {
    name: 'its list of files is damaged',
    damage: async () => flip(await scene.newest(/MANIFEST/), 0.1),
    named: /MANIFEST-\d+ is damaged at byte/,
    kept: 'all',
  },
  {
    name: 'its list of files lost its end',
    damage: async () => halve(await scene.newest(/MANIFEST/)),
    named: /MANIFEST|\d+\.sst is missing|revisions 1 to 120 are missing/,
    kept: 'all',
  },
  {
    name: 'its CURRENT file is gone',
    damage: async () => rm(await scene.newest(/CURRENT/)),
    named: /has lost its CURRENT file/,
    kept: 'all',
  },
  {
    name: 'its CURRENT file is empty',
    damage: async () => writeFile(await scene.newest(/CURRENT/), ''),
    named: /CURRENT is damaged/,
    kept: 'all',
  },
  {
    name: 'its database is gone',
    damage: () => rm(join(scene.path, 'db'), { recursive: true }),
    named: /db is missing or empty/,
    kept: 'none',
  },
  {
    name: 'its high-water mark is gone',
    damage: () => rm(join(scene.path, 'high-water')),
    named: /high-water(?: mark)? is missing/,
    kept: 'all',
  },
  {
    name: 'its high-water mark is damaged',
    damage: () => writeFile(join(scene.path, 'high-water'), '\0\0\0'),
    named: /high-water is damaged/,
    kept: 'all',
  },
  {
    name: 'its high-water mark is of another store',
    damage: () => writeFile(join(scene.path, 'high-water'), 'capstan-high-water other 3\n'),
    named: /belongs to the store other/,
    kept: 'all',
  },
];

/** Every file of the store with its content. */
async function files(): Promise<Map<string, string>> {
  const names = await readdir(scene.path, { recursive: true, withFileTypes: true });
  const found = names.filter(entry => entry.isFile()).map(entry => join(entry.parentPath, entry.name));
  return new Map(await Promise.all(found.sort().map(async file => [file, await readFile(file, 'latin1')] as const)));
}

describe.each(FAULTS)('a RocksDB store when $name', ({ isOld, damage, named, kept }) => {
  beforeEach(async () => {
    if (isOld) await scene.unpack('store-3-log');
    else await scene.fill(OBJECTS);
    await damage();
  });

  it('is refused in one line with the problem and the remedy, and is not changed [R010]', async () => {
    const before = await files();
    const message = await scene.refusal();
    expect(message).toMatch(named);
    expect(message).toMatch(/capstan store recover/);
    expect(contents(await files())).toEqual(contents(before));
  });

  it('is found damaged by a check that changes nothing', async () => {
    const before = await files();
    expect((await checkRocksDb(scene.path)).problems.join('\n')).toMatch(named);
    expect(await files()).toEqual(before);
  });

  it('is recovered with every object that can be read, with higher revisions, and its files are kept', async () => {
    const plan = await planRecovery(scene.path);
    const done = await recover(scene.path, { acceptLoss: true });
    expect(done).toMatchObject({ ...plan, damagedFilesPath: expect.any(String) });
    const store = await scene.open();
    const { items } = await store.range('');
    expect(items).toHaveLength(plan.objects);
    if (kept === 'all') expect(items).toHaveLength(OBJECTS);
    else if (kept === 'none') expect(items).toHaveLength(0);
    else expect(items.length > 0 && items.length < OBJECTS).toBe(true);
    for (const { key, value, modified } of items) {
      expect(key).toBe(keyOf(modified));
      expect(Buffer.from(value).toString()).toBe(noise(modified, 500));
    }
    expect(await committed(store, put('new', '1'))).toBe(plan.revision + 1);
    expect(plan.revision).toBeGreaterThan(OBJECTS);
    expect(store.compactedRevision()).toBe(plan.revision);
    await store.close();
    expect((await checkRocksDb(scene.path)).problems).toEqual([]);
    expect(await readdir(done.damagedFilesPath!)).toBeDefined();
  });
});

describe('a recovery', () => {
  it('reports exactly the lost data, and changes nothing without consent', async () => {
    await scene.unpack('store-3-log');
    await halve(await scene.newest(/\.log$/));
    const refusal = await scene.refusal();
    const first = Number(/revisions (\d+) to 120 are missing/.exec(refusal)?.[1]);
    const before = await files();
    expect(await planRecovery(scene.path)).toMatchObject({
      missing: [{ from: first, to: OBJECTS }],
      objects: first - 1,
    });
    await expect(recover(scene.path, { acceptLoss: false })).rejects.toThrow(/--accept-loss/);
    expect(await files()).toEqual(before);
  });

  it('reports the objects with damaged values', async () => {
    await scene.fill(OBJECTS);
    await flip(await scene.table(), 0.6, 1);
    // The open finds the damage if it merges tables.
    await expect(
      scene.open().then(store => store.range('').finally(() => store.close().catch(() => {}))),
    ).rejects.toThrow(HELP);
    const { lost, objects, missing } = await planRecovery(scene.path);
    expect(lost).toHaveLength(1);
    expect(objects).toBe(OBJECTS - 1);
    expect(missing).toEqual([]);
    expect(lost[0]!.key).toBe(keyOf(lost[0]!.modified));
  });

  it('needs no consent if nothing is lost, and does not change a sound store', async () => {
    await scene.fill(10);
    const before = await files();
    expect(await recover(scene.path, { acceptLoss: false })).toMatchObject({ problems: [], revision: 10 });
    expect(await files()).toEqual(before);
    await rm(await scene.newest(/CURRENT/));
    expect(await recover(scene.path, { acceptLoss: false })).toMatchObject({ objects: 10, missing: [], lost: [] });
  });

  it('does not restore deleted objects or old versions', async () => {
    const store = await scene.open();
    await committed(store, put('a', 'old'));
    await committed(store, put('a', 'new'));
    await committed(store, put('b', 'gone'));
    await committed(store, { is: 'delete', key: 'b' });
    await store.close();
    await rm(join(scene.path, 'high-water'));
    await recover(scene.path, { acceptLoss: true });
    const { items } = await (await scene.open()).range('');
    expect(items.map(({ key, value }) => [key, Buffer.from(value).toString()])).toEqual([['a', 'new']]);
  });

  it('that was interrupted between its renames is completed by the next one', async () => {
    await scene.fill(10);
    await cp(join(scene.path, 'db'), join(scene.path, 'db.recovered'), { recursive: true });
    await rm(join(scene.path, 'db'), { recursive: true });
    expect(await recover(scene.path, { acceptLoss: false })).toMatchObject({ problems: [], objects: 10 });
    await (await scene.open()).close();
  });
});

describe('a store in use', () => {
  it('cannot be opened a second time, checked or recovered', async () => {
    await scene.fill(3);
    const store = await scene.open();
    expect(await scene.refusal()).toMatch(/is in use by another process/);
    await expect(checkRocksDb(scene.path)).rejects.toThrow(/is in use by another process/);
    await expect(recover(scene.path, { acceptLoss: true })).rejects.toThrow(/is in use by another process/);
    expect(await committed(store, put('still', 'works'))).toBe(4);
    expect(await readdir(scene.path)).toEqual(['db', 'high-water', 'lock', 'log']);
  });
});

describe('the reader of logs', () => {
  it('computes masked CRC-32C as published', () => {
    const digits = Buffer.from('123456789');
    const rotated = ((0xe3069283 >>> 15) | (0xe3069283 << 17)) >>> 0;
    expect(maskedCrc(digits, 0, digits.length)).toBe((rotated + 0xa282ead8) >>> 0);
  });

  it('finds damage anywhere in a log, and ignores a torn end', async () => {
    await scene.unpack('store-3-log');
    const log = await scene.newest(/\.log$/);
    const copy = join(scene.path, 'copy.log');
    const whole = await checkLog(log);
    expect(whole).toMatchObject({ damagedAt: undefined, followedByWrite: false });
    expect(whole.records).toBeGreaterThanOrEqual(OBJECTS);
    for (const fraction of [0.01, 0.3, 0.62, 0.9]) {
      await copyFile(log, copy);
      await flip(copy, fraction);
      const { damagedAt, followedByWrite } = await checkLog(copy);
      expect(followedByWrite).toBe(true);
      expect(damagedAt).toBeLessThanOrEqual(whole.bytes * fraction);
    }
    await copyFile(log, copy);
    await truncate(copy, whole.bytes - 700);
    expect(await checkLog(copy)).toMatchObject({ followedByWrite: false, damagedAt: expect.any(Number) });
  });
});
