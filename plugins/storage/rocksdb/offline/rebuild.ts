import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { StoreError } from '../../../../core/api/index.js';
import type { Batch } from '../../engine/records.js';
import { databaseFiles, numberOf } from '../files/files.js';
import { readRecords } from '../log/logFile.js';
import { readManifest } from '../files/manifest.js';
import { openRecords, type RocksDbRecords } from '../records.js';
import { readTable } from '../table.js';
import { type Write, writesIn } from '../writes.js';

/** Bytes of one batch. */
const BATCH_BYTES = 4 * 1024 * 1024;

/**
 * Creates a database in a new directory with the content of the files of another one, which is not opened: it may be
 * damaged, or have tables that the library cannot read. Keeps all keys in memory. Throws StoreError if anything is
 * damaged; with `salvage`, all readable tables are used, listed or not. The result is durable.
 */
export async function rebuildDatabase(from: string, to: string, { salvage = false } = {}): Promise<void> {
  await rm(to, { recursive: true, force: true });
  const records = await openRecords(to, { create: true });
  try {
    const rebuild = new Rebuild(records);
    const { tables, logs } = await contentsOf(from, salvage);
    for (const table of tables)
      for await (const writes of readTable(join(from, table), { salvage })) await rebuild.add(writes);
    for (const log of logs)
      for await (const record of readRecords(join(from, log))) await rebuild.add([...writesIn(record)]);
    await rebuild.finish();
  } finally {
    await records.close();
  }
}

/** The files of a database that have its contents. */
async function contentsOf(
  database: string,
  salvage: boolean,
): Promise<{ readonly tables: readonly string[]; readonly logs: readonly string[] }> {
  const files = await databaseFiles(database);
  if (salvage) return files;
  const manifest = files.manifest && (await readManifest(join(database, files.manifest)));
  if (!manifest) throw new StoreError(`the list of tables of ${database} cannot be read`);
  const tables = files.tables.filter(table => manifest.tables.has(numberOf(table)));
  if (tables.length < manifest.tables.size) throw new StoreError(`${database} has lost a table`);
  return { tables, logs: files.logs.filter(log => numberOf(log) >= manifest.firstLog) };
}

/** Writes to a database the content of others, in any order: the newest write to each key counts. */
class Rebuild {
  readonly #newest = new Map<string, number>();
  #batch: Batch;
  #bytes = 0;

  constructor(readonly records: RocksDbRecords) {
    this.#batch = records.batch();
  }

  async add(writes: readonly Write[]): Promise<void> {
    for (const { key, sequence, value } of writes) {
      const name = key.toString('latin1');
      if ((this.#newest.get(name) ?? -1) >= sequence) continue;
      this.#newest.set(name, sequence);
      if (value) this.#batch.put(key, value);
      else this.#batch.remove(key);
      this.#bytes += key.length + (value?.length ?? 0);
    }
    if (this.#bytes < BATCH_BYTES) return;
    await this.#batch.write(false);
    this.#batch = this.records.batch();
    this.#bytes = 0;
  }

  finish(): Promise<void> {
    return this.#batch.write(true);
  }
}
