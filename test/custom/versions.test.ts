import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Api, type Loose } from '../api/support.js';
import { MERGE } from '../support/mediaTypes.js';

/* Custom objects of two versions whose schemas differ, and the definition of their kind. */

const APPLY = 'application/apply-patch+yaml';
const GROUP = 'mugs.example.com';
const CRDS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';

const version = (name: string, properties: object, more: object = {}): object => ({
  name,
  served: true,
  storage: name === 'v1',
  schema: {
    openAPIV3Schema: {
      type: 'object',
      properties: { spec: { type: 'object', properties }, status: { type: 'object', properties: { n: INTEGER } } },
    },
  },
  subresources: { status: {} },
  ...more,
});
const INTEGER = { type: 'integer' };
const TEXT = { type: 'string' };

const definition = (plural: string, kind: string, versions: readonly object[]): object => ({
  metadata: { name: `${plural}.${GROUP}` },
  spec: { group: GROUP, scope: 'Namespaced', names: { plural, kind }, versions },
});

let api: Api;
const mugs = (name: string): string => `/apis/${GROUP}/${name}/namespaces/default/mugs`;

beforeAll(async () => {
  api = await Api.start();
  await api.made(
    CRDS,
    definition('mugs', 'Mug', [
      version('v1', { size: INTEGER, shared: TEXT }),
      version('v2', { color: TEXT, shared: TEXT }, { deprecated: true, deprecationWarning: 'use v1' }),
    ]),
  );
  await api.until(async () => (await api.get(mugs('v1'))).status === 200);
});
afterAll(() => api.close());

const mug = (apiVersion: string, name: string, spec?: object, metadata: object = {}): object => ({
  apiVersion: `${GROUP}/${apiVersion}`,
  kind: 'Mug',
  metadata: { name, ...metadata },
  ...(spec ? { spec } : {}),
});

interface Owner {
  readonly manager: string;
  readonly fieldsV1: unknown;
}
const owners = (body: Loose): { [manager: string]: unknown } =>
  Object.fromEntries(
    ((body['metadata']!['managedFields'] ?? []) as readonly unknown[] as readonly Owner[]).map(
      ({ manager, fieldsV1 }) => [manager, fieldsV1],
    ),
  );

