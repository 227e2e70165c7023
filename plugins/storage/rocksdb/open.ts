import { mkdir, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { StoreError } from '../../../core/api/index.js';
import { Engine } from '../engine/engine.js';
import { type Loaded, load, missing } from '../engine/open.js';
import { HighWater, type Mark, readMark, writeMark } from './high-water.js';
import { openRecords } from './records.js';

/** Settings of a store on disk. `path` is a directory of its own: `db` in it is the database, `high-water` how far it came. */
export interface RocksOptions {
  readonly path: string;
  readonly historyMs: number;
  readonly now?: () => number;
  /** Told when the high-water mark cannot be written; the store goes on. */
  readonly warn?: (error: Error) => void;
}

/** Where in a store's directory the database is. */
export const databasePath = (directory: string): string => join(directory, 'db');

/** Opens a store, making a new one in an empty directory. Throws StoreError if it is in use, damaged, or not as far as it has been. */
export async function openRocks(options: RocksOptions): Promise<Engine> {
  await mkdir(options.path, { recursive: true });
  const mark = await readMark(options.path);
  const records = await openRecords(databasePath(options.path), await mayCreate(options.path, mark));
  try {
    const loaded = await load(records);
    verify(options.path, loaded, mark);
    if (mark?.revision !== loaded.revision) await writeMark(options.path, { store: loaded.id, revision: loaded.revision });
    const high = new HighWater(options.path, loaded.id, loaded.revision, options.warn ?? (() => {}));
    return new Engine('rocksdb', records, loaded, {
      historyMs: options.historyMs,
      now: options.now ?? Date.now,
      durable: revision => high.advance(revision),
      closing: () => high.close(),
    });
  } catch (error) {
    await records.close();
    throw error;
  }
}

/** The library makes a new database over the tables of an old one that lost its CURRENT file; so it may only do so where nothing has been. */
async function mayCreate(path: string, mark: Mark | undefined): Promise<boolean> {
  const files = await readdir(databasePath(path)).catch((): string[] => []);
  if (files.includes('CURRENT')) return true;
  if (mark && mark.revision > 0) {
    throw new StoreError(
      `${databasePath(path)} ${files.length > 0 ? 'has lost its CURRENT file' : 'is missing or empty'}, but the store had reached revision ${mark.revision}; restore a backup, or run \`capstan store recover\``,
    );
  }
  return !files.some(file => file.endsWith('.sst'));
}

function verify(path: string, loaded: Loaded, mark: Mark | undefined): void {
  if (!mark) {
    // A crash right after the first start leaves an empty store without a mark; nothing can be missing from it.
    if (loaded.revision === 0) return;
    throw new StoreError(
      `${path}/high-water is missing, so that losses cannot be ruled out; restore it, or run \`capstan store recover\``,
    );
  }
  if (loaded.fresh && mark.revision === 0) return;
  if (mark.store !== loaded.id) {
    throw new StoreError(
      `${path}/high-water belongs to the store ${mark.store}, but ${path}/db is ${loaded.id}; put back what belongs together`,
    );
  }
  if (mark.revision > loaded.revision) throw missing(loaded.revision + 1, mark.revision);
}
