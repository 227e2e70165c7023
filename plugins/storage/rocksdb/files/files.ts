import { access, copyFile, link, mkdir, open, readdir, readFile, rename, rm, stat, truncate } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { StoreError } from '../../../../core/api/index.js';
import { REMEDY } from '../../engine/records.js';
import { checkLog, type LogReport } from '../log/logFile.js';
import { readManifest } from './manifest.js';
import { toStoreError } from '../errors.js';
import { makePrivate } from './privateFiles.js';

/** The path of the database in a store's directory. */
export const databasePath = (directory: string): string => join(directory, 'db');
/**
 * The path of a backup of the database's files (hard links) made before it is opened, since opening a database replays
 * and removes logs before anything can be verified.
 */
const backupPath = (directory: string): string => join(directory, 'db.before-open');

/** Whether a file or directory exists. */
export const exists = (path: string): Promise<boolean> =>
  access(path).then(
    () => true,
    () => false,
  );

/** Makes the entries of a directory durable. */
export async function syncDirectory(path: string): Promise<void> {
  const handle = await open(path, 'r');
  await handle.sync().finally(() => handle.close());
}

/**
 * Creates the store's directory if missing, and gives it and its files modes that keep other users out. Throws
 * StoreError if the user cannot write to it.
 */
export async function prepareDirectory(directory: string): Promise<void> {
  try {
    await mkdir(directory, { recursive: true, mode: 0o700 });
    await makePrivate(directory);
  } catch (error) {
    throw toStoreError(directory, error as Error);
  }
}

/** Completes the restoring of a backup that a crash has interrupted. */
export async function restoreInterruptedOpen(directory: string): Promise<void> {
  const backup = backupPath(directory);
  if (!(await exists(databasePath(directory))) && (await exists(backup))) await rename(backup, databasePath(directory));
}

/** The files of a database by type. */
export interface DatabaseFiles {
  readonly all: readonly string[];
  readonly logs: readonly string[];
  readonly tables: readonly string[];
  /** The manifest that CURRENT names; undefined if there is no CURRENT. */
  readonly manifest?: string;
}

/** Lists a database's directory; empty if there is none. */
export async function databaseFiles(database: string): Promise<DatabaseFiles> {
  const all = await readdir(database).catch((): string[] => []);
  const current = all.includes('CURRENT') ? await readFile(join(database, 'CURRENT'), 'utf8') : undefined;
  return {
    all,
    logs: all.filter(file => /^\d+\.log$/.test(file)).sort((a, b) => Number.parseInt(a, 10) - Number.parseInt(b, 10)),
    tables: all.filter(file => file.endsWith('.sst')),
    manifest: current?.trim(),
  };
}

/** The report on a log, with its file name. */
export interface NamedLog extends LogReport {
  readonly file: string;
}

/** The result of the check of a database's files. */
export interface FileReport {
  readonly logs: readonly NamedLog[];
  /** Descriptions of the problems of CURRENT, the manifest and the tables: the database cannot be opened. */
  readonly damage: readonly string[];
  /**
   * Descriptions of damage in logs that complete writes follow. The commit log may have the records that they have
   * lost.
   */
  readonly logDamage: readonly string[];
}

/** Checks the logs, the manifest and the tables that it lists, without opening the database. */
export async function findDamagedFiles(database: string): Promise<FileReport> {
  const { logs, manifest } = await databaseFiles(database);
  const damage: string[] = [];
  if (manifest !== undefined && !/^MANIFEST-\d+$/.test(manifest))
    damage.push('CURRENT is damaged: it names no MANIFEST file');
  else if (manifest !== undefined && !(await exists(join(database, manifest)))) damage.push(`${manifest} is missing`);
  else if (manifest !== undefined) {
    damage.push(...(await checkLogs(database, [manifest])).damage);
    if (damage.length === 0) damage.push(...(await findDamagedTables(database, manifest)));
  }
  const checked = await checkLogs(database, logs);
  return { logs: checked.reports, damage, logDamage: checked.damage };
}

