import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client, credentials } from '@grpc/grpc-js';
import protobuf from 'protobufjs';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { Compacted, type StoreEvent, unreadableValue } from '../../core/api/index.js';
import { Compactor } from '../../plugins/storage/etcd/compactor.js';
import { Connection } from '../../plugins/storage/etcd/connection.js';
import { Put } from '../../plugins/storage/etcd/protocol.js';
import { EtcdStore } from '../../plugins/storage/etcd/store.js';
import { Keys } from '../../plugins/storage/etcd/values.js';
import { SharedHistory } from '../../workers/writer/sharedHistory.js';
import { SharedFeed } from '../../workers/writer/sharedFeed.js';
import { committed } from '../conformance/storage.js';
import { certificates, type Etcd, etcdWanted, startCluster, startEtcd } from './etcd.js';
import { CuttingProxy } from './proxy.js';

const put = (key: string, value: string, expect?: number) =>
  ({ is: 'put', key, value: Buffer.from(value), expect }) as const;
const open = (url: string, more: object = {}) => new EtcdStore({ servers: [url], prefix: '/test', ...more }).start();

/** Collects all events of a watch until `stop`. */
function watching(store: EtcdStore, from: number) {
  const end = new AbortController();
  const seen: StoreEvent[] = [];
  const waiting = new Set<() => void>();
  const done = store.watch(
    '',
    from,
    events => {
      seen.push(...events);
      for (const wake of waiting) wake();
    },
    end.signal,
  );
  const until = (holds: () => boolean) =>
    new Promise<void>(resolve => {
      const look = () => {
        if (!holds()) return;
        waiting.delete(look);
        resolve();
      };
      waiting.add(look);
      look();
    });
  return { seen, until, done, stop: () => end.abort() };
}

