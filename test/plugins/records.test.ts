import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { eventually } from '../support/eventually.js';
import { ConfiguredServer, fixture } from './support.js';

/* The log of a plugin that fails: enough to find the request, and the line of code. */

const MAPS = '/api/v1/namespaces/default/configmaps';
const PLUGIN = 'test/failing';
const use = fixture('failing');
const DECISIONS = '/apis/why.capstan.dev/v1/decisions';
const ID = /^[0-9a-f]{8}-[0-9a-f-]{27}$/;

const create = (server: ConfiguredServer, labels: object, headers?: { [name: string]: string }) =>
  server.call('POST', MAPS, { body: { metadata: { generateName: 'm-', labels } }, ...(headers && { headers }) });

/** The message and the causes of a stack, without frames. */
const messagesIn = (stack = ''): string[] => stack.split('\n').filter(line => !/^\s/.test(line));

describe('the record of a failed call', () => {
  const server = new ConfiguredServer();
  beforeAll(() => server.start({ plugins: [{ use, timeout: '5s' }], authorizationMode: 'AlwaysAllow' }));
  afterAll(() => server.dispose());
  /** Waits for records of the plugin after the first `count` records of the log. */
  const recordsSince = (count: number, wanted = 1) =>
    eventually(
      () => server.log.slice(count).filter(({ name }) => name === PLUGIN),
      ({ length }) => length >= wanted,
    );

  test('names plugin, point, request, user, audit id and duration, and has the stacks of all causes', async () => {
    const logged = server.log.length;
    const { status, headers } = await create(server, { fails: 'chain' });
    expect(status).toBe(500);
    const [record, ...others] = await recordsSince(logged);
    expect(others).toEqual([]);
    expect(record).toMatchObject({
      level: 'error',
      plugin: PLUGIN,
      point: 'validator',
      method: 'POST',
      path: MAPS,
      user: 'kube-admin',
      auditId: expect.stringMatching(ID),
      durationMs: expect.any(Number),
      message: `plugin ${PLUGIN}: the call failed`,
    });
    expect(headers['audit-id']).toBe((record as { auditId?: string }).auditId);
    expect(messagesIn(record!.stack)).toEqual([
      'Error: labels cannot be read',
      'Caused by: TypeError: query failed',
      'Caused by: AggregateError: no address answers',
      'One of these errors: Error: connect ECONNREFUSED 10.0.0.1',
    ]);
    expect(record!.stack).toMatch(/\/failing\.js:\d+:\d+/);
    const decision = await server.call('GET', `${DECISIONS}/${headers['audit-id'] as string}`);
    const step = { stage: 'Validate', plugin: PLUGIN, result: 'Refused' };
    expect(decision.body).toHaveProperty('steps', expect.arrayContaining([expect.objectContaining(step)]));
  });

  test('has the audit id that the client has sent', async () => {
    const logged = server.log.length;
    await create(server, { fails: 'chain' }, { 'audit-id': 'chosen-1' });
    expect(await recordsSince(logged)).toMatchObject([{ auditId: 'chosen-1' }]);
  });

  test('has the trace context that the client has sent', async () => {
    const logged = server.log.length;
    const traceId = '0af7651916cd43dd8448eb211c80319c';
    await create(server, { fails: 'chain' }, { traceparent: `00-${traceId}-b7ad6b7169203331-01` });
    await create(server, { fails: 'chain' }, { traceparent: 'of another form' });
    const [named, other] = await recordsSince(logged, 2);
    expect(named).toMatchObject({ traceId });
    expect(other).not.toHaveProperty('traceId');
  });

  test('names its own request if calls of several requests fail at once', async () => {
    const logged = server.log.length;
    const as = (user: string) => create(server, { fails: 'together' }, { 'impersonate-user': user, 'audit-id': user });
    await Promise.all([as('ann'), as('bob')]);
    const found = (await recordsSince(logged, 2)).map(record => {
      const { user, auditId } = record as { user?: string; auditId?: string };
      return [user, auditId];
    });
    expect(found.sort()).toEqual([
      ['ann', 'ann'],
      ['bob', 'bob'],
    ]);
  });
});

test('a make that fails is logged once, with its causes, however many threads there are', async () => {
  const server = new ConfiguredServer();
  try {
    const failed = server.start({ plugins: [{ use, config: { make: 'pool' } }] });
    await expect(failed).rejects.toThrow(
      `capstan: plugin ${PLUGIN} (validator): labels cannot be read: query failed: no address answers\n`,
    );
    const records = server.log.filter(({ level }) => level === 'error');
    expect(records).toHaveLength(1);
    expect(messagesIn(records[0]!.stack)[0]).toBe('Error: labels cannot be read');
    expect(records[0]!.stack).toMatch(/\/failing\.js:\d+:\d+/);
  } finally {
    await server.dispose();
  }
});

