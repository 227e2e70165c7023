import { randomUUID } from 'node:crypto';
import { mkdir, readdir, rename, rm } from 'node:fs/promises';
import { type Stored, StoreError } from '../../../core/api/index.js';
import { databasePath, syncDirectory } from './files.js';
import { writeMark } from './high-water.js';
import { refusal } from './refusal.js';
import { writeDatabase } from './write.js';

/**
 * How far a store that was restored goes ahead of what it was restored from: nobody knows how many revisions the lost
 * store gave out after its snapshot, and none of them may come twice. At ten thousand changes a second this is a day;
 * there is room for nine million restores.
 */
export const REVISION_GAP = 1_000_000_000;

/** What a snapshot says to a restore: the revision at which it shows every object. */
export interface Restored {
  readonly revision: number;
  readonly objects: AsyncIterable<Stored> | Iterable<Stored>;
}

/**
 * Makes a store of a snapshot in a directory that holds none; resolves with the revision it goes on from. Everything up
 * to there counts as compacted, so that whoever watched the old store lists again. An interrupted or failed restore
 * leaves no store.
 */
export async function restoreRocks(path: string, { revision, objects }: Restored): Promise<number> {
  const database = databasePath(path);
  const building = `${database}.restoring`;
  const next = revision + REVISION_GAP;
  try {
    await mkdir(path, { recursive: true, mode: 0o700 });
    const there = (await readdir(path)).filter(file => file !== 'db.restoring');
    if (there.length > 0) throw new StoreError(`${path} already holds a store; restore into a new data directory`);
    await rm(building, { recursive: true, force: true });
    const id = randomUUID();
    await writeDatabase(building, { id, revision: next, objects });
    await rename(building, database);
    await syncDirectory(path);
    await writeMark(path, { store: id, revision: next });
    return next;
  } catch (error) {
    await rm(building, { recursive: true, force: true });
    throw error instanceof StoreError ? error : refusal(path, error as Error);
  }
}
