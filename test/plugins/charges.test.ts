import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { eventually } from '../support/eventually.js';
import { ConfiguredServer, fixture } from './support.js';

/* Charges of a validator of the configuration. */

const QUOTAS = '/api/v1/namespaces/default/resourcequotas';
const MAPS = '/api/v1/namespaces/default/configmaps';
const server = new ConfiguredServer();

const statusOf = async (): Promise<unknown> =>
  (JSON.parse((await server.call('GET', `${QUOTAS}/seats`)).text) as { status?: { used?: object } }).status?.used;

beforeAll(async () => {
  await server.start({ plugins: [{ use: fixture('admission', 'charges') }] });
  const quota = { metadata: { name: 'seats' }, spec: { hard: { pods: '3' } } };
  expect((await server.call('POST', QUOTAS, { body: quota })).status).toBe(201);
  await eventually(async () => (await statusOf()) !== undefined);
});
afterAll(() => server.dispose());

const create = async (name: string, query = ''): Promise<string> => {
  const { status, body } = await server.call('POST', `${MAPS}${query}`, { body: { metadata: { name } } });
  return status === 201 ? '201' : `${status} ${String(body.message)}`;
};

describe('a charge', () => {
  test('is applied when the change is stored, and only then', async () => {
    expect(await create('a')).toBe('201');
    expect(await create('b', '?dryRun=All')).toBe('201');
    expect(await create('a')).toContain('409');
    expect(await statusOf()).toEqual({ pods: '1' });
  });

  test('that would exceed the limit makes the request run again, as a repeated one', async () => {
    const answers = await Promise.all(Array.from({ length: 12 }, (_, i) => create(`c${i}`)));
    expect(answers.filter(answer => answer === '201').length).toBe(2);
    expect(new Set(answers)).toEqual(new Set(['201', '403 no seat is left']));
    expect(await statusOf()).toEqual({ pods: '3' });
  });
});
