import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openRocksDb } from '../../../plugins/storage/rocksdb/open.js';
import { storageConformance } from '../storage.js';

storageConformance('rocksdb', async () => {
  const path = await mkdtemp(join(tmpdir(), 'capstan-store-'));
  return { open: () => openRocksDb({ path, historyMs: 3_600_000 }), dispose: () => rm(path, { recursive: true }) };
});
