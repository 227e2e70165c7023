import { writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { eventually, eventuallyPasses } from '../support/eventually.js';
import { ConfiguredServer } from '../plugins/support.js';

/*
 * A plugin that is hostile at each point, while four users write objects that it has no part in: none of their requests
 * fails, and none of their objects is lost.
 */

const PLUGIN = 'test/hostile';
const TIMEOUT_MS = 60_000;
/** Between two writes of a user. */
const PAUSE_MS = 20;
const MAPS = '/api/v1/namespaces/default/configmaps';
const SECRETS = '/api/v1/namespaces/default/secrets';
const ACCOUNTS = '/api/v1/namespaces/default/serviceaccounts';
const HOSTILES = '/apis/hostile.example.com/v1/namespaces/default/hostiles';
/** One for each test: users whose requests keep or end threads are slowed down. */
const MALLORIES = 60;
const WRITERS = ['ann', 'ben', 'cem', 'dua'];

const server = new ConfiguredServer();

/** A user who writes one object after another. */
class Writer {
  /** Names of the objects whose write was acknowledged. */
  readonly written: string[] = [];
  /** Everything else that it was answered. */
  readonly failures: string[] = [];
  #isEnded = false;
  readonly #done: Promise<void>;

  constructor(readonly user: string) {
    this.#done = this.#write();
  }

  async end(): Promise<void> {
    this.#isEnded = true;
    await this.#done;
  }

  async #write(): Promise<void> {
    const headers = { authorization: `Bearer ${this.user}` };
    for (let i = 0; !this.#isEnded; i++) {
      const name = `${this.user}-${i}`;
      try {
        const { status, text } = await server.call('POST', MAPS, { headers, body: { metadata: { name } } });
        if (status === 201) this.written.push(name);
        else this.failures.push(`${name}: ${status} ${text}`);
      } catch (error) {
        this.failures.push(`${name}: ${error}`);
      }
      // All of them are kept in memory, and those of the store too.
      await pause(PAUSE_MS);
    }
  }
}

let writers: Writer[] = [];

beforeAll(async () => {
  const tokens = join(server.directory, 'tokens.csv');
  const line = (user: string): string => `${user},${user},${user},"writers"\n`;
  writeFileSync(
    tokens,
    [...WRITERS, ...Array.from({ length: MALLORIES }, (_, i) => `mallory-${i}`)].map(line).join(''),
  );
  const use = pathToFileURL(resolve('dist/test/abuse/fixtures/hostile.js')).href;
  await server.start(
    { tokenAuthFile: tokens, plugins: [{ use, timeout: '1s' }] },
    {
      // A thread that allocates without end reaches this soon.
      NODE_OPTIONS: '--max-old-space-size=100',
    },
  );
  // Nobody asks an authorizer about system:masters.
  const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'cluster-admin' };
  const subjects = [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'Group', name: 'writers' }];
  const body = { metadata: { name: 'writers' }, roleRef, subjects };
  await server.call('POST', '/apis/rbac.authorization.k8s.io/v1/clusterrolebindings', { body });
  writers = WRITERS.map(user => new Writer(user));
});
afterAll(async () => {
  await Promise.all(writers.map(writer => writer.end()));
  await server.dispose();
});

/** Each writer has gone on since, and has had no failure. */
afterEach(async () => {
  const before = writers.map(({ written }) => written.length);
  await eventually(() =>
    writers.every(({ written, failures }, i) => failures.length > 0 || written.length > before[i]!),
  );
  expect(writers.flatMap(({ failures }) => failures.slice(0, 3))).toEqual([]);
});

let mallory = 0;
beforeEach(() => void mallory++);
/** A request of the user for whose requests the plugin is hostile. */
const ask = (method: 'GET' | 'POST', path: string, body?: object, token = `Bearer mallory-${mallory}`) =>
  server.call(method, path, { headers: { authorization: token }, ...(body && { body }) });
const create = (path: string, name: string, more: object = {}) => ask('POST', path, { metadata: { name }, ...more });

/** How the plugin is met at each point that the pool asks. */
const IN_POOL: { readonly [point: string]: (how: string) => Promise<{ readonly status: number }> } = {
  authenticator: how => ask('GET', MAPS, undefined, `Hostile ${how}`),
  authorizer: how => ask('GET', `${SECRETS}/authorizer-${how}`),
  mutator: how => create(SECRETS, `mutator-${how}`),
  validator: how => create(SECRETS, `validator-${how}`),
  resourceType: how =>
    create(HOSTILES, `resourcetype-${how}`, { apiVersion: 'hostile.example.com/v1', kind: 'Hostile' }),
  tokenIssuer: async how => {
    await create(ACCOUNTS, `tokenissuer-${how}`);
    return await ask('POST', `${ACCOUNTS}/tokenissuer-${how}/token`, { spec: {} });
  },
};

