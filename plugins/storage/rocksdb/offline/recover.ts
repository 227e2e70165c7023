import { copyFile, cp, mkdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { type Stored, StoreError } from '../../../../core/api/index.js';
import { systemTime } from '../../../../core/runtime/clock.js';
import { randomUUID } from '../../../../core/runtime/random.js';
import { type Examination, examine, type RevisionRange, type ObjectVersion } from '../../engine/examine.js';
import { FORMAT, type Records, VALUE_HEADER, valueKey } from '../../engine/records.js';
import { type Check, checkClosed, MOVE_INCOMPLETE, requireStore } from './check.js';
import { databaseFiles, databasePath, syncDirectory } from '../files/files.js';
import { type Mark, writeMark } from '../files/highWater.js';
import { lockStore, whileClosed } from '../files/lock.js';
import { hasRecords } from '../log/logContent.js';
import { applyLog, openReadable } from './readable.js';
import { rebuildDatabase } from './rebuild.js';
import { openRecords } from '../records.js';
import { logPath } from '../log/segment.js';
import { toStoreError } from '../errors.js';
import { REVISION_GAP } from './restore.js';
import { makePrivate } from '../files/privateFiles.js';
import { PLAIN_VALUES } from '../../values.js';
import { writeDatabase } from '../write.js';

/**
 * The number of revisions that a recovery skips. The mark is written about once a second, so the store may have
 * assigned as many revisions after it as fit in a second.
 */
const UNMARKED_GAP = 1_000_000;
/** Greater than the number of records that a damaged commit log may have after those that are readable. */
const SEQUENCE_GAP = 1_000_000_000;
/** Values read at once. */
const READ_CHUNK = 256;

/** The plan or the result of a recovery. */
export interface Recovery {
  /** Descriptions of the damage; empty if there is nothing to recover. */
  readonly problems: readonly string[];
  /** Revisions whose changes are lost. */
  readonly missing: readonly RevisionRange[];
  /** Lost objects. */
  readonly lost: readonly ObjectVersion[];
  /** The number of further lost objects, with unknown names. */
  readonly unaccounted: number;
  /** Whether the high-water mark is missing or damaged: then it is unknown whether the last revisions are complete. */
  readonly isMarkMissing: boolean;
  /** The number of objects that are kept. */
  readonly objects: number;
  /** The revision from which the store continues: above all that it has ever assigned. */
  readonly revision: number;
  /** Directory of the damaged files; undefined if nothing was done. */
  readonly damagedFilesPath?: string;
}

/** Whether a recovery loses data. */
export const isLossy = ({ missing, lost, unaccounted, isMarkMissing }: Recovery): boolean =>
  missing.length > 0 || lost.length > 0 || unaccounted > 0 || isMarkMissing;

/** Plans a recovery without changing the store. Throws StoreError if there is no store or it is in use. */
export async function planRecovery(path: string): Promise<Recovery> {
  await finishRecovery(path);
  await requireStore(path);
  return await whileClosed(path, async () => {
    const check = await checkRecoverable(path);
    return await withReadableRows(path, check, async (_, rows) => toRecovery(check.problems, rows, check.mark));
  });
}

/**
 * Replaces a damaged store by a new one with all objects that are readable, without history, so that watchers must list
 * again. The damaged files are kept in another directory. Throws StoreError if data would be lost and `acceptLoss` is
 * not set.
 */
export async function recover(path: string, { acceptLoss }: { readonly acceptLoss: boolean }): Promise<Recovery> {
  await finishRecovery(path);
  await requireStore(path);
  const lock = await lockStore(path);
  try {
    const check = await checkRecoverable(path);
    return await withReadableRows(path, check, (records, rows) => replaceStore(path, check, records, rows, acceptLoss));
  } catch (error) {
    throw toStoreError(path, error as Error);
  } finally {
    await lock.close();
  }
}

async function replaceStore(
  path: string,
  check: Check,
  records: Records,
  rows: Examination,
  acceptLoss: boolean,
): Promise<Recovery> {
  const plan = toRecovery(check.problems, rows, check.mark);
  if (plan.problems.length === 0) return plan;
  if (isLossy(plan) && !acceptLoss) throw new StoreError('the recovery loses data; run it with --accept-loss');
  const id = rows.id ?? randomUUID();
  const temporary = `${databasePath(path)}.recovering`;
  await rm(temporary, { recursive: true, force: true });
  await writeDatabase(temporary, {
    id,
    revision: plan.revision,
    objects: readObjects(records, rows),
    // Values are copied as they are stored, which needs no encryption keys.
    values: PLAIN_VALUES,
    // If a crash leaves the log in place, the next open must not apply it.
    position: { sequence: (check.log?.highest ?? 0) + SEQUENCE_GAP, closed: true },
  });
  return { ...plan, damagedFilesPath: await replaceDatabase(path, temporary, { store: id, revision: plan.revision }) };
}

async function checkRecoverable(path: string): Promise<Check> {
  const check = await checkClosed(path);
  if (check.problems.includes(MOVE_INCOMPLETE)) throw new StoreError(MOVE_INCOMPLETE);
  return check;
}

function toRecovery(problems: readonly string[], rows: Examination, mark: Mark | undefined): Recovery {
  const isMarkMissing = !mark || (rows.id !== undefined && mark.store !== rows.id);
  const gap = isMarkMissing ? REVISION_GAP : UNMARKED_GAP;
  const { missing, lost, unaccounted, objects, revision } = rows;
  return {
    problems,
    missing,
    lost,
    unaccounted,
    isMarkMissing: isMarkMissing,
    objects: objects.length,
    revision: problems.length > 0 ? revision + gap : revision,
  };
}

/**
 * Runs `work` with the rows of a store or, if some are missing, with those of a copy that has everything that is in the
 * files of the store: RocksDB reads nothing of a block with a wrong byte, and no table that its list lacks.
 */
async function withReadableRows<T>(
  path: string,
  check: Check,
  work: (records: Records, rows: Examination) => Promise<T>,
): Promise<T> {
  if (check.rows && check.rows.damage.length + check.rows.missing.length === 0) {
    const { rows } = check;
    const readable = await openReadable(path, check.log, check.files);
    return await useAndClose(readable, () => work(readable.records, rows));
  }
  const database = databasePath(path);
  const copy = `${database}.repaired`;
  try {
    await rebuildDatabase(database, copy, { salvage: true });
    return await useAndClose(await openRecords(copy, { create: true }), async records => {
      if (hasRecords(check.log)) await applyLog(path, records, check.log);
      return await work(records, await examine(records, check.mark?.revision));
    });
  } finally {
    await rm(copy, { recursive: true, force: true });
  }
}

async function useAndClose<R extends { close(): Promise<void> }, T>(
  opened: R,
  work: (opened: R) => Promise<T>,
): Promise<T> {
  try {
    return await work(opened);
  } finally {
    await opened.close();
  }
}

/**
 * Reads the objects as they are stored, with their keys in the current layout. Those of a former layout are plain
 * (PLAIN_VALUES).
 */
async function* readObjects(records: Records, { objects, format }: Examination): AsyncGenerator<Stored> {
  const { inCurrentLayout } = await import('../../../../core/schema/storageLayout.js');
  const isCurrent = format === String(FORMAT);
  for (let at = 0; at < objects.length; at += READ_CHUNK) {
    const part = objects.slice(at, at + READ_CHUNK);
    const keys = part.map(({ key, modified }) => valueKey(key, modified));
    const rows = await records.getMany(keys);
    for (const [i, object] of part.entries()) {
      const row = rows[i];
      if (!row) throw new StoreError(`reading the value of ${JSON.stringify(object.key)} failed during the recovery`);
      const stored = { ...object, value: row.subarray(VALUE_HEADER) };
      yield isCurrent ? stored : inCurrentLayout(stored);
    }
  }
}

const recoveredPath = (path: string): string => `${databasePath(path)}.recovered`;

/**
 * Swaps the databases by renames; the next recovery completes an interrupted one. Returns the path of the old files.
 */
async function replaceDatabase(path: string, temporary: string, mark: Mark): Promise<string> {
  const damagedFilesPath = join(path, `damaged-${new Date(systemTime()).toISOString().replace(/[:.]/g, '-')}`);
  await mkdir(damagedFilesPath, { mode: 0o700 });
  await copyFile(join(path, 'high-water'), join(damagedFilesPath, 'high-water')).catch(() => undefined);
  await cp(logPath(path), join(damagedFilesPath, 'log'), { recursive: true }).catch(ignoreMissing);
  await rename(temporary, recoveredPath(path));
  await rename(databasePath(path), join(damagedFilesPath, 'db')).catch(ignoreMissing);
  await rename(recoveredPath(path), databasePath(path));
  await syncDirectory(path);
  await rm(logPath(path), { recursive: true, force: true });
  await writeMark(path, mark);
  await makePrivate(path);
  return damagedFilesPath;
}

function ignoreMissing(error: Error): void {
  if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
}

/** Completes a recovery that was interrupted by a crash. */
async function finishRecovery(path: string): Promise<void> {
  const recovered = await databaseFiles(recoveredPath(path));
  if (recovered.all.length === 0) return;
  const { all } = await databaseFiles(databasePath(path));
  if (all.length > 0) return await rm(recoveredPath(path), { recursive: true, force: true });
  await rename(recoveredPath(path), databasePath(path));
  await syncDirectory(path);
}
