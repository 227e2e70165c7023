import { resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ConfiguredServer, fixture } from './support.js';

/* Drafts that a mutator turns into objects of another kind, which is a fault of the plugin, not of the client. */

const sets = (resource: string, members: object, more: object = {}) => ({
  use: fixture('admission', 'sets'),
  config: { on: { resources: [resource], operations: ['CREATE'] }, members },
  ...more,
});
const RESERVATIONS = '/apis/cafe.example.com/v1/namespaces/default/reservations';
const place = (plural: string) => `/api/v1/namespaces/default/${plural}`;
const reservation = (spec: object) => ({ apiVersion: 'cafe.example.com/v1', kind: 'Reservation', ...body(), spec });
const body = (metadata: object = {}) => ({ metadata: { generateName: 'spoilt-', ...metadata } });

const server = new ConfiguredServer();
beforeAll(() =>
  server.start({
    plugins: [
      { use: resolve('dist/examples/reservations.js') },
      sets('resourcequotas', { 'metadata.labels': 5 }),
      sets('limitranges', { spec: 'text' }),
      sets('endpoints', { 'metadata.labels': { a: 1 } }, { failurePolicy: 'Ignore' }),
      sets('serviceaccounts', { kind: 'Pod', unknown: 'field', secrets: null }),
      sets('reservations', { 'spec.guests': 'many' }),
    ],
  }),
);
afterAll(() => server.dispose());

const blamed = async (): Promise<number> =>
  await server.counter('capstan_plugin_errors_total', { plugin: 'test/sets', point: 'mutator' });

describe('a draft that is no longer an object of its kind', () => {
  test.each([
    ['resourcequotas', 'ResourceQuota'],
    ['limitranges', 'LimitRange'],
  ])('is answered with 500 that names the plugin, and logged and counted (%s)', async (plural, kind) => {
    const before = await blamed();
    const answer = await server.call('POST', place(plural), { body: body() });
    expect([answer.status, answer.body.message]).toEqual([
      500,
      'Internal error occurred: the plugin "test/sets" failed; see the log of the server',
    ]);
    expect(await blamed()).toBe(before + 1);
    expect(server.log.at(-1)).toMatchObject({
      name: 'test/sets',
      level: 'error',
      stack: expect.stringContaining(`TypeError: the draft is no ${kind} any more: `),
    });
  });

  test('is answered with 500 also for a custom kind', async () => {
    const spec = { table: 't1', from: '2030-01-01T10:00:00Z', until: '2030-01-01T12:00:00Z', guests: 2 };
    const answer = await server.call('POST', RESERVATIONS, { body: reservation(spec) });
    expect([answer.status, answer.body.message]).toEqual([500, expect.stringContaining('the plugin "test/sets"')]);
    expect(server.log.at(-1)?.stack).toContain('the draft is no Reservation any more: spec.guests: Invalid value');
  });

  test('is a fault of the client if the client has sent the value', async () => {
    const answer = await server.call('POST', RESERVATIONS, { body: reservation({ table: 't1', guests: 'many' }) });
    expect([answer.status, answer.body.reason]).toEqual([422, 'Invalid']);
  });

  test('has no effect if failures of the plugin are ignored', async () => {
    const answer = await server.call('POST', place('endpoints'), { body: body({ labels: { b: 'c' } }) });
    expect([answer.status, answer.body.metadata.labels]).toEqual([201, { b: 'c' }]);
  });
});

test('treats the kind, unknown fields and empty members as in the body of a request', async () => {
  const answer = await server.call('POST', place('serviceaccounts'), { body: body() });
  expect(answer.status).toBe(201);
  expect(answer.body).toMatchObject({ kind: 'ServiceAccount' });
  expect(answer.text.replaceAll('"manager":"unknown"', '')).not.toContain('unknown');
});
