import { StoreError } from '../../../core/api/index.js';
import { Engine } from '../engine/engine.js';
import { type Loaded, load, missing } from '../engine/open.js';
import { REMEDY } from '../engine/records.js';
import {
  type Aside,
  damagedTables,
  databaseFiles,
  databasePath,
  prepareDirectory,
  refuseDamagedFiles,
  setAside,
} from './files.js';
import { HighWater, type Mark, readMark, writeMark } from './high-water.js';
import { isInUse, openRecords, type RocksRecords } from './records.js';
import { refusal } from './refusal.js';

/**
 * Settings of a store on disk. `path` is a directory of its own: `db` in it is the database, `high-water` how far it
 * came.
 */
export interface RocksOptions {
  readonly path: string;
  readonly historyMs: number;
  readonly now?: () => number;
  /** Told when the high-water mark cannot be written; the store goes on. */
  readonly warn?: (error: Error) => void;
}

/**
 * Opens a store, making a new one in an empty directory. Throws StoreError, in one line, if it is in use, cannot be
 * written, is damaged, or is not as far as it has been; then its files are as they were.
 */
export async function openRocks(options: RocksOptions): Promise<Engine> {
  const { path } = options;
  const database = databasePath(path);
  await prepareDirectory(path);
  try {
    if (await isInUse(database)) throw new StoreError(`${database} is in use by another process: stop it first`);
    const mark = await readMark(path);
    await refuseLostDatabase(path, mark);
    await refuseDamagedFiles(database);
    const { records, loaded } = await openVerified(path, mark);
    const high = new HighWater(path, loaded.id, loaded.revision, options.warn ?? (() => {}));
    return new Engine('rocksdb', records, loaded, {
      historyMs: options.historyMs,
      now: options.now ?? Date.now,
      durable: revision => high.advance(revision),
      closing: () => high.close(),
    });
  } catch (error) {
    throw refusal(path, error as Error);
  }
}

async function openVerified(path: string, mark: Mark | undefined): Promise<{ records: RocksRecords; loaded: Loaded }> {
  const aside = await setAside(path);
  let records: RocksRecords | undefined;
  try {
    records = await openRecords(databasePath(path), { create: true });
    await refuseDamagedTables(records);
    const loaded = await load(records);
    verify(path, loaded, mark);
    if (mark?.revision !== loaded.revision) await writeMark(path, { store: loaded.id, revision: loaded.revision });
    await aside.discard();
    return { records, loaded };
  } catch (error) {
    await undo(records, aside, path);
    throw error;
  }
}

/** Another process may have come first: then the files are its own. */
async function undo(records: RocksRecords | undefined, aside: Aside, path: string): Promise<void> {
  await records?.close();
  if (!records && (await isInUse(databasePath(path)))) await aside.discard();
  else await aside.restore();
}

async function refuseDamagedTables(records: RocksRecords): Promise<void> {
  const damage = await damagedTables(records.path, () => records.property('rocksdb.sstables'));
  if (damage.length > 0) throw new StoreError(`${records.path} is damaged: ${damage.join('; ')}; ${REMEDY}`);
}

/** The library makes a new database over the tables of an old one that lost its CURRENT file. */
async function refuseLostDatabase(path: string, mark: Mark | undefined): Promise<void> {
  const database = databasePath(path);
  const { all, tables, logs } = await databaseFiles(database);
  if (all.includes('CURRENT')) return;
  const what = all.length > 0 ? 'has lost its CURRENT file' : 'is missing or empty';
  if (mark && mark.revision > 0)
    throw new StoreError(`${database} ${what}, but the store had reached revision ${mark.revision}; ${REMEDY}`);
  if (tables.length > 0 || logs.length > 0) throw new StoreError(`${database} ${what}; ${REMEDY}`);
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
  if (loaded.fresh) throw missing(1, mark.revision);
  if (mark.store !== loaded.id) {
    throw new StoreError(
      `${path}/high-water belongs to the store ${mark.store}, but ${path}/db is ${loaded.id}; put back what belongs together, or run \`capstan store recover\``,
    );
  }
  if (mark.revision > loaded.revision) throw missing(loaded.revision + 1, mark.revision);
}
