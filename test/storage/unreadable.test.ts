import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { RunningServer } from '../../core/index.js';
import { Connection } from '../../plugins/storage/etcd/connection.js';
import { Put } from '../../plugins/storage/etcd/protocol.js';
import { startServer } from '../server/library.js';
import { eventually } from '../support/eventually.js';
import { type Etcd, etcdWanted, startEtcd } from './etcd.js';

/* Objects that the store contains but cannot read, because the key with which they were encrypted is missing. */

const TEMPLATES = '/api/v1/namespaces/default/podtemplates';
const SECRETS = '/api/v1/namespaces/default/secrets';
const OPTION = 'ignoreStoreReadErrorWithClusterBreakingPotential';

const folder = mkdtempSync(join(tmpdir(), 'capstan-unreadable-'));
afterAll(() => rmSync(folder, { recursive: true }));

const template = { spec: { containers: [{ name: 'a', image: 'b' }] } };

/** Writes an encryption file with one key for PodTemplates, and returns its path. */
function encryption(name: string, byte: number): string {
  const file = join(folder, `${name}.json`);
  const keys = [{ name, secret: Buffer.alloc(32, byte).toString('base64') }];
  writeFileSync(
    file,
    JSON.stringify({
      apiVersion: 'apiserver.config.k8s.io/v1',
      kind: 'EncryptionConfiguration',
      resources: [{ resources: ['podtemplates', 'services'], providers: [{ aesgcm: { keys } }, { identity: {} }] }],
    }),
  );
  return file;
}

type Settings = Parameters<typeof startServer>[0];

const start = async (store: Settings, more: Settings = {}): Promise<RunningServer> => {
  const server = await startServer({ port: 0, naming: 'kubernetes', ...store, ...more });
  await eventually(() => server.client.resource('namespaces').get({ name: 'default' }));
  return server;
};

/** A server whose PodTemplates `a` and `b` were encrypted with a key that it does not have. */
async function withUnreadable(store: Settings, gate: boolean): Promise<RunningServer> {
  const first = await start(store, { encryptionProviderConfig: encryption('one', 1) });
  for (const name of ['a', 'b']) {
    const body = { metadata: { name, finalizers: ['example.com/held'] }, template };
    expect((await first.request('POST', TEMPLATES, { body })).status).toBe(201);
  }
  const service = { metadata: { name: 'web' }, spec: { clusterIP: '10.0.0.77', ports: [{ port: 80 }] } };
  expect((await first.request('POST', '/api/v1/namespaces/default/services', { body: service })).status).toBe(201);
  await first.close();
  return await start(store, {
    encryptionProviderConfig: encryption('two', 2),
    ...(gate ? { featureGates: ['AllowUnsafeMalformedObjectDeletion=true'] } : {}),
  });
}

const CORRUPT =
  /^Internal error occurred: StorageError: corrupt object, Code: 7, Key: \/core\/podtemplates\/default\/a, /;

