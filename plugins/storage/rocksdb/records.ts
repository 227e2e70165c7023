import { StoreError } from '../../../core/api/index.js';
import type { Batch, Records, Row } from '../engine/records.js';
import { type Binding, type Handle, loadBinding } from './binding.js';

/** Sizes for objects of kilobytes: fewer, larger files; index and event records stay in the block cache. */
const OPTIONS = {
  createIfMissing: true,
  compression: true,
  writeBufferSize: 64 * 1024 * 1024,
  cacheSize: 64 * 1024 * 1024,
  blockSize: 16 * 1024,
  maxOpenFiles: 1000,
};
/** Bytes a scan fetches at once. */
const SCAN_BYTES = 256 * 1024;

/** Opens (and with `create` makes) the database in a directory. Throws StoreError if another process has it. */
export async function openRecords(path: string, create = true): Promise<RocksRecords> {
  const binding = loadBinding();
  const database = binding.db_init();
  try {
    await done(callback => binding.db_open(database, path, { ...OPTIONS, createIfMissing: create }, callback));
  } catch (error) {
    throw openingError(path, error as Error);
  }
  return new RocksRecords(binding, database);
}

/** Makes what can be read of a damaged database openable again; what cannot is lost. */
export async function repairRecords(path: string): Promise<void> {
  await done(callback => loadBinding().repair_db(path, callback));
}

function openingError(path: string, error: Error): StoreError {
  const { message } = error;
  if (/lock/i.test(message) && !/corrupt/i.test(message))
    return new StoreError(`${path} is in use by another process`, { cause: error });
  if (/does not exist/.test(message)) return new StoreError(`${path} holds no store: ${message}`, { cause: error });
  return new StoreError(`${path} cannot be opened: ${message}; restore a backup, or run \`capstan store recover\``, {
    cause: error,
  });
}

/** The records of the engine in RocksDB. */
export class RocksRecords implements Records {
  constructor(
    readonly binding: Binding,
    readonly database: Handle,
  ) {}

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
      this.binding.db_get_many(this.database, keys, {}, (error, values) => (error ? reject(error) : resolve(values)));
    });
  }

  async *scan(from: Buffer, to: Buffer): AsyncIterable<readonly Row[]> {
    const { binding } = this;
    const iterator = binding.iterator_init(this.database, { gte: from, lt: to, highWaterMark: SCAN_BYTES });
    try {
      for (let finished = false; !finished; ) {
        const rows: Row[] = [];
        finished = await new Promise<boolean>((resolve, reject) => {
          binding.iterator_next(iterator, (error, cells, last) => {
            if (error) return reject(error);
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
  new Promise((resolve, reject) => call(error => (error ? reject(error) : resolve())));
