import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Api } from './support.js';

describe('dry runs', () => {
  let api: Api;
  let maps: string;
  beforeAll(async () => {
    api = await Api.shared();
    maps = `${await api.namespace('dry')}/configmaps`;
  });
  afterAll(() => api.close());

  test('a create is answered as if it were stored, and stores nothing', async () => {
    const { status, body } = await api.post(`${maps}?dryRun=All`, { metadata: { name: 'a' }, data: { k: 'v' } });
    expect([status, body.data]).toEqual([201, { k: 'v' }]);
    expect(body.metadata!.uid).toBeDefined();
    expect((await api.get(`${maps}/a`)).status).toBe(404);
  });

  test('a create with an existing name is refused, one with a generated name is not', async () => {
    await api.made(maps, { metadata: { name: 'taken' } });
    const { status, body } = await api.post(`${maps}?dryRun=All`, { metadata: { name: 'taken' } });
    expect([status, body.message]).toEqual([409, 'configmaps "taken" already exists']);
    expect((await api.post(`${maps}?dryRun=All`, { metadata: { generateName: 'taken' } })).status).toBe(201);
  });

  test('a duplicate owner reference is removed, with a warning', async () => {
    const { metadata } = await api.made(maps, { metadata: { name: 'owner' } });
    const owner = { apiVersion: 'v1', kind: 'ConfigMap', name: 'owner', uid: metadata!.uid };
    const sent = { metadata: { name: 'owned', ownerReferences: [owner, owner] } };
    const { headers, body } = await api.post(`${maps}?dryRun=All`, sent);
    expect(body.metadata!.ownerReferences).toEqual([owner]);
    expect(headers['warning']).toContain('.metadata.ownerReferences contains duplicate entries; API server dedups');
  });
});