describe('a thread that ends', () => {
  const server = new ConfiguredServer();
  beforeAll(async () => {
    const plugins = [{ use }, { use: fixture('failing', 'waiting'), timeout: '2s' }];
    await server.start({ plugins }, { NODE_OPTIONS: '--max-old-space-size=128' });
  });
  afterAll(() => server.dispose());
  const replaced = (since: number) =>
    eventually(() => server.log.slice(since).find(({ message }) => message === 'a pool thread failed; it is replaced'));
  const isServed = async () => (await create(server, {})).status === 201;

  test.each([
    ['exit', { plugin: PLUGIN, point: 'validator', code: 3 }],
    ['memory', { plugin: PLUGIN, point: 'validator', stack: expect.stringContaining('memory limit') }],
  ])('in a call (%s) is logged with the plugin, although another one waits, and counted', async (fails, expected) => {
    const labels = { plugin: PLUGIN, point: 'validator' };
    const before = await server.counter('capstan_plugin_errors_total', labels);
    const logged = server.log.length;
    const waiting = create(server, { waits: 'yes' });
    // The request is retried in another thread, which ends as well; after that its user is slowed down.
    const failing = create(server, { fails }, { 'impersonate-user': fails, 'impersonate-group': 'system:masters' });
    expect(await replaced(logged)).toMatchObject(expected);
    expect((await failing).status).toBe(500);
    await waiting;
    await eventually(isServed);
    expect(await server.counter('capstan_plugin_errors_total', labels)).toBe(before + 2);
    expect(server.log.slice(logged)).toContainEqual(
      expect.objectContaining({
        method: 'POST',
        path: MAPS,
        message: expect.stringMatching(/^a request failed: the request was tried twice, .*validator/),
      }),
    );
  });

  test('by process.exit in a timer is logged with the plugin whose code called it', async () => {
    const logged = server.log.length;
    await create(
      server,
      { fails: 'exit-later' },
      { 'impersonate-user': 'later', 'impersonate-group': 'system:masters' },
    );
    await replaced(logged);
    expect(server.log.slice(logged)).toContainEqual(
      expect.objectContaining({
        message: 'process.exit was called, which ends this thread',
        plugin: PLUGIN,
        stack: expect.stringMatching(/failing\.js:\d+/),
      }),
    );
    await eventually(isServed);
  });
});

test.each(['exit', 'memory'])('a control thread that ends (%s) ends the server, which names the plugin', async how => {
  const server = new ConfiguredServer();
  try {
    await server.start({ plugins: [{ use }] }, { NODE_OPTIONS: '--max-old-space-size=128' });
    await create(server, { 'fails-control': how });
    expect(await server.exited()).toBe(1);
    expect(server.errors).toContain(
      `the server stopped: the control thread ended while the plugin ${PLUGIN} (controller) ran: `,
    );
  } finally {
    await server.dispose();
  }
});

describe('a module that cannot be loaded is refused with file and line', () => {
  const holder = new ConfiguredServer();
  const { directory } = holder;
  afterAll(() => holder.dispose());
  const write = (name: string, text: string): string => {
    writeFileSync(join(directory, name), text);
    return join(directory, name);
  };
  write('helper.mjs', 'export const a = 1;\nexport const b = ;\n');

  test.each([
    ['syntax.mjs', "import 'capstan/api';\nexport default {\n", 'syntax.mjs:3: Unexpected end of input'],
    ['imports.mjs', "import './helper.mjs';\n", "helper.mjs:2: Unexpected token ';'"],
    ['common.cjs', 'module.exports = {\n  a: 1\n  b: 2\n};\n', "common.cjs:3: Unexpected identifier 'b'"],
    ['names.mjs', "\nimport { nothing } from 'node:fs';\n", "names.mjs:2: The requested module 'node:fs' does not"],
    ['throws.mjs', 'const a = undefined;\nexport default a.b;\n', 'throws.mjs:2:18: Cannot read properties'],
  ])('%s', async (name, text, message) => {
    const server = new ConfiguredServer();
    const path = write(name, text);
    try {
      await expect(server.start({ plugins: [{ use: path }] })).rejects.toThrow(
        `capstan: plugins[0].use: file://${path} cannot be loaded: ${directory}/${message}`,
      );
    } finally {
      await server.dispose();
    }
  });
});

test('with --logging-format=text, records are readable: one line, the fields, and the stack unchanged', async () => {
  const server = new ConfiguredServer();
  try {
    await server.start({ plugins: [{ use }], loggingFormat: 'text' });
    await create(server, { fails: 'chain' }, { 'audit-id': 'chosen-2' });
    const [, ...lines] = server.errors.slice(server.errors.indexOf(`${PLUGIN}: the call`)).split('\n');
    expect(server.errors).toMatch(
      new RegExp(`^\\d\\d:\\d\\d:\\d\\d\\.\\d{3} ERROR ${PLUGIN}: plugin ${PLUGIN}: the call failed$`, 'm'),
    );
    expect(lines[0]).toMatch(
      /^ {4}plugin=test\/failing point=validator method=POST path=\/api\/v1\/\S+ user=kube-admin /,
    );
    expect(lines[1]).toBe('    Error: labels cannot be read');
    expect(lines[2]).toMatch(/^ {8}at .*failing\.js:\d+:\d+\)?$/);
  } finally {
    await server.dispose();
  }
});