describe.skipIf(!etcdWanted)('an etcd that several servers share (skipped without the program `etcd`)', () => {
  let etcd: Etcd;
  beforeAll(async () => {
    etcd = await startEtcd();
  });
  afterAll(() => etcd.stop());

  it('commits as many operations at once as etcd accepts, and names its flag for more', async () => {
    const store = await open(etcd.url, { prefix: '/many' });
    const all = (count: number, value: string, expect?: number) =>
      Array.from({ length: count }, (_, i) => put(`k${i}`, value, expect));
    const first = await committed(store, ...all(100, 'one', 0));
    const [again] = await store.commit([[...all(99, 'two'), { is: 'delete', key: 'k99' }]]);
    const events = again?.is === 'committed' ? again.events : [];
    expect(events.map(({ type, created, version, replaced }) => [type, created, version, replaced])).toEqual([
      ...Array(99).fill(['put', first, 2, first]),
      ['delete', first, 1, first],
    ]);
    const [failed] = await store.commit([all(100, 'three', first)]);
    expect(failed).toMatchObject({ is: 'failed', index: 0 });
    const [refused] = await store.commit([all(129, 'four')]);
    const message = expect.stringContaining('--max-txn-ops=256');
    expect(refused).toMatchObject({ is: 'error', error: { message } });
    await store.close();
  });

  it('cannot read values of an unknown format, and refuses prefixes with other data', async () => {
    const connection = new Connection({ servers: [etcd.url], prefix: '/x' });
    const store = await open(etcd.url, { prefix: '/formats' });
    await connection.call(Put, { key: Buffer.from('/formats/later'), value: Buffer.from([2, ...Buffer.alloc(40)]) });
    const why = 'the value of "later" in etcd has format 2, this version reads format 1: run the version that wrote it';
    expect((await store.get('later'))?.value).toEqual(unreadableValue(why));
    await connection.call(Put, { key: Buffer.from('/formats/'), value: Buffer.from('{"format":7,"secret":""}') });
    await expect(open(etcd.url, { prefix: '/formats' })).rejects.toThrow(
      'has format 7, this version reads formats 1 and 2',
    );
    await connection.call(Put, { key: Buffer.from('/foreign/pods/a'), value: Buffer.from('k8s') });
    await expect(open(etcd.url, { prefix: '/foreign/' })).rejects.toThrow(
      /1 keys under \/foreign\/ that are not this server's: choose another --etcd-prefix/,
    );
    await store.close();
    connection.close();
  });

  it('has the same secret in every process, and for a prefix with and without a slash', async () => {
    const [a, b] = await Promise.all([open(etcd.url), open(etcd.url, { prefix: '/test/' })]);
    expect(Buffer.from(a.shared.secret).equals(b.shared.secret)).toBe(true);
    expect(a.shared.secret.length).toBe(32);
    await Promise.all([a.close(), b.close()]);
  });

  it('reports that it cannot be opened if no server listens', async () => {
    await expect(open('http://127.0.0.1:9')).rejects.toThrow(/^etcd at http:\/\/127\.0\.0\.1:9 does not answer: /);
  });

  it('is compacted by time, by only one of several processes', async () => {
    const connection = new Connection({ servers: [etcd.url], prefix: '/turns' });
    const compacted: number[] = [];
    const compactors = Array.from(
      { length: 3 },
      () => new Compactor(connection, new Keys('/turns'), 2 ** 30, async revision => void compacted.push(revision)),
    );
    for (let interval = 0; interval < 5; interval++) for (const compactor of compactors) await compactor.tryCompact();
    expect(compacted.length).toBeGreaterThanOrEqual(3);
    expect(compacted.length).toBeLessThanOrEqual(5);
    expect(compacted).toEqual([...new Set(compacted)].sort((a, b) => a - b));
    for (const compactor of compactors) compactor.close();
    connection.close();
  });

  it('marks a revision that every watch reaches, whatever other data is in etcd', async () => {
    const store = await open(etcd.url, { prefix: '/marks' });
    const foreign = new Connection({ servers: [etcd.url], prefix: '/x' });
    const delivered: number[] = [];
    const feed = new SharedFeed(
      store,
      (_events, revision) => void delivered.push(revision),
      error => {
        throw error;
      },
    );
    await feed.start();
    for (let i = 0; i < 3; i++) {
      await foreign.call(Put, { key: Buffer.from('/elsewhere'), value: Buffer.from(String(i)) });
      const before = await store.revision();
      await feed.sync();
      expect(feed.revision).toBeGreaterThanOrEqual(before);
    }
    expect(delivered).toEqual([...new Set(delivered)].sort((a, b) => a - b));
    feed.stop();
    foreign.close();
    await store.close();
  });

  it('replaces events that were lost in a compaction while disconnected: changes, creations, deletions, each once', async () => {
    const proxy = new CuttingProxy(Number(new URL(etcd.url).port));
    const near = await open(etcd.url, { prefix: '/lost' });
    const far = await open(`http://127.0.0.1:${await proxy.listen()}`, { prefix: '/lost' });
    const kept = await committed(near, put('kept', '1'));
    for (const key of ['changed', 'deleted', 'again']) await committed(near, put(key, '1'));
    const told: { key: string; value?: string; revision: number; floor?: number }[] = [];
    let summary: () => void = () => undefined;
    const resynced = new Promise<void>(resolve => {
      summary = resolve;
    });
    const feed = new SharedFeed(
      far,
      (events, _revision, floor) => {
        for (const { key, value, revision } of events)
          told.push({ key, value: value && Buffer.from(value).toString(), revision, floor });
        if (floor !== undefined) summary();
      },
      error => {
        throw error;
      },
    );
    await feed.start();
    feed.recordDelivered((await near.range('')).items);
    proxy.part();
    await committed(near, put('changed', '2'));
    const changed = await committed(near, put('changed', '3'));
    await committed(near, { is: 'delete', key: 'deleted' });
    await committed(near, { is: 'delete', key: 'again' });
    const again = await committed(near, put('again', '2'));
    const created = await committed(near, put('created', '1'));
    await near.compact(created);
    proxy.heal();
    await resynced;
    const floor = feed.revision;
    expect(told).toEqual([
      { key: 'changed', value: '3', revision: changed, floor },
      { key: 'again', value: undefined, revision: again - 1, floor },
      { key: 'again', value: '2', revision: again, floor },
      { key: 'created', value: '1', revision: created, floor },
      { key: 'deleted', value: undefined, revision: floor, floor },
    ]);
    expect(kept).toBeLessThan(floor);
    await expect(far.watch('', kept, () => {}, new AbortController().signal)).rejects.toThrow(Compacted);
    feed.stop();
    await Promise.all([near.close(), far.close()]);
    proxy.close();
  });

  it('serves history to many concurrent watches, and answers late ones with Compacted', async () => {
    const store = await open(etcd.url, { prefix: '/past' });
    const revisions: number[] = [];
    for (let i = 0; i < 20; i++) revisions.push(await committed(store, put(`${i % 2 ? 'odd' : 'even'}/k`, String(i))));
    await store.compact(revisions[4]!);
    const past = new SharedHistory(store);
    const last = revisions.at(-1)!;
    const asked = await Promise.allSettled([
      past.read({ prefix: 'odd/', from: revisions[9]!, to: last }),
      past.read({ prefix: 'even/', from: revisions[1]!, to: last }),
      past.read({ prefix: '', from: revisions[4]!, to: revisions[7]! }),
      past.read({ prefix: 'even/', from: last, to: last }),
      past.read({ prefix: 'even/', from: revisions[10]!, to: last }),
    ]);
    const seen = asked.map(one =>
      one.status === 'fulfilled' ? one.value.events.map(event => event.revision) : one.reason,
    );
    expect(seen).toEqual([
      [11, 13, 15, 17, 19].map(i => revisions[i]),
      expect.any(Compacted),
      [5, 6, 7].map(i => revisions[i]),
      [],
      [12, 14, 16, 18].map(i => revisions[i]),
    ]);
    await store.close();
  });

  it('applies conditional writes once although their answers are lost', async () => {
    const proxy = new CuttingProxy(Number(new URL(etcd.url).port));
    const near = await open(etcd.url, { prefix: '/once' });
    const far = await open(`http://127.0.0.1:${await proxy.listen()}`, { prefix: '/once' });
    let revision = await committed(near, put('counter', '0'));
    for (let i = 1; i <= 20; i++) {
      // Interrupted at every moment of the call: before it is sent, while it is in progress, and after it was
      // committed.
      const committing = far.commit([[put('counter', String(i), revision)]]);
      for (let turn = 0; turn < i; turn++) await new Promise(resolve => setImmediate(resolve));
      proxy.cut();
      const [outcome] = await committing;
      expect(outcome?.is).toBe('committed');
      if (outcome?.is === 'committed') revision = outcome.revision;
    }
    expect(await near.get('counter')).toMatchObject({ modified: revision, version: 21 });
    await Promise.all([near.close(), far.close()]);
    proxy.close();
  });

  it('follows a watch through a restart of etcd', async () => {
    const store = await open(etcd.url, { prefix: '/restart' });
    const from = await store.revision();
    const watch = watching(store, from);
    const revisions = [await committed(store, put('a', '0'))];
    await watch.until(() => watch.seen.length === 1);
    await etcd.kill();
    await expect(store.check()).rejects.toThrow();
    const during = committed(store, put('a', '1'));
    await etcd.start();
    revisions.push(await during);
    for (let i = 2; i < 10; i++) revisions.push(await committed(store, put('a', String(i))));
    await watch.until(() => watch.seen.length >= 10);
    expect(watch.seen.map(event => event.revision)).toEqual(revisions);
    watch.stop();
    await watch.done;
    await store.close();
  });
});

