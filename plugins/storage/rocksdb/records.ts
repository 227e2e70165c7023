import type { Batch, Records, Row } from '../engine/records.js';
import { type Binding, type Handle, loadBinding } from './binding.js';
import { databaseFiles } from './files.js';
import { formatMessage, toStoreError, isInUseMessage } from './errors.js';

/**
 * Options for objects of kilobytes. The cache is small, because current objects are read from memory: it is for values
 * that are read together, of which several are in a block, so that the block is decompressed once.
 */
const OPTIONS = {
  createIfMissing: true,
  compression: true,
  writeBufferSize: 16 * 1024 * 1024,
  cacheSize: 4 * 1024 * 1024,
  blockSize: 16 * 1024,
  maxOpenFiles: 1000,
};
/** Default number of bytes that a scan reads at once. */
const SCAN_BYTES = 256 * 1024;

/**
 * Whether a database is open, in this process or another. Changes nothing: with `errorIfExists`, opening an existing
 * database fails, but only after its lock was taken.
 */
export async function isInUse(path: string): Promise<boolean> {
  const { all } = await databaseFiles(path);
  if (!all.includes('CURRENT') || !all.includes('LOCK')) return false;
  const binding = loadBinding();
  const database = binding.db_init();
  try {
    await promisify(callback =>
      binding.db_open(database, path, { createIfMissing: false, errorIfExists: true }, callback),
    );
  } catch (error) {
    return isInUseMessage((error as Error).message);
  }
  await promisify(callback => binding.db_close(database, callback));
  return false;
}

/**
 * Opens the database in a directory, which is created with `create`. With `readOnly` no file is changed and no lock
 * taken. Throws StoreError.
 */
export async function openRecords(
  path: string,
  { create = false, readOnly = false }: { readonly create?: boolean; readonly readOnly?: boolean } = {},
): Promise<RocksDbRecords> {
  const binding = loadBinding();
  const database = binding.db_init();
  try {
    await promisify(callback =>
      binding.db_open(database, path, { ...OPTIONS, createIfMissing: create, readOnly }, callback),
    );
  } catch (error) {
    throw toStoreError(path, error as Error);
  }
  return new RocksDbRecords(binding, database, path);
}

/** Repairs a database with RocksDB's own function, which drops unreadable data and rewrites files: use it on a copy. */
export async function repairRecords(path: string): Promise<void> {
  await promisify(callback => loadBinding().repair_db(path, callback));
}

/** Records in RocksDB. Reads of damaged files throw StoreError. */
export class RocksDbRecords implements Records {
  constructor(
    readonly binding: Binding,
    readonly database: Handle,
    readonly path: string,
  ) {}

  /** A RocksDB property as text; empty if unknown. */
  property(name: string): string {
    return this.binding.db_get_property(this.database, name);
  }

  batch(): Batch {
    const { binding } = this;
    const batch = binding.batch_init(this.database);
    return {
      put: (key, value) => binding.batch_put(batch, key, value),
      remove: key => binding.batch_del(batch, key),
      write: sync => promisify(callback => binding.batch_write(batch, { sync }, callback)),
    };
  }

  getMany(keys: readonly Buffer[]): Promise<(Buffer | undefined)[]> {
    return new Promise((resolve, reject) => {
      this.binding.db_get_many(this.database, keys, { fillCache: true }, (error, values) =>
        error ? reject(toStoreError(this.path, error)) : resolve(values),
      );
    });
  }

  async *scan(from: Buffer, to: Buffer, bytes = SCAN_BYTES): AsyncIterable<readonly Row[]> {
    const { binding } = this;
    const iterator = binding.iterator_init(this.database, { gte: from, lt: to, highWaterMark: bytes });
    try {
      for (let finished = false; !finished; ) {
        const rows: Row[] = [];
        finished = await new Promise<boolean>((resolve, reject) => {
          binding.iterator_next(iterator, (error, cells, last) => {
            if (error) return reject(toStoreError(this.path, error));
            for (let i = cells.length - 1; i > 0; i -= 2) rows.push({ key: cells[i]!, value: cells[i - 1]! });
            resolve(last);
          });
        });
        if (rows.length > 0) yield rows;
      }
    } finally {
      await promisify(callback => binding.iterator_end(iterator, callback));
    }
  }

  close(): Promise<void> {
    return promisify(callback => this.binding.db_close(this.database, callback));
  }
}

const promisify = (call: (callback: (error: Error | null) => void) => void): Promise<void> =>
  new Promise((resolve, reject) =>
    call(error => (error ? reject(new Error(formatMessage(error.message), { cause: error })) : resolve())),
  );
