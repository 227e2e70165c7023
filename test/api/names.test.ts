import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Api, namesIn, causesIn } from './support.js';
import { MERGE } from '../support/mediaTypes.js';
import { eventuallyPasses } from '../support/eventually.js';
import { textOf } from '../support/values.js';

const withName = (name: string): object => ({ metadata: { name } });

describe('names and scope', () => {
  let api: Api;
  let shop: string;
  let other: string;
  beforeAll(async () => {
    api = await Api.shared();
    shop = await api.namespace('names');
    other = await api.namespace('other');
  });
  afterAll(() => api.close());

  test('an object without a name and without generateName is refused [R020]', async () => {
    const { status, body } = await api.post(`${shop}/configmaps`, {});
    expect([status, body.reason]).toEqual([422, 'Invalid']);
    expect(body.message).toContain('name or generateName is required');
    expect((await api.post('/api/v1/namespaces', { metadata: {} })).status).toBe(422);
  });

  test('names are unique for a kind in a namespace; other kinds and namespaces may use the same name [R021 R022]', async () => {
    await api.made(`${shop}/configmaps`, withName('a'));
    const again = await api.post(`${shop}/configmaps`, withName('a'));
    expect(again.status).toBe(409);
    expect(again.body).toMatchObject({
      reason: 'AlreadyExists',
      message: 'configmaps "a" already exists',
      details: { name: 'a', kind: 'configmaps' },
    });
    expect((await api.post(`${shop}/secrets`, withName('a'))).status).toBe(201);
    expect((await api.post(`${other}/configmaps`, withName('a'))).status).toBe(201);
  });

  test('the create of an object that exists can be retried if it has a generateName as well', async () => {
    const both = { metadata: { name: 'taken', generateName: 'take' } };
    await api.made(`${shop}/configmaps`, both);
    for (const query of ['', '?dryRun=All'])
      expect(await api.post(`${shop}/configmaps${query}`, both)).toMatchObject({
        status: 409,
        body: {
          reason: 'AlreadyExists',
          message:
            'configmaps "taken" already exists, the server was not able to generate a unique name for the object',
          details: { name: 'taken', kind: 'configmaps', retryAfterSeconds: 1 },
        },
      });
  });

  test('the name of a StatefulSet is a label, because its pods are named after it', async () => {
    const sets = shop.replace('/api/v1', '/apis/apps/v1');
    const made = (name: string) => api.post(`${sets}/statefulsets?dryRun=All`, { ...withName(name), spec: {} });
    const causes = async (name: string) => causesIn((await made(name)).body);
    expect((await causes('a.b')).map(cause => cause.field)).toContain('metadata.name');
    expect((await causes('a'.repeat(64))).map(cause => cause.field)).toContain('metadata.name');
    expect((await causes('a'.repeat(63))).map(cause => cause.field)).not.toContain('metadata.name');
  });

  test('exactly one of many concurrent creates with the same name succeeds [R021]', async () => {
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => api.post(`${shop}/configmaps`, withName('raced'))),
    );
    expect(answers.map(answer => answer.status).sort()).toEqual([201, ...Array<number>(19).fill(409)]);
  });

  test('a name can be used again after a deletion, by an object with another uid [R023 R036]', async () => {
    const first = await api.made(`${shop}/configmaps`, withName('reused'));
    expect((await api.delete(`${shop}/configmaps/reused`)).status).toBe(200);
    const second = await api.made(`${shop}/configmaps`, {
      metadata: { name: 'reused', uid: first['metadata']!['uid'] },
    });
    const uids = [first, second].map(object => object['metadata']!['uid']);
    expect(uids[0]).not.toBe(uids[1]);
    for (const uid of uids)
      expect(uid).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  });

  test('names of cluster-scoped kinds are unique in the cluster [R024]', async () => {
    await api.made('/api/v1/nodes', withName('n1'));
    const again = await api.post('/api/v1/nodes', withName('n1'));
    expect([again.status, again.body.reason]).toEqual([409, 'AlreadyExists']);
  });

  test('generateName is the prefix of a unique random name and is kept [R033 R034]', async () => {
    const body = { metadata: { generateName: 'a-' } };
    const made = await Promise.all(Array.from({ length: 100 }, () => api.made(`${other}/configmaps`, body)));
    const names = made.map(object => textOf(object['metadata']!['name']));
    expect(new Set(names).size).toBe(100);
    for (const name of names) expect(name).toMatch(/^a-[bcdfghjklmnpqrstvwxz2456789]{5}$/);
    expect(new Set(made.map(object => object['metadata']!['generateName']))).toEqual(new Set(['a-']));
    const kept = await api.made(`${other}/configmaps`, { metadata: { generateName: 'a-', name: 'chosen' } });
    expect(kept['metadata']).toMatchObject({ name: 'chosen', generateName: 'a-' });
  });

  test('a prefix that is too long for a name is truncated [R033]', async () => {
    const made = await api.made(`${other}/configmaps`, { metadata: { generateName: 'x'.repeat(253) } });
    expect(textOf(made['metadata']!['name']).length).toBeLessThanOrEqual(253);
  });

  test('the namespace comes from the path; another one in the body is refused [R035]', async () => {
    const made = await api.made(`${shop}/configmaps`, withName('placed'));
    expect(made['metadata']!['namespace']).toBe('names');
    const wrong = await api.post(`${shop}/configmaps`, { metadata: { name: 'misplaced', namespace: 'other' } });
    expect([wrong.status, wrong.body.reason]).toEqual([400, 'BadRequest']);
    expect(wrong.body.message).toBe(
      'the namespace of the provided object does not match the namespace sent on the request',
    );
  });

  test('a namespace is deleted with all its objects [R027 R117x]', async () => {
    const doomed = await api.namespace('doomed');
    await api.made(`${doomed}/configmaps`, withName('a'));
    await api.made(`${doomed}/secrets`, { metadata: { name: 'held-there', finalizers: ['example.com/hold'] } });
    const deleted = await api.delete(doomed);
    expect([deleted.status, deleted.body['status']!['phase']]).toEqual([200, 'Terminating']);
    expect(deleted.body['metadata']!['deletionTimestamp']).toBeTruthy();
    expect((await api.post(`${doomed}/configmaps`, withName('late'))).status).toBe(403);
    await eventuallyPasses(async () => expect((await api.get(`${doomed}/configmaps/a`)).status).toBe(404));
    expect((await api.get(doomed)).body['status']!['phase']).toBe('Terminating');
    await api.patch(`${doomed}/secrets/held-there`, MERGE, { metadata: { finalizers: null } });
    await eventuallyPasses(async () => expect((await api.get(doomed)).status).toBe(404));
    expect(namesIn((await api.get('/api/v1/secrets')).body)).not.toContain('held-there');
  });
});