describe.skipIf(!etcdWanted)('a cluster of three etcds (skipped without the program `etcd`)', () => {
  let cluster: readonly Etcd[];
  beforeAll(async () => {
    cluster = await startCluster();
  });
  afterAll(() => Promise.all(cluster.map(etcd => etcd.stop())));

  it('is written and watched, each event once, while its members are killed one after the other', async () => {
    const store = await new EtcdStore({ servers: cluster.map(etcd => etcd.url), prefix: '/test' }).start();
    const watch = watching(store, await store.revision());
    const revisions: number[] = [];
    let last = 0;
    const write = async () => {
      const [outcome] = await store.commit([[put('a', String(revisions.length), last)]]);
      if (outcome?.is === 'error') return;
      expect(outcome?.is).toBe('committed');
      last = outcome?.is === 'committed' ? outcome.revision : 0;
      revisions.push(last);
    };
    for (const etcd of cluster) {
      for (let i = 0; i < 20; i++) await write();
      // One of the three is the leader, so the leader is killed as well.
      await etcd.kill();
      for (let i = 0; i < 20; i++) await write();
      await etcd.start();
    }
    await watch.until(() => watch.seen.at(-1)?.revision === last);
    expect(revisions.length).toBeGreaterThan(60);
    expect(watch.seen.map(event => event.revision)).toEqual(revisions);
    expect(await store.get('a')).toMatchObject({ version: revisions.length });
    watch.stop();
    await watch.done;
    await store.close();
  });
});

