import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Api, type Loose, listOf } from '../api/support.js';
import { MERGE } from '../support/mediaTypes.js';

const CRDS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const OPEN = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };

/** A definition whose scale subresource has the count at this path. */
const definition = (plural: string, kind: string, specReplicasPath: string, scope = 'Namespaced'): object => ({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: `${plural}.scales.example.com` },
  spec: {
    group: 'scales.example.com',
    scope,
    names: { plural, kind },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        schema: { openAPIV3Schema: { type: 'object', properties: { spec: OPEN, status: OPEN } } },
        subresources: { scale: { specReplicasPath, statusReplicasPath: '.status.replicas' } },
        additionalPrinterColumns: [
          { name: 'Wanted', type: 'integer', jsonPath: '.spec.replicas' },
          { name: 'Text', type: 'string', jsonPath: '.spec.text' },
        ],
      },
    ],
  },
});

const scale = (namespace: string, replicas: number): object => ({
  apiVersion: 'autoscaling/v1',
  kind: 'Scale',
  metadata: { name: 'a', namespace },
  spec: { replicas },
});

describe('subresources that change their object', () => {
  let api: Api;
  let core: string;
  beforeAll(async () => {
    const use = pathToFileURL(resolve('dist/test/server/fixtures/replicaLimit.js')).href;
    api = await Api.start({ plugins: [{ use }] });
    core = await api.namespace('scales');
  });
  afterAll(() => api.close());

  async function serve(plural: string, kind: string, path: string): Promise<string> {
    expect((await api.post(CRDS, definition(plural, kind, path))).status).toBe(201);
    const objects = `/apis/scales.example.com/v1/namespaces/scales/${plural}`;
    await api.until(async () => (await api.get(objects)).status === 200);
    const body = { apiVersion: 'scales.example.com/v1', kind, metadata: { name: 'a' }, spec: { text: 'x' } };
    expect((await api.post(objects, body)).status).toBe(201);
    return `${objects}/a`;
  }

  test('set a count named like an inherited member only in the object itself', async () => {
    const path = await serve('evils', 'Evil', '.spec.__proto__.constructor');
    for (const replicas of [3, 4]) expect((await api.put(`${path}/scale`, scale('scales', replicas))).status).toBe(200);
    expect((await api.get(`${path}/scale`)).body.spec).toEqual({ replicas: 4 });
    expect((await api.get(path)).text).toContain('"spec":{"__proto__":{"constructor":4},"text":"x"}');
    expect((await api.post(`${core}/configmaps`, { metadata: { name: 'after' } })).status).toBe(201);
  });

  test('show the columns of their kind in Tables, as far as a scale has their values', async () => {
    const path = await serve('tables', 'Tabled', '.spec.count');
    expect((await api.put(`${path}/scale`, scale('scales', 3))).status).toBe(200);
    const accept = 'application/json;as=Table;g=meta.k8s.io;v=v1';
    expect((await api.get(`${path}/scale`, { accept })).body).toMatchObject({
      columnDefinitions: [{ name: 'Name' }, { name: 'Wanted' }, { name: 'Text' }],
      rows: [{ cells: ['a', 3, null] }],
    });
  });

  test('report invalid replica counts in objects that are older than the paths', async () => {
    const path = await serve('texts', 'Text', '.spec.replicas');
    const changed = { spec: { versions: [{}] } };
    const crd = `${CRDS}/texts.scales.example.com`;
    const { body: defined } = await api.get(crd);
    const [version] = listOf(defined['spec']!['versions']);
    const scaleOf = { specReplicasPath: '.spec.text.replicas', statusReplicasPath: '.status.replicas' };
    changed.spec.versions = [{ ...version, subresources: { scale: scaleOf } }];
    expect((await api.patch(crd, MERGE, changed)).status).toBe(200);
    const why = '.spec.text.replicas accessor error: x is of the type string, expected map[string]interface{}';
    for (const { status, body } of [await api.get(`${path}/scale`), await api.put(`${path}/scale`, scale('scales', 3))])
      expect([status, body.message]).toEqual([500, why]);
    const labels = { metadata: { labels: { a: 'b' } } };
    const refused = await api.patch(path, MERGE, labels);
    expect([refused.status, refused.body.message]).toEqual([
      422,
      `Text.scales.example.com "a" is invalid: .spec.text.replicas: Invalid value: 0: ${why}`,
    ]);
    expect((await api.get(path)).body.spec).toEqual({ text: 'x' });
  });

  test('set the first count of an object with any patch, and refuse a patch that sets none', async () => {
    expect((await api.post(CRDS, definition('globals', 'Global', '.spec.replicas', 'Cluster'))).status).toBe(201);
    const objects = '/apis/scales.example.com/v1/globals';
    await api.until(async () => (await api.get(objects)).status === 200);
    const body = { apiVersion: 'scales.example.com/v1', kind: 'Global', metadata: { name: 'a' }, spec: {} };
    expect((await api.post(objects, body)).status).toBe(201);
    const patch = (type: string, value: unknown): ReturnType<Api['patch']> =>
      api.patch(`${objects}/a/scale?dryRun=All`, `application/${type}+json`, value as object);
    const none = await patch('merge-patch', {});
    expect([none.status, none.body.message]).toEqual([400, 'the spec replicas field ".spec.replicas" cannot be empty']);
    for (const answer of [
      await patch('merge-patch', { spec: { replicas: 2 } }),
      await patch('json-patch', [{ op: 'replace', path: '/spec/replicas', value: 2 }]),
    ])
      expect([answer.status, answer.body.spec]).toEqual([200, { replicas: 2 }]);
  });

  test('are validated by validators that select them', async () => {
    const path = await serve('counts', 'Count', '.spec.replicas');
    const { status, body } = await api.put(`${path}/scale`, scale('scales', 11));
    expect([status, body.message]).toEqual([
      422,
      'Count.scales.example.com "a" is invalid: spec.replicas: Forbidden: at most 10',
    ]);
    expect((await api.put(`${path}/scale`, scale('scales', 10))).status).toBe(200);

    await api.until(async () => (await api.get(`${core}/serviceaccounts/default`)).status === 200);
    const pod = { metadata: { name: 'p' }, spec: { containers: [{ name: 'c', image: 'i' }] } };
    expect((await api.post(`${core}/pods`, pod)).status).toBe(201);
    const bind = async (name: string): Promise<number> =>
      (await api.post(`${core}/pods/p/binding`, { metadata: { name: 'p' }, target: { kind: 'Node', name } })).status;
    expect([await bind('forbidden'), await bind('allowed')]).toEqual([422, 201]);
    expect(((await api.get(`${core}/pods/p`)).body.spec as Loose).nodeName).toBe('allowed');
  });
});
