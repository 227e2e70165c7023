import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, expectTypeOf, test } from 'vitest';
import { defineResource, Refusal, t } from '../../core/api/index.js';
import type { RunningServer, WatchEvent } from '../../core/index.js';
import type { Deployment } from '../../kinds/apps/v1.js';
import { eventually } from '../support/eventually.js';
import { startServer } from './library.js';

/* Requests of the program in which a server runs: `server.client`, `server.request` and `server.as`. */

const order = defineResource({
  group: 'tea.example.com',
  kind: 'Order',
  plural: 'orders',
  scope: 'Namespaced',
  subresources: { status: {} },
  schema: t.object({
    spec: t.object({ cups: t.integer({ default: 1, maximum: 20 }) }),
    status: t.optional(t.object({ poured: t.integer() })),
  }),
});

const MAPS = '/api/v1/namespaces/default/configmaps';
const map = (name: string, tea = 'assam') => ({ metadata: { namespace: 'default', name }, data: { tea } });

const directory = mkdtempSync(join(tmpdir(), 'capstan-program-'));
const policy = join(directory, 'policy.yaml');
writeFileSync(policy, 'apiVersion: audit.k8s.io/v1\nkind: Policy\nrules: [{ level: Metadata }]\n');
let server: RunningServer;
beforeAll(async () => {
  server = await startServer({
    storage: 'memory',
    port: 0,
    naming: 'kubernetes',
    resources: [order],
    plugins: [{ use: resolve('dist/examples/imageRegistries.js'), config: { allowed: ['registry.example.com/'] } }],
    auditLogPath: join(directory, 'audit.log'),
    auditPolicyFile: policy,
  });
  await eventually(() => server.client.resource('namespaces').get({ name: 'default' }));
});
afterAll(async () => {
  await server.close();
  rmSync(directory, { recursive: true });
});

/** All values of an iterator, and how it ends. */
async function drain<T>(iterable: AsyncIterable<T>): Promise<{ readonly items: T[]; readonly thrown?: unknown }> {
  const items: T[] = [];
  try {
    for await (const item of iterable) items.push(item);
    return { items };
  } catch (thrown) {
    return { items, thrown };
  }
}

const refusal = async (promise: Promise<unknown>): Promise<Refusal> => {
  const thrown = await promise.then(
    () => undefined,
    error => error as unknown,
  );
  expect(thrown).toBeInstanceOf(Refusal);
  return thrown as Refusal;
};