describe.skipIf(!etcdWanted)('an etcd with TLS and users (skipped without the program `etcd`)', () => {
  let directory: string;
  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'capstan-etcd-tls-'));
  });
  afterAll(() => rm(directory, { recursive: true }));

  it('accepts connections only with certificates', async () => {
    const { tls, cafile, certfile, keyfile } = await certificates(directory);
    const etcd = await startEtcd({ tls });
    onTestFinished(() => etcd.stop());
    const store = await open(etcd.url, { cafile, certfile, keyfile });
    await committed(store, put('a', '1'));
    const unknown = new Connection({ servers: [etcd.url], prefix: '/x', cafile });
    await expect(unknown.call(Put, { key: Buffer.from('a'), value: Buffer.from('') })).rejects.toThrow();
    unknown.close();
    await store.close();
  });

  it('is used as a user, with a new token when the old one becomes invalid', async () => {
    const etcd = await startEtcd();
    onTestFinished(() => etcd.stop());
    await createUsers(etcd.url);
    const passwordFile = join(directory, 'password');
    await writeFile(passwordFile, 'secret\n');
    const store = await open(etcd.url, { user: 'root', passwordFile });
    const from = await store.revision();
    const watch = watching(store, from);
    const revisions = [await committed(store, put('a', '1'))];
    // This invalidates the tokens of etcd.
    await etcd.kill();
    await etcd.start();
    revisions.push(await committed(store, put('a', '2')), await committed(store, put('a', '3')));
    await watch.until(() => watch.seen.length >= 3);
    expect(watch.seen.map(event => event.revision)).toEqual(revisions);
    watch.stop();
    await writeFile(passwordFile, 'wrong');
    await expect(open(etcd.url, { user: 'root', passwordFile })).rejects.toThrow(/authentication failed/);
    await store.close();
  });
});

/** Creates the user `root` and enables authentication. */
async function createUsers(url: string): Promise<void> {
  const { root } = protobuf.parse(
    `syntax = "proto3";
    message UserAdd { string name = 1; string password = 2; }
    message RoleAdd { string name = 1; }
    message Grant { string user = 1; string role = 2; }
    message Empty {}`,
  );
  const client = new Client(new URL(url).host, credentials.createInsecure());
  const call = (path: string, type: string, message: object) =>
    new Promise<void>((resolve, reject) => {
      const encode = () => Buffer.from(root.lookupType(type).encode(message).finish());
      client.makeUnaryRequest(
        `/etcdserverpb.Auth/${path}`,
        encode,
        bytes => bytes,
        {},
        error => (error ? reject(error) : resolve()),
      );
    });
  await call('UserAdd', 'UserAdd', { name: 'root', password: 'secret' });
  await call('RoleAdd', 'RoleAdd', { name: 'root' });
  await call('UserGrantRole', 'Grant', { user: 'root', role: 'root' });
  await call('AuthEnable', 'Empty', {});
  client.close();
}