describe('a custom kind of two versions', () => {
  test('shows in a dry run what the stored version would keep', async () => {
    const sent = mug('v2', 'dry', { color: 'red', shared: 'x' });
    const dry = await api.post(`${mugs('v2')}?dryRun=All`, sent);
    expect(dry.body['spec']).toEqual({ shared: 'x' });
    const real = await api.post(mugs('v2'), sent);
    expect(real.body['spec']).toEqual({ shared: 'x' });
  });

  test('has the defaults of the storage version, also in objects that another version has written', async () => {
    const [cups, items] = ['cups', (properties: object) => ({ type: 'array', items: { type: 'object', properties } })];
    const versions = [
      version('v1', { list: items({ a: { ...TEXT, default: 'one' }, b: TEXT }) }),
      version('v2', { list: items({ a: TEXT, b: { ...TEXT, default: 'two' } }) }),
    ];
    await api.made(CRDS, definition(cups, 'Cup', versions));
    const path = (of: string): string => mugs(of).replace(/mugs$/, cups);
    await api.until(async () => (await api.get(path('v2'))).status === 200);
    await api.made(path('v2'), { ...mug('v2', 'c', { list: [{}] }), kind: 'Cup' });
    for (const of of ['v1', 'v2'])
      expect((await api.get(`${path(of)}/c`)).body['spec']).toEqual({ list: [{ a: 'one', b: 'two' }] });
  });

  test('gets the defaults of the version of a request only in the parts that the request writes', async () => {
    const fields = (properties: object): object => ({ type: 'object', properties });
    const schemaOf = (name: string, spec: object, status: object): object => ({
      ...version(name, {}),
      schema: { openAPIV3Schema: fields({ spec: { ...fields(spec), default: {} }, status: fields(status) }) },
      subresources: { status: {} },
    });
    const [plain, defaulted] = [{ c: TEXT }, { c: { ...TEXT, default: 'C' } }];
    const versions = [schemaOf('v1', plain, plain), schemaOf('v2', defaulted, defaulted)];
    await api.made(CRDS, definition('jugs', 'Jug', versions));
    const path = (of: string): string => mugs(of).replace(/mugs$/, 'jugs');
    await api.until(async () => (await api.get(path('v2'))).status === 200);
    await api.made(path('v1'), { ...mug('v1', 'j', {}), kind: 'Jug' });
    const status = await api.put(`${path('v2')}/j/status`, { ...(await api.get(`${path('v2')}/j`)).body, status: {} });
    expect([status.body['spec'], status.body['status']]).toEqual([{}, { c: 'C' }]);
    expect((await api.get(`${path('v1')}/j`)).body).toMatchObject({ spec: {}, status: { c: 'C' } });
  });

  test('loses the managers of an object that does not match the schema of the version of a manager', async () => {
    await api.made(`${mugs('v1')}?fieldManager=one`, mug('v1', 'lost', { size: 1 }));
    const shared = await api.patch(`${mugs('v2')}/lost?fieldManager=two`, MERGE, { spec: { shared: 'x' } });
    expect(shared.status).toBe(200);
    const changed = await api.patch(`${mugs('v1')}/lost?fieldManager=one`, MERGE, { spec: { size: 2 } });
    expect(changed.body['spec']).toEqual({ size: 2, shared: 'x' });
    expect(owners(changed.body)).toEqual({});
  });

  test('keeps the managers of versions whose schemas the object matches', async () => {
    await api.made(`${mugs('v1')}?fieldManager=one`, mug('v1', 'kept', { shared: 'x' }));
    const changed = await api.patch(`${mugs('v2')}/kept?fieldManager=two`, MERGE, { spec: { shared: 'y' } });
    expect(Object.keys(owners(changed.body))).toEqual(['one', 'two']);
  });

  test('has the warning of a deprecated version in answers, also if the request is refused', async () => {
    const warned = { status: 404, headers: { warning: '299 - "use v1"' } };
    expect(await api.get(`${mugs('v2')}/nobody`)).toMatchObject(warned);
    expect(await api.patch(`${mugs('v2')}/nobody`, MERGE, {})).toMatchObject(warned);
    expect(await api.get(`${mugs('v2')}/nobody/scale`)).toMatchObject(warned);
    expect((await api.get(`${mugs('v2')}?fieldSelector=spec.size%3D1`)).headers['warning']).toBe('299 - "use v1"');
    expect((await api.get(`${mugs('v1')}/nobody`)).headers['warning']).toBeUndefined();
  });
});

describe('a write of the status of a custom object', () => {
  test('owns the metadata that it sends, although that is not stored', async () => {
    await api.made(`${mugs('v1')}?fieldManager=one`, mug('v1', 'status', undefined, { labels: { a: '1', b: '2' } }));
    const change = { metadata: { labels: { a: '3' }, annotations: { c: '4' } }, status: { n: 1 } };
    const written = await api.patch(`${mugs('v1')}/status/status?fieldManager=two`, MERGE, change);
    expect(written.body['metadata']).toMatchObject({ labels: { a: '1', b: '2' } });
    expect(written.body['metadata']!['annotations']).toBeUndefined();
    expect(owners(written.body)).toEqual({
      one: { 'f:metadata': { 'f:labels': { '.': {}, 'f:b': {} } } },
      two: {
        'f:metadata': { 'f:annotations': { '.': {}, 'f:c': {} }, 'f:labels': { 'f:a': {} } },
        'f:status': { '.': {}, 'f:n': {} },
      },
    });
  });
});

