import type { Batch, Records, Row } from '../engine/records.js';
import { type Database, loadLibrary } from './binding.js';
import { formatMessage, toStoreError } from './errors.js';

/**
 * Options for objects of kilobytes. A block has several values that are read together. There is no cache of blocks,
 * because current objects are read from memory: with it, a store takes up to 90 MB more after a scan.
 */
const OPTIONS = {
  tableBlockSize: 16 * 1024,
  writeBufferSize: 16 * 1024 * 1024,
  maxBackgroundJobs: 2,
  blockCache: false,
  tableCacheIndexAndFilterBlocks: false,
};
/** Default number of bytes that a scan reads at once. */
const SCAN_BYTES = 256 * 1024;
/** The first read of a scan, whose rows tell how many the next one can have. */
const FIRST_ROWS = 16;
/** Bounds the read after rows that were very short, since longer ones may follow. */
const MOST_ROWS = 1000;

/**
 * Opens the database in a directory, which is created with `create`. With `readOnly` no file is changed and no lock
 * taken. Throws StoreError.
 */
export async function openRecords(
  path: string,
  { create = false, readOnly = false }: { readonly create?: boolean; readonly readOnly?: boolean } = {},
): Promise<RocksDbRecords> {
  const database = new (loadLibrary())(path, { ...OPTIONS, createIfMissing: create, readOnly });
  try {
    await database.ready();
  } catch (error) {
    throw toStoreError(path, error as Error);
  }
  return new RocksDbRecords(database, path);
}

/** Records in RocksDB. Reads of damaged files throw StoreError. */
export class RocksDbRecords implements Records {
  constructor(
    readonly database: Database,
    readonly path: string,
  ) {}

  /** A RocksDB property as text. */
  property(name: string): Promise<string> {
    return this.database.getProperty(name);
  }

  batch(): Batch {
    // Not a batch of the library: a database waits for its batches before it closes, and some are never written.
    const operations: Operation[] = [];
    return {
      put: (key, value) => void operations.push({ key, value }),
      remove: key => void operations.push({ key }),
      write: sync =>
        this.#write(operations, sync).catch(({ cause, message }: Error) => {
          throw new Error(formatMessage(cause instanceof Error ? cause.message : message), { cause });
        }),
    };
  }

  async #write(operations: readonly Operation[], sync: boolean): Promise<void> {
    const batch = this.database.write();
    try {
      for (const { key, value } of operations)
        if (value) batch.tryPut(key, value);
        else batch.tryDelete(key);
      await batch.flush();
    } finally {
      batch.destroy();
    }
    // The library cannot sync RocksDB's log: only data in tables is durable.
    if (sync) await this.database.flush();
  }

  async getMany(keys: readonly Buffer[]): Promise<(Buffer | undefined)[]> {
    const batch = this.database.read({ autoDestroy: true });
    const values = Promise.all(keys.map(key => batch.get(key)));
    batch.tryFlush();
    try {
      return (await values).map(value => value ?? undefined);
    } catch (error) {
      throw toStoreError(this.path, error as Error);
    }
  }

  async *scan(from: Buffer, to: Buffer, bytes = SCAN_BYTES): AsyncIterable<readonly Row[]> {
    const snapshot = this.database.snapshot();
    try {
      let count = Math.min(FIRST_ROWS, bytes);
      for (let range: Range | undefined = { gte: from, lt: to }; range; ) {
        const rows = await this.#read(snapshot, range, count);
        const last = rows.at(-1);
        range = last && rows.length === count ? { gt: last.key, lt: to } : undefined;
        if (last) {
          const size = rows.reduce((sum, { key, value }) => sum + key.length + value.length, 0);
          count = Math.max(1, Math.min(MOST_ROWS, Math.floor((bytes * rows.length) / size)));
          yield rows;
        }
      }
    } finally {
      await snapshot.close();
    }
  }

  #read(snapshot: Database, range: Range, count: number): Promise<Row[]> {
    return new Promise((resolve, reject) => {
      const rows: Row[] = [];
      snapshot
        .iterator(range, { limit: count, capacity: count })
        .on('data', row => rows.push(row))
        .once('error', error => reject(toStoreError(this.path, error)))
        .once('close', () => resolve(rows));
    });
  }

  close(): Promise<void> {
    return this.database.close();
  }
}

/** Undefined as a value removes the row. */
interface Operation {
  readonly key: Buffer;
  readonly value?: Buffer;
}

type Range = { readonly gte: Buffer; readonly lt: Buffer } | { readonly gt: Buffer; readonly lt: Buffer };