describe('the client', () => {
  test('creates, reads, changes and deletes objects', async () => {
    const maps = server.client.resource('configmaps');
    const made = await maps.create(map('one'));
    expect(made).toMatchObject({ kind: 'ConfigMap', apiVersion: 'v1', metadata: { uid: expect.any(String) } });
    expect((await maps.get(made.metadata))?.data).toEqual({ tea: 'assam' });
    expect((await maps.replace({ ...made, data: { tea: 'oolong' } })).data).toEqual({ tea: 'oolong' });
    expect((await refusal(maps.replace({ ...made, data: {} }))).reason).toBe('Conflict');
    const name = { namespace: 'default', name: 'one' };
    expect((await maps.patch(name, { data: { sugar: 'no' } })).data).toEqual({ tea: 'oolong', sugar: 'no' });
    expect((await maps.patchJson(name, [{ op: 'remove', path: '/data/sugar' }])).data).toEqual({ tea: 'oolong' });
    const applied = await maps.apply({ ...map('one', 'sencha') }, { fieldManager: 'tea' });
    expect(applied.data).toEqual({ tea: 'sencha' });
    expect((await maps.create(map('two'), { dryRun: true })).data).toEqual({ tea: 'assam' });
    expect(await maps.get({ namespace: 'default', name: 'two' })).toBeUndefined();
    expect(await maps.delete(name, { preconditions: { uid: made.metadata.uid } })).toBe(true);
    expect(await maps.delete(name)).toBe(false);
  });

  test('lists objects with kind and version, by namespace and selectors', async () => {
    const maps = server.client.resource('configmaps');
    for (const [name, hot] of [
      ['list-a', 'yes'],
      ['list-b', 'no'],
    ] as const)
      await maps.create({ ...map(name), metadata: { namespace: 'default', name, labels: { hot } } });
    const { items, resourceVersion } = await maps.list({ namespace: 'default', labelSelector: 'hot=yes' });
    expect(items).toMatchObject([{ kind: 'ConfigMap', apiVersion: 'v1', metadata: { name: 'list-a' } }]);
    expect(resourceVersion).toMatch(/^\d+$/);
    const named = await maps.list({ fieldSelector: 'metadata.name=list-b' });
    expect(named.items.map(({ metadata }) => metadata.name)).toEqual(['list-b']);
    await maps.deleteCollection({ namespace: 'default', labelSelector: 'hot' });
    expect((await maps.list({ labelSelector: 'hot' })).items).toEqual([]);
  });

  test('has the types of built-in kinds and of defined ones, whose status has its own path', async () => {
    expectTypeOf(await server.client.resource('apps/deployments').get({ namespace: 'a', name: 'b' })).toEqualTypeOf<
      Deployment | undefined
    >();
    const orders = server.client.resource(order);
    const made = await orders.create({ metadata: { namespace: 'default', name: 'o' }, spec: {} });
    expect(made.spec.cups).toBe(1);
    const poured = await orders.setStatus(made, { poured: 1 });
    expect(poured.status?.poured).toBe(1);
    expect(poured.metadata.resourceVersion).not.toBe(made.metadata.resourceVersion);
    expect(
      await refusal(orders.create({ metadata: { namespace: 'default', name: 'p' }, spec: { cups: 21 } })),
    ).toMatchObject({
      code: 422,
      message: expect.stringContaining('spec.cups'),
    });
  });

  test('finds the kinds of definitions from the reply to their creation until their end', async () => {
    const widgets = server.client.resource('stable.example.com/widgets');
    expect((await refusal(widgets.list())).message).toBe('resources "widgets.stable.example.com" not found');
    const definitions = server.client.resource('apiextensions.k8s.io/customresourcedefinitions');
    const schema = { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } };
    await definitions.create({
      metadata: { name: 'widgets.stable.example.com' },
      spec: {
        group: 'stable.example.com',
        scope: 'Cluster',
        names: { plural: 'widgets', kind: 'Widget' },
        versions: [{ name: 'v1', served: true, storage: true, schema }],
      },
    } as Parameters<typeof definitions.create>[0]);
    await eventually(async () => (await widgets.list().catch(() => undefined)) !== undefined);
    const made = await widgets.create({ metadata: { name: 'w' }, size: 3 } as Parameters<typeof widgets.create>[0]);
    expect(made).toMatchObject({ apiVersion: 'stable.example.com/v1', kind: 'Widget', size: 3 });
  });

  test('passes the validators of plugins', async () => {
    const spec = { containers: [{ name: 'c', image: 'elsewhere/c' }] };
    const pod = { metadata: { namespace: 'default', name: 'p' }, spec };
    expect(await refusal(server.client.resource('pods').create(pod))).toMatchObject({
      reason: 'Invalid',
      message: expect.stringContaining('spec.containers[0].image'),
    });
  });

  test('refuses a name that no resource can have', async () => {
    await expect(server.client.resource('deployments').list()).rejects.toThrow(
      'no stored resource can have the name "deployments"; did you mean apps/deployments?',
    );
  });

  test('makes any other request', async () => {
    const answer = await server.client.request({ method: 'GET', path: '/version' });
    expect(answer).toMatchObject({ major: '1' });
  });
});

