import { join } from 'node:path';
import { writeJson } from '../../core/model/text/jsonText.js';
import { restoreRocksDb } from '../../plugins/storage/rocksdb/offline/restore.js';

/** Writes a store with objects by key into a new data directory, as if an earlier run of a server had stored them. */
export async function writeStore(
  dataDir: string,
  objects: readonly (readonly [key: string, object: object])[],
): Promise<void> {
  const sorted = [...objects].sort(([a], [b]) => (a < b ? -1 : 1));
  await restoreRocksDb(join(dataDir, 'store'), {
    revision: 1,
    objects: sorted.map(([key, object]) => ({
      key,
      value: Buffer.from(writeJson(object as never)),
      created: 1,
      modified: 1,
      version: 1,
    })),
  });
}
