import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Api, deployment, namesIn } from './support.js';
import { MERGE } from '../support/mediaTypes.js';
import { eventually } from '../support/eventually.js';

describe('the envelope and common metadata', () => {
  let api: Api;
  let shop: string;
  let maps: string;
  beforeAll(async () => {
    api = await Api.shared();
    shop = await api.namespace('labelled');
    maps = `${shop}/configmaps`;
  });
  afterAll(() => api.close());

  test('objects of the core group and of named groups carry kind, apiVersion and metadata [R029 R030 R031 R032]', async () => {
    await api.made(maps, { metadata: { name: 'plain' } });
    const deployments = '/apis/apps/v1/namespaces/labelled/deployments';
    await api.made(deployments, deployment('web'));
    expect((await api.get(`${maps}/plain`)).body).toMatchObject({
      kind: 'ConfigMap',
      apiVersion: 'v1',
      metadata: { name: 'plain' },
    });
    expect((await api.get(`${deployments}/web`)).body).toMatchObject({
      kind: 'Deployment',
      apiVersion: 'apps/v1',
      metadata: { name: 'web' },
    });
  });

  test('a resourceVersion in a create is refused after all other checks', async () => {
    const versioned = (name: string) => api.post(maps, { metadata: { name, resourceVersion: '5' } });
    const message = 'resourceVersion should not be set on objects to be created';
    expect((await versioned('versioned')).body).toMatchObject({ code: 400, message });
    expect((await versioned('Not A Name')).body).toMatchObject({ code: 422 });
    expect((await api.get(`${maps}/versioned`)).status).toBe(404);
  });

  test('a namespace in the update of a cluster-scoped object is removed', async () => {
    const roles = '/apis/rbac.authorization.k8s.io/v1/clusterroles';
    await api.made(roles, { metadata: { name: 'wide' } });
    const wide = { metadata: { name: 'wide', namespace: 'labelled', labels: { a: '1' } } };
    for (const answer of [await api.put(`${roles}/wide`, wide), await api.patch(`${roles}/wide`, MERGE, wide)]) {
      expect(answer.status).toBe(200);
      expect(answer.body['metadata']).not.toHaveProperty('namespace');
    }
  });

  test('every object that the server creates has the whole envelope [R029 R032]', async () => {
    for (const path of [
      '/api/v1/namespaces',
      '/apis/rbac.authorization.k8s.io/v1/clusterroles',
      '/api/v1/serviceaccounts',
    ]) {
      const items = await eventually(
        async () => {
          const list = (await api.get(path)).body as unknown as { items: { metadata: object }[] };
          return list.items;
        },
        found => found.length > 0,
      );
      for (const { metadata } of items) {
        expect(metadata).toMatchObject({
          name: expect.any(String),
          uid: expect.any(String),
          resourceVersion: expect.stringMatching(/^\d+$/),
          creationTimestamp: expect.any(String),
        });
      }
    }
  });

  test('uid and creationTimestamp are set by the server, whatever the client sends [R036 R038]', async () => {
    const before = Math.floor(Date.now() / 1000) * 1000;
    const sent = { name: 'stamped', uid: 'mine', creationTimestamp: '2001-01-01T00:00:00Z', resourceVersion: '' };
    const { metadata } = (await api.made(maps, { metadata: sent })) as unknown as {
      metadata: { [name: string]: string };
    };
    expect(metadata['uid']).not.toBe('mine');
    expect(metadata['creationTimestamp']).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
    expect(Date.parse(metadata['creationTimestamp']!)).toBeGreaterThanOrEqual(before);
    const changed = { ...metadata, uid: undefined, creationTimestamp: '2001-01-01T00:00:00Z', labels: { a: 'b' } };
    const put = await api.put(`${maps}/stamped`, { metadata: changed });
    expect(put.body['metadata']).toMatchObject({
      uid: metadata['uid'],
      creationTimestamp: metadata['creationTimestamp'],
    });
    const another = await api.put(`${maps}/stamped`, { metadata: { name: 'stamped', uid: 'another' } });
    expect([another.status, another.body.reason]).toEqual([409, 'Conflict']);
  });

  test('labels are a map of strings that selectors match [R042]', async () => {
    await api.made(maps, { metadata: { name: 'red', labels: { color: 'red', 'example.com/tier': '' } } });
    await api.made(maps, { metadata: { name: 'blue', labels: { color: 'blue' } } });
    expect((await api.get(`${maps}/red`)).body['metadata']!['labels']).toEqual({
      color: 'red',
      'example.com/tier': '',
    });
    const find = async (selector: string): Promise<string[]> =>
      namesIn((await api.get(`${maps}?labelSelector=${encodeURIComponent(selector)}`)).body);
    expect(await find('color=red')).toEqual(['red']);
    expect(await find('color in (red,blue)')).toEqual(['blue', 'red']);
    expect(await find('color,color!=blue')).toEqual(['red']);
    expect(await find('example.com/tier=')).toContain('red');
    const wrong = { labels: { color: { nested: true } } };
    expect((await api.post(maps, { metadata: { name: 'wrong', ...wrong } })).status).toBe(400);
    expect((await api.post(maps, { metadata: { name: 'wrong', labels: { 'a b': 'c' } } })).status).toBe(422);
  });

  test('annotations are a map of arbitrary strings [R043]', async () => {
    const annotations = { note: 'any text:\n{"even": "JSON"} ☃', 'example.com/empty': '' };
    await api.made(maps, { metadata: { name: 'noted', annotations } });
    expect((await api.get(`${maps}/noted`)).body['metadata']!['annotations']).toEqual(annotations);
    const number = await api.post(maps, { metadata: { name: 'wrong', annotations: { a: 1 } } });
    expect(number.status).toBe(400);
    const long = await api.post(maps, { metadata: { name: 'long', annotations: { a: 'x'.repeat(256 * 1024) } } });
    expect(long.status).toBe(422);
  });
});