describe('a watch', () => {
  /** Collects events of a watch up to a number. */
  async function take<T>(events: AsyncIterable<WatchEvent<T>>, count: number): Promise<WatchEvent<T>[]> {
    const found: WatchEvent<T>[] = [];
    for await (const event of events) if (found.push(event) === count) break;
    return found;
  }
  const named = (events: readonly WatchEvent<{ metadata: { name?: string } }>[]): string[] =>
    events.map(({ type, object }) => `${type} ${object.metadata.name}`);
  test('has the current objects first, then every change in order, and ends with its loop', async () => {
    const maps = server.client.resource('configmaps');
    const selection = { namespace: 'default', labelSelector: 'watched=1' };
    const labeled = (name: string) => ({ ...map(name), metadata: { ...map(name).metadata, labels: { watched: '1' } } });
    await maps.create(labeled('watch-a'));
    const events = maps.watch(selection)[Symbol.asyncIterator]();
    const first = await events.next();
    await maps.create(labeled('watch-b'));
    await maps.patch(map('watch-a').metadata, { data: { tea: 'oolong' } });
    await maps.delete(map('watch-b').metadata);
    const rest = await take({ [Symbol.asyncIterator]: () => events }, 3);
    expect(named([first.value, ...rest])).toEqual([
      'ADDED watch-a',
      'ADDED watch-b',
      'MODIFIED watch-a',
      'DELETED watch-b',
    ]);
    expect(await events.next()).toEqual({ done: true, value: undefined });
  });

  test('begins after the state of a list', async () => {
    const maps = server.client.resource('configmaps');
    const { resourceVersion } = await maps.list();
    await maps.create(map('after'));
    const events = await take(maps.watch({ namespace: 'default', resourceVersion }), 1);
    expect(named(events)).toEqual(['ADDED after']);
  });

  test('ends when its signal is aborted', async () => {
    const controller = new AbortController();
    const events = take(server.client.resource('secrets').watch({ signal: controller.signal }), 1000);
    await server.client.resource('secrets').create({ metadata: { namespace: 'default', name: 's' } });
    controller.abort();
    await events;
    await expect(take(server.client.resource('secrets').watch({ signal: controller.signal }), 1)).rejects.toThrow(
      'aborted',
    );
  });

  test('that is refused, or begins at an invalid version, throws the refusal', async () => {
    const asNobody = server.as('nobody').client.resource('secrets').watch();
    expect((await refusal(take(asNobody, 1))).code).toBe(403);
    const future = server.client.resource('secrets').watch({ resourceVersion: 'x' });
    expect((await refusal(take(future, 1))).code).toBe(422);
  });

  test('whose reader is too slow ends', async () => {
    const maps = server.client.resource('configmaps');
    const events = maps.watch({ namespace: 'default', labelSelector: 'large' })[Symbol.asyncIterator]();
    const large = {
      ...map('large', 'x'.repeat(900_000)),
      metadata: { ...map('large').metadata, labels: { large: '' } },
    };
    await maps.create(large);
    await events.next();
    for (let i = 0; i < 20; i++) await maps.patch(map('large').metadata, { data: { i: String(i) } });
    const { items, thrown } = await drain({ [Symbol.asyncIterator]: () => events });
    expect(items.length).toBeLessThan(20);
    if (thrown !== undefined) expect(thrown).toMatchObject({ code: 410 });
  });
});

describe('a request', () => {
  test('resolves with any answer, its headers and its body', async () => {
    const made = await server.request('POST', MAPS, { body: map('asked') });
    expect([made.status, made.body.metadata.name, made.headers.get('content-type')]).toEqual([
      201,
      'asked',
      'application/json',
    ]);
    expect(await server.request('GET', `${MAPS}/none`)).toMatchObject({ status: 404, body: { reason: 'NotFound' } });
    expect(await server.request('GET', '/readyz')).toMatchObject({ status: 200, text: 'ok', body: undefined });
    expect((await server.request('PATCH', `${MAPS}/asked`, { body: { data: { tea: 'x' } } })).body.data.tea).toBe('x');
  });

  test('sends strings and bytes unchanged, with their type and other headers', async () => {
    const yaml = 'metadata:\n  name: written\n';
    const contentType = 'application/yaml';
    for (const body of [yaml, Buffer.from(yaml.replace('written', 'bytes'))])
      expect((await server.request('POST', MAPS, { body, contentType })).status).toBe(201);
    const headers = { Accept: 'application/json;as=Table;v=v1;g=meta.k8s.io' };
    expect((await server.request('GET', MAPS, { headers })).body.kind).toBe('Table');
  });

  test('returns long lists completely', async () => {
    for (let i = 0; i < 4; i++) await server.request('POST', MAPS, { body: map(`long-${i}`, 'x'.repeat(600_000)) });
    const { body } = await server.request('GET', MAPS);
    expect(
      (body.items as { data?: { tea?: string } }[]).filter(({ data }) => data?.tea?.length === 600_000),
    ).toHaveLength(4);
  });

  test('is limited by the maximum size of bodies', async () => {
    const { status } = await server.request('POST', MAPS, { body: map('large', 'x'.repeat(4 * 1024 * 1024)) });
    expect(status).toBe(413);
  });

  test('must not have headers that name a sender, and must have a path', async () => {
    for (const name of ['Authorization', 'Impersonate-User'])
      await expect(server.request('GET', '/version', { headers: { [name]: 'x' } })).rejects.toThrow(
        `the header ${name} is for HTTP: a request of the program is made as a user, server.as(user)`,
      );
    await expect(server.request('GET', 'version')).rejects.toThrow(
      'the path of a request must begin with /: "version"',
    );
  });

  test('is audited and counted like other requests', async () => {
    await server.as('auditor', ['system:masters']).request('GET', `${MAPS}/audited`);
    await eventually(() => readFileSync(join(directory, 'audit.log'), 'utf8').includes('"username":"auditor"'));
    const { text } = await server.request('GET', '/metrics');
    const counts = text.split('\n').filter(line => line.startsWith('apiserver_request_total'));
    expect(counts.some(line => line.includes('verb="GET"') && line.includes('code="404"'))).toBe(true);
  });
});

