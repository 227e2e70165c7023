import { afterAll, beforeAll, expect, test } from 'vitest';
import { Api } from './support.js';
import { MERGE, STRATEGIC } from '../support/mediaTypes.js';

let api: Api;
beforeAll(async () => {
  api = await Api.shared();
});
afterAll(() => api.close());

const MAPS = '/api/v1/namespaces/default/configmaps';
const map = (name: string, rest: object = {}): object => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name },
  ...rest,
});
const warnings = (answer: { headers: { readonly [name: string]: string | string[] | undefined } }): string =>
  String(answer.headers['warning'] ?? '').replaceAll('\\"', '"');

test('a refused write still warns about unknown fields [R265]', async () => {
  const answer = await api.post(MAPS, map('Bad_Name', { colour: 'red' }));
  expect(answer.status).toBe(422);
  expect(warnings(answer)).toBe('299 - "unknown field "colour""');
});

test('strict validation reports duplicate and unknown members together, in the order of the body [R266, R340, R341]', async () => {
  const body = '{"metadata":{"name":"s","name":"s"},"colour":1,"data":{"a":"1","a":"2"}}';
  const answer = await api.post(`${MAPS}?fieldValidation=Strict`, body);
  expect(answer.status).toBe(400);
  expect(String(answer.body['message'])).toContain(
    'strict decoding error: duplicate field "metadata.name", unknown field "colour", duplicate field "data.a"',
  );
});

test.each([
  [MERGE, { zeta: 1, metadata: { nick: 'x', alias: 'y' } }, ['metadata.alias', 'metadata.nick', 'zeta']],
  [STRATEGIC, { zeta: 1, metadata: { nick: 'x' } }, ['metadata.nick', 'zeta']],
  ['application/json-patch+json', [{ op: 'add', path: '/zeta', value: { b: 1 } }], ['zeta']],
])(
  'patches as %s warn in the order of names, or are refused by strict validation [R265, R266]',
  async (type, patch, fields) => {
    await api.post(MAPS, map('patched'));
    const warned = await api.patch(`${MAPS}/patched`, type, patch);
    expect(warned.status).toBe(200);
    expect(warnings(warned)).toBe(fields.map(field => `299 - "unknown field "${field}""`).join(','));
    const strict = await api.patch(`${MAPS}/patched?fieldValidation=Strict`, type, patch);
    expect(strict.status).toBe(422);
    expect(strict.body['details']?.['causes']?.['0' as never]?.['field']).toBe('patch');
  },
);

test('a delete with a body of another kind, or with options of the wrong type, deletes nothing [R156x]', async () => {
  await api.post(MAPS, map('kept'));
  for (const body of [map('kept'), { gracePeriodSeconds: 'soon' }, { preconditions: ['x'] }, { kind: 'Status' }]) {
    expect((await api.delete(`${MAPS}/kept`, body)).status).toBe(400);
  }
  expect((await api.get(`${MAPS}/kept`)).status).toBe(200);
});

test('a delete that must wait warns only requests that delete dependents [R158x]', async () => {
  await api.post(MAPS, map('held', { metadata: { name: 'held', finalizers: ['example.com/hold'] } }));
  expect((await api.delete(`${MAPS}/held`, { orphanDependents: false })).status).toBe(202);
  expect((await api.delete(`${MAPS}/held`)).status).toBe(200);
  expect((await api.delete(`${MAPS}/held`, { orphanDependents: false })).status).toBe(202);
});