/** The tests of a server over a store, with the gate of unsafe deletes enabled. */
function describeUnreadable(store: () => Settings): void {
  let server: RunningServer;
  beforeAll(async () => {
    server = await withUnreadable(store(), true);
  });
  afterAll(() => server?.close());
  const status = async (...request: Parameters<RunningServer['request']>) => {
    const answer = await server.request(...request);
    return { code: answer.status, body: JSON.parse(answer.text) as Record<string, unknown> };
  };
  const remove = (name: string, body: object = { [OPTION]: true }) =>
    status('DELETE', `${TEMPLATES}/${name}`, { body: body as never });

  it('refuses to read or change an unreadable object, with the reason', async () => {
    const requests: Parameters<RunningServer['request']>[] = [
      ['GET', `${TEMPLATES}/a`],
      ['PUT', `${TEMPLATES}/a`, { body: { metadata: { name: 'a' } } }],
      [
        'PATCH',
        `${TEMPLATES}/a`,
        { body: { metadata: { labels: { a: 'b' } } }, headers: { 'content-type': 'application/merge-patch+json' } },
      ],
      [
        'PATCH',
        `${TEMPLATES}/a?fieldManager=test`,
        {
          body: { apiVersion: 'v1', kind: 'PodTemplate', metadata: { name: 'a' } },
          headers: { 'content-type': 'application/apply-patch+yaml' },
        },
      ],
      ['DELETE', `${TEMPLATES}/a`],
    ];
    for (const request of requests) {
      const { code, body } = await status(...request);
      expect([code, body['reason']], request.join(' ')).toEqual([500, 'InternalError']);
      expect(body['message']).toMatch(CORRUPT);
      expect(body['message']).toContain('was encrypted with a key that is not configured');
    }
    expect(await status('POST', TEMPLATES, { body: { metadata: { name: 'a' }, template } })).toMatchObject({
      code: 409,
      body: { reason: 'AlreadyExists', message: 'podtemplates "a" already exists' },
    });
  });

  it('names unreadable objects in the refusal of lists, and lists readable ones', async () => {
    for (const path of [
      TEMPLATES,
      `${TEMPLATES}?limit=1`,
      '/api/v1/podtemplates?resourceVersion=0',
      `${TEMPLATES}?labelSelector=a=b`,
    ]) {
      const { code, body } = await status('GET', path);
      expect([code, body['reason'], body['message']], path).toEqual([
        500,
        'StorageReadError',
        'failed to read one or more podtemplates from the storage',
      ]);
      const details = body['details'] as { causes: { field: string; reason: string }[] };
      expect(details).toMatchObject({ name: 'list', kind: 'podtemplates' });
      expect(details.causes.map(({ field, reason }) => [field, reason])).toEqual([
        ['/core/podtemplates/default/a', 'UnexpectedServerResponse'],
        ['/core/podtemplates/default/b', 'UnexpectedServerResponse'],
      ]);
    }
    expect((await status('DELETE', TEMPLATES)).body['reason']).toBe('StorageReadError');
    expect((await status('GET', '/api/v1/namespaces/kube-system/podtemplates')).code).toBe(200);
    expect((await status('GET', `${TEMPLATES}?fieldSelector=metadata.name=other`)).code).toBe(200);
    expect((await status('GET', SECRETS)).code).toBe(200);
    await eventually(async () => (await server.request('GET', '/readyz')).text === 'ok');
  });

  it('refuses watches whose initial list would lack them, and continues watches without them', async () => {
    const initial = server.client.resource('podtemplates').watch({ namespace: 'default' });
    await expect(initial[Symbol.asyncIterator]().next()).rejects.toMatchObject({ reason: 'StorageReadError' });
    const { metadata } = (await status('GET', '/api/v1/namespaces/kube-system/podtemplates')).body;
    const { resourceVersion } = metadata as { resourceVersion: string };
    const events = server.client.resource('podtemplates').watch({ namespace: 'default', resourceVersion });
    const next = events[Symbol.asyncIterator]();
    expect((await status('POST', TEMPLATES, { body: { metadata: { name: 'later' }, template } })).code).toBe(201);
    expect((await next.next()).value).toMatchObject({ type: 'ADDED', object: { metadata: { name: 'later' } } });
    await next.return?.(undefined);
    expect((await remove('later', {})).code).toBe(200);
  });

  it('refuses a snapshot that would lose them', async () => {
    const { code, body } = await status('GET', '/store/snapshot');
    expect([code, body['message']]).toEqual([500, expect.stringContaining('corrupt object')]);
  });

  it('[R114] accepts no other option together with that of an unsafe delete', async () => {
    const { code, body } = await remove('a', {
      [OPTION]: true,
      dryRun: ['All'],
      gracePeriodSeconds: 0,
      orphanDependents: true,
      preconditions: { uid: 'x' },
    });
    const { causes } = body['details'] as { causes: { message: string }[] };
    expect([code, causes.map(({ message }) => message)]).toEqual([
      422,
      ['dryRun', 'orphanDependents', 'gracePeriodSeconds', 'preconditions'].map(
        name => `Invalid value: true: cannot be set together with .${name}`,
      ),
    ]);
    expect((await remove('a', { [OPTION]: true, propagationPolicy: 'Orphan' })).body['message']).toBe(
      `DeleteOptions.meta.k8s.io "" is invalid: ${OPTION}: Invalid value: true: ` +
        'cannot be set together with .propagationPolicy',
    );
    expect((await status('DELETE', `${TEMPLATES}?${OPTION}=true`)).body['message']).toContain(
      'is not allowed with DELETECOLLECTION',
    );
    expect((await remove('a', { [OPTION]: false })).code).toBe(500);
  });

  it('needs the permission for unsafe deletes in addition to that for deletes', async () => {
    const rules = [{ apiGroups: [''], resources: ['podtemplates'], verbs: ['delete'] }];
    const roles = '/apis/rbac.authorization.k8s.io/v1/clusterroles';
    const bindings = '/apis/rbac.authorization.k8s.io/v1/clusterrolebindings';
    const subjects = [{ kind: 'User', name: 'carol', apiGroup: 'rbac.authorization.k8s.io' }];
    const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'deleter' };
    expect((await status('POST', roles, { body: { metadata: { name: 'deleter' }, rules } })).code).toBe(201);
    expect((await status('POST', bindings, { body: { metadata: { name: 'deleter' }, roleRef, subjects } })).code).toBe(
      201,
    );
    const carol = server.as('carol');
    const refused = await carol.request('DELETE', `${TEMPLATES}/b?${OPTION}=true`);
    expect(JSON.parse(refused.text)).toMatchObject({
      code: 403,
      message: expect.stringContaining(
        'podtemplates "b" is forbidden: not permitted to do "unsafe-delete-ignore-read-errors", reason: ',
      ),
    });
    const verbs = ['delete', 'unsafe-delete-ignore-read-errors'];
    const more = { metadata: { name: 'deleter' }, rules: [{ ...rules[0]!, verbs }] };
    expect((await status('PUT', `${roles}/deleter`, { body: more })).code).toBe(200);
    expect((await carol.request('DELETE', `${TEMPLATES}/b?${OPTION}=true`)).status).toBe(200);
  });

  it('[R112] deletes normally first: with the option, a readable object waits for its finalizers', async () => {
    const body = { metadata: { name: 'healthy', finalizers: ['example.com/held'] }, template };
    expect((await status('POST', TEMPLATES, { body })).code).toBe(201);
    expect((await remove('healthy')).code).toBe(200);
    const { metadata } = (await status('GET', `${TEMPLATES}/healthy`)).body;
    expect(metadata).toMatchObject({ deletionTimestamp: expect.any(String) });
    const patch = {
      body: { metadata: { finalizers: null } },
      headers: { 'content-type': 'application/merge-patch+json' },
    };
    expect((await status('PATCH', `${TEMPLATES}/healthy`, patch)).code).toBe(200);
    expect((await remove('absent')).code).toBe(404);
  });

  it('frees the addresses of a service that it removes', async () => {
    const services = '/api/v1/namespaces/default/services';
    const web = { metadata: { name: 'web' }, spec: { clusterIP: '10.0.0.77', ports: [{ port: 80 }] } };
    // The new service might get an address that the unreadable one has.
    expect((await status('POST', services, { body: web })).code).toBe(500);
    for (const name of ['web', 'kubernetes'])
      expect((await status('DELETE', `${services}/${name}`, { body: { [OPTION]: true } })).code).toBe(200);
    expect((await status('POST', services, { body: web })).code).toBe(201);
  });

  it('[R113] removes unreadable objects in spite of finalizers, ends their watches, and can be listed again', async () => {
    const { metadata } = (await status('GET', '/api/v1/namespaces/kube-system/podtemplates')).body;
    const { resourceVersion } = metadata as { resourceVersion: string };
    const watchIn = (namespace: string) =>
      server.client.resource('podtemplates').watch({ namespace, resourceVersion })[Symbol.asyncIterator]();
    const [live, elsewhere] = [watchIn('default'), watchIn('kube-system')];
    expect(await remove('a')).toMatchObject({
      code: 200,
      body: { status: 'Success', details: { name: 'a', kind: 'podtemplates' } },
    });
    // Clients may have the object from before, and are not told of its deletion.
    const expired = { reason: 'Expired', code: 410 };
    await expect(live.next()).rejects.toMatchObject(expired);
    await expect(watchIn('default').next()).rejects.toMatchObject(expired);
    expect((await status('GET', `${TEMPLATES}/a`)).code).toBe(404);
    expect((await status('GET', TEMPLATES)).code).toBe(200);
    expect((await status('POST', TEMPLATES, { body: { metadata: { name: 'a' }, template } })).code).toBe(201);
    for (const watch of [elsewhere, watchIn('kube-system')]) {
      const next = watch.next();
      const other = `/api/v1/namespaces/kube-system/podtemplates`;
      await status('POST', other, { body: { metadata: { generateName: 'x' }, template } });
      expect((await next).value).toMatchObject({ type: 'ADDED', object: { metadata: { generateName: 'x' } } });
      await watch.return?.(undefined);
    }
  });
}

