import { StoreError } from '../../../core/api/index.js';
import { systemTime } from '../../../core/runtime/clock.js';
import { Engine } from '../engine/engine.js';
import { type LoadedStore, loadStore, missingRevisionsError } from '../engine/open.js';
import { FORMAT, isMoveIncomplete, metaKey, REMEDY } from '../engine/records.js';
import type { ValueCodec } from '../values.js';
import { loadLibrary } from './binding.js';
import { CommitLog } from './log/commitLog.js';
import {
  type FileBackup,
  type FileReport,
  findDamagedFiles,
  cutLogs,
  damagedFilesError,
  databaseFiles,
  databasePath,
  prepareDirectory,
  backUpFiles,
  removeReports,
  restoreInterruptedOpen,
} from './files/files.js';
import { convertDatabase, finishConversion, hasOldTables } from './offline/convert.js';
import { HighWaterMark, type Mark, readMark, writeMark } from './files/highWater.js';
import { lockStore } from './files/lock.js';
import { hasRecords, type LogContent, readLog } from './log/logContent.js';
import { LoggedRecords } from './log/loggedRecords.js';
import { type Position, readPosition } from './log/position.js';
import { openRecords, type RocksDbRecords } from './records.js';
import { findLogProblem, isComplete, logError, replayLog, writePosition } from './log/replay.js';
import { toStoreError } from './errors.js';
import { makePrivate, PrivateFiles } from './files/privateFiles.js';

/** Options of `openRocksDb`. */
export interface RocksDbOptions {
  /**
   * The store's directory. It contains the database (`db`), the commit log (`log`) and the high-water mark
   * (`high-water`).
   */
  readonly path: string;
  readonly historyMs: number;
  readonly now?: () => number;
  /** How values are stored; default: as they are. */
  readonly values?: ValueCodec | undefined;
  /** Called if the high-water mark cannot be written, or the mode of a file cannot be changed; the store continues. */
  readonly warn?: (error: Error) => void;
  /** Called with messages for administrators about a store of an earlier release. */
  readonly notice?: (message: string) => void;
}

/**
 * Opens a store, or creates one in an empty directory. Throws StoreError with a message of one line if the store is in
 * use, is not writable, is damaged, or has lost revisions; its files are then unchanged.
 */
export async function openRocksDb(options: RocksDbOptions): Promise<Engine> {
  const { path } = options;
  loadLibrary();
  await prepareDirectory(path);
  const lock = await lockStore(path).catch(error => {
    throw toStoreError(path, error as Error);
  });
  try {
    return await openLocked(options, () => lock.close());
  } catch (error) {
    await lock.close();
    throw toStoreError(path, error as Error);
  }
}

async function openLocked(options: RocksDbOptions, unlock: () => Promise<void>): Promise<Engine> {
  const { path, historyMs, now = systemTime, warn = () => {}, notice = () => {} } = options;
  const database = databasePath(path);
  await finishConversion(path);
  await restoreInterruptedOpen(path);
  const mark = await readMark(path);
  await checkDatabaseExists(path, mark);
  const log = await readLog(path);
  const files = await findDamagedFiles(database);
  // Without records in the commit log, RocksDB was closed in an orderly way, or synced each write itself.
  const damage = hasRecords(log) ? files.damage : [...files.damage, ...files.logDamage];
  if (damage.length > 0) throw damagedFilesError(database, damage);
  const { records, loaded } = await openVerified(path, mark, log, files, notice);
  const highWater = new HighWaterMark(path, loaded.id, loaded.revision, warn);
  const privateFiles = await PrivateFiles.begin(database, warn);
  return new Engine('rocksdb', records, loaded, {
    historyMs,
    now,
    values: options.values,
    onDurable: revision => highWater.advance(revision),
    beforeClose: async () => {
      await privateFiles.close();
      await highWater.close();
    },
    // RocksDB writes its last table when it is closed.
    afterClose: () => makePrivate(database).catch(warn).finally(unlock),
  });
}

