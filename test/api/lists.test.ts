import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Api, namesIn, listOf, rowsIn } from './support.js';
import { textOf } from '../support/values.js';

const TABLE = 'application/json;as=Table;g=meta.k8s.io;v=v1';

describe('collections and tables', () => {
  let api: Api;
  let shop: string;
  beforeAll(async () => {
    api = await Api.start();
    shop = await api.namespace('shop');
  });
  afterAll(() => api.close());

  test('a list has apiVersion, metadata and items, which may be an empty array [R046 R047]', async () => {
    const empty = (await api.get(`${shop}/pods`)).body;
    expect(empty).toEqual({
      kind: 'PodList',
      apiVersion: 'v1',
      metadata: { resourceVersion: expect.stringMatching(/^\d+$/) },
      items: [],
    });
    await api.made(`${shop}/services`, { metadata: { name: 's' }, spec: { ports: [{ port: 80 }] } });
    const full = (await api.get(`${shop}/services`)).body;
    expect(full).toMatchObject({
      kind: 'ServiceList',
      apiVersion: 'v1',
      metadata: { resourceVersion: expect.any(String) },
    });
    expect(namesIn(full)).toEqual(['s']);
    expect((await api.get('/api/v1/nodes')).body.kind).toBe('NodeList');
  });

  test('every list has the kind of its items followed by List [R046 R047 R056]', async () => {
    const groups = (await api.get('/apis')).body as unknown as { groups: { versions: { groupVersion: string }[] }[] };
    const versions = groups.groups.flatMap(group => group.versions.map(version => `/apis/${version.groupVersion}`));
    for (const version of ['/api/v1', ...versions]) {
      const { resources } = (await api.get(version)).body as unknown as {
        resources: { name: string; kind: string; verbs: string[] }[];
      };
      for (const { name, kind, verbs } of resources) {
        if (!verbs.includes('list')) continue;
        const { status, body } = await api.get(`${version}/${name}`);
        expect([name, status, body.kind]).toEqual([name, 200, `${kind}List`]);
        expect(`/${textOf(body['apiVersion'])}`).toBe(version.replace(/^\/apis?/, ''));
        expect(Array.isArray(body['items'])).toBe(true);
      }
    }
  });

  test('deprecated resources have a warning, those deprecated in later releases do not', async () => {
    const warnings = async (plural: string) => (await api.get(`/api/v1/${plural}`)).headers['warning'];
    expect(await warnings('componentstatuses')).toBe('299 - "v1 ComponentStatus is deprecated in v1.19+"');
    expect(await warnings('endpoints')).toBeUndefined();
  });

  test('the default table has the columns Name and Created At [R057 R059 R060]', async () => {
    await api.made(`${shop}/limitranges`, { metadata: { name: 'lr' }, spec: { limits: [] } });
    const table = (await api.get(`${shop}/limitranges`, { accept: TABLE })).body;
    expect(table).toMatchObject({ kind: 'Table', apiVersion: 'meta.k8s.io/v1' });
    const columns = listOf(table['columnDefinitions']);
    expect(columns.map(({ name, type, format }) => [name, type, format])).toEqual([
      ['Name', 'string', 'name'],
      ['Created At', 'date', ''],
    ]);
    const [row] = rowsIn(table);
    const { creationTimestamp } = (await api.get(`${shop}/limitranges/lr`)).body['metadata'] as unknown as {
      [name: string]: string;
    };
    expect(row!.cells).toEqual(['lr', creationTimestamp]);
    expect(row!.object).toMatchObject({ kind: 'PartialObjectMetadata', metadata: { name: 'lr' } });
  });

  test('Accept with a Table first and JSON second is never refused [R193 R194]', async () => {
    const accept = `${TABLE},application/json`;
    for (const path of [
      '/api/v1/pods',
      '/api/v1/namespaces/shop',
      '/apis/apiextensions.k8s.io/v1/customresourcedefinitions',
    ]) {
      const { status, body } = await api.get(path, { accept });
      expect([path, status, body.kind]).toEqual([path, 200, 'Table']);
    }
    for (const path of ['/apis', '/api/v1', '/version']) expect((await api.get(path, { accept })).status).toBe(200);
  });
});
