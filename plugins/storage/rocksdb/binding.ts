import { createRequire } from 'node:module';

/** An opaque handle of the native library. */
export type Handle = { readonly native: unique symbol };
type Done = (error: Error | null) => void;

/**
 * What is used of the native part of the `rocksdb` package: its functions, without the layers above, which cost more
 * than a small write.
 */
export interface Binding {
  db_init(): Handle;
  db_open(database: Handle, path: string, options: object, done: Done): void;
  db_get_property(database: Handle, name: string): string;
  repair_db(path: string, done: Done): void;
  db_close(database: Handle, done: Done): void;
  db_get_many(
    database: Handle,
    keys: readonly Buffer[],
    options: object,
    done: (error: Error | null, values: (Buffer | undefined)[]) => void,
  ): void;
  batch_init(database: Handle): Handle;
  batch_put(batch: Handle, key: Buffer, value: Buffer): void;
  batch_del(batch: Handle, key: Buffer): void;
  batch_write(batch: Handle, options: { readonly sync: boolean }, done: Done): void;
  iterator_init(database: Handle, options: object): Handle;
  /** Keys and values alternate, in reverse order: the last element is the first key. */
  iterator_next(iterator: Handle, done: (error: Error | null, rows: Buffer[], finished: boolean) => void): void;
  iterator_end(iterator: Handle, done: Done): void;
}

/**
 * Loads the native library. In a process with several threads load it in the main thread first: it fails to load first
 * in a second one.
 */
export const loadBinding = (): Binding => createRequire(import.meta.url)('rocksdb/binding.js') as Binding;
