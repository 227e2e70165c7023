import { type FileHandle, open } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { StoreError } from '../../../../core/api/index.js';
import { databasePath } from './files.js';

/** The part of `fs-native-extensions` that is used here. It has no types of its own. */
interface Locks {
  /** Whether the lock was granted. It belongs to the descriptor, and ends when that is closed, or with the process. */
  tryLock(descriptor: number, options?: { readonly shared: boolean }): boolean;
}

const lockPath = (directory: string): string => join(directory, 'lock');

/**
 * Locks a store for this process, so that no other one opens it, before anything of it is read: RocksDB's own lock is
 * taken only by an open, which changes files. Throws StoreError if another store has it, in this process or another.
 */
export async function lockStore(directory: string): Promise<FileHandle> {
  const handle = await open(lockPath(directory), 'a+', 0o600);
  try {
    await requireLock(directory, handle, false);
    return handle;
  } catch (error) {
    await handle.close();
    throw error;
  }
}

/**
 * Locks a store for reading while `work` runs: others may read it, but none may open it. Changes nothing. Throws
 * StoreError if it is open.
 */
export async function whileClosed<T>(directory: string, work: () => Promise<T>): Promise<T> {
  const handle = await open(lockPath(directory), 'r').catch(ignoreMissing);
  try {
    await requireLock(directory, handle, true);
    return await work();
  } finally {
    await handle?.close();
  }
}

/** Throws StoreError if the store is open. A store of an earlier release has no file with a lock. */
async function requireLock(directory: string, handle: FileHandle | undefined, shared: boolean): Promise<void> {
  if ((handle && !isGranted(handle, shared)) || (await isOpenInRocksDb(databasePath(directory))))
    throw new StoreError(`${directory} is in use by another process: stop it first`);
}

/**
 * Earlier releases take only RocksDB's lock. No store of this process has it, because that store would have both locks.
 */
async function isOpenInRocksDb(database: string): Promise<boolean> {
  const handle = await open(join(database, 'LOCK'), 'r').catch(ignoreMissing);
  try {
    return handle !== undefined && !isGranted(handle, true);
  } finally {
    await handle?.close();
  }
}

const isGranted = ({ fd }: FileHandle, shared: boolean): boolean =>
  (createRequire(import.meta.url)('fs-native-extensions') as Locks).tryLock(fd, { shared });

function ignoreMissing(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'ENOENT') throw error;
}
