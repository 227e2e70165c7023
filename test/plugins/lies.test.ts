import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { ConfiguredServer, fixture, type LogRecord } from './support.js';
import { eventually, eventuallyPasses } from '../support/eventually.js';

/*
 * A plugin that lies at every point: it returns, throws and stores forbidden values, changes its arguments, and ends
 * or blocks its thread. Each time, only its own request fails, and log and metrics name the plugin.
 */

const MAPS = '/api/v1/namespaces/default/configmaps';
const PLUGIN = 'test/lying';
const server = new ConfiguredServer();
beforeAll(() => server.start({ plugins: [{ use: fixture('lying') }] }));
afterAll(() => server.dispose());

let names = 0;
/** Creates a ConfigMap at which the plugin lies. */
const create = (lies: string, name = `map-${names++}`) =>
  server.call('POST', MAPS, {
    body: { metadata: { name, labels: { lies: lies.replaceAll(' ', '_') } }, data: { a: 'b' } },
  });
const errors = (point: string) => server.counter('capstan_plugin_errors_total', { plugin: PLUGIN, point });

/** Expects that the plugin fails once at a point during `attempt`, and that a log record says so. */
async function expectFailure<T>(point: string, attempt: () => Promise<T>): Promise<T> {
  const [before, logged] = [await errors(point), server.log.length];
  const result = await attempt();
  await eventuallyPasses(async () => {
    expect(await errors(point)).toBe(before + 1);
    expect(server.log.slice(logged)).toContainEqual(expect.objectContaining({ name: PLUGIN, level: 'error', point }));
  });
  return result;
}

// Whatever the plugin does, other requests are served.
afterEach(async () => {
  const { status, body } = await server.call('POST', MAPS, { body: { metadata: { generateName: 'other-' } } });
  expect([status, body.metadata.labels]).toEqual([201, undefined]);
});

const LIES = [
  'number',
  'text',
  'symbol',
  'list',
  'function',
  'trap',
  'getters',
  'bad thenable',
  'thrown trap',
  'thrown symbol',
  'rejected trap',
];

describe('an authenticator', () => {
  const list = (lie: string) =>
    server.call('GET', MAPS, { headers: { authorization: `Lie ${lie.replaceAll(' ', '_')}` } });

  test.each([
    ...LIES,
    'empty name',
    'groups of numbers',
    'many groups',
    'extra as an object',
    'extra of texts',
    'cache time',
    'not a time',
    'objects',
    'counters',
    'annotations',
    'labels',
  ])('that returns %s is 401', async lie => {
    expect((await expectFailure('authenticator', () => list(lie))).status).toBe(401);
  });

  test.each(['twice', 'promoted later'])('whose user changes later (%s) keeps the first one', async lie => {
    for (let i = 0; i < 3; i++)
      expect((await list(lie)).body.message).toContain('User "lia" cannot list resource "configmaps"');
  });
});

describe('an authorizer', () => {
  const get = (lie: string) =>
    server.call('GET', `/api/v1/namespaces/default/secrets/${lie.replaceAll(' ', '-')}`, {
      headers: { authorization: 'Lie honest' },
    });

  test.each([...LIES, 'unknown', 'reason', 'time', 'promotes the user', 'changes the target'])(
    'that returns or does %s is 500',
    async lie => {
      const { status, body } = await expectFailure('authorizer', () => get(lie));
      expect([status, body.message]).toEqual([500, expect.stringContaining(`the plugin "${PLUGIN}" failed`)]);
    },
  );

  test('that returns a thenable decides with its value', async () => {
    expect((await get('thenable')).status).toBe(403);
  });
});

describe('a mutator', () => {
  test.each(['symbol', 'function', 'trap', 'getters', 'bad thenable', 'thrown trap', 'thrown symbol', 'rejected trap'])(
    'that stores or throws %s is 500',
    async lie => {
      const { status, body } = await expectFailure('mutator', () => create(`mutate.${lie}`));
      expect([status, body.message]).toEqual([500, expect.stringContaining(`the plugin "${PLUGIN}" failed`)]);
    },
  );

  test.each(['huge bigint', 'cycle', 'deep', 'date', 'not a number', 'map', 'metadata', 'user'])(
    'that stores or changes %s is 500',
    async lie => {
      expect((await expectFailure('mutator', () => create(`mutate.${lie}`))).status).toBe(500);
    },
  );

  test('that changes the current object is 500', async () => {
    await create('none', 'changed');
    const update = () =>
      server.call('PATCH', `${MAPS}/changed`, { body: { metadata: { labels: { lies: 'mutate.old' } } } });
    expect((await expectFailure('mutator', update)).status).toBe(500);
  });

  test('that changes parts of the draft later has no effect', async () => {
    const { status, text } = await create('mutate.later', 'later');
    expect([status, text.includes('late":')]).toEqual([201, false]);
    expect((await server.call('GET', `${MAPS}/later`)).text).not.toContain('late":');
  });
});