async function openVerified(
  path: string,
  mark: Mark | undefined,
  log: LogContent | undefined,
  files: FileReport,
  notice: (message: string) => void,
): Promise<{ records: LoggedRecords; loaded: LoadedStore }> {
  const backup = await backUpFiles(path);
  let database: RocksDbRecords | undefined;
  let created: CommitLog | undefined;
  let loaded: LoadedStore;
  let last: number;
  try {
    await cutLogs(databasePath(path), files.logs);
    if (await hasOldTables(databasePath(path))) await convertDatabase(path);
    await removeReports(databasePath(path));
    database = await openRecords(databasePath(path), { create: true });
    const position = await readPosition(database);
    const problem = await findLogProblem(path, database, log, position);
    if (log && !problem && !isComplete(log, position)) await replayLog(database, log);
    const complete = { sequence: Math.max(position?.sequence ?? 0, log?.highest ?? 0), closed: true };
    if (await isMoveIncomplete(database)) await (await import('./files/layout.js')).completeMove(database);
    // A problem of the log is reported last, because these errors say which revisions are missing.
    loaded = await loadStore(database);
    verifyMark(path, loaded, mark);
    if (problem)
      throw files.logDamage.length > 0 ? damagedFilesError(database.path, files.logDamage) : logError(problem);
    if (loaded.format !== String(FORMAT)) loaded = await moveKeys(database, loaded, complete, notice);
    last = Math.max(position?.sequence ?? 0, log?.last ?? 0);
    // A log exists before the database says that there is one, and is changed only when it is no longer needed.
    if (!log) created = await CommitLog.create(path, loaded.id, last + 1);
    const format = [metaKey('format'), Buffer.from(String(FORMAT))] as const;
    await writePosition(database, { sequence: last, closed: false }, [format]);
    if (mark?.revision !== loaded.revision) await writeMark(path, { store: loaded.id, revision: loaded.revision });
  } catch (error) {
    await created?.remove();
    await undoOpen(database, backup, path);
    throw error;
  }
  // From here on the files cannot be restored, but nothing is lost: the database has everything.
  try {
    await backup.discard();
    const open = created ?? (await CommitLog.resume(path, log!, last + 1));
    return { records: new LoggedRecords(database, open), loaded };
  } catch (error) {
    await created?.close(false);
    await database.close();
    throw error;
  }
}

/** Gives a store of an earlier release the current layout. Resolves with the store as it is then. */
async function moveKeys(
  database: RocksDbRecords,
  loaded: LoadedStore,
  position: Position,
  notice: (message: string) => void,
): Promise<LoadedStore> {
  const { beginMove, completeMove, noticeOf } = await import('./files/layout.js');
  const message = noticeOf(loaded);
  if (message !== undefined) notice(message);
  await beginMove(database, position);
  await completeMove(database);
  return await loadStore(database);
}

/** Restores the files after a failed open. */
async function undoOpen(records: RocksDbRecords | undefined, backup: FileBackup, path: string): Promise<void> {
  await records?.close();
  await backup.restore();
  await finishConversion(path);
}

/**
 * Without its CURRENT file, RocksDB would create a new database instead of opening the old one. Throws StoreError
 * instead.
 */
async function checkDatabaseExists(path: string, mark: Mark | undefined): Promise<void> {
  const database = databasePath(path);
  const { all, tables, logs } = await databaseFiles(database);
  if (all.includes('CURRENT')) return;
  const what = all.length > 0 ? 'has lost its CURRENT file' : 'is missing or empty';
  if (mark && mark.revision > 0)
    throw new StoreError(`${database} ${what}, but the store had reached revision ${mark.revision}; ${REMEDY}`);
  if (tables.length > 0 || logs.length > 0) throw new StoreError(`${database} ${what}; ${REMEDY}`);
}

function verifyMark(path: string, loaded: LoadedStore, mark: Mark | undefined): void {
  if (!mark) {
    // A crash right after the first start can leave an empty store without a mark.
    if (loaded.revision === 0) return;
    throw new StoreError(
      `${path}/high-water is missing, so lost revisions cannot be detected; restore it, or run \`capstan store ` +
        'recover`',
    );
  }
  if (loaded.isNew && mark.revision === 0) return;
  if (loaded.isNew) throw missingRevisionsError(1, mark.revision);
  if (mark.store !== loaded.id) {
    throw new StoreError(
      `${path}/high-water belongs to the store ${mark.store}, but ${path}/db is ${loaded.id}; restore the matching ` +
        'files, or run `capstan store recover`',
    );
  }
  if (mark.revision > loaded.revision) throw missingRevisionsError(loaded.revision + 1, mark.revision);
}
