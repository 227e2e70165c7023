import { createRequire } from 'node:module';
import { StoreError } from '../../../core/api/index.js';
import { describePlatform } from '../../../core/runtime/platform.js';

/** A row as the library reads it. */
export interface LibraryRow {
  readonly key: Buffer;
  readonly value: Buffer;
}

/** Writes that are applied together. Not to be used after `destroy`. */
export interface WriteBatch {
  tryPut(key: Buffer, value: Buffer): void;
  tryDelete(key: Buffer): void;
  /** Rejects with an error whose `cause` is that of RocksDB. */
  flush(): Promise<void>;
  destroy(): void;
}

/** Reads that are done together. */
export interface ReadBatch {
  /** Resolves after `tryFlush`, with null for an absent key. */
  get(key: Buffer): Promise<Buffer | null>;
  tryFlush(): void;
}

/** Rows of an iteration: a stream of objects. */
export interface RowStream {
  on(event: 'data', listener: (row: LibraryRow) => void): this;
  once(event: 'error', listener: (error: Error) => void): this;
  once(event: 'close', listener: () => void): this;
}

/** A database, or the result of `snapshot`: the database as of that call. */
export interface Database {
  /** Opens the database. */
  ready(): Promise<void>;
  close(): Promise<void>;
  /** Writes the data in memory to tables, and makes them durable. */
  flush(): Promise<void>;
  write(): WriteBatch;
  read(options: { readonly autoDestroy: boolean }): ReadBatch;
  /** Rows in order: at most `limit`, which are read at once if `capacity` is as large. */
  iterator(
    range: { readonly gte?: Buffer; readonly gt?: Buffer; readonly lt: Buffer },
    options: { readonly limit: number; readonly capacity: number },
  ): RowStream;
  snapshot(): Database;
  /** A property of RocksDB, as text. */
  getProperty(name: string): Promise<string>;
}

/** The part of the `rocksdb` package that is used here. It has no types of its own. */
type Library = new (path: string, options: object) => Database;

let library: Library | undefined;

/**
 * Loads the native library. Throws StoreError if it has no binary for this platform, or the system lacks a library that
 * it needs.
 */
export function loadLibrary(): Library {
  try {
    return (library ??= createRequire(import.meta.url)('rocksdb') as Library);
  } catch (error) {
    const { message, cause } = error as Error;
    const reason = cause instanceof Error ? cause.message : message;
    throw new StoreError(
      `RocksDB cannot be loaded on ${describePlatform()}: ${reason.split('\n', 1)[0]}. On Linux it needs ` +
        'glibc 2.34 or newer and libatomic (Debian: apt-get install libatomic1). Without it, use ' +
        '--storage-backend=etcd, or --storage-backend=memory, which keeps nothing',
      { cause: error },
    );
  }
}
