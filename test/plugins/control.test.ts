import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startServer } from '../server/library.js';
import { ConfiguredServer, fixture } from './support.js';
import { eventually } from '../support/eventually.js';

/* Sentences of docs/guides/plugins.md about controllers, health checks, the host, listeners, storage and types. */

const directory = mkdtempSync(join(tmpdir(), 'capstan-control-'));
afterAll(() => rmSync(directory, { recursive: true }));
const file = (name: string): string => join(directory, name);
const linesOf = (name: string): string[] =>
  existsSync(file(name)) ? readFileSync(file(name), 'utf8').split('\n').filter(Boolean) : [];
const MAPS = '/api/v1/namespaces/default/configmaps';
const use = (module: string, name: string) => ({ use: fixture(module, name), config: { file: file(name) } });
const until = (holds: () => boolean | Promise<boolean>): Promise<unknown> => eventually(holds);

describe('in one server', () => {
  const server = new ConfiguredServer();
  const create = (name: string, more: object = {}) =>
    server.call('POST', MAPS, { body: { metadata: { name }, ...more } });
  const change = (name: string, a: string) => server.call('PATCH', `${MAPS}/${name}`, { body: { data: { a } } });

  beforeAll(async () => {
    await server.start({
      plugins: [
        ...['follows', 'throws', 'asks', 'misuses', 'informed'].map(name => use('control', name)),
        { use: fixture('control', 'healthy'), config: { sick: true } },
        { use: fixture('control', 'healthy'), config: { sick: false } },
        { use: fixture('control', 'types') },
        // Adds an annotation with the creator to objects.
        { use: resolve('dist/examples/defaultLabels.js'), config: { labels: {}, resources: ['configmaps'] } },
      ],
    });
    await until(() => linesOf('follows').length > 0);
    await until(async () => (await server.call('GET', '/api/v1/namespaces/default')).status === 200);
  });
  afterAll(() => server.dispose());

  describe('a controller', () => {
    test('receives every committed change, in order, with the object', async () => {
      await create('followed', { data: { a: 'one' } });
      await change('followed', 'needle');
      await server.call('DELETE', `${MAPS}/followed`);
      await until(() => linesOf('follows').some(line => line.startsWith('DELETED followed')));
      expect(linesOf('follows').filter(line => line.includes(' followed '))).toEqual([
        'ADDED followed one false',
        'MODIFIED followed needle true',
        'DELETED followed needle true',
      ]);
    });

    test('makes requests as the service account of its name in the system namespace, which has all permissions', async () => {
      await create('ask-who');
      await until(async () => (await server.call('GET', `${MAPS}/of-follower`)).status === 200);
      const { text } = await server.call('GET', `${MAPS}/of-follower`);
      expect(text).toContain('"example.com/created-by":"system:serviceaccount:kube-system:follower"');
    });

    test('gets refusals as Refusal', async () => {
      await create('ask-absent');
      await until(() => linesOf('follows').some(line => line.startsWith('refused')));
      expect(linesOf('follows').find(line => line.startsWith('refused'))).toBe('refused Error NotFound 404');
    });

    test('that throws at an event is logged and receives the next one', async () => {
      await create('bad');
      await create('good');
      await until(() => linesOf('throws').includes('thrower ADDED good'));
      expect(linesOf('throws').some(line => line.endsWith(' bad'))).toBe(false);
      const records = server.log.filter(({ stack }) => stack?.includes('this event is too much'));
      expect(records[0]).toMatchObject({ name: 'test/throws', level: 'error' });
      const labels = { plugin: 'test/throws', point: 'controller' };
      // The event, and two controllers that do not start.
      expect(await server.counter('capstan_plugin_errors_total', labels)).toBeGreaterThanOrEqual(3);
    });

    test('that fails to start is logged, and other controllers continue', () => {
      const records = server.log.filter(
        ({ name, stack }) => name === 'test/throws' && stack?.includes('it cannot start'),
      );
      expect(records.map(({ stack }) => stack).sort()).toEqual([
        expect.stringContaining('it cannot start\n'),
        expect.stringContaining('it cannot start at all'),
      ]);
    });
  });

  test('authorizers get groups in neutral names', async () => {
    const headers = { authorization: '' };
    await server.call('GET', '/apis/rbac.authorization.k8s.io/v1/roles', { headers });
    await server.call('GET', '/apis/apps/v1/deployments', { headers });
    await server.call('GET', '/apis/types.example.com/v1/leaves', { headers });
    expect(linesOf('asks').filter(line => line.startsWith('system:anonymous list'))).toEqual([
      'system:anonymous list rbac.authorization.orchestrator.io roles',
      'system:anonymous list apps deployments',
      'system:anonymous list types.example.com leaves',
    ]);
  });

  test('all health checks are evaluated; the reason of a failure is only logged', async () => {
    const answer = await server.call('GET', '/readyz?verbose');
    expect(answer.status).toBe(500);
    expect(answer.text).toContain('[-]sick failed: reason withheld\n[+]well ok\n');
    expect(answer.text).not.toContain('secret reason');
    expect(server.errors).toContain('the secret reason');
    expect((await server.call('GET', '/livez/sick')).status).toBe(404);
    expect((await server.call('GET', '/readyz?exclude=sick')).status).toBe(200);
  });

  test('informers show every acknowledged write, of built-in resources by their neutral names', async () => {
    const roles = '/apis/rbac.authorization.k8s.io/v1/namespaces/default/roles';
    for (let i = 1; i <= 5; i++) {
      await server.call('POST', '/api/v1/namespaces/default/secrets', { body: { metadata: { name: `s${i}` } } });
      await server.call('POST', roles, { body: { metadata: { name: `r${i}` }, rules: [] } });
      await create(`s${i}`);
    }
    const seen = linesOf('informed').filter(line => /^s\d/.test(line));
    expect(seen).toEqual([1, 2, 3, 4, 5].map(i => `s${i} s${i} ${i} ${i}`));
  });

  test('a member of the host that is not available in a thread throws an error that says so', async () => {
    await create('late');
    const seen = new Set(linesOf('misuses'));
    for (const [name, threads] of Object.entries({ informer: ['front', 'writer'], request: ['pool', 'writer'] }))
      for (const thread of threads)
        expect(seen).toContain(`${thread} ${name}: ${name} is not available in the ${thread} thread`);
    expect(seen).toContain('pool watch: watch is not available in the pool thread');
    for (const thread of ['front', 'pool', 'writer', 'control']) {
      expect(seen).toContain(`${thread} now works`);
      expect(seen).toContain(`${thread} naming works`);
      expect(seen).toContain(
        `${thread} at: at(test/misused) is available once every plugin of the thread has been made, not before`,
      );
    }
    for (const name of ['informer', 'watch', 'request']) expect(seen).toContain(`control ${name} works`);
  });

  test('an informer that is requested after make, in the pool, throws', () => {
    const seen = linesOf('misuses').filter(line => line.startsWith('pool late'));
    expect(seen).toEqual([
      "pool late informer: informer('core/endpoints') must be called when the plugin is made, not later",
      'pool late known informer works',
      'pool late at works',
    ]);
  });

  test('log records have the name of the plugin, and no secrets', () => {
    const record = server.log.find(({ message }) => message === 'said by the plugin');
    expect(record).toMatchObject({ name: 'test/misuses', level: 'error', seen: 'shown' });
    expect(server.errors).not.toContain('hidden');
  });

  test('resource types are served, and those that stored objects define', async () => {
    const leaf = { apiVersion: 'types.example.com/v1', kind: 'Leaf', metadata: { name: 'a' } };
    expect((await server.call('POST', '/apis/types.example.com/v1/leaves', { body: leaf })).status).toBe(201);
    const createNamed = (name: string) =>
      server.call('POST', '/apis/types.example.com/v1/leaves', { body: { ...leaf, metadata: { name } } });
    expect((await createNamed('bad')).body.message).toContain('metadata.name: Invalid value: "bad": must be good');
    for (const name of ['throws', 'wrong']) {
      const failed = await createNamed(name);
      expect([failed.status, failed.body.message]).toEqual([
        500,
        expect.stringContaining('the plugin "test/types" failed'),
      ]);
    }
    expect(server.errors).toContain('thrown by validate');
    expect(await server.counter('capstan_plugin_errors_total', { plugin: 'test/types', point: 'resourceType' })).toBe(
      2,
    );
    const path = '/apis/defined.example.com/v1/petals';
    expect((await server.call('GET', path)).status).toBe(404);
    await server.call('POST', MAPS, { body: { metadata: { name: 'definition', labels: { defines: 'petals' } } } });
    const petal = { apiVersion: 'defined.example.com/v1', kind: 'Kindpetals', metadata: { name: 'a' } };
    expect((await server.call('POST', path, { body: petal })).status).toBe(201);
    expect((await server.call('GET', `${path}/a`)).status).toBe(200);
  });
});

