import { createRequire } from 'node:module';
import { resolve } from 'node:path';
import { Agent, request } from 'undici';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { RunningServer } from '../../core/index.js';
import { Api } from '../api/support.js';

const { start } = createRequire(import.meta.url)(
  resolve('dist/examples/custom-resource.js'),
) as typeof import('../../examples/custom-resource.js');

describe('the example of a resource type in a program', () => {
  let server: RunningServer;
  const agent = new Agent({ connect: { rejectUnauthorized: false } });
  const orders = '/apis/tea.example.com/v1/namespaces/default/orders';
  const order = (name: string, spec: object) => ({
    apiVersion: 'tea.example.com/v1',
    kind: 'Order',
    metadata: { name },
    spec,
  });

  const call = async (method: 'GET' | 'POST', path: string, body?: object) => {
    const answer = await request(server.url + path, {
      method,
      dispatcher: agent,
      headers: { authorization: `Bearer ${server.token}`, 'content-type': 'application/json' },
      body: body && JSON.stringify(body),
    });
    return { status: answer.statusCode, body: (await answer.body.json()) as Record<string, never> };
  };

  beforeAll(async () => {
    server = await start();
    while ((await call('GET', '/api/v1/namespaces/default')).status !== 200)
      await new Promise(done => setTimeout(done, 10));
  });
  afterAll(async () => {
    await server?.close();
    await agent.close();
  });

  it('is served with defaults, and refuses what its schema and its rule forbid', async () => {
    const made = await call('POST', orders, order('one', { tea: 'assam', milk: true }));
    expect(made).toMatchObject({ status: 201, body: { spec: { tea: 'assam', cups: 1 } } });
    expect(made.body['spec']).not.toHaveProperty('milk');
    const refused = await call('POST', orders, order('two', { tea: 'coffee', cups: 21 }));
    expect(refused).toMatchObject({
      status: 422,
      body: { details: { causes: [{ field: 'spec.tea' }, { field: 'spec.cups' }, { field: '<nil>' }] } },
    });
    const sweet = await call('POST', orders, order('three', { tea: 'sencha', sugar: true }));
    expect(sweet).toMatchObject({
      status: 422,
      body: { details: { causes: [{ message: expect.stringContaining('no sugar in sencha') }] } },
    });
  });

  it('is found by its names and selected by its fields', async () => {
    const { body } = await call('GET', '/apis/tea.example.com/v1');
    expect(body['resources']).toMatchObject([
      { name: 'orders', shortNames: ['ord'], kind: 'Order' },
      { name: 'orders/status' },
      { name: 'orders/scale' },
    ]);
    expect(await call('GET', `${orders}?fieldSelector=spec.tea%3Dassam`)).toMatchObject({
      body: { items: [{ metadata: { name: 'one' } }] },
    });
    expect(await call('GET', `${orders}?fieldSelector=spec.tea%3Doolong`)).toMatchObject({ body: { items: [] } });
    expect(await call('GET', `${orders}/one/scale`)).toMatchObject({
      status: 200,
      body: { kind: 'Scale', spec: { replicas: 1 } },
    });
  });
});

describe('the example of a resource type with a check in code', () => {
  let api: Api;
  const bookings = '/apis/cinema.example.com/v1/namespaces/default/bookings';
  const booking = (name: string, hall: string, ...seats: string[]) => ({
    apiVersion: 'cinema.example.com/v1',
    kind: 'Booking',
    metadata: { name },
    spec: { hall, seats },
  });

  beforeAll(async () => {
    api = await Api.start({ plugins: [{ use: resolve('dist/examples/checked-resource.js'), config: { rows: 5 } }] });
  });
  afterAll(() => api?.close());

  it('names everything that schema and code find in one answer', async () => {
    const answer = await api.post(bookings, booking('bad', 'one', 'A6', 'b1', 'A1', 'A1'));
    expect(answer.status).toBe(422);
    expect(
      (answer.body['details']!['causes'] as unknown as { field: string }[]).map(cause => cause.field).sort(),
    ).toEqual(['spec.seats[0]', 'spec.seats[1]', 'spec.seats[3]']);
  });

  it('sees the object before an update', async () => {
    const made = await api.made(bookings, booking('good', 'one', 'A5'));
    const moved = await api.put(`${bookings}/good`, { ...made, spec: { hall: 'two', seats: ['A5'] } });
    expect(moved).toMatchObject({ status: 422, body: { details: { causes: [{ field: 'spec.hall' }] } } });
    expect((await api.put(`${bookings}/good`, { ...made, spec: { hall: 'one', seats: ['A4'] } })).status).toBe(200);
  });
});