/** Expects a record of the log that names the plugin, since the one with this number. */
const expectNamed = (since: number): Promise<void> =>
  eventuallyPasses(() => expect(JSON.stringify(server.log.slice(since))).toContain(PLUGIN));

/** Loops take seconds each, and are the same to all points. */
const LOOPING = ['authenticator', 'mutator', 'resourceType'];

describe.each(Object.keys(IN_POOL))('a hostile %s', point => {
  // Nobody looks at the result of a mutator.
  const others = [...(point === 'mutator' ? [] : ['garbage']), ...(LOOPING.includes(point) ? ['loop'] : [])];
  test.each(['throw', 'hang', 'exit', ...others])(
    'that does this fails its own request alone, and is named: %s',
    { timeout: TIMEOUT_MS },
    async how => {
      const since = server.log.length;
      const { status } = await IN_POOL[point]!(how);
      expect(status).toBeGreaterThanOrEqual(400);
      await expectNamed(since);
    },
  );
});

test('a mutator that allocates without end fails its own request alone, and is named', {
  timeout: TIMEOUT_MS,
}, async () => {
  const since = server.log.length;
  expect((await create(SECRETS, 'mutator-allocate')).status).toBe(500);
  await expectNamed(since);
});

describe('what is hostile, but returns to the event loop of its thread,', () => {
  const HOWS = ['throw', 'hang', 'garbage'];

  test.each(HOWS)('is named, and fails its own request alone: a service (%s)', async how => {
    const since = server.log.length;
    expect((await create(SECRETS, `service-${how}`)).status).toBe(500);
    await expectNamed(since);
  });

  test.each(HOWS)('is named, and fails its own request alone: a converter (%s)', async how => {
    const since = server.log.length;
    await makeOrders();
    const names = { apiVersion: 'tea.example.com/v1', kind: 'Order' };
    const answer = await create('/apis/tea.example.com/v1/namespaces/default/orders', `converter-${how}`, names);
    expect(answer.status).toBe(500);
    await expectNamed(since);
  });

  test.each(['throw', 'garbage'])('is named, and defines nothing: a source of kinds (%s)', async how => {
    const since = server.log.length;
    expect((await create(SECRETS, `resourcesource-${how}`)).status).toBe(201);
    await expectNamed(since);
  });

  test('is named, and counts nothing: a metric that nobody has declared', async () => {
    const since = server.log.length;
    await create(SECRETS, 'metrics-nan');
    await expectNamed(since);
    expect((await ask('GET', '/metrics')).text).not.toContain('not_declared');
  });

  test.each(HOWS)('is named, and fails its own request alone: a document (%s)', async how => {
    const since = server.log.length;
    expect((await ask('GET', `/hostile/${how}`)).status).toBe(500);
    await expectNamed(since);
  });

  test('is a failed health check, whatever it does', async () => {
    const { status, text } = await ask('GET', '/healthz');
    expect(status).toBe(500);
    for (const how of ['throw', 'hang']) expect(text).toContain(`[-]hostile-${how} failed`);
  });

  test('is named, and other controllers continue: a controller that throws', async () => {
    const since = server.log.length;
    await create(SECRETS, 'controller-throw');
    await expectNamed(since);
    await ask('POST', '/api/v1/namespaces', { metadata: { name: 'controlled' } });
    const account = '/api/v1/namespaces/controlled/serviceaccounts/default';
    await eventually(async () => (await ask('GET', account)).status === 200);
  });
});

test('no object is lost whose write was acknowledged', async () => {
  await Promise.all(writers.map(writer => writer.end()));
  const { body } = await ask('GET', MAPS);
  const found = new Set(
    (body as { items?: { metadata: { name: string } }[] }).items!.map(({ metadata }) => metadata.name),
  );
  expect(writers.flatMap(({ written }) => written).filter(name => !found.has(name))).toEqual([]);
  writers = [];
});

/** Defines orders, with two versions that the plugin converts, unless they are defined. */
async function makeOrders(): Promise<void> {
  const schema = { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } };
  await create('/apis/apiextensions.k8s.io/v1/customresourcedefinitions', 'orders.tea.example.com', {
    spec: {
      group: 'tea.example.com',
      scope: 'Namespaced',
      names: { plural: 'orders', kind: 'Order' },
      versions: ['v1', 'v2'].map(name => ({ name, served: true, storage: name === 'v2', schema })),
    },
  });
  const path = '/apis/tea.example.com/v1/namespaces/default/orders';
  await eventually(async () => (await ask('GET', path)).status === 200);
}
