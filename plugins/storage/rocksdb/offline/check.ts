import { StoreError } from '../../../../core/api/index.js';
import { type Examination, examine } from '../../engine/examine.js';
import { findFormatProblem, isMoveIncomplete } from '../../engine/records.js';
import { databaseFiles, databasePath, type FileReport, findDamagedFiles } from '../files/files.js';
import { type Mark, readMark } from '../files/highWater.js';
import { hasRecords, type LogContent, readLog } from '../log/logContent.js';
import { openReadable } from './readable.js';
import { whileClosed } from '../files/lock.js';

/** The problem of a store that an earlier release wrote and that this one has not completely rewritten. */
export const MOVE_INCOMPLETE =
  'a start was interrupted while it gave the keys of custom kinds their current form: start the server, which ' +
  'completes it, or restore a snapshot';

/** The result of an offline check. */
export interface Check {
  readonly files: FileReport;
  /** Undefined if there is none, or if it is damaged. */
  readonly log?: LogContent;
  readonly mark?: Mark;
  /** Undefined if the database cannot be opened. */
  readonly rows?: Examination;
  /** Descriptions of all problems; empty for a sound store. */
  readonly problems: readonly string[];
}

/** Throws StoreError if a directory has neither a database nor the mark of one. */
export async function requireStore(path: string): Promise<void> {
  const { all } = await databaseFiles(databasePath(path));
  if (all.length === 0 && !(await readMark(path).catch(() => true))) throw new StoreError(`${path} contains no store`);
}

/** Checks all files and rows of a store without changing it. Throws StoreError if there is no store or it is in use. */
export async function checkRocksDb(path: string): Promise<Check> {
  await requireStore(path);
  return await whileClosed(path, () => checkClosed(path));
}

/** Like `checkRocksDb`, for a store that exists and is known to be closed. */
export async function checkClosed(path: string): Promise<Check> {
  const problems: string[] = [];
  const note = (error: Error): undefined => void problems.push(error.message);
  const mark = await readMark(path).catch(note);
  const isMarkBad = problems.length > 0;
  const log = await readLog(path).catch(note);
  const files = await findDamagedFiles(databasePath(path)).catch((error: Error) => ({
    logs: [],
    damage: [error.message],
    logDamage: [],
  }));
  problems.push(...files.damage);
  // Without records, the commit log cannot replace lost writes.
  if (!hasRecords(log)) problems.push(...files.logDamage);
  const rows = await examineDatabase(path, log, files, mark?.revision, problems);
  if (rows) problems.push(...compareWithMark(rows, mark, isMarkBad));
  return { files, log, mark, rows, problems };
}

/** Examines the rows of a store. If it cannot be opened, adds to `problems` and returns undefined. */
async function examineDatabase(
  path: string,
  log: LogContent | undefined,
  files: FileReport,
  reached: number | undefined,
  problems: string[],
): Promise<Examination | undefined> {
  const database = databasePath(path);
  const { all } = await databaseFiles(database);
  if (!all.includes('CURRENT')) {
    problems.push(all.length > 0 ? `${database} has lost its CURRENT file` : `${database} is missing or empty`);
    return undefined;
  }
  try {
    const { records, findProblem, close } = await openReadable(path, log, files);
    try {
      // If the row cannot be read, the examination reports it.
      if (await isMoveIncomplete(records).catch(() => false)) throw new StoreError(MOVE_INCOMPLETE);
      const problem = await findProblem().catch((error: Error) => error.message);
      if (problem && hasRecords(log)) problems.push(...files.logDamage);
      const rows = await examine(records, reached);
      // If the log has no records, missing revisions tell more than the fact that the log does not have them.
      if (problem && (hasRecords(log) || rows.missing.length === 0)) problems.push(problem);
      return rows;
    } finally {
      await close();
    }
  } catch (error) {
    problems.push((error as Error).message);
    return undefined;
  }
}

/** Problems of the rows and differences between rows and mark. */
function compareWithMark(rows: Examination, mark: Mark | undefined, markIsBad: boolean): string[] {
  const problems = [...rows.damage];
  const format = rows.format === undefined ? undefined : findFormatProblem(rows.format);
  if (format) problems.push(format);
  for (const { from, to } of rows.missing)
    problems.push(from === to ? `revision ${from} is missing` : `revisions ${from} to ${to} are missing`);
  if (rows.unaccounted > 0) problems.push(`${rows.unaccounted} objects are missing, their names are unknown`);
  if (!mark && !markIsBad && rows.revision > 0) problems.push('the high-water mark is missing');
  if (mark && rows.id && mark.store !== rows.id)
    problems.push(`the high-water mark belongs to the store ${mark.store}, the database is ${rows.id}`);
  return problems;
}
