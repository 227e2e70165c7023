import { open, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { databaseFiles, databasePath, exists, syncDirectory } from '../files/files.js';
import { rebuildDatabase } from './rebuild.js';
import { CURRENT_VERSION, tableVersion } from '../table.js';

/** The path of a converted database that has not replaced the original one yet. */
const convertedPath = (directory: string): string => `${databasePath(directory)}.converted`;
/** Bytes at the end of a table that say its version. */
const END_BYTES = 12;

/** Whether a database has tables of a release of RocksDB before 10, whose compression the library cannot read. */
export async function hasOldTables(database: string): Promise<boolean> {
  for (const table of (await databaseFiles(database)).tables) {
    const version = tableVersion(await endOf(join(database, table)));
    if (version !== undefined && version < CURRENT_VERSION) return true;
  }
  return false;
}

async function endOf(file: string): Promise<Buffer> {
  const handle = await open(file, 'r');
  try {
    const { size } = await handle.stat();
    const end = Buffer.alloc(Math.min(END_BYTES, size));
    await handle.read(end, 0, end.length, size - end.length);
    return end;
  } finally {
    await handle.close();
  }
}

/**
 * Replaces the database of a store by one with the same contents that the library can read. The original one is removed
 * once the new one is durable. A crash at any time leaves one of the two in place, or files that `finishConversion`
 * puts in place. Throws StoreError if the database is damaged, which is then unchanged.
 */
export async function convertDatabase(directory: string): Promise<void> {
  const database = databasePath(directory);
  const converting = `${database}.converting`;
  await rebuildDatabase(database, converting);
  await rename(converting, convertedPath(directory));
  await rename(database, `${database}.before-conversion`);
  await finishConversion(directory);
}

/** Completes a conversion that a crash has interrupted. */
export async function finishConversion(directory: string): Promise<void> {
  const database = databasePath(directory);
  const converted = convertedPath(directory);
  if (await exists(converted)) {
    if (await exists(database)) await rm(converted, { recursive: true });
    else await rename(converted, database);
    await syncDirectory(directory);
  }
  if (await exists(database)) await rm(`${database}.before-conversion`, { recursive: true, force: true });
  await rm(`${database}.converting`, { recursive: true, force: true });
}
