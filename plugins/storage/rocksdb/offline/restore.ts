import { mkdir, readdir, rename, rm } from 'node:fs/promises';
import { type Stored, StoreError } from '../../../../core/api/index.js';
import { randomUUID } from '../../../../core/runtime/random.js';
import { databasePath, syncDirectory } from '../files/files.js';
import { writeMark } from '../files/highWater.js';
import { toStoreError } from '../errors.js';
import { makePrivate } from '../files/privateFiles.js';
import { PLAIN_VALUES, type ValueCodec } from '../../values.js';
import { writeDatabase } from '../write.js';

/**
 * The number of revisions that a restore skips. The lost store may have assigned revisions after its snapshot, and none
 * may be assigned twice. At ten thousand changes a second the gap lasts for a day; there is room for nine million
 * restores.
 */
export const REVISION_GAP = 1_000_000_000;

/** The contents of a snapshot: the revision at which it was taken, and the objects. */
export interface SnapshotContent {
  readonly revision: number;
  readonly objects: AsyncIterable<Stored> | Iterable<Stored>;
}

/**
 * Creates a store from a snapshot in a directory without one. Resolves with the revision from which the store
 * continues. `values`: how they are stored. Older revisions count as compacted, so watchers of the old store must list
 * again. An interrupted or failed restore leaves no store behind. Throws StoreError.
 */
export async function restoreRocksDb(
  path: string,
  { revision, objects }: SnapshotContent,
  values: ValueCodec = PLAIN_VALUES,
): Promise<number> {
  const database = databasePath(path);
  const temporary = `${database}.restoring`;
  const next = revision + REVISION_GAP;
  try {
    await mkdir(path, { recursive: true, mode: 0o700 });
    const existing = (await readdir(path)).filter(file => file !== 'db.restoring');
    if (existing.length > 0)
      throw new StoreError(`${path} already contains a store; restore into a new data directory`);
    await rm(temporary, { recursive: true, force: true });
    const id = randomUUID();
    await writeDatabase(temporary, { id, revision: next, objects, values });
    await rename(temporary, database);
    await syncDirectory(path);
    await writeMark(path, { store: id, revision: next });
    await makePrivate(path);
    return next;
  } catch (error) {
    await rm(temporary, { recursive: true, force: true });
    throw error instanceof StoreError ? error : toStoreError(path, error as Error);
  }
}
