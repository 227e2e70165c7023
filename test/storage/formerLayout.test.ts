import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it, onTestFinished } from 'vitest';
import { snapshotCommand } from '../../core/command/subcommands/snapshot.js';
import { currentKey, inCurrentLayout, sharedDefinitions } from '../../core/schema/storageLayout.js';
import { builtInStorageNames } from '../../core/schema/table/storageNames.js';
import { checkRocksDb } from '../../plugins/storage/rocksdb/offline/check.js';
import { metaKey } from '../../plugins/storage/engine/records.js';
import { openRocksDb } from '../../plugins/storage/rocksdb/open.js';
import { recover } from '../../plugins/storage/rocksdb/offline/recover.js';
import { openRecords } from '../../plugins/storage/rocksdb/records.js';
import { EtcdStore } from '../../plugins/storage/etcd/store.js';
import { Connection } from '../../plugins/storage/etcd/connection.js';
import { Put } from '../../plugins/storage/etcd/protocol.js';
import { etcdWanted, startEtcd } from './etcd.js';
import { formerDirectory, formerSnapshot, writeFormerStore } from './formerLayout/index.js';

const run = promisify(execFile);
const ORDERS = 'custom:tea.example.com/orders';
const REVISION = 230;
const KILLED = new URL('./formerLayout/killedMove.mjs', import.meta.url).pathname;
const MODULES = new URL('../../dist/plugins/storage/rocksdb', import.meta.url).href;

async function directoryFor(directory: Promise<string>): Promise<string> {
  const made = await directory;
  onTestFinished(() => rm(made, { recursive: true, force: true }));
  return made;
}
const emptyDirectory = () => directoryFor(mkdtemp(join(tmpdir(), 'capstan-layout-')));
const open = (path: string, notice?: (message: string) => void) =>
  openRocksDb({ path, historyMs: 3_600_000, ...(notice ? { notice } : {}) });

/** True if a key is in the layout of this release: a key of a built-in kind, of a custom kind, or of their claims. */
function isCurrent(key: string): boolean {
  const [group = '', plural = ''] = key.split('/');
  const name = group === 'claims' ? plural.replace(/\.(?=[^.]*$)/, '/') : `${group}/${plural}`;
  return name.startsWith('custom:') || builtInStorageNames().has(name);
}

describe('keys of the former layout', () => {
  it.each([
    ['tea.example.com/orders/default/a', 'custom:tea.example.com/orders/default/a'],
    ['tea.example.com/houses/a', 'custom:tea.example.com/houses/a'],
    ['rbac.authorization.k8s.io/roles/default/a', 'custom:rbac.authorization.k8s.io/roles/default/a'],
    ['apps.orchestrator.io/deployments/default/a', 'custom:apps.orchestrator.io/deployments/default/a'],
    ['claims/tea.example.com.orders/t1', 'claims/custom:tea.example.com.orders/t1'],
    ['core/pods/default/a', 'core/pods/default/a'],
    ['rbac.authorization.orchestrator.io/roles/default/a', 'rbac.authorization.orchestrator.io/roles/default/a'],
    ['claims/core.services/10.0.0.1', 'claims/core.services/10.0.0.1'],
  ])('%s becomes %s, and then remains the same', (before, after) => {
    expect(currentKey(before)).toBe(after);
    expect(currentKey(after)).toBe(after);
  });

  it('claims name the current key of their holder', () => {
    const value = Buffer.from('{"kind":"Claim","metadata":{"name":"t1"},"holder":"tea.example.com/orders/default/a"}');
    const stored = { key: 'claims/tea.example.com.orders/t1', value, created: 1, modified: 2, version: 3 };
    const moved = inCurrentLayout(stored);
    expect(moved).toMatchObject({ created: 1, modified: 2, version: 3 });
    expect(JSON.parse(Buffer.from(moved.value).toString())).toMatchObject({
      holder: 'custom:tea.example.com/orders/default/a',
      metadata: { name: 't1' },
    });
  });

  it('names the definitions whose objects had the keys of built-in kinds', () => {
    const definition = (name: string) => `apiextensions.orchestrator.io/customresourcedefinitions/${name}`;
    const shared = [...builtInStorageNames()].map(name => name.split('/').reverse().join('.'));
    expect(sharedDefinitions([...shared, 'orders.tea.example.com'].map(definition))).toEqual(shared);
  });
});