describe('onClose', () => {
  test('release functions are called in reverse order with a limit of one second each; a failure is logged', async () => {
    const server = new ConfiguredServer();
    await server.start({ plugins: [use('lifecycle', 'releases')] });
    await until(async () => (await server.call('GET', '/readyz')).status === 200);
    // One of the functions never returns.
    expect(await server.end()).toBe(0);
    const lines = linesOf('releases');
    // The pool has several threads, whose lines may be mixed.
    for (const thread of ['front', 'pool', 'control']) {
      const ofThread = lines.filter(line => line.endsWith(` ${thread}`));
      expect(new Set(ofThread)).toEqual(new Set([`last ${thread}`, `first ${thread}`]));
      expect(ofThread[0]).toBe(`last ${thread}`);
    }
    const messages = server.log.map(({ message }) => message);
    expect(messages).toContain('closing plugin test/releases: it cannot be released');
    // Each thread waits for the function that hangs, and no longer than a second.
    const late = messages.filter(message => message === 'closing plugin test/releases: no answer within 1s');
    expect(late.length).toBeGreaterThanOrEqual(3);
    await server.dispose();
  });
});

describe('the listener', () => {
  test('of the configuration replaces that of the server, in the front end', async () => {
    const server = new ConfiguredServer();
    await server.start({ plugins: [use('lifecycle', 'ownListener')] });
    expect((await server.call('GET', '/version')).status).toBe(200);
    expect(linesOf('ownListener')).toContain('front /version');
    await server.dispose();
  });
});

describe('the storage', () => {
  test('of the configuration replaces that of the server, in the writer', async () => {
    const dataDir = mkdtempSync(join(directory, 'data-'));
    const server = await startServer({ dataDir, port: 0, plugins: [use('lifecycle', 'ownStorage')] });
    try {
      expect(server.storeName).toBe('test/storage');
      expect(linesOf('ownStorage')).toEqual(['storage writer']);
      expect(existsSync(join(dataDir, 'store'))).toBe(false);
    } finally {
      await server.close();
    }
  });

  test('must be exactly one', async () => {
    writeFileSync(file('otherStorage'), '');
    const plugins = [use('lifecycle', 'ownStorage'), use('lifecycle', 'otherStorage')];
    await expect(startServer({ storage: 'memory', port: 0, plugins })).rejects.toThrow(
      'exactly one storage plugin is needed, found 2: test/storage, test/other-storage',
    );
  });
});
