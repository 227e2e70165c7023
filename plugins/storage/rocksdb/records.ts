import type { Batch, Records, Row } from '../engine/records.js';
import { type Binding, type Handle, loadBinding } from './binding.js';
import { databaseFiles } from './files.js';
import { readable, refusal, saysInUse } from './refusal.js';

/** Sizes for objects of kilobytes. Current objects are read from memory, not from here, so the caches are small. */
const OPTIONS = {
  createIfMissing: true,
  compression: true,
  writeBufferSize: 16 * 1024 * 1024,
  cacheSize: 16 * 1024 * 1024,
  blockSize: 16 * 1024,
  maxOpenFiles: 1000,
};
/** Bytes a scan fetches at once unless told otherwise. */
const SCAN_BYTES = 256 * 1024;

/**
 * Whether a database is open, in this process or another. Changes nothing: it asks to make a new one where one is,
 * which is refused after the lock.
 */
export async function isInUse(path: string): Promise<boolean> {
  const { all } = await databaseFiles(path);
  if (!all.includes('CURRENT') || !all.includes('LOCK')) return false;
  const binding = loadBinding();
  const database = binding.db_init();
  try {
    await done(callback => binding.db_open(database, path, { createIfMissing: false, errorIfExists: true }, callback));
  } catch (error) {
    return saysInUse((error as Error).message);
  }
  await done(callback => binding.db_close(database, callback));
  return false;
}

/**
 * Opens (and with `create` makes) the database in a directory; `readOnly` changes no file and takes no lock. Throws
 * StoreError.
 */
export async function openRecords(
  path: string,
  { create = false, readOnly = false }: { readonly create?: boolean; readonly readOnly?: boolean } = {},
): Promise<RocksRecords> {
  const binding = loadBinding();
  const database = binding.db_init();
  try {
    await done(callback =>
      binding.db_open(database, path, { ...OPTIONS, createIfMissing: create, readOnly }, callback),
    );
  } catch (error) {
    throw refusal(path, error as Error);
  }
  return new RocksRecords(binding, database, path);
}

/**
 * Makes what can be read of a damaged database openable again; what cannot is lost. Moves and rewrites files: work on a
 * copy.
 */
export async function repairRecords(path: string): Promise<void> {
  await done(callback => loadBinding().repair_db(path, callback));
}

/** The records of the engine in RocksDB. Reads of damaged files throw StoreError. */
export class RocksRecords implements Records {
  constructor(
    readonly binding: Binding,
    readonly database: Handle,
    readonly path: string,
  ) {}

  /** A property of the library, as text; empty if there is none of that name. */
  property(name: string): string {
    return this.binding.db_get_property(this.database, name);
  }

  batch(): Batch {
    const { binding } = this;
    const batch = binding.batch_init(this.database);
    return {
      put: (key, value) => binding.batch_put(batch, key, value),
      remove: key => binding.batch_del(batch, key),
      write: sync => done(callback => binding.batch_write(batch, { sync }, callback)),
    };
  }

  getMany(keys: readonly Buffer[]): Promise<(Buffer | undefined)[]> {
    return new Promise((resolve, reject) => {
      this.binding.db_get_many(this.database, keys, { fillCache: false }, (error, values) =>
        error ? reject(refusal(this.path, error)) : resolve(values),
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
            if (error) return reject(refusal(this.path, error));
            for (let i = cells.length - 1; i > 0; i -= 2) rows.push({ key: cells[i]!, value: cells[i - 1]! });
            resolve(last);
          });
        });
        if (rows.length > 0) yield rows;
      }
    } finally {
      await done(callback => binding.iterator_end(iterator, callback));
    }
  }

  close(): Promise<void> {
    return done(callback => this.binding.db_close(this.database, callback));
  }
}

const done = (call: (callback: (error: Error | null) => void) => void): Promise<void> =>
  new Promise((resolve, reject) =>
    call(error => (error ? reject(new Error(readable(error.message), { cause: error })) : resolve())),
  );
