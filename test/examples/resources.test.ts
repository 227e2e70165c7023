import { createRequire } from 'node:module';
import { resolve } from 'node:path';
import { Agent, request } from 'undici';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { RunningServer } from '../../core/index.js';
import { Api, namesIn, causesIn } from '../api/support.js';
import { MERGE } from '../support/mediaTypes.js';
import { eventually } from '../support/eventually.js';

const { start } = createRequire(import.meta.url)(
  resolve('dist/examples/customResource.js'),
) as typeof import('../../examples/customResource.js');

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
    await eventually(async () => (await call('GET', '/api/v1/namespaces/default')).status === 200);
  });
  afterAll(async () => {
    await server?.close();
    await agent.close();
  });

  it('is served with defaults, and refuses objects that its schema or its rule forbids', async () => {
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

  it('has its names and selectable fields', async () => {
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
    api = await Api.start({ plugins: [{ use: resolve('dist/examples/checkedResource.js'), config: { rows: 5 } }] });
  });
  afterAll(() => api?.close());

  it('reports all violations of schema and code in one answer', async () => {
    const answer = await api.post(bookings, booking('bad', 'one', 'A6', 'b1', 'A1', 'A1'));
    expect(answer.status).toBe(422);
    expect(
      causesIn(answer.body)
        .map(cause => cause.field)
        .sort(),
    ).toEqual(['spec.seats[0]', 'spec.seats[1]', 'spec.seats[3]']);
  });

  it('sees the object before an update', async () => {
    const made = await api.made(bookings, booking('good', 'one', 'A5'));
    const moved = await api.put(`${bookings}/good`, { ...made, spec: { hall: 'two', seats: ['A5'] } });
    expect(moved).toMatchObject({ status: 422, body: { details: { causes: [{ field: 'spec.hall' }] } } });
    expect((await api.put(`${bookings}/good`, { ...made, spec: { hall: 'one', seats: ['A4'] } })).status).toBe(200);
  });
});

describe('the example of a resource type with a strategy', () => {
  let api: Api;
  const reservations = '/apis/cafe.example.com/v1/namespaces/default/reservations';
  const reservation = (name: string, spec: object) => ({
    apiVersion: 'cafe.example.com/v1',
    kind: 'Reservation',
    metadata: { name },
    spec,
  });

  beforeAll(async () => {
    api = await Api.start({ plugins: [{ use: resolve('dist/examples/reservations.js') }] });
  });
  afterAll(() => api?.close());

  it('sets defaults, prepares creates, and refuses changes', async () => {
    const made = await api.made(reservations, reservation('ada', { table: 't1' }));
    expect(made).toMatchObject({ spec: { table: 't1', guests: 2 }, status: { reservedBy: 'kube-admin' } });
    const moved = await api.put(`${reservations}/ada`, { ...made, spec: { table: 't2' } });
    expect(moved).toMatchObject({
      status: 422,
      body: { details: { causes: [{ field: 'spec.table', message: 'Forbidden: a reservation stays at its table' }] } },
    });
  });

  it('refuses duplicate values of a claim', async () => {
    const answers = await Promise.all(
      ['bob', 'cyd', 'dan'].map(name => api.post(reservations, reservation(name, { table: 't9' }))),
    );
    expect(answers.map(answer => answer.status).filter(status => status === 201)).toHaveLength(1);
  });

  it('has computed selectable fields and columns', async () => {
    await api.made(reservations, reservation('eve', { table: 't3', guests: 8 }));
    const large = await api.get(`${reservations}?fieldSelector=party%3Dlarge`);
    expect(namesIn(large.body)).toEqual(['eve']);
    const accept = 'application/json;as=Table;v=v1;g=meta.k8s.io';
    const table = await api.get(`${reservations}/eve`, { accept });
    expect(table.body).toMatchObject({ columnDefinitions: [{ name: 'Reservation' }], rows: [{ cells: ['8 at t3'] }] });
  });

  it('has a subresource whose code changes the object', async () => {
    const made = await api.made(reservations, reservation('fay', { table: 't4' }));
    const answer = await api.put(`${reservations}/fay/confirmation`, { ...made, spec: { table: 't5', guests: 9 } });
    expect(answer).toMatchObject({
      status: 200,
      body: { spec: { table: 't4', guests: 2 }, status: { confirmedBy: 'kube-admin' } },
    });
    const { resources } = (await api.get('/apis/cafe.example.com/v1')).body as unknown as { resources: object[] };
    expect(resources).toContainEqual(
      expect.objectContaining({
        name: 'reservations/confirmation',
        kind: 'Reservation',
        verbs: ['get', 'patch', 'update'],
      }),
    );
  });
});

