import { execFileSync } from 'node:child_process';
import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gunzipSync } from 'node:zlib';
import { readFileSync } from 'node:fs';
import { metaKey } from '../../../plugins/storage/engine/records.js';
import { openRocksDb } from '../../../plugins/storage/rocksdb/open.js';
import { openRecords } from '../../../plugins/storage/rocksdb/records.js';

const file = (name: string): string => fileURLToPath(new URL(name, import.meta.url));

/** A new data directory with the store that an earlier release has written; README.md lists its content. */
export async function formerDirectory(): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'capstan-former-'));
  execFileSync('tar', ['-xzf', file('./store.tgz'), '-C', directory]);
  return directory;
}

/** A new file with the snapshot of that store. */
export async function formerSnapshot(): Promise<string> {
  const path = join(await mkdtemp(join(tmpdir(), 'capstan-former-')), 'former.snapshot');
  await writeFile(path, gunzipSync(readFileSync(file('./snapshot.gz'))));
  return path;
}

/** Writes a store of the former format with these keys and values in a directory. */
export async function writeFormerStore(path: string, objects: readonly (readonly [string, string])[]): Promise<void> {
  const store = await openRocksDb({ path, historyMs: 3_600_000 });
  for (let at = 0; at < objects.length; at += 100) {
    const group = objects.slice(at, at + 100);
    await store.commit(group.map(([key, value]) => [{ is: 'put', key, value: Buffer.from(value) }]));
  }
  await store.close();
  const records = await openRecords(join(path, 'db'), { create: true });
  const batch = records.batch();
  batch.put(metaKey('format'), Buffer.from('3'));
  await batch.write(true);
  await records.close();
}