describe('a store that an earlier release has written', () => {
  it('gets the current layout with its revisions and its history, and has a format that the earlier release refuses', async () => {
    const path = join(await directoryFor(formerDirectory()), 'store');
    const notices: string[] = [];
    const store = await open(path, notice => void notices.push(notice));
    const orders = await store.range(`${ORDERS}/`);
    expect(orders.items.map(({ key, created, modified, version }) => [key, created, modified, version])).toEqual([
      [`${ORDERS}/default/first`, 223, 226, 2],
      [`${ORDERS}/default/second`, 224, 224, 1],
    ]);
    expect(orders.revision).toBe(REVISION);
    expect((await store.range(`${ORDERS}/`, { revision: 225 })).items.map(({ modified }) => modified)).toEqual([
      223, 225, 224,
    ]);
    expect((await store.range('')).items.filter(({ key }) => !isCurrent(key))).toEqual([]);
    expect((await store.range('tea.example.com/')).items).toEqual([]);
    expect((await store.range('claims/custom:cafe.example.com.reservations/')).items).toHaveLength(1);
    expect(notices).toEqual([
      expect.stringContaining('validatingadmissionpolicies.admissionregistration.orchestrator.io'),
    ]);
    const events: string[] = [];
    const end = new AbortController();
    await store.watch(
      `${ORDERS}/`,
      222,
      (found, revision) => {
        for (const { type, key, revision } of found) events.push(`${revision} ${type} ${key.slice(ORDERS.length + 9)}`);
        if (revision >= REVISION) end.abort();
      },
      end.signal,
    );
    expect(events).toEqual(['223 put first', '224 put second', '225 put gone', '226 put first', '230 delete gone']);
    await store.close();
    expect(await checkRocksDb(path)).toMatchObject({ problems: [], rows: { format: '4' } });
  });

  it('that was killed at any point of the change is complete after the next start', async () => {
    const directory = await emptyDirectory();
    const value = (i: number) => JSON.stringify({ n: i, text: 'x'.repeat(4000) });
    const objects = Array.from(
      { length: 1100 },
      (_, i) => [`tea.example.com/orders/ns-${i % 7}/${String(i).padStart(5, '0')}`, value(i)] as const,
    );
    await writeFormerStore(join(directory, 'former'), [...objects, ['core/configmaps/default/a', '{}']]);
    let killed = 0;
    for (let batches = 0; ; batches++) {
      const path = join(directory, `store-${batches}`);
      await run('cp', ['-r', join(directory, 'former'), path]);
      const [outcome] = await Promise.allSettled([run(process.execPath, [KILLED, MODULES, path, String(batches)])]);
      if (outcome.status === 'fulfilled') break;
      expect(outcome.reason).toMatchObject({ signal: 'SIGKILL' });
      killed++;
      const store = await open(path);
      const { items, revision } = await store.range('');
      expect([items.length, revision]).toEqual([1101, 1101]);
      expect(items.filter(({ key }) => !isCurrent(key))).toEqual([]);
      const found = new Map(items.map(item => [item.key, item]));
      for (const [i, [key, text]] of objects.entries()) {
        const { value: stored, modified } = found.get(`custom:${key}`)!;
        if (Buffer.from(stored).toString() !== text || modified !== i + 1) throw new Error(`${key} is another object`);
      }
      await store.close();
      expect((await checkRocksDb(path)).problems).toEqual([]);
      await rm(path, { recursive: true });
    }
    // The beginning, three batches of values, index, events, the end, and the writes of the start after it.
    expect(killed).toBeGreaterThanOrEqual(8);
  });

  it('is refused by offline commands in the middle of the change, with the hint that a start completes it', async () => {
    const path = join(await directoryFor(formerDirectory()), 'store');
    await (await open(path)).close();
    const records = await openRecords(join(path, 'db'), { create: true });
    const batch = records.batch();
    batch.put(metaKey('moving'), Buffer.from('custom kinds'));
    await batch.write(true);
    await records.close();
    expect((await checkRocksDb(path)).problems[0]).toMatch(/start the server, which completes it/);
    await expect(recover(path, { acceptLoss: true })).rejects.toThrow(/start the server, which completes it/);
    await (await open(path)).close();
    expect((await checkRocksDb(path)).problems).toEqual([]);
  });

  it('also gets the current layout in a recovery', async () => {
    const path = join(await emptyDirectory(), 'store');
    await writeFormerStore(path, [['tea.example.com/orders/default/a', '{"a":1}']]);
    await rm(join(path, 'high-water'));
    await recover(path, { acceptLoss: true });
    const store = await open(path);
    expect((await store.range('')).items.map(({ key }) => key)).toEqual([`${ORDERS}/default/a`]);
    await store.close();
  });
});

