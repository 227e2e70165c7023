import { EventEmitter } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Metadata, Server, ServerCredentials, status } from '@grpc/grpc-js';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import {
  Compacted,
  type Outcome,
  type Storage,
  type StoreEvent,
  type StoreOperation,
  Unavailable,
} from '../../core/api/index.js';
import plugin from '../../plugins/storage/etcd/index.js';
import { Connection } from '../../plugins/storage/etcd/connection.js';
import { Txn, Watch } from '../../plugins/storage/etcd/protocol.js';
import { EtcdStore } from '../../plugins/storage/etcd/store.js';
import { Encoding } from '../../plugins/storage/etcd/values.js';
import { PLAIN_VALUES } from '../../plugins/storage/values.js';
import { fetchCompactedRevision, watchOnce } from '../../plugins/storage/etcd/watch.js';
import { committed } from '../conformance/storage.js';
import { certificates, etcdWanted, startEtcd } from './etcd.js';
import { CuttingProxy } from './proxy.js';
import { partly } from '../support/values.js';

/** Resolves with the port that a server listens on. */
const listen = (server: Server): Promise<number> =>
  new Promise((resolve, reject) =>
    server.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), (error, bound) =>
      error ? reject(error) : resolve(bound),
    ),
  );

describe.skipIf(!etcdWanted)(
  'an etcd store with an interrupted connection (skipped without the program `etcd`)',
  () => {
    let etcd: Awaited<ReturnType<typeof startEtcd>>;
    let proxy: CuttingProxy;
    let near: Storage;
    let far: Storage;

    beforeAll(async () => {
      etcd = await startEtcd();
      proxy = new CuttingProxy(Number(new URL(etcd.url).port));
      const port = await proxy.listen();
      near = await new EtcdStore({ servers: [etcd.url], prefix: 'test' }).start();
      far = await new EtcdStore({ servers: [`http://127.0.0.1:${port}`], prefix: 'test' }).start();
    });
    afterAll(async () => {
      await Promise.all([near.close(), far.close()]);
      proxy.close();
      await etcd.stop();
    });

    it('resumes a watch without gaps or duplicates', async () => {
      const from = await near.revision();
      const end = new AbortController();
      const seen: number[] = [];
      const watching = far.watch(
        'w/',
        from,
        events => {
          const before = seen.length;
          seen.push(...events.map(event => event.revision));
          if (Math.floor(before / 150) < Math.floor(seen.length / 150)) proxy.cut();
          if (seen.length >= 600) end.abort();
        },
        end.signal,
      );
      for (let i = 0; i < 600; i++)
        await committed(near, { is: 'put', key: `w/${i % 10}`, value: Buffer.from(String(i)) });
      await watching;
      expect(seen).toEqual(Array.from({ length: 600 }, (_, i) => from + 1 + i));
    });

    /** Commits an operation whose answer is lost. `meanwhile` is called after it was applied. */
    async function withoutAnswer(operation: StoreOperation, meanwhile: () => Promise<unknown>): Promise<Outcome> {
      // If the proxy were muted before the connection is open, the request would never arrive.
      while (
        await far.check().then(
          () => false,
          () => true,
        )
      );
      const applied = new AbortController();
      const from = await near.revision();
      const applying = near.watch(operation.key, from, ({ length }) => length > 0 && applied.abort(), applied.signal);
      proxy.mute = true;
      const committing = far.commit([[operation]]);
      await applying;
      await meanwhile();
      proxy.cut();
      proxy.mute = false;
      return (await committing)[0]!;
    }
    const unknown = { is: 'error', error: expect.any(Unavailable) };

    it('finds a transaction that was committed although its answer was lost', async () => {
      const create = { is: 'put', key: 'x', value: Buffer.from('{"rv":""}'), gap: 7, expect: 0 } as const;
      const outcome = await withoutAnswer(create, async () => {});
      const stored = await near.get('x');
      expect(outcome).toMatchObject({ is: 'committed', revision: stored?.modified });
      const [event] = outcome.is === 'committed' ? outcome.events : [];
      expect(event).toMatchObject({ type: 'put', key: 'x', version: 1, created: stored?.created });
      expect(Buffer.from(event!.value!).toString()).toBe(`{"rv":"${stored?.modified}"}`);
    });

    it('creates nothing again that was created and deleted while the answer was lost', async () => {
      const create = { is: 'put', key: 'y', value: Buffer.from('{}'), expect: 0 } as const;
      const outcome = await withoutAnswer(create, () => committed(near, { is: 'delete', key: 'y' }));
      expect(outcome).toMatchObject(unknown);
      expect(await near.get('y')).toBeUndefined();
    });

    it('does not take a write for refused that many others have followed', async () => {
      const put = (value: number) => ({ is: 'put', key: 'z', value: Buffer.from(String(value)) }) as const;
      const first = await committed(near, put(0));
      const many = async (): Promise<void> => {
        for (let i = 2; i < 20; i++) await committed(near, put(i));
      };
      expect(await withoutAnswer({ ...put(1), expect: first }, many)).toMatchObject(unknown);
    });

    it('fails the writes of one key together while etcd is not available', async () => {
      proxy.part();
      const writes = Array.from({ length: 4 }, () =>
        far.commit([[{ is: 'put', key: 'busy', value: Buffer.from('{}'), expect: 0 }]]),
      );
      for (const [outcome] of await Promise.all(writes)) expect(outcome).toMatchObject(unknown);
      proxy.heal();
    });
  },
);

