import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ConfiguredServer, fixture } from './support.js';
import { eventuallyPasses } from '../support/eventually.js';

/*
 * A plugin that throws, hangs or returns an invalid value: the answer to the client, the log records and the counters.
 */

const TIMEOUT = 300;
const MAPS = '/api/v1/namespaces/default/configmaps';
const SECRETS = '/api/v1/namespaces/default/secrets';
const PLUGIN = 'test/misbehaving';
const server = new ConfiguredServer();
const POLICY = join(server.directory, 'policy.yaml');
writeFileSync(
  POLICY,
  'apiVersion: audit.k8s.io/v1\nkind: Policy\nomitStages: [RequestReceived]\n' +
    'rules: [{ level: Metadata, verbs: [create], resources: [{ group: "", resources: [configmaps] }] }]\n',
);

beforeAll(() =>
  server.start({
    auditPolicyFile: POLICY,
    plugins: [
      { use: fixture('misbehaving'), timeout: `${TIMEOUT}ms` },
      { use: fixture('misbehaving', 'ignored'), timeout: `${TIMEOUT}ms`, failurePolicy: 'Ignore' },
      // So long that other requests certainly end within it.
      { use: fixture('misbehaving', 'patient'), timeout: '5s' },
      { use: fixture('misbehaving', 'fallback') },
    ],
  }),
);
afterAll(() => server.dispose());

const errors = (point: string, plugin = PLUGIN) => server.counter('capstan_plugin_errors_total', { plugin, point });
const timeouts = (point: string, plugin = PLUGIN) => server.counter('capstan_plugin_timeouts_total', { plugin, point });
/** Creates a ConfigMap with these labels. */
const create = (name: string, labels: object) => server.call('POST', MAPS, { body: { metadata: { name, labels } } });

/** Behaviors that are counted as errors. */
const ERRORS = ['throw', 'reject', 'text', 'nothing'];

describe('an authenticator', () => {
  const call = (how: string) =>
    server.call('GET', MAPS, { headers: { authorization: '', 'x-user': 'tess', 'x-how': how } });

  test('that answers late, but within its time, is used', async () => {
    expect((await call('')).status).toBe(200);
    expect((await call('slow')).status).toBe(200);
  });

  test.each([...ERRORS, 'hang', 'garbage', 'forbid', 'ok-refusal'])(
    'that does "%s" is 401, logged and counted',
    async how => {
      const count = how === 'hang' ? timeouts : errors;
      const [before, logged] = [await count('authenticator'), server.log.length];
      const answer = await call(how);
      expect([answer.status, answer.body.message]).toEqual([401, 'Unauthorized']);
      expect(await count('authenticator')).toBe(before + 1);
      expect(server.log.slice(logged)).toMatchObject([
        { name: PLUGIN, level: 'error', message: expect.stringContaining(PLUGIN) },
      ]);
    },
  );

  test('that fails is logged, and a later one can recognize the user', async () => {
    const logged = server.log.length;
    const headers = { authorization: '', 'x-how': 'throw', 'x-fallback': 'fred' };
    expect((await server.call('GET', MAPS, { headers })).body.message).toContain('User "fred" cannot list');
    expect(server.log.slice(logged)).toMatchObject([{ name: PLUGIN, level: 'error', point: 'authenticator' }]);
  });
});

describe('an authorizer', () => {
  test.each([...ERRORS, 'hang', 'garbage'])(
    'that does "%s" is 500 for any user: a failure never allows a request',
    async how => {
      const count = how === 'hang' ? timeouts : errors;
      const before = await count('authorizer');
      const answer = await server.call('GET', `${SECRETS}/${how}`, {
        headers: { authorization: '', 'x-user': 'tess' },
      });
      const why = how === 'hang' ? `did not answer within ${TIMEOUT}ms` : 'failed; see the log of the server';
      expect([answer.status, answer.body.reason, answer.body.message]).toEqual([
        500,
        'InternalError',
        `Internal error occurred: the plugin "${PLUGIN}" ${why}`,
      ]);
      expect(await count('authorizer')).toBe(before + 1);
    },
  );

  test('that throws a Refusal refuses with it', async () => {
    const before = await errors('authorizer');
    const answer = await server.call('GET', `${SECRETS}/forbid`, { headers: { authorization: '', 'x-user': 'tess' } });
    expect([answer.status, answer.body.message]).toEqual([403, 'forbidden by authorizer']);
    expect(await errors('authorizer')).toBe(before);
  });

  test('is called for the next request, without a cached failure', async () => {
    const answer = await server.call('GET', `${SECRETS}/slow`, { headers: { authorization: '', 'x-user': 'tess' } });
    expect(answer.status).toBe(404);
  });
});

