import { copyFile, link, mkdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { cutLogs, databaseFiles, databasePath, type FileReport } from '../files/files.js';
import { hasRecords, type LogContent } from '../log/logContent.js';
import { hasOldTables } from './convert.js';
import { readPosition } from '../log/position.js';
import { rebuildDatabase } from './rebuild.js';
import { openRecords, type RocksDbRecords } from '../records.js';
import { findLogProblem, isComplete, replayLog } from '../log/replay.js';

/** The content of the files of a closed store. */
export interface Readable {
  readonly records: RocksDbRecords;
  /**
   * Returns why the commit log does not complete the database; undefined if it does. Throws if the database is damaged.
   */
  findProblem(): Promise<string | undefined>;
  /** Closes the database, and removes the copy if there is one. */
  close(): Promise<void>;
}

/**
 * Opens the content of a store, without changing it: its database if that is complete, otherwise a copy to which the
 * commit log is applied as far as it is readable. The caller has checked that the store is not in use. Throws
 * StoreError if the database cannot be opened.
 */
export async function openReadable(path: string, log: LogContent | undefined, files: FileReport): Promise<Readable> {
  const database = databasePath(path);
  const isOld = await hasOldTables(database);
  const check = (records: RocksDbRecords) => async () =>
    findLogProblem(path, records, log, await readPosition(records));
  if (!hasRecords(log) && !isOld) {
    const records = await openRecords(database, { readOnly: true });
    return { records, findProblem: check(records), close: () => records.close() };
  }
  const copy = `${database}.copy`;
  const remove = () => rm(copy, { recursive: true, force: true });
  let records: RocksDbRecords | undefined;
  try {
    if (isOld) await rebuildDatabase(database, copy).catch(() => rebuildDatabase(database, copy, { salvage: true }));
    else {
      await copyDatabase(database, copy);
      await cutLogs(copy, files.logs);
    }
    const opened = (records = await openRecords(copy, { create: true }));
    const findProblem = hasRecords(log) ? await applyLog(path, opened, log) : check(opened);
    return { records, findProblem, close: () => opened.close().finally(remove) };
  } catch (error) {
    await records?.close();
    await remove();
    throw error;
  }
}

/**
 * Applies a log to a copy of a database, even if something is missing or unreadable. The result describes the damage
 * found before, or throws it.
 */
export async function applyLog(
  path: string,
  copy: RocksDbRecords,
  log: LogContent,
): Promise<() => Promise<string | undefined>> {
  const position = readPosition(copy);
  const problem = position.then(found => findLogProblem(path, copy, log, found));
  problem.catch(() => {});
  const complete = await position.then(
    found => isComplete(log, found),
    () => false,
  );
  await problem.catch(() => {});
  if (!complete) await replayLog(copy, log, { salvage: true });
  return () => problem;
}

/** Copies a database. Tables are immutable, so they are linked if possible. */
async function copyDatabase(from: string, to: string): Promise<void> {
  await rm(to, { recursive: true, force: true });
  await mkdir(to, { recursive: true, mode: 0o700 });
  const { all } = await databaseFiles(from);
  for (const file of all) {
    if (file === 'LOCK' || !(await stat(join(from, file))).isFile()) continue;
    const copied =
      file.endsWith('.sst') &&
      (await link(join(from, file), join(to, file)).then(
        () => true,
        () => false,
      ));
    if (!copied) await copyFile(join(from, file), join(to, file));
  }
}
