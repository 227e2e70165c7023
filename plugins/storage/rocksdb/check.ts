import { StoreError } from '../../../core/api/index.js';
import { type Examination, examine } from '../engine/examine.js';
import { FORMAT } from '../engine/records.js';
import { findDamagedFiles, findDamagedTables, databaseFiles, databasePath, type NamedLog } from './files.js';
import { type Mark, readMark } from './high-water.js';
import { isInUse, openRecords } from './records.js';

/** The result of an offline check. */
export interface Check {
  readonly logs: readonly NamedLog[];
  readonly mark?: Mark;
  /** Undefined if the database cannot be opened. */
  readonly rows?: Examination;
  /** Descriptions of all problems; empty for a sound store. */
  readonly problems: readonly string[];
}

/** Throws StoreError unless the directory contains a store that is not open. */
export async function checkOffline(path: string): Promise<void> {
  const database = databasePath(path);
  const { all } = await databaseFiles(database);
  if (all.length === 0 && !(await readMark(path).catch(() => true))) throw new StoreError(`${path} contains no store`);
  if (await isInUse(database)) throw new StoreError(`${database} is in use by another process: stop it first`);
}

/** Checks all files and rows of a store without changing it. Throws StoreError if there is no store or it is in use. */
export async function checkRocksDb(path: string): Promise<Check> {
  await checkOffline(path);
  const database = databasePath(path);
  const problems: string[] = [];
  const mark = await readMark(path).catch((error: Error): undefined => void problems.push(error.message));
  const { logs, damage } = await findDamagedFiles(database).catch((error: Error) => ({
    logs: [],
    damage: [error.message],
  }));
  problems.push(...damage);
  const rows = await examineDatabase(database, mark?.revision, problems);
  if (rows) problems.push(...compareWithMark(rows, mark, problems.length > 0));
  return { logs, mark, rows, problems };
}

/**
 * Opens a database read-only and examines its rows. If it cannot be opened, adds to `problems` and returns undefined.
 */
async function examineDatabase(
  database: string,
  reached: number | undefined,
  problems: string[],
): Promise<Examination | undefined> {
  const { all } = await databaseFiles(database);
  if (!all.includes('CURRENT')) {
    problems.push(all.length > 0 ? `${database} has lost its CURRENT file` : `${database} is missing or empty`);
    return undefined;
  }
  try {
    const records = await openRecords(database, { readOnly: true });
    try {
      problems.push(...(await findDamagedTables(database, () => records.property('rocksdb.sstables'))));
      return await examine(records, reached);
    } finally {
      await records.close();
    }
  } catch (error) {
    problems.push((error as Error).message);
    return undefined;
  }
}

/** Problems of the rows and differences between rows and mark. */
function compareWithMark(rows: Examination, mark: Mark | undefined, markIsBad: boolean): string[] {
  const problems = [...rows.damage];
  if (rows.format !== undefined && rows.format !== String(FORMAT))
    problems.push(`the store has format ${rows.format}, this version reads format ${FORMAT}`);
  for (const { from, to } of rows.missing)
    problems.push(from === to ? `revision ${from} is missing` : `revisions ${from} to ${to} are missing`);
  if (rows.unaccounted > 0) problems.push(`${rows.unaccounted} objects are missing, their names are unknown`);
  if (!mark && !markIsBad && rows.revision > 0) problems.push('the high-water mark is missing');
  if (mark && rows.id && mark.store !== rows.id)
    problems.push(`the high-water mark belongs to the store ${mark.store}, the database is ${rows.id}`);
  return problems;
}
