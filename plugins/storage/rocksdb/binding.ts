import { createRequire } from 'node:module';

/** An opaque handle of the native library. */
export type Handle = { readonly native: unique symbol };
type Callback = (error: Error | null) => void;

/**
 * The native functions of the `rocksdb` package that are used here. The package's JavaScript API is not used, because
 * its overhead exceeds the cost of a small write.
 */
export interface Binding {
  db_init(): Handle;
  db_open(database: Handle, path: string, options: object, done: Callback): void;
  db_get_property(database: Handle, name: string): string;
  repair_db(path: string, done: Callback): void;
  db_close(database: Handle, done: Callback): void;
  db_get_many(
    database: Handle,
    keys: readonly Buffer[],
    options: object,
    done: (error: Error | null, values: (Buffer | undefined)[]) => void,
  ): void;
  batch_init(database: Handle): Handle;
  batch_put(batch: Handle, key: Buffer, value: Buffer): void;
  batch_del(batch: Handle, key: Buffer): void;
  batch_write(batch: Handle, options: { readonly sync: boolean }, done: Callback): void;
  iterator_init(database: Handle, options: object): Handle;
  /** Keys and values alternate, in reverse order: the last element is the first key. */
  iterator_next(iterator: Handle, done: (error: Error | null, rows: Buffer[], finished: boolean) => void): void;
  iterator_end(iterator: Handle, done: Callback): void;
}

/** Loads the native library. It must be loaded in the main thread before it is loaded in several worker threads. */
export const loadBinding = (): Binding => createRequire(import.meta.url)('rocksdb/binding.js') as Binding;
