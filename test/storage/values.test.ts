import { createHash } from 'node:crypto';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, describe, expect, test } from 'vitest';
import {
  type Storage,
  StoreError,
  type StoreEvent,
  type StoreOperation,
  unreadableValue,
} from '../../core/api/index.js';
import { EtcdStore } from '../../plugins/storage/etcd/store.js';
import { MemoryRecords, openMemory } from '../../plugins/storage/memory.js';
import { recover } from '../../plugins/storage/rocksdb/offline/recover.js';
import { restoreRocksDb } from '../../plugins/storage/rocksdb/offline/restore.js';
import { openRocksDb } from '../../plugins/storage/rocksdb/open.js';
import { PLAIN_VALUES, type ValueCodec } from '../../plugins/storage/values.js';
import { committed, storageConformance } from '../conformance/storage.js';
import { etcdWanted, startEtcd } from './etcd.js';
import { flip } from './rocksdbFiles.js';

/* Values with a codec: each stored value is masked, longer than the original, and bound to its key. */

const digest = (key: string): Buffer => createHash('sha256').update(key).digest();
const MASKED = 0xaa;

const masking: ValueCodec = {
  encode: (key, record, header) =>
    Buffer.concat([
      record.subarray(0, header),
      digest(key),
      Buffer.from(record.subarray(header).map(byte => byte ^ MASKED)),
    ]),
  decode(key, record, header) {
    const seal = digest(key);
    const start = header + seal.length;
    if (!record.subarray(header, start).equals(seal)) throw new StoreError(`the value of ${key} is of another key`);
    return Buffer.from(record.subarray(start).map(byte => byte ^ MASKED));
  },
};

const folders: string[] = [];
async function newFolder(): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), 'capstan-values-'));
  folders.push(path);
  return path;
}
afterEach(async () => {
  for (const path of folders.splice(0)) await rm(path, { recursive: true, force: true });
});

storageConformance('memory, masked', async () => {
  const records = new MemoryRecords();
  return { open: () => openMemory({ records, values: masking }), dispose: async () => {} };
});
storageConformance('rocksdb, masked', async () => {
  const path = await mkdtemp(join(tmpdir(), 'capstan-values-'));
  return {
    open: () => openRocksDb({ path, historyMs: 3_600_000, values: masking }),
    dispose: () => rm(path, { recursive: true }),
  };
});
if (etcdWanted) {
  const etcd = await startEtcd();
  afterAll(() => etcd.stop());
  let stores = 0;
  storageConformance('etcd, masked', async () => {
    const prefix = `test-${stores++}`;
    const open = () => new EtcdStore({ servers: [etcd.url], prefix }, () => undefined, masking).start();
    return { open, dispose: async () => {} };
  });
}

const SECRET = 'the-secret-of-this-test';
/** An object whose revision is inserted into it. */
const put = (key: string, of: string): StoreOperation => {
  const value = Buffer.from(`{"v":"","secret":"${SECRET}-${of}"}`);
  return { is: 'put', key, value, gap: value.indexOf('""') + 1 };
};
const textOf = (value: Uint8Array | undefined): string => Buffer.from(value ?? []).toString();
const objectOf = (revision: number, of: string): string => `{"v":"${revision}","secret":"${SECRET}-${of}"}`;

/** All results of a store for the values of two keys, one of which is replaced. */
async function readAll(store: Storage): Promise<unknown> {
  const first = await committed(store, put('k/a', 'one'));
  const [outcome] = await store.commit([[put('k/a', 'two'), put('k/b', 'three')]]);
  if (outcome?.is !== 'committed') throw new Error('not committed');
  const second = outcome.revision;
  const [conflict] = await store.commit([[{ ...put('k/a', 'x'), expect: first }]]);
  const events: StoreEvent[] = [];
  const end = new AbortController();
  await store.watch(
    'k/',
    first - 1,
    more => {
      events.push(...more);
      if (events.length === 3) end.abort();
    },
    end.signal,
  );
  const { items } = await store.range('k/');
  return {
    committed: outcome.events.map(({ value }) => textOf(value)),
    conflict: conflict?.is === 'failed' && textOf(conflict.current?.value),
    events: events.map(({ value, previous }) => [textOf(value), textOf(previous?.value)]),
    items: items.map(({ value }) => textOf(value)),
    past: textOf((await store.get('k/a', first))?.value),
    expected: [first, second],
  };
}
const expectedOf = ([first, second]: readonly number[]) => ({
  committed: [objectOf(second!, 'two'), objectOf(second!, 'three')],
  conflict: objectOf(second!, 'two'),
  events: [
    [objectOf(first!, 'one'), ''],
    [objectOf(second!, 'two'), objectOf(first!, 'one')],
    [objectOf(second!, 'three'), ''],
  ],
  items: [objectOf(second!, 'two'), objectOf(second!, 'three')],
  past: objectOf(first!, 'one'),
});

