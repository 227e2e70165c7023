import { randomUUID } from 'node:crypto';
import { copyFile, link, mkdir, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { type Stored, StoreError } from '../../../core/api/index.js';
import { type Examination, examine, type Span, type Survivor } from '../engine/examine.js';
import { type Records, sound, VALUE_HEADER, valueKey } from '../engine/records.js';
import { type Check, checkRocks } from './check.js';
import { databaseFiles, databasePath, syncDirectory } from './files.js';
import { type Mark, writeMark } from './high-water.js';
import { openRecords, repairRecords, type RocksRecords } from './records.js';
import { refusal } from './refusal.js';
import { REVISION_GAP } from './restore.js';
import { writeDatabase } from './write.js';

/**
 * Revisions left out after a loss at the end: the mark is written about once a second, so up to a second of revisions
 * that were given out may be unknown.
 */
const UNMARKED_GAP = 1_000_000;
/** Values read at once. */
const READ_CHUNK = 256;

/** What a recovery would do, or did. */
export interface Recovery {
  /** What is wrong; empty if there is nothing to recover. */
  readonly problems: readonly string[];
  /** Revisions whose changes are gone. */
  readonly missing: readonly Span[];
  /** Objects that are known to be gone. */
  readonly lost: readonly Survivor[];
  /** Objects that are gone without a trace but their number. */
  readonly unaccounted: number;
  /** The mark is missing or damaged: whether the end is complete cannot be told. */
  readonly markless: boolean;
  readonly objects: number;
  /** The revision the store goes on from: above every one it ever gave out. */
  readonly revision: number;
  /** Where the damaged files are kept; undefined if nothing was done. */
  readonly kept?: string;
}

/** Whether a recovery gives something up. */
export const isLossy = ({ missing, lost, unaccounted, markless }: Recovery): boolean =>
  missing.length > 0 || lost.length > 0 || unaccounted > 0 || markless;

/**
 * Finds out what a recovery would keep and what it would give up. Changes nothing of the store. Throws StoreError if
 * there is no store or it is in use.
 */
export async function planRecovery(path: string): Promise<Recovery> {
  await finishRecovery(path);
  const check = await checkRocks(path);
  return await withReadable(path, check, async (_, rows) => recoveryOf(check.problems, rows, check.mark));
}

/**
 * Makes a new store of everything that can be read, without history (so that every watch lists again), and puts it in
 * the place of the damaged one, whose files are kept beside it. Throws StoreError if it would lose something and
 * `acceptLoss` is not set.
 */
export async function recover(path: string, { acceptLoss }: { readonly acceptLoss: boolean }): Promise<Recovery> {
  await finishRecovery(path);
  const check = await checkRocks(path);
  try {
    return await withReadable(path, check, async (records, rows) => {
      const plan = recoveryOf(check.problems, rows, check.mark);
      if (plan.problems.length === 0) return plan;
      if (isLossy(plan) && !acceptLoss) throw new StoreError('the recovery loses data; run it with --accept-loss');
      const id = rows.id ?? randomUUID();
      const building = `${databasePath(path)}.recovering`;
      await rm(building, { recursive: true, force: true });
      await writeDatabase(building, { id, revision: plan.revision, objects: valuesOf(records, rows.objects) });
      return { ...plan, kept: await replace(path, building, { store: id, revision: plan.revision }) };
    });
  } catch (error) {
    throw refusal(path, error as Error);
  }
}

function recoveryOf(problems: readonly string[], rows: Examination, mark: Mark | undefined): Recovery {
  const markless = !mark || (rows.id !== undefined && mark.store !== rows.id);
  const gap = markless ? REVISION_GAP : UNMARKED_GAP;
  const { missing, lost, unaccounted, objects, revision } = rows;
  return {
    problems,
    missing,
    lost,
    unaccounted,
    markless,
    objects: objects.length,
    revision: problems.length > 0 ? revision + gap : revision,
  };
}

/**
 * Runs `work` with the rows of a store; if its list of files is damaged, with those of a copy whose list was made anew.
 */
async function withReadable<T>(
  path: string,
  check: Check,
  work: (records: Records, rows: Examination) => Promise<T>,
): Promise<T> {
  const database = databasePath(path);
  if (check.rows) {
    const { rows } = check;
    return await closing(await openRecords(database, { readOnly: true }), records => work(records, rows));
  }
  const copy = `${database}.repaired`;
  try {
    await copyDatabase(database, copy);
    await repairRecords(copy).catch(error => {
      throw refusal(copy, error as Error);
    });
    return await closing(await openRecords(copy, { create: true }), async records =>
      work(records, await examine(records, check.mark?.revision)),
    );
  } finally {
    await rm(copy, { recursive: true, force: true });
  }
}

async function closing<T>(records: RocksRecords, work: (records: RocksRecords) => Promise<T>): Promise<T> {
  try {
    return await work(records);
  } finally {
    await records.close();
  }
}

/** Tables are never written again, so links do; everything else is copied. */
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

async function* valuesOf(records: Records, objects: readonly Survivor[]): AsyncGenerator<Stored> {
  for (let at = 0; at < objects.length; at += READ_CHUNK) {
    const part = objects.slice(at, at + READ_CHUNK);
    const keys = part.map(({ key, modified }) => valueKey(key, modified));
    // A read by key refuses a whole block for one bad byte in it; its good rows can be scanned, and have checksums of
    // their own.
    const rows = await records.getMany(keys).catch(() => Promise.all(keys.map(key => scanned(records, key))));
    for (const [i, object] of part.entries()) {
      const row = rows[i];
      if (!row) throw new StoreError(`the value of ${JSON.stringify(object.key)} has vanished during the recovery`);
      yield { ...object, value: row.subarray(VALUE_HEADER) };
    }
  }
}

async function scanned(records: Records, key: Buffer): Promise<Buffer | undefined> {
  for await (const [row] of records.scan(key, Buffer.concat([key, Buffer.of(0)]), 1)) return row && sound(row);
  return undefined;
}

const recoveredPath = (path: string): string => `${databasePath(path)}.recovered`;

/**
 * Swaps the databases by renames; a crash in between is finished by the next recovery. Returns where the old files are.
 */
async function replace(path: string, building: string, mark: Mark): Promise<string> {
  const kept = join(path, `damaged-${new Date().toISOString().replace(/[:.]/g, '-')}`);
  await mkdir(kept, { mode: 0o700 });
  await copyFile(join(path, 'high-water'), join(kept, 'high-water')).catch(() => undefined);
  await rename(building, recoveredPath(path));
  await rename(databasePath(path), join(kept, 'db')).catch(error => {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  });
  await rename(recoveredPath(path), databasePath(path));
  await syncDirectory(path);
  await writeMark(path, mark);
  return kept;
}

/** Puts a recovered database that a crash kept from its place there. */
async function finishRecovery(path: string): Promise<void> {
  const waiting = await databaseFiles(recoveredPath(path));
  if (waiting.all.length === 0) return;
  const { all } = await databaseFiles(databasePath(path));
  if (all.length > 0) return await rm(recoveredPath(path), { recursive: true, force: true });
  await rename(recoveredPath(path), databasePath(path));
  await syncDirectory(path);
}