describe('a validator', () => {
  test.each([...LIES, 'many violations', 'wrong violations', 'changes', 'pollutes'])(
    'that returns or does %s is 500',
    async lie => {
      const { status, body } = await expectFailure('validator', () => create(`validate.${lie}`));
      expect([status, body.message]).toEqual([500, expect.stringContaining(`the plugin "${PLUGIN}" failed`)]);
    },
  );

  test('that changes an object of an informer is 500, and others see it unchanged', async () => {
    await create('none', 'informed');
    const update = () =>
      server.call('PATCH', `${MAPS}/informed`, {
        body: { metadata: { labels: { lies: 'validate.changes_an_informer' } } },
      });
    expect((await expectFailure('validator', update)).status).toBe(500);
  });
});

describe('an event listener', () => {
  test('that throws in the pool ends no thread', async () => {
    await expectFailure('mutator', async () => {
      await create('none', 'listener-throws');
      // A pool thread receives events with its next request.
      expect((await create('none')).status).toBe(201);
    });
    expect(server.errors).not.toContain('a pool thread failed');
  });

  test.each(['changes', 'rejects'])('of a controller is logged if it %s', async lie => {
    await expectFailure('controller', () => create(`watch.${lie}`));
  });
});

describe('a source of resource types', () => {
  test.each([...LIES, 'no versions'])('that defines %s is a failure, and defines nothing', async lie => {
    const before = await errors('resourceSource');
    await create(`define.${lie}`);
    // Every thread that serves requests calls it.
    await eventuallyPasses(async () => expect(await errors('resourceSource')).toBeGreaterThan(before));
  });

  test.each(['a built-in kind', 'a new version of a built-in kind'])('cannot replace %s', async lie => {
    const logged = server.log.length;
    await create(`define.${lie}`);
    await eventuallyPasses(() =>
      expect(server.log.slice(logged).map(({ message }) => message)).toContainEqual(
        'the resource type defined by the object is not served: deployments.apps is another type',
      ),
    );
    const { text } = await server.call('GET', '/apis/apps/v1');
    expect(text).toContain('"name":"deployments","singularName":"deployment","namespaced":true');
    expect((await server.call('GET', '/apis/apps/v9')).status).toBe(404);
  });

  test('if two objects define one kind, the one with the smaller name is served', async () => {
    const lies = '/apis/lies.example.com/v1/namespaces/default/lies';
    await create('define.the same kind', 'same-b');
    await create('define.the same kind', 'same-a');
    expect((await server.call('GET', lies)).status).toBe(200);
    await server.call('DELETE', `${MAPS}/same-a`);
    expect((await server.call('GET', lies)).status).toBe(200);
    await server.call('DELETE', `${MAPS}/same-b`);
    expect((await server.call('GET', lies)).status).toBe(404);
  });
});

describe('a pool thread', () => {
  const isServed = async (): Promise<boolean> => (await create('none')).status === 201;

  test('continues after an unhandled rejection, which is logged with the plugin', async () => {
    const [before, logged] = [await errors('other'), server.log.length];
    expect((await create('validate.rejects')).status).toBe(201);
    await eventuallyPasses(() =>
      expect(server.log.slice(logged)).toContainEqual(
        expect.objectContaining({ message: 'a promise was rejected, and nothing handled it', plugin: PLUGIN }),
      ),
    );
    expect(await errors('other')).toBe(before + 1);
  });

  test('that an error in a callback ends is replaced, and the record names the plugin', async () => {
    const logged = server.log.length;
    expect((await create('validate.throws_later')).status).toBe(500);
    await eventually(isServed);
    expect(server.log.slice(logged)).toContainEqual(
      expect.objectContaining({ message: 'a pool thread failed; it is replaced', plugin: PLUGIN }) as LogRecord,
    );
  });
});

// Each has its own server, since earlier stuck jobs of a user count.
describe.each(['now', 'later'])('an endless loop (%s)', when => {
  const looping = new ConfiguredServer();
  beforeAll(() => looping.start({ plugins: [{ use: fixture('lying', 'looping'), timeout: '1s' }] }));
  afterAll(() => looping.dispose());
  const createIn = (labels: object) =>
    looping.call('POST', MAPS, { body: { metadata: { generateName: 'loop-', labels } } });

  test('in a call of a plugin is ended with its thread after the longest time for a call, twice; answer and records name the plugin', async () => {
    const labels = { plugin: 'test/looping', point: 'validator' };
    const before = await looping.counter('capstan_plugin_timeouts_total', labels);
    await looping.call('GET', MAPS);
    const logged = looping.log.length;
    const loops = createIn({ loops: when });
    // Meanwhile the front end answers requests that do not need the pool.
    expect((await looping.call('GET', MAPS)).status).toBe(200);
    const { status, body } = await loops;
    expect([status, body.message]).toEqual([
      500,
      'Internal error occurred: the request was tried twice, and its thread ended while the plugin test/looping ' +
        '(validator) ran',
    ]);
    await eventually(async () => (await createIn({})).status === 201);
    expect(looping.log.slice(logged).map(({ message }) => message)).toContainEqual(
      'a pool thread does not return to its event loop, and is ended: test/looping (validator)',
    );
    expect(await looping.counter('capstan_plugin_timeouts_total', labels)).toBe(before + 2);
  });
});