describe('the example of a resource type with typed schemas, in two versions', () => {
  let api: Api;
  const GROUP = 'teahouse.example.com';
  const at = (version: string) => `/apis/${GROUP}/${version}/namespaces/default/orders`;
  const order = (version: string, name: string, spec: object) => ({
    apiVersion: `${GROUP}/${version}`,
    kind: 'Order',
    metadata: { name },
    spec,
  });

  beforeAll(async () => {
    api = await Api.start({ plugins: [{ use: resolve('dist/examples/teaHouse.js') }] });
  });
  afterAll(() => api?.close());

  it('converts objects that are written and read in another version than the storage version', async () => {
    const answer = await api.post(at('v1'), order('v1', 'old', { tea: 'Oolong', amount: '2 cups' }));
    expect(answer).toMatchObject({ status: 201, body: { spec: { tea: 'oolong', amount: '2 cups' } } });
    expect(answer.headers['warning']).toContain('use teahouse.example.com/v2');
    expect((await api.get(`${at('v2')}/old`)).body['spec']).toEqual({ tea: 'oolong', cups: 2 });
    await api.made(at('v2'), order('v2', 'new', { tea: 'assam' }));
    expect((await api.get(`${at('v1')}/new`)).body['spec']).toEqual({ tea: 'assam', amount: '1 cup' });
    const patched = await api.patch(`${at('v1')}/new`, MERGE, { spec: { amount: '3 cups' } });
    expect(patched.status).toBe(200);
    expect((await api.get(`${at('v2')}/new`)).body['spec']).toEqual({ tea: 'assam', cups: 3 });
  });

  it('refuses objects that its schemas or its function forbid', async () => {
    const sweet = await api.post(at('v2'), order('v2', 'sweet', { tea: 'sencha', sugar: true }));
    expect(sweet).toMatchObject({ status: 422, body: { details: { causes: [{ field: 'spec.sugar' }] } } });
    const many = await api.post(at('v1'), order('v1', 'many', { tea: 'assam', amount: 'some' }));
    expect(many).toMatchObject({ status: 422, body: { details: { causes: [{ field: 'spec.amount' }] } } });
    expect((await api.post(at('v2'), order('v2', 'none', {}))).body['message']).toContain('spec.tea: Required value');
  });

  it('has selectable fields, columns and a subresource', async () => {
    await api.made(at('v2'), order('v2', 'big', { tea: 'assam', cups: 9 }));
    expect(namesIn((await api.get(`${at('v2')}?fieldSelector=size%3Dlarge`)).body)).toEqual(['big']);
    expect(namesIn((await api.get(`${at('v2')}?fieldSelector=spec.tea%3Doolong`)).body)).toEqual(['old']);
    const accept = 'application/json;as=Table;v=v1;g=meta.k8s.io';
    expect((await api.get(`${at('v2')}/big`, { accept })).body).toMatchObject({ rows: [{ cells: ['9 × assam'] }] });
    const { body } = await api.get(`${at('v2')}/big`);
    expect((await api.put(`${at('v2')}/big/serving`, body)).body['status']).toEqual({
      poured: 9,
      servedBy: 'kube-admin',
    });
  });
});