describe('a member of etcd that refuses a write which it may have committed before', () => {
  it('leaves the result unknown', async () => {
    const server = new Server();
    const answers = [
      { code: status.UNAVAILABLE, details: 'etcdserver: request timed out' },
      { code: status.RESOURCE_EXHAUSTED, details: 'etcdserver: too many requests' },
    ];
    const txn = {
      path: Txn.path,
      requestStream: false,
      responseStream: false,
      requestSerialize: Buffer.from,
      requestDeserialize: Buffer.from,
      responseSerialize: Buffer.from,
      responseDeserialize: Buffer.from,
    };
    server.addService({ txn }, { txn: (_call: unknown, answer: (error: object) => void) => answer(answers.shift()!) });
    const port = await listen(server);
    const store = new EtcdStore({ servers: [`http://127.0.0.1:${port}`], prefix: 'test' });
    const outcomes = await store.commit([[{ is: 'put', key: 'x', value: Buffer.from('{}'), expect: 5 }]]);
    expect(outcomes).toMatchObject([{ is: 'error', error: expect.any(Unavailable) }]);
    expect(answers).toEqual([]);
    await store.close();
    server.forceShutdown();
  });
});

describe('a member of etcd that compacts its history while a watch reads it', () => {
  const stored = Buffer.concat([Buffer.of(1), Buffer.alloc(20, 0xff), Buffer.from('{}')]);
  const at = (mod_revision: number, value: Buffer, create_revision = 5) => ({
    key: Buffer.from('test/x'),
    create_revision,
    mod_revision,
    version: 2,
    value,
  });
  const events = {
    'a change': { type: 0, kv: at(7, stored) },
    'a deletion': { type: 1, kv: at(7, Buffer.alloc(0), 0) },
  };
  const watched = (event: object, previous: boolean) => {
    const stream = Object.assign(new EventEmitter(), { write: () => true, cancel: () => {} });
    const connection = partly<Connection>({ watch: () => ({ stream: stream as never, token: new Metadata() }) });
    const delivered: StoreEvent[] = [];
    const done = watchOnce(
      connection,
      new Encoding('test', PLAIN_VALUES),
      { prefix: '', previous },
      6,
      new AbortController().signal,
      found => delivered.push(...found),
    );
    const response = { header: { revision: 9 }, created: false, canceled: false, compact_revision: 0 };
    stream.emit('data', { ...response, created: true, events: [] });
    stream.emit('data', { ...response, events: [event] });
    return { delivered, done };
  };

  it.each(Object.entries(events))(
    'delivers %s only with the version before it, if that is asked for',
    async (_, event) => {
      await expect(watched(event, true).done).rejects.toEqual(new Compacted(7));
      expect(watched(event, false).delivered).toMatchObject([{ key: 'x', revision: 7 }]);
      const complete = { ...event, prev_kv: at(5, stored) };
      expect(watched(complete, true).delivered).toMatchObject([{ key: 'x', previous: { modified: 5 } }]);
    },
  );
});

describe('a member of etcd that accepts watches and does not answer', () => {
  it('is abandoned, so that another member is used', async () => {
    const server = new Server();
    const bytes = { requestSerialize: Buffer.from, requestDeserialize: Buffer.from, responseSerialize: Buffer.from };
    const watch = {
      path: Watch.path,
      requestStream: true,
      responseStream: true,
      ...bytes,
      responseDeserialize: Buffer.from,
    };
    server.addService({ watch }, { watch: () => {} });
    const port = await listen(server);
    const connection = new Connection({ servers: [`http://127.0.0.1:${port}`], prefix: 'test' });
    const encoding = new Encoding('test', PLAIN_VALUES);
    const never = new AbortController().signal;
    await Promise.all([
      watchOnce(connection, encoding, { prefix: '', previous: false }, 1, never, () => {}),
      expect(fetchCompactedRevision(connection, encoding.keys)).rejects.toThrow(
        'no response to a watch request in time',
      ),
    ]);
    connection.close();
    server.forceShutdown();
  });
});

describe('the configuration of the etcd store', () => {
  it('reports which TLS file cannot be used', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'capstan-etcd-tls-'));
    onTestFinished(() => rm(directory, { recursive: true }));
    const { cafile, certfile, keyfile, tls } = await certificates(directory);
    const connect = (files: object) => () =>
      new Connection({ servers: ['https://127.0.0.1:1'], prefix: '/x', ...files }).close();
    expect(connect({ cafile, certfile, keyfile })).not.toThrow();
    expect(connect({ cafile: keyfile })).toThrow(`--etcd-cafile: ${keyfile} holds no PEM block CERTIFICATE`);
    expect(connect({ certfile, keyfile: certfile })).toThrow(/^--etcd-keyfile: .* holds no PEM block PRIVATE KEY/);
    expect(connect({ cafile: join(directory, 'none') })).toThrow(/^--etcd-cafile: .*none cannot be read: ENOENT/);
    expect(connect({ certfile, keyfile: tls.key })).toThrow(
      /^--etcd-certfile and --etcd-keyfile: the files cannot be used for TLS: /,
    );
  });

  it('reports errors with the path of the field', () => {
    expect(() => plugin.parse({})).toThrow(/^servers: /);
    expect(() => plugin.parse({ servers: ['localhost:2379'] })).toThrow(/^servers\[0\]: /);
    expect(() => plugin.parse({ servers: ['http://root:secret@localhost:2379'] })).toThrow(
      /^servers\[0\]: (?!.*secret)/,
    );
    expect(() => plugin.parse({ servers: ['http://localhost:2379'], certfile: 'c' })).toThrow(/^keyfile: /);
    expect(plugin.parse({ servers: ['http://localhost:2379'] })).toEqual({
      servers: ['http://localhost:2379'],
      prefix: '/registry',
    });
  });
});
