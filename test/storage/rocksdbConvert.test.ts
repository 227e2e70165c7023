import { cp, readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { checkRocksDb } from '../../plugins/storage/rocksdb/offline/check.js';
import { hasOldTables } from '../../plugins/storage/rocksdb/offline/convert.js';
import { planRecovery, recover } from '../../plugins/storage/rocksdb/offline/recover.js';
import { flip, keyOf, noise, Scene } from './rocksdbFiles.js';

let scene: Scene;
beforeEach(async () => {
  scene = await Scene.make();
});
afterEach(() => scene.dispose());

const database = (): string => join(scene.path, 'db');

/** The text in the fixtures for a seed. */
const textOf = (key: string, seed: number): string => JSON.stringify({ name: key, text: noise(seed, 60).repeat(3) });

/**
 * Content of the fixtures: 1 to 60 were created, 1 to 20 replaced, 21 to 30 deleted, all before revision 70 is
 * compacted, then 61 to 70 created. The store that was killed also has 71 to 85, and 40 was deleted.
 */
function expected(last: number): { [key: string]: string } {
  const numbers = Array.from({ length: last }, (_, i) => i + 1).filter(
    i => !(i > 20 && i <= 30) && !(last > 70 && i === 40),
  );
  return Object.fromEntries(numbers.map(i => [keyOf(i), textOf(keyOf(i), i <= 20 ? 1000 + i : i)]));
}

async function contents(): Promise<{ [key: string]: string }> {
  const store = await scene.open();
  const { items } = await store.range('');
  await store.close();
  return Object.fromEntries(items.map(({ key, value }) => [key, Buffer.from(value).toString()]));
}

describe.each([
  ['was closed', 'store-3-closed', 70, 100],
  ['was killed', 'store-3-killed', 85, 116],
] as const)('a store of an earlier release that %s', (_, fixture, last, revision) => {
  beforeEach(() => scene.unpack(fixture));

  it('is sound for a check, which does not change it', async () => {
    const { problems, rows } = await checkRocksDb(scene.path);
    expect(problems).toEqual([]);
    expect(rows).toMatchObject({ revision, compacted: 70 });
    expect(await hasOldTables(database())).toBe(true);
    expect(await planRecovery(scene.path)).toMatchObject({ problems: [], revision });
  });

  it('is converted when it is opened, with its history, and continues', async () => {
    const store = await scene.open();
    expect(await store.revision()).toBe(revision);
    expect(store.compactedRevision()).toBe(70);
    const old = await store.range('', { revision: 80 });
    expect(old.items.find(({ key }) => key === keyOf(21))).toMatchObject({ modified: 21, created: 21, version: 1 });
    expect(old.items).toHaveLength(60);
    await store.close();
    expect(await hasOldTables(database())).toBe(false);
    expect(await contents()).toEqual(expected(last));
    expect((await checkRocksDb(scene.path)).problems).toEqual([]);
    expect((await readdir(scene.path)).sort()).toEqual(['db', 'high-water', 'lock', 'log']);
  });

  it.each(['before the first rename', 'between the renames', 'before the old files are removed'])(
    'is converted if a crash interrupts this %s',
    async when => {
      const copy = await Scene.make();
      await copy.unpack(fixture);
      await (await copy.open()).close();
      if (when !== 'before the old files are removed')
        await cp(join(copy.path, 'db'), `${database()}.converted`, { recursive: true });
      if (when === 'between the renames') await rename(database(), `${database()}.before-conversion`);
      if (when === 'before the old files are removed') {
        await rename(database(), `${database()}.before-conversion`);
        await cp(join(copy.path, 'db'), database(), { recursive: true });
      }
      if (when !== 'before the first rename') {
        // The commit log belongs to the converted database.
        await rm(join(scene.path, 'log'), { recursive: true });
        await cp(join(copy.path, 'log'), join(scene.path, 'log'), { recursive: true });
      }
      await copy.dispose();
      expect(await contents()).toEqual(expected(last));
      expect((await readdir(scene.path)).sort()).toEqual(['db', 'high-water', 'lock', 'log']);
    },
  );

  it('is refused and unchanged if a table is damaged, and recovered as far as it is readable', async () => {
    await flip(await scene.table(), 0.2, 40);
    expect(await scene.refusal()).toMatch(/\d+\.sst is damaged: the block at byte \d+ fails its checksum/);
    expect(await hasOldTables(database())).toBe(true);
    expect(await readdir(scene.path)).not.toContain('db.converting');
    expect((await checkRocksDb(scene.path)).problems.length).toBeGreaterThan(0);
    await recover(scene.path, { acceptLoss: true });
    const kept = Object.entries(await contents());
    const all = expected(last);
    expect(kept.length).toBeGreaterThan(10);
    for (const [key, value] of kept) expect(value).toBe(all[key]);
  });
});