it('a snapshot of an earlier release is restored in the current layout', async () => {
  const directory = await emptyDirectory();
  const lines: string[] = [];
  const io = { out: (line: string) => void lines.push(line), err: (line: string) => void lines.push(line) };
  await snapshotCommand(['restore', await formerSnapshot(), `--data-dir=${directory}/new`], io as never);
  const store = await open(join(directory, 'new', 'store'));
  const { items } = await store.range(`${ORDERS}/`);
  expect(items.map(({ key, modified }) => [key, modified])).toEqual([
    [`${ORDERS}/default/first`, 226],
    [`${ORDERS}/default/second`, 224],
  ]);
  expect((await store.range('')).items.filter(({ key }) => !isCurrent(key))).toEqual([]);
  expect(lines.join('\n')).toContain('validatingadmissionpolicies.admissionregistration.orchestrator.io');
  await store.close();
});

describe.skipIf(!etcdWanted)('a store in etcd that an earlier release has written', () => {
  const NAMES = ['a', 'b', 'c'];
  const LEASE = 'coordination.orchestrator.io/leases/kube-system/capstan-controllers';

  /** A store of format 1 with orders, a config map and the Lease of the controllers. */
  async function write(url: string, holder: string) {
    const store = await new EtcdStore({ servers: [url], prefix: '/former' }).start();
    const put = (key: string, value: object, gap?: number) =>
      store.commit([[{ is: 'put', key, value: Buffer.from(JSON.stringify(value)), ...(gap ? { gap } : {}) }]]);
    for (const name of NAMES)
      await put(`tea.example.com/orders/default/${name}`, { resourceVersion: '', name }, '{"resourceVersion":"'.length);
    await put('core/configmaps/default/a', {});
    await put(LEASE, { spec: { holderIdentity: holder } });
    const connection = new Connection({ servers: [url], prefix: '/former' });
    const secret = Buffer.from(store.shared.secret).toString('base64');
    await connection.call(Put, {
      key: Buffer.from('/former/'),
      value: Buffer.from(JSON.stringify({ format: 1, secret })),
    });
    return { store, connection, secret, put };
  }

  it('gets the current layout at the start, by several servers at once, with a compacted history', async () => {
    const etcd = await startEtcd();
    onTestFinished(() => etcd.stop());
    const { store, connection, secret } = await write(etcd.url, '');
    const before = await store.revision();
    await store.close();
    const servers = await Promise.all(
      [1, 2, 3].map(() => new EtcdStore({ servers: [etcd.url], prefix: '/former' }).start()),
    );
    for (const server of servers) {
      const { items } = await server.range('');
      expect(items.map(({ key }) => key)).toEqual(
        [LEASE, 'core/configmaps/default/a', ...NAMES.map(name => `${ORDERS}/default/${name}`)].sort(),
      );
      for (const { key, value, modified } of items.filter(item => item.key.startsWith(ORDERS)))
        expect([key, JSON.parse(Buffer.from(value).toString())]).toEqual([
          key,
          { resourceVersion: String(modified), name: key.at(-1) },
        ]);
      expect(Buffer.from(server.shared.secret).toString('base64')).toBe(secret);
      expect(server.compactedRevision()).toBeGreaterThan(before);
      await server.close();
    }
    connection.close();
  });

  it('has a compacted history after a start, also if another server has moved all keys and then ended', async () => {
    const etcd = await startEtcd();
    onTestFinished(() => etcd.stop());
    const { store, connection, secret, put } = await write(etcd.url, '');
    await store.commit(NAMES.map(name => [{ is: 'delete', key: `tea.example.com/orders/default/${name}` }]));
    await put(`${ORDERS}/default/a`, {});
    const before = await store.revision();
    await store.close();
    await connection.call(Put, {
      key: Buffer.from('/former/'),
      value: Buffer.from(JSON.stringify({ format: 2, moving: true, secret })),
    });
    const server = await new EtcdStore({ servers: [etcd.url], prefix: '/former' }).start();
    expect(server.compactedRevision()).toBeGreaterThan(before);
    expect((await server.range(`${ORDERS}/`)).items).toHaveLength(1);
    await server.close();
    connection.close();
  });

  it('is refused while a server of the earlier release renews its Lease, and is not changed', async () => {
    const etcd = await startEtcd();
    onTestFinished(() => etcd.stop());
    const { store, connection, put } = await write(etcd.url, 'another');
    let isRunning = true;
    const renewing = (async () => {
      while (isRunning) {
        await put(LEASE, { spec: { holderIdentity: 'another' } });
        await new Promise(resolve => setTimeout(resolve, 100));
      }
    })();
    await expect(new EtcdStore({ servers: [etcd.url], prefix: '/former' }).start()).rejects.toThrow(
      'a server of an earlier release uses the store under /former in etcd',
    );
    isRunning = false;
    await renewing;
    expect((await store.range('tea.example.com/')).items).toHaveLength(NAMES.length);
    await store.close();
    connection.close();
  });
});