/** The files in a folder that contain the secret. */
async function filesWithSecret(path: string): Promise<string[]> {
  const names = await readdir(path, { recursive: true, withFileTypes: true });
  const files = names.filter(entry => entry.isFile()).map(entry => join(entry.parentPath, entry.name));
  // An open store may remove files at any time.
  const read = (file: string): Promise<Buffer> => readFile(file).catch(() => Buffer.alloc(0));
  const contents = await Promise.all(files.map(async file => ({ file, bytes: await read(file) })));
  return contents.filter(({ bytes }) => bytes.includes(SECRET)).map(({ file }) => file);
}

describe('a codec', () => {
  test('gets all values of RocksDB, with their revision, and none is in its files', async () => {
    const path = await newFolder();
    const open = () => openRocksDb({ path, historyMs: 3_600_000, values: masking });
    const store = await open();
    const { expected, ...found } = (await readAll(store)) as { expected: number[] };
    expect(found).toEqual(expectedOf(expected));
    expect(await filesWithSecret(path)).toEqual([]);
    await store.close();
    expect(await filesWithSecret(path)).toEqual([]);
    const again = await open();
    expect(textOf((await again.get('k/b'))?.value)).toBe(objectOf(expected[1]!, 'three'));
    await again.close();
    // Without the codec, the values are found.
    const plain = await newFolder();
    const other = await openRocksDb({ path: plain, historyMs: 3_600_000 });
    await readAll(other);
    await other.close();
    expect(await filesWithSecret(plain)).not.toEqual([]);
  });

  test.runIf(etcdWanted)('gets all values of etcd, without their revision', async () => {
    const { url, stop } = await startEtcd();
    try {
      const config = { servers: [url], prefix: 'test' };
      const store = await new EtcdStore(config, () => undefined, masking).start();
      const { expected, ...found } = (await readAll(store)) as { expected: number[] };
      expect(found).toEqual(expectedOf(expected));
      await store.close();
      const plain = await new EtcdStore(config).start();
      expect(textOf((await plain.get('k/a'))?.value)).not.toContain(SECRET);
      await plain.close();
    } finally {
      await stop();
    }
  });

  test('gets the key: a value that it cannot decode is unreadable, and the others are readable', async () => {
    const records = new MemoryRecords();
    const store = await openMemory({ records });
    await committed(store, put('k/a', 'one'));
    await store.close();
    const masked = await openMemory({ records, values: masking });
    await committed(masked, put('k/b', 'two'));
    const unreadable = unreadableValue('the value of k/a is of another key');
    expect((await masked.get('k/a'))?.value).toEqual(Buffer.from(unreadable));
    const { items } = await masked.range('k/');
    expect(items.map(({ value }) => textOf(value))).toEqual([textOf(unreadable), objectOf(2, 'two')]);
  });

  test('encodes the values of a snapshot that is restored', async () => {
    const path = join(await newFolder(), 'restored');
    const object = { key: 'k/a', value: Buffer.from(SECRET), created: 1, modified: 2, version: 2 };
    await restoreRocksDb(path, { revision: 5, objects: [object] }, masking);
    expect(await filesWithSecret(path)).toEqual([]);
    const store = await openRocksDb({ path, historyMs: 3_600_000, values: masking });
    expect(textOf((await store.get('k/a'))?.value)).toBe(SECRET);
    await store.close();
  });

  test('is not needed for a recovery, after which the values can be decoded', async () => {
    const path = await newFolder();
    const open = () => openRocksDb({ path, historyMs: 3_600_000, values: masking });
    const store = await open();
    const { expected } = (await readAll(store)) as { expected: number[] };
    await store.close();
    const [manifest] = (await readdir(join(path, 'db'))).filter(name => name.startsWith('MANIFEST'));
    await flip(join(path, 'db', manifest!), 0.5);
    await expect(open()).rejects.toThrow(StoreError);
    await recover(path, { acceptLoss: true });
    const recovered = await open();
    expect(textOf((await recovered.get('k/a'))?.value)).toBe(objectOf(expected[1]!, 'two'));
    await recovered.close();
  });
});

test('plain values are stored unchanged, without a copy', () => {
  const record = Buffer.from('headvalue');
  expect(PLAIN_VALUES.encode('k', record, 4)).toBe(record);
  const value = PLAIN_VALUES.decode('k', record, 4);
  expect(textOf(value)).toBe('value');
  expect([value.buffer, value.byteOffset]).toEqual([record.buffer, record.byteOffset + 4]);
});