describe('an audit sink', () => {
  /** The codes of a create for which a sink does this, and of creates of four other users. */
  const createBeside = async (how: string): Promise<number[]> => {
    const body = { metadata: { generateName: 'audited-' } };
    const all = ['', '', '', ''].map(() => server.call('POST', MAPS, { body }));
    const answers = await Promise.all([server.call('POST', `${MAPS}?fieldManager=${how}`, { body }), ...all]);
    return answers.map(({ status }) => status);
  };
  const HONEST = [201, 201, 201, 201];

  test.each([...ERRORS, 'hang'])('that does "%s" is logged and counted, and no request fails', async how => {
    const count = how === 'hang' ? timeouts : errors;
    const [before, logged] = [await count('auditSink'), server.log.length];
    expect(await createBeside(`sink-${how}`)).toEqual([201, ...HONEST]);
    await eventuallyPasses(async () => expect(await count('auditSink')).toBe(before + 1));
    expect(server.log.slice(logged)).toMatchObject([{ name: PLUGIN, level: 'error', point: 'auditSink' }]);
  });

  test('that returns a value counts as having written the event', async () => {
    const before = await errors('auditSink');
    expect(await createBeside('sink-garbage')).toEqual([201, ...HONEST]);
    expect(await errors('auditSink')).toBe(before);
  });
});

describe.each(['mutator', 'validator', 'delete'])('a call at the point of admission: %s', at => {
  const point = at === 'delete' ? 'validator' : at;
  async function attempt(how: string, label: string) {
    const name = `${at}-${how}-${label}`;
    const made = await create(name, { [label]: `${at}-${how}` });
    return at === 'delete' ? await server.call('DELETE', `${MAPS}/${name}`) : made;
  }

  test.each([...ERRORS, 'hang', ...(point === 'validator' ? ['garbage'] : [])])(
    'that does "%s" is 500 with the name of the plugin, logged and counted',
    async how => {
      const count = how === 'hang' ? timeouts : errors;
      const [before, logged] = [await count(point), server.log.length];
      const answer = await attempt(how, 'breaks');
      expect([answer.status, answer.body.reason]).toEqual([500, 'InternalError']);
      expect(answer.body.message).toContain(`the plugin "${PLUGIN}"`);
      expect(await count(point)).toBe(before + 1);
      expect(server.log.slice(logged)).toMatchObject([{ name: PLUGIN, level: 'error', point }]);
      if (at !== 'delete') expect((await server.call('GET', `${MAPS}/${at}-${how}-breaks`)).status).toBe(404);
    },
  );

  test('that throws a Refusal refuses with it', async () => {
    const answer = await attempt('forbid', 'breaks');
    expect([answer.status, answer.body.message]).toEqual([403, `forbidden by ${point}`]);
  });

  test('that answers within its time is used', async () => {
    expect((await attempt('slow', 'breaks')).status).toBe(at === 'delete' ? 200 : 201);
  });

  test.each([...ERRORS, 'hang'])('that does "%s" is ignored, logged and counted with the policy Ignore', async how => {
    const count = how === 'hang' ? timeouts : errors;
    const [before, logged] = [await count(point, 'test/ignored'), server.log.length];
    const answer = await attempt(how, 'ignored');
    expect(answer.status).toBe(at === 'delete' ? 200 : 201);
    expect(await count(point, 'test/ignored')).toBe(before + 1);
    expect(server.log.slice(logged)).toMatchObject([{ name: 'test/ignored', level: 'error', point }]);
    // Changes of a failed mutator are discarded.
    expect(answer.text).not.toContain('half');
  });

  test('that throws a Refusal or returns violations also refuses with the policy Ignore', async () => {
    expect((await attempt('forbid', 'ignored')).status).toBe(403);
    expect((await create('ignored-bad', { 'ignored-bad': 'yes' })).status).toBe(422);
  });

  test('that succeeds is used with the policy Ignore', async () => {
    const answer = await attempt('slow', 'ignored');
    expect(answer.status).toBe(at === 'delete' ? 200 : 201);
    if (at === 'mutator') expect(answer.body.metadata.labels).toMatchObject({ half: 'yes', whole: 'yes' });
  });
});

