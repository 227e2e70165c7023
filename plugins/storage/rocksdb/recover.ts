import { randomUUID } from 'node:crypto';
import { mkdir } from 'node:fs/promises';
import { StoreError } from '../../../core/api/index.js';
import {
  decodeChange,
  decodeIndex,
  eventKey,
  FORMAT,
  metaKey,
  readRevision,
  type Records,
  valueKey,
  writeRevision,
} from '../engine/records.js';
import { readMark, writeMark } from './high-water.js';
import { databasePath } from './open.js';
import { openRecords, repairRecords } from './records.js';

/** What a recovery found and did. */
export interface Recovery {
  /** The revision the store goes on from: above every one it ever gave out, as far as is known. */
  readonly revision: number;
  /** Revisions whose changes are gone, first and last. */
  readonly missing: readonly { readonly from: number; readonly to: number }[];
  /** Keys whose objects could not be read and were removed. */
  readonly dropped: readonly string[];
  readonly objects: number;
}

/**
 * Makes a damaged store usable: accepts what is there, removes objects without a value, gives up all history (so that every watch lists again), and
 * goes on above the high-water mark. The directory should be copied first; nothing that is missing comes back.
 */
export async function recover(path: string): Promise<Recovery> {
  await mkdir(path, { recursive: true });
  const mark = await readMark(path).catch(() => undefined);
  const records = await openRepaired(databasePath(path));
  try {
    const history = await scanHistory(records, mark?.revision ?? 0);
    const { dropped, objects, newest } = await dropValueless(records);
    const revision = Math.max(history.revision, newest);
    const store = await writeMeta(records, revision);
    await writeMark(path, { store, revision });
    return { revision, missing: history.missing, dropped, objects };
  } finally {
    await records.close();
  }
}

async function openRepaired(path: string) {
  try {
    return await openRecords(path, false);
  } catch (error) {
    if (error instanceof StoreError && /in use by another process/.test(error.message)) throw error;
    await mkdir(path, { recursive: true });
    await repairRecords(path);
    return openRecords(path);
  }
}

async function scanHistory(records: Records, mark: number) {
  const [row] = await records.getMany([metaKey('compacted')]);
  let revision = row ? readRevision(row, 0) : 0;
  const missing: { from: number; to: number }[] = [];
  for await (const rows of records.scan(eventKey(0), eventKey(Number.MAX_SAFE_INTEGER))) {
    for (const one of rows) {
      const change = decodeChange(one);
      if (change.revision > revision + 1) missing.push({ from: revision + 1, to: change.revision - 1 });
      revision = Math.max(revision, change.revision);
    }
  }
  if (mark > revision) missing.push({ from: revision + 1, to: mark });
  return { revision: Math.max(revision, mark), missing };
}

/** Objects in the index whose value is gone cannot be served. */
async function dropValueless(records: Records) {
  const dropped: string[] = [];
  let objects = 0;
  let newest = 0;
  for await (const rows of records.scan(Buffer.from('i/'), Buffer.from('i0'))) {
    const entries = rows.map(({ key, value }) => ({ row: key, key: key.toString('utf8', 2), ...decodeIndex(value) }));
    const values = await records.getMany(entries.map(({ key, modified }) => valueKey(key, modified)));
    const batch = records.batch();
    for (const [i, { row, key, modified }] of entries.entries()) {
      newest = Math.max(newest, modified);
      if (values[i]) {
        objects++;
        continue;
      }
      dropped.push(key);
      batch.remove(row);
    }
    await batch.write(false);
  }
  return { dropped, objects, newest };
}

/** Marks all history as compacted; the next open removes it. */
async function writeMeta(records: Records, revision: number): Promise<string> {
  const [id] = await records.getMany([metaKey('id')]);
  const store = id?.toString() || randomUUID();
  const compacted = Buffer.alloc(8);
  writeRevision(compacted, revision, 0);
  const batch = records.batch();
  batch.put(metaKey('format'), Buffer.from(String(FORMAT)));
  batch.put(metaKey('id'), Buffer.from(store));
  batch.put(metaKey('compacted'), compacted);
  await batch.write(true);
  return store;
}
