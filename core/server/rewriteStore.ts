import { resolve } from 'node:path';
import { ConfigError } from '../api/point.js';
import { type Outcome, type Storage, type Stored, StoreError, type Transaction } from '../api/storage.js';
import type { Log } from '../api/host.js';
import { stringAt, recordAt } from '../model/record.js';
import { namingOf } from '../naming.js';
import { decodeStored, withoutRevision } from '../plugin/informers/stored.js';
import { systemTime } from '../runtime/clock.js';
import { readValues } from '../services/encryption/index.js';
import type { EncryptedValues } from '../services/encryption/values.js';
import type { Settings } from '../settings/settings.js';
import { isReadable, reasonOf, type UnreadableObject } from '../threads/entries/unreadable.js';
import { etcdConfig } from './etcd.js';

/** The number of objects that are read at once, and written at once. */
const PAGE = 500;
/**
 * The largest number of passes over the store: servers that still write with another key may add objects to rewrite.
 */
const PASSES = 10;
const FLAG = '--encryption-provider-config';

/** The result of a rewrite. */
export interface Rewritten {
  readonly objects: number;
  readonly rewritten: number;
  /** Objects that cannot be read, and stay as they are. */
  readonly unreadable: readonly UnreadableObject[];
}

/** Decodes values, and records the keys of those that are not stored as a new write would store them. */
class NotingValues {
  readonly stale = new Set<string>();

  constructor(readonly values: EncryptedValues) {}

  encode(key: string, record: Buffer, header: number): Buffer {
    return this.values.encode(key, record, header);
  }

  decode(key: string, record: Buffer, header: number): Uint8Array {
    if (!this.values.isCurrent(key, record, header)) this.stale.add(key);
    return this.values.decode(key, record, header);
  }

  prepare(...parameters: Parameters<EncryptedValues['prepare']>): Promise<unknown> | undefined {
    return this.values.prepare(...parameters);
  }
}

/** Opens the store of the settings. Throws StoreError if a server has it open, unless servers can share it. */
async function openStore(settings: Settings, values: NotingValues): Promise<Storage> {
  if (settings.storage === 'etcd') {
    const { default: plugin } = await import('../../plugins/storage/etcd/index.js');
    const { EtcdStore } = await import('../../plugins/storage/etcd/store.js');
    const config = plugin.parse({ ...etcdConfig(settings), compactionInterval: 0 });
    return await new EtcdStore(config, undefined, values).start();
  }
  const { requireStore } = await import('../../plugins/storage/rocksdb/offline/check.js');
  const { openRocksDb } = await import('../../plugins/storage/rocksdb/open.js');
  const path = resolve(settings.dataDir, 'store');
  await requireStore(path);
  return await openRocksDb({ path, historyMs: settings.historyRetention, now: systemTime, values });
}

/** A write of an unchanged object. The store inserts the new revision as its resource version. */
function rewriteOf({ key, value, modified }: Stored): Transaction {
  const metadata = recordAt(decodeStored(value), 'metadata');
  // Objects that the API does not serve have no resource version.
  const hasVersion = stringAt(metadata, 'resourceVersion') !== '';
  return [{ is: 'put', key, expect: modified, ...(hasVersion ? withoutRevision(value) : { value }) }];
}

/** Whether a write was committed, and not preceded by another one. Throws the error of the outcome. */
function isCommitted(outcome: Outcome): boolean {
  if (outcome.is === 'error') throw outcome.error;
  return outcome.is === 'committed';
}

/** Rewrites the stale objects of a store. Another server may change them meanwhile. */
async function rewriteAll(
  store: Storage,
  values: NotingValues,
  report: (rewritten: number) => void,
): Promise<Rewritten> {
  let rewritten = 0;
  for (let pass = 1; ; pass++) {
    const unreadable: UnreadableObject[] = [];
    let objects = 0;
    let found = 0;
    for (let after: string | undefined; ; ) {
      values.stale.clear();
      const { items, more } = await store.range('', { limit: PAGE, after, counted: false });
      objects += items.length;
      for (const { key, value } of items) if (!isReadable(value)) unreadable.push({ key, reason: reasonOf(value) });
      const stale = items.filter(({ key, value }) => values.stale.has(key) && isReadable(value));
      found += stale.length;
      const outcomes = await store.commit(stale.map(rewriteOf));
      rewritten += outcomes.filter(isCommitted).length;
      if (stale.length > 0) report(rewritten);
      if (!more) break;
      after = items.at(-1)!.key;
    }
    if (found === 0) return { objects, rewritten, unreadable };
    if (pass >= PASSES)
      throw new StoreError('servers still write with another key: give all of them the file, and run this again');
  }
}

/**
 * Rewrites each object of a store that is not stored as the encryption file says: one that is encrypted with a key
 * other than the first one of its resource, or in clear text. May be interrupted at any time and run again. `report` is
 * called with the number of objects that were rewritten. Throws ConfigError and StoreError.
 */
export async function rewriteStore(
  settings: Settings,
  log: Log,
  report: (rewritten: number) => void,
): Promise<Rewritten> {
  const { encryptionProviderConfig: file, storage } = settings;
  if (file === undefined) throw new ConfigError(FLAG, 'must name the encryption file of the server');
  if (storage === 'memory') throw new ConfigError('--storage-backend', 'must be rocksdb or etcd: memory keeps nothing');
  const opened = await readValues(file, {
    log,
    naming: namingOf(settings.naming),
    observe: () => undefined,
  });
  try {
    const values = new NotingValues(opened.values);
    const store = await openStore(settings, values);
    try {
      const result = await rewriteAll(store, values, report);
      // The history still contains the old values. That of etcd belongs to all its clients, and is compacted by
      // servers.
      if (!store.shared) await store.compact(await store.revision());
      return result;
    } finally {
      await store.close();
    }
  } finally {
    opened.close();
  }
}