test('a mutator that removes the metadata fails', async () => {
  const answer = await create('headless', { breaks: 'mutator-headless' });
  expect([answer.status, answer.body.message]).toEqual([
    500,
    `Internal error occurred: the plugin "${PLUGIN}" failed; see the log of the server`,
  ]);
});

test('a rejected promise that a plugin does not await is logged, and ends no thread', async () => {
  const logged = server.log.length;
  const headers = { authorization: '', 'x-user': 'tess', 'x-how': 'float' };
  expect((await server.call('GET', MAPS, { headers })).status).toBe(200);
  await eventuallyPasses(() =>
    expect(server.log.slice(logged)).toMatchObject([
      { level: 'error', message: 'a promise was rejected, and nothing handled it' },
    ]),
  );
});

test('calls that hang do not delay other requests of the same batch', async () => {
  const ended: string[] = [];
  const attempt = async (name: string, labels: object): Promise<void> => {
    await create(name, labels);
    ended.push(name.split('-')[0]!);
  };
  const numbers = [1, 2, 3, 4, 5, 6, 7, 8];
  await Promise.all(
    numbers.flatMap(i => [attempt(`hangs-${i}`, { patient: 'mutator-hang' }), attempt(`passes-${i}`, {})]),
  );
  expect(ended).toEqual([...numbers.map(() => 'passes'), ...numbers.map(() => 'hangs')]);
});

describe('a health check', () => {
  test('that hangs fails after its time limit, and is counted', async () => {
    // The check passes, although it leaves a promise unhandled that is rejected in the main thread.
    expect((await server.call('GET', '/readyz/misbehaving')).status).toBe(200);
    const answer = await server.call('GET', '/readyz?verbose');
    expect(answer.status).toBe(500);
    expect(answer.text).toContain('[-]misbehaving failed: reason withheld');
    expect(await timeouts('healthCheck')).toBe(1);
    expect(await errors('healthCheck')).toBe(0);
  });
});

describe('the configuration of a plugin', () => {
  const refused = (plugin: object) =>
    new ConfiguredServer().start({ plugins: [plugin] }).then(
      () => 'it started',
      (error: Error) => error.message.replace(/^ended with 2:\ncapstan: /, '').trim(),
    );

  test.each([
    [{ timeout: '1m' }, 'plugins[0].timeout: must be a time from 1ms to 30s, not 1m'],
    [{ timeout: 0 }, 'plugins[0].timeout: must be a time from 1ms to 30s, not 0'],
    [{ timeout: 'soon' }, 'plugins[0].timeout: must be a duration such as 30s or 1m30s, not "soon"'],
    [{ failurePolicy: 'Maybe' }, 'plugins[0].failurePolicy: must be Fail or Ignore, not "Maybe"'],
    [
      { failurePolicy: 'Ignore' },
      'plugins[0].failurePolicy: must be Fail: test/misbehaving contributes to the point authenticator, whose failures are never ignored',
    ],
  ])('%j is refused with the path of the field', async (settings, message) => {
    expect(await refused({ use: fixture('misbehaving'), ...settings })).toBe(message);
  });

  test('failurePolicy Ignore is refused if it has no effect', async () => {
    expect(await refused({ use: fixture('required', 'inFront'), failurePolicy: 'Ignore' })).toBe(
      'plugins[0].failurePolicy: is for mutators and validators, and test/in-front contributes neither: omit it',
    );
  });
});

test('durations of calls are measured by plugin and point, also for built-in plugins', async () => {
  const count = (plugin: string) =>
    server.counter('capstan_plugin_duration_seconds_count', { plugin, point: 'mutator' });
  const before = [await count(PLUGIN), await count('namespace-lifecycle')];
  await create('measured', {});
  expect([await count(PLUGIN), await count('namespace-lifecycle')]).toEqual(before.map(calls => calls + 1));
  const { text } = await server.call('GET', '/metrics');
  expect(text).toMatch(
    /^# TYPE capstan_plugin_duration_seconds histogram\ncapstan_plugin_duration_seconds_bucket{plugin="[^"]+",point="[a-zA-Z]+",le="0.0001"} \d+$/m,
  );
});
