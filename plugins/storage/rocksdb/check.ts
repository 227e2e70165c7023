import { StoreError } from '../../../core/api/index.js';
import { type Examination, examine } from '../engine/examine.js';
import { FORMAT } from '../engine/records.js';
import { damagedFiles, damagedTables, databaseFiles, databasePath, type NamedLog } from './files.js';
import { type Mark, readMark } from './high-water.js';
import { isInUse, openRecords } from './records.js';

/** The result of an offline verification. */
export interface Check {
  readonly logs: readonly NamedLog[];
  readonly mark?: Mark;
  /** Undefined if the database cannot be opened. */
  readonly rows?: Examination;
  /** Everything that is wrong, a line each; empty for a sound store. */
  readonly problems: readonly string[];
}

/** Throws StoreError unless there is a store in the directory and nobody has it open. */
export async function refuseUnlessOffline(path: string): Promise<void> {
  const database = databasePath(path);
  const { all } = await databaseFiles(database);
  if (all.length === 0 && !(await readMark(path).catch(() => true))) throw new StoreError(`${path} holds no store`);
  if (await isInUse(database)) throw new StoreError(`${database} is in use by another process: stop it first`);
}

/**
 * Reads everything there is of a store, and changes nothing. Throws StoreError if there is no store or it is in use.
 */
export async function checkRocks(path: string): Promise<Check> {
  await refuseUnlessOffline(path);
  const database = databasePath(path);
  const problems: string[] = [];
  const mark = await readMark(path).catch((error: Error): undefined => void problems.push(error.message));
  const { logs, damage } = await damagedFiles(database).catch((error: Error) => ({
    logs: [],
    damage: [error.message],
  }));
  problems.push(...damage);
  const rows = await examineDatabase(database, mark?.revision, problems);
  if (rows) problems.push(...compare(rows, mark, problems.length > 0));
  return { logs, mark, rows, problems };
}

/**
 * Opens a database without changing it and examines its rows; undefined, and why in `problems`, if it does not open.
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
      problems.push(...(await damagedTables(database, () => records.property('rocksdb.sstables'))));
      return await examine(records, reached);
    } finally {
      await records.close();
    }
  } catch (error) {
    problems.push((error as Error).message);
    return undefined;
  }
}

/** What the rows and the mark say of each other. */
function compare(rows: Examination, mark: Mark | undefined, markIsBad: boolean): string[] {
  const problems = [...rows.damage];
  if (rows.format !== undefined && rows.format !== String(FORMAT))
    problems.push(`the store has format ${rows.format}, this version reads format ${FORMAT}`);
  for (const { from, to } of rows.missing)
    problems.push(from === to ? `revision ${from} is missing` : `revisions ${from} to ${to} are missing`);
  if (rows.unaccounted > 0) problems.push(`${rows.unaccounted} objects are gone without a trace`);
  if (!mark && !markIsBad && rows.revision > 0) problems.push('the high-water mark is missing');
  if (mark && rows.id && mark.store !== rows.id)
    problems.push(`the high-water mark belongs to the store ${mark.store}, the database is ${rows.id}`);
  return problems;
}