describe('another user', () => {
  test('has the permissions of its roles, from the next request', async () => {
    const alice = server.as('alice', ['devs']);
    expect(await alice.request('GET', MAPS)).toMatchObject({
      status: 403,
      body: { message: expect.stringContaining('User "alice" cannot list resource "configmaps"') },
    });
    expect((await refusal(alice.client.resource('configmaps').list())).code).toBe(403);
    await server.client.resource('rbac.authorization.k8s.io/rolebindings').create({
      metadata: { namespace: 'default', name: 'devs' },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'view' },
      subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'Group', name: 'devs' }],
    });
    expect((await alice.request('GET', MAPS)).status).toBe(200);
    expect((await server.as('alice').request('GET', MAPS)).status).toBe(403);
    const who = await alice.client.request({
      method: 'POST',
      path: '/apis/authentication.k8s.io/v1/selfsubjectreviews',
      body: {},
    });
    expect(who.status).toMatchObject({ userInfo: { username: 'alice', groups: ['devs', 'system:authenticated'] } });
  });

  test('without credentials is anonymous', async () => {
    const answer = await server.as('system:anonymous').request('GET', '/api/v1/namespaces/default/secrets');
    expect(answer).toMatchObject({ status: 403 });
    expect(answer.text).toContain('system:anonymous');
    expect((await server.as('system:anonymous').request('GET', '/readyz')).status).toBe(200);
  });

  test('must have a name and a list of groups', () => {
    expect(() => server.as('')).toThrow('as: the name of a user must be a text');
    expect(() => server.as('alice', 'devs' as never)).toThrow('as: the groups of a user must be a list of texts');
  });
});

test('a server that closes answers requests in flight, ends watches, and refuses further requests', async () => {
  const own = await startServer({ storage: 'memory', port: 0 });
  await eventually(() => own.client.resource('namespaces').get({ name: 'default' }));
  const maps = own.client.resource('configmaps');
  const namespaces = own.client.resource('namespaces').watch()[Symbol.asyncIterator]();
  expect((await namespaces.next()).done).toBe(false);
  const watched = drain({ [Symbol.asyncIterator]: () => namespaces });
  const inFlight = Array.from({ length: 20 }, (_, i) => maps.create(map(`m-${i}`)));
  const closed = own.close();
  expect((await Promise.all(inFlight)).length).toBe(20);
  await closed;
  expect((await watched).thrown).toBeUndefined();
  await expect(maps.list()).rejects.toThrow('the server has been closed');
  await expect(own.request('GET', '/version')).rejects.toThrow('the server has been closed');
});

test('a server with listening threads has the same client', async () => {
  const own = await startServer({ storage: 'memory', port: 0, listeningThreads: 2 });
  try {
    const maps = own.client.resource('configmaps');
    await eventually(() => own.client.resource('namespaces').get({ name: 'default' }));
    await maps.create(map('threads'));
    expect((await maps.get(map('threads').metadata))?.data).toEqual({ tea: 'assam' });
  } finally {
    await own.close();
  }
});