describe('an apply to a custom object', () => {
  test('that removes all members of a map leaves null, which the schema may refuse', async () => {
    const path = `${mugs('v1')}/emptied?fieldManager=me`;
    expect((await api.patch(path, APPLY, mug('v1', 'emptied', { size: 1 }))).status).toBe(201);
    expect(await api.patch(path, APPLY, mug('v1', 'emptied', {}))).toMatchObject({
      status: 422,
      body: { message: expect.stringContaining('spec in body must be of type object: "null"') },
    });
  });
});

test('a rule that fails for a value refuses the write, even if that does not change the value', async () => {
  const list = {
    type: 'array',
    maxItems: 5,
    items: TEXT,
    'x-kubernetes-validations': [{ rule: 'self.exists(x, true)' }],
  };
  const path = `/apis/${GROUP}/v1/namespaces/default/pots`;
  await api.made(CRDS, definition('pots', 'Pot', [version('v1', { lids: TEXT })]));
  await api.until(async () => (await api.get(path)).status === 200);
  const pot = { apiVersion: `${GROUP}/v1`, kind: 'Pot', metadata: { name: 'old' }, spec: { lids: 'x' } };
  await api.made(path, pot);
  const change = [
    { op: 'replace', path: '/spec/versions/0/schema/openAPIV3Schema/properties/spec/properties/lids', value: list },
  ];
  const changed = await api.patch(`${CRDS}/pots.${GROUP}`, 'application/json-patch+json', change);
  expect(changed.status).toBe(200);
  expect(await api.patch(`${path}/old`, MERGE, { metadata: { labels: { a: 'b' } } })).toMatchObject({
    status: 422,
    body: { message: expect.stringContaining('spec.lids: Invalid value: "array": invalid data, expected an array') },
  });
});

test('an apply may set fields that only an enclosing schema preserves, and a scale sets no field without a schema', async () => {
  const path = `/apis/${GROUP}/v1/namespaces/default/jars`;
  const scale = { specReplicasPath: '.spec.n', statusReplicasPath: '.status.n' };
  const [v1] = [
    version('v1', { size: INTEGER }, { subresources: { scale } }) as { schema: { openAPIV3Schema: object } },
  ];
  Object.assign(v1!.schema.openAPIV3Schema, { 'x-kubernetes-preserve-unknown-fields': true });
  await api.made(CRDS, definition('jars', 'Jar', [v1!]));
  await api.until(async () => (await api.get(path)).status === 200);
  const jar = { apiVersion: `${GROUP}/v1`, kind: 'Jar', metadata: { name: 'a' }, spec: { size: 1, unknown: 2 } };
  expect(await api.patch(`${path}/a?fieldManager=me`, APPLY, jar)).toMatchObject({
    status: 201,
    body: { spec: { size: 1 } },
  });
  const again = await api.patch(`${path}/a?fieldManager=me&fieldValidation=Strict`, APPLY, jar);
  expect([again.status, again.headers['warning']]).toEqual([200, undefined]);
  const scaled = await api.patch(`${path}/a/scale`, MERGE, { spec: { replicas: 3 } });
  expect([scaled.status, scaled.body['spec']]).toEqual([200, {}]);
  expect((await api.get(`${path}/a`)).body['spec']).toEqual({ size: 1 });
});

describe('a definition', () => {
  test('has a status that the server owns', async () => {
    const { body } = await api.get(`${CRDS}/mugs.${GROUP}`);
    expect(Object.keys(owners(body))).toContain('kube-apiserver');
  });

  test('has no selectable fields of one version where all versions have the same schema', async () => {
    const versions = [
      version('v1', { size: INTEGER }),
      version('v2', { size: INTEGER }, { selectableFields: [{ jsonPath: '.spec.size' }] }),
    ];
    const { status, body } = await api.post(CRDS, definition('cans', 'Can', versions));
    expect(status).toBe(422);
    expect(body['details']!['causes']).toEqual([
      {
        reason: 'FieldValueInvalid',
        field: 'spec.versions[1].selectableFields',
        message:
          'Invalid value: "": selectableFields may only be set when version.schema.openAPIV3Schema is not included',
      },
    ]);
  });
});
