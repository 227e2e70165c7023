import { writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { eventually, eventuallyPasses } from '../support/eventually.js';
import { ConfiguredServer } from '../plugins/support.js';

/*
 * A plugin that is hostile at each extension point, while four users write objects that it does not handle: none of
 * their requests fails, and none of their objects is lost.
 */

const PLUGIN = 'test/hostile';
/** Pause between two writes of a user. */
const PAUSE_MS = 100;
const MAPS = '/api/v1/namespaces/default/configmaps';
const SECRETS = '/api/v1/namespaces/default/secrets';
const ACCOUNTS = '/api/v1/namespaces/default/serviceaccounts';
const HOSTILES = '/apis/hostile.example.com/v1/namespaces/default/hostiles';
/** A user for each test, since users whose requests block or end threads are slowed down. */
const MALLORIES = 60;
const WRITERS = ['ann', 'ben', 'cem', 'dua'];

const server = new ConfiguredServer();

/** A user who writes one object after another. */
class Writer {
  /** Names of the objects whose write was acknowledged. */
  readonly written: string[] = [];
  /** All other answers. */
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
      // All Secrets are kept in memory, also those in the store.
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
      // A thread that allocates without end reaches this limit soon.
      NODE_OPTIONS: '--max-old-space-size=100',
    },
  );
  // Authorizers are not called for system:masters.
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

/** Expects that every writer has written again since then, without a failure. */
afterEach(async () => {
  const before = writers.map(({ written }) => written.length);
  await eventually(() =>
    writers.every(({ written, failures }, i) => failures.length > 0 || written.length > before[i]!),
  );
  expect(writers.flatMap(({ failures }) => failures.slice(0, 3))).toEqual([]);
});

let mallory = 0;
beforeEach(() => void mallory++);
/** A request of the user whose requests the plugin attacks. */
const ask = (method: 'GET' | 'POST', path: string, body?: object, token = `Bearer mallory-${mallory}`) =>
  server.call(method, path, { headers: { authorization: token }, ...(body && { body }) });
const create = (path: string, name: string, more: object = {}) => ask('POST', path, { metadata: { name }, ...more });

/** A request that reaches the plugin at each extension point that pool threads call. */
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

/** Waits for a log record that names the plugin, after the first `since` records. */
const expectNamed = (since: number): Promise<void> =>
  eventuallyPasses(() => expect(JSON.stringify(server.log.slice(since))).toContain(PLUGIN));

/**
 * How a call never returns. Each test takes seconds and is the same for all points, so few points have one. One loops.
 * The others block: the server sees no difference, and the cores stay free for other work.
 */
const ENDLESS: { readonly [point: string]: string } = {
  authenticator: 'loop',
  mutator: 'block',
  resourceType: 'block',
};

describe.each(Object.keys(IN_POOL))('a hostile %s', point => {
  // The result of a mutator is not read.
  const others = [...(point === 'mutator' ? [] : ['garbage']), ...(ENDLESS[point] ? [ENDLESS[point]] : [])];
  test.each(['throw', 'hang', 'exit', ...others])(
    'fails its own request alone, and the log names it, after: %s',
    async how => {
      const since = server.log.length;
      const { status } = await IN_POOL[point]!(how);
      expect(status).toBeGreaterThanOrEqual(400);
      await expectNamed(since);
    },
  );
});

test('a mutator that allocates without end fails its own request alone, and the log names it', async () => {
  const since = server.log.length;
  expect((await create(SECRETS, 'mutator-allocate')).status).toBe(500);
  await expectNamed(since);
});

describe('hostile code that returns to the event loop of its thread', () => {
  const HOWS = ['throw', 'hang', 'garbage'];

  test.each(HOWS)('fails its own request alone, and the log names it: a service (%s)', async how => {
    const since = server.log.length;
    expect((await create(SECRETS, `service-${how}`)).status).toBe(500);
    await expectNamed(since);
  });

  test.each(HOWS)('fails its own request alone, and the log names it: a converter (%s)', async how => {
    const since = server.log.length;
    await makeOrders();
    const names = { apiVersion: 'tea.example.com/v1', kind: 'Order' };
    const answer = await create('/apis/tea.example.com/v1/namespaces/default/orders', `converter-${how}`, names);
    expect(answer.status).toBe(500);
    await expectNamed(since);
  });

  test.each(['throw', 'garbage'])('defines nothing, and the log names it: a source of kinds (%s)', async how => {
    const since = server.log.length;
    expect((await create(SECRETS, `resourcesource-${how}`)).status).toBe(201);
    await expectNamed(since);
  });

  test('counts nothing, and the log names it: a metric that is not declared', async () => {
    const since = server.log.length;
    await create(SECRETS, 'metrics-nan');
    await expectNamed(since);
    expect((await ask('GET', '/metrics')).text).not.toContain('not_declared');
  });

  test.each(HOWS)('fails its own request alone, and the log names it: a document (%s)', async how => {
    const since = server.log.length;
    expect((await ask('GET', `/hostile/${how}`)).status).toBe(500);
    await expectNamed(since);
  });

  test('makes its own health check fail, whatever it does', async () => {
    const { status, text } = await ask('GET', '/healthz');
    expect(status).toBe(500);
    for (const how of ['throw', 'hang']) expect(text).toContain(`[-]hostile-${how} failed`);
  });

  test('stops no other controller, and the log names it: a controller that throws', async () => {
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