/** Checks consecutive logs. Damage is only a problem if a complete write follows it, in the same log or a later one. */
async function checkLogs(database: string, files: readonly string[]) {
  const reports: NamedLog[] = [];
  for (const file of files) reports.push({ file, ...(await checkLog(join(database, file))) });
  const damage = reports
    .filter((_, i) => isFollowedByWrite(reports, i))
    .map(({ file, damagedAt }) => `${file} is damaged at byte ${damagedAt}, and complete writes follow`);
  return { reports, damage };
}

const isFollowedByWrite = (reports: readonly NamedLog[], i: number): boolean =>
  reports[i]!.damagedAt !== undefined &&
  (reports[i]!.followedByWrite || reports.slice(i + 1).some(later => later.records > 0));

/**
 * Removes all records after the first damage in the logs of a database, in new files: RocksDB skips some damage and
 * applies the records after it, so its position in the commit log would be later than the last write before the gap.
 * Returns whether anything was removed.
 */
export async function cutLogs(database: string, logs: readonly NamedLog[]): Promise<boolean> {
  const first = logs.findIndex((_, i) => isFollowedByWrite(logs, i));
  if (first < 0) return false;
  const [damaged, ...later] = logs.slice(first) as [NamedLog, ...NamedLog[]];
  const path = join(database, damaged.file);
  const temporary = `${path}.cut`;
  await copyFile(path, temporary);
  await truncate(temporary, damaged.damagedAt);
  // The newest first: without one in the middle, RocksDB would apply those after it.
  for (const { file } of later.reverse()) await rm(join(database, file));
  await rename(temporary, path);
  await syncDirectory(database);
  return true;
}

/** The error for damaged files of a database. */
export const damagedFilesError = (database: string, damage: readonly string[]): StoreError =>
  new StoreError(`${database} is damaged: ${damage.join('; ')}; ${REMEDY}`);

/** The number in the name of a file of a database. */
export const numberOf = (file: string): number => Number.parseInt(file, 10);

/** Describes the tables in a manifest that are missing or have another size. */
async function findDamagedTables(database: string, manifest: string): Promise<string[]> {
  const damage: string[] = [];
  for (const [number, size] of (await readManifest(join(database, manifest)))?.tables ?? []) {
    const name = `${String(number).padStart(6, '0')}.sst`;
    const found = await stat(join(database, name)).catch(() => undefined);
    if (!found) damage.push(`${name} is missing`);
    else if (found.size !== size) damage.push(`${name} has ${found.size} bytes instead of ${size}`);
  }
  return damage;
}

/** Removes the reports that RocksDB has written in earlier runs: it keeps a thousand. */
export async function removeReports(database: string): Promise<void> {
  const { all } = await databaseFiles(database);
  for (const file of all) if (file.startsWith('LOG.old.')) await rm(join(database, file), { force: true });
}

/** A backup of the database's files. */
export interface FileBackup {
  /** Restores the files. The database must be closed. */
  restore(): Promise<void>;
  /** Deletes the backup. */
  discard(): Promise<void>;
}

/**
 * Backs up a database by hard links, so that a failed open changes nothing. Links suffice because RocksDB never writes
 * to existing files: it creates new ones and unlinks old ones. Without support for links in the file system, the backup
 * does nothing.
 */
export async function backUpFiles(directory: string): Promise<FileBackup> {
  const database = databasePath(directory);
  const backup = backupPath(directory);
  const { all } = await databaseFiles(database);
  const discard = () => rm(backup, { recursive: true, force: true });
  await discard();
  if (!all.includes('CURRENT') || !(await linkAll(database, backup, all))) {
    await discard();
    return { restore: async () => {}, discard: async () => {} };
  }
  const restore = async () => {
    const rejected = `${database}.refused`;
    await rm(rejected, { recursive: true, force: true });
    await rename(database, rejected);
    await rename(backup, database);
    await syncDirectory(dirname(database));
    await rm(rejected, { recursive: true, force: true });
  };
  return { restore, discard };
}

/** Returns false if the file system does not support hard links. */
async function linkAll(from: string, to: string, files: readonly string[]): Promise<boolean> {
  await mkdir(to, { mode: 0o700 });
  try {
    for (const file of files) await link(join(from, file), join(to, file));
    return true;
  } catch (error) {
    if (/^(EPERM|ENOTSUP|EOPNOTSUPP|ENOSYS|EMLINK|EXDEV)$/.test((error as NodeJS.ErrnoException).code ?? ''))
      return false;
    throw error;
  }
}