describe('a server over RocksDB with objects that it cannot read', () => {
  describeUnreadable(() => ({ storage: 'rocksdb', dataDir: join(folder, 'data') }));

  it('[R115] deletes none of them without the gate', async () => {
    const store: Settings = { storage: 'rocksdb', dataDir: join(folder, 'ungated') };
    const server = await withUnreadable(store, false);
    try {
      const answer = await server.request('DELETE', `${TEMPLATES}/a`, { body: { [OPTION]: true, dryRun: ['All'] } });
      expect([answer.status, (JSON.parse(answer.text) as { message: string }).message]).toEqual([
        500,
        expect.stringMatching(CORRUPT),
      ]);
      expect((await server.request('GET', `${TEMPLATES}/a`)).status).toBe(500);
    } finally {
      await server.close();
    }
  });
});

describe.skipIf(!etcdWanted)('a server over etcd with objects that it cannot read', () => {
  let etcd: Etcd;
  const store = (): Settings => ({ storage: 'etcd', etcdServers: [etcd.url], etcdPrefix: '/unreadable' });
  beforeAll(async () => {
    etcd = await startEtcd();
  });
  afterAll(() => etcd.stop());
  describeUnreadable(store);

  it('shows an object in watches until it is deleted, even if it has been damaged meanwhile', async () => {
    const settings: Settings = { ...store(), etcdPrefix: '/damaged' };
    const server = await start(settings, { featureGates: ['AllowUnsafeMalformedObjectDeletion=true'] });
    const connection = new Connection({ servers: [etcd.url], prefix: '/damaged' });
    try {
      const created = await server.request('POST', SECRETS, { body: { metadata: { name: 's' } } });
      const { metadata } = JSON.parse(created.text) as { metadata: { resourceVersion: string } };
      const live = server.client
        .resource('secrets')
        .watch({ namespace: 'default', resourceVersion: metadata.resourceVersion });
      const next = live[Symbol.asyncIterator]();
      const damage = { key: Buffer.from('/damaged/core/secrets/default/s'), value: Buffer.from('no object at all') };
      await connection.call(Put, damage);
      await eventually(async () => (await server.request('GET', `${SECRETS}/s`)).status === 500);
      expect((await server.request('POST', SECRETS, { body: { metadata: { name: 't' } } })).status).toBe(201);
      expect((await server.request('DELETE', `${SECRETS}/s?${OPTION}=true`)).status).toBe(200);
      const first = await next.next();
      expect(first.value).toMatchObject({ type: 'ADDED', object: { metadata: { name: 't' } } });
      expect((await next.next()).value).toMatchObject({ type: 'DELETED', object: { metadata: { name: 's' } } });
      await next.return?.(undefined);
    } finally {
      connection.close();
      await server.close();
    }
  });
});
