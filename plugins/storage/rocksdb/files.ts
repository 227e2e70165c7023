import { access, link, mkdir, open, readdir, readFile, rename, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { StoreError } from '../../../core/api/index.js';
import { REMEDY } from '../engine/records.js';
import { checkLog, type LogReport } from './log-file.js';
import { refusal } from './refusal.js';

/** Where in a store's directory the database is. */
export const databasePath = (directory: string): string => join(directory, 'db');
/**
 * Links to the database's files as they were before it is opened: opening replays and removes logs before anything can
 * be verified.
 */
const asidePath = (directory: string): string => join(directory, 'db.before-open');

const isThere = (path: string): Promise<boolean> =>
  access(path).then(
    () => true,
    () => false,
  );

/** Makes entries of a directory durable. */
export async function syncDirectory(path: string): Promise<void> {
  const handle = await open(path, 'r');
  await handle.sync().finally(() => handle.close());
}

/** Makes the store's directory. Throws StoreError if this user cannot write in it. */
export async function prepareDirectory(directory: string): Promise<void> {
  try {
    await mkdir(directory, { recursive: true, mode: 0o700 });
    // A crash while an open was being undone.
    const aside = asidePath(directory);
    if (!(await isThere(databasePath(directory))) && (await isThere(aside)))
      await rename(aside, databasePath(directory));
  } catch (error) {
    throw refusal(directory, error as Error);
  }
}

/** Files of a database that exist, by what they are. */
export interface DatabaseFiles {
  readonly all: readonly string[];
  readonly logs: readonly string[];
  readonly tables: readonly string[];
  /** The list of files that CURRENT names; undefined without CURRENT. */
  readonly manifest?: string;
}

/** Lists a database's directory; empty if there is none. */
export async function databaseFiles(database: string): Promise<DatabaseFiles> {
  const all = await readdir(database).catch((): string[] => []);
  const named = all.includes('CURRENT') ? await readFile(join(database, 'CURRENT'), 'utf8') : undefined;
  return {
    all,
    logs: all.filter(file => /^\d+\.log$/.test(file)).sort((a, b) => Number.parseInt(a, 10) - Number.parseInt(b, 10)),
    tables: all.filter(file => file.endsWith('.sst')),
    manifest: named?.trim(),
  };
}

/** A log that was read, with its name. */
export interface NamedLog extends LogReport {
  readonly file: string;
}

/** What is wrong with a database's files, as far as can be told without opening it; each a line. */
export async function damagedFiles(
  database: string,
): Promise<{ readonly logs: readonly NamedLog[]; readonly damage: readonly string[] }> {
  const { logs, manifest } = await databaseFiles(database);
  const damage: string[] = [];
  if (manifest !== undefined && !/^MANIFEST-\d+$/.test(manifest))
    damage.push('CURRENT is damaged: it names no MANIFEST file');
  else if (manifest !== undefined && !(await isThere(join(database, manifest)))) damage.push(`${manifest} is missing`);
  else if (manifest !== undefined) damage.push(...(await damageOf(database, [manifest])).damage);
  const read = await damageOf(database, logs);
  return { logs: read.reports, damage: [...damage, ...read.damage] };
}

/** Reads logs that continue each other. Damage in one matters if a whole write follows it, there or in a later one. */
async function damageOf(database: string, files: readonly string[]) {
  const reports: NamedLog[] = [];
  for (const file of files) reports.push({ file, ...(await checkLog(join(database, file))) });
  const damage = reports
    .filter(
      ({ damagedAt, resumes }, i) =>
        damagedAt !== undefined && (resumes || reports.slice(i + 1).some(later => later.records > 0)),
    )
    .map(({ file, damagedAt }) => `${file} is damaged at byte ${damagedAt}, and whole writes follow`);
  return { reports, damage };
}

/** Throws StoreError for the first thing that `damagedFiles` finds. */
export async function refuseDamagedFiles(database: string): Promise<void> {
  const { damage } = await damagedFiles(database);
  if (damage.length > 0) throw new StoreError(`${database} is damaged: ${damage.join('; ')}; ${REMEDY}`);
}

/**
 * Tables that the database's list names but that are missing or of another size; each a line. `listing` gives the
 * library's own list as it is now: an open database merges tables and removes those it merged, from the list first, so
 * only what the list still names afterwards counts.
 */
export async function damagedTables(database: string, listing: () => string): Promise<string[]> {
  const damage = new Map<string, string>();
  for (const [name, size] of tablesOf(listing())) {
    const found = await stat(join(database, name)).catch(() => undefined);
    if (!found) damage.set(name, `${name} is missing`);
    else if (found.size !== size) damage.set(name, `${name} has ${found.size} bytes instead of ${size}`);
  }
  if (damage.size === 0) return [];
  const now = tablesOf(listing());
  return [...damage].filter(([name]) => now.has(name)).map(([, line]) => line);
}

/** Names and sizes of the tables in the library's list. */
const tablesOf = (listing: string): Map<string, number> =>
  new Map(
    [...listing.matchAll(/^ (\d+):(\d+)\[/gm)].map(([, number = '', size]) => [
      `${number.padStart(6, '0')}.sst`,
      Number(size),
    ]),
  );

/** What was set aside before an open. */
export interface Aside {
  /** Puts the files back as they were. The database must be closed. */
  restore(): Promise<void>;
  /** The open was good: the links go. */
  discard(): Promise<void>;
}

/**
 * Links every file of a database into a directory beside it, so that an open that is refused changes nothing: RocksDB
 * never writes to an existing file again, it makes new ones and unlinks old ones. Where the file system has no links
 * there is no way back, but no open fails for that.
 */
export async function setAside(directory: string): Promise<Aside> {
  const database = databasePath(directory);
  const aside = asidePath(directory);
  const { all } = await databaseFiles(database);
  const discard = () => rm(aside, { recursive: true, force: true });
  await discard();
  if (!all.includes('CURRENT') || !(await linkAll(database, aside, all))) {
    await discard();
    return { restore: async () => {}, discard: async () => {} };
  }
  const restore = async () => {
    const refused = `${database}.refused`;
    await rm(refused, { recursive: true, force: true });
    await rename(database, refused);
    await rename(aside, database);
    await syncDirectory(dirname(database));
    await rm(refused, { recursive: true, force: true });
  };
  return { restore, discard };
}

/** False if the file system cannot link. */
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
