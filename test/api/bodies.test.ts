import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Api, listOf } from './support.js';
import { MERGE, STRATEGIC } from '../support/mediaTypes.js';

const JSON_PATCH = 'application/json-patch+json';

const twice = 'metadata: {name: twice}\ndata:\n  k: a\n  k: b\n';

describe('bodies in YAML', () => {
  let api: Api;
  let maps: string;
  beforeAll(async () => {
    api = await Api.shared();
    maps = `${await api.namespace('bodies')}/configmaps`;
  });
  afterAll(() => api.close());

  test('the last of duplicate keys is used, with a warning', async () => {
    const { status, headers, body } = await api.post(`${maps}?dryRun=All`, twice, { type: 'application/yaml' });
    expect([status, body.data]).toEqual([201, { k: 'b' }]);
    expect(headers['warning']).toBe('299 - "line 4: key \\"k\\" already set in map"');
  });

  test('duplicate keys are refused by strict field validation and ignored without validation', async () => {
    const strict = await api.post(`${maps}?fieldValidation=Strict`, twice, { type: 'application/yaml' });
    expect([strict.status, strict.body.reason]).toEqual([400, 'BadRequest']);
    expect(strict.body.message).toContain(
      'strict decoding error: yaml: unmarshal errors:\n  line 4: key "k" already set in map',
    );
    const ignored = await api.post(`${maps}?fieldValidation=Ignore&dryRun=All`, twice, { type: 'application/yaml' });
    expect([ignored.status, ignored.headers['warning']]).toEqual([201, undefined]);
  });
});

test('an object that is too large with its managed fields is stored without them, unless it is applied', async () => {
  const api = await Api.shared();
  const maps = `${await api.namespace('owners')}/configmaps`;
  const keys = Array.from({ length: 9999 }, (_, i) => `${'long-'.repeat(14)}${i}`);
  const data = Object.fromEntries(keys.map(key => [key, 'A']));
  const made = await api.post(maps, { metadata: { name: 'large' }, data });
  expect([made.status, made.body.metadata?.['managedFields']]).toEqual([201, undefined]);
  expect((await api.get(`${maps}/large`)).body.metadata?.['managedFields']).toBeUndefined();
  const applied = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'large' } };
  const answer = await api.patch(`${maps}/large?fieldManager=a`, 'application/apply-patch+yaml', applied);
  expect([answer.status, answer.body.message]).toEqual([500, expect.stringContaining('request is too large')]);
  await api.close();
});

test('the status of a pod cannot be written with a deletion timestamp', async () => {
  const api = await Api.shared();
  const pods = `${await api.namespace('deletions')}/pods`;
  await api.made(pods, { metadata: { name: 'p' }, spec: { containers: [{ name: 'c', image: 'i' }] } });
  const metadata = { deletionTimestamp: '2020-01-01T00:00:00Z' };
  const { status, body } = await api.patch(`${pods}/p/status`, MERGE, { metadata, status: { message: 'm' } });
  expect([status, body.status?.['message'], body.metadata?.['deletionTimestamp']]).toEqual([200, 'm', undefined]);
  await api.close();
});

test('a version of the core group may be written with a slash', async () => {
  const api = await Api.shared();
  const maps = `${await api.namespace('slashes')}/configmaps`;
  const made = await api.post(maps, { apiVersion: '/v1', kind: 'ConfigMap', metadata: { name: 'm' } });
  expect([made.status, made.body.apiVersion]).toEqual([201, 'v1']);
  expect((await api.post(maps, { apiVersion: 'v1/', metadata: { name: 'n' } })).status).toBe(400);
  await api.close();
});

test('a continue token is checked before the resource version of the same request', async () => {
  const api = await Api.shared();
  const messageOf = async (query: string) => (await api.get(`/api/v1/namespaces?limit=1&${query}`)).body.message;
  const { body } = await api.get('/api/v1/namespaces?limit=1');
  const token = body.metadata?.['continue'];
  for (const version of ['5', 'x']) {
    expect(await messageOf(`continue=no&resourceVersion=${version}`)).toContain('continue key is not valid');
    expect(await messageOf(`continue=${String(token)}&resourceVersion=${version}`)).toBe(
      'specifying resource version is not allowed when using continue',
    );
  }
  await api.close();
});

describe('the Content-Type of other writes', () => {
  let api: Api;
  let maps: string;
  beforeAll(async () => {
    api = await Api.shared();
    maps = `${await api.namespace('types')}/configmaps`;
  });
  afterAll(() => api.close());

  const accepted = ['', ';', '; charset=utf-8', '; a = b', ' ;a="x; \\"y"', ';a=b;c=d;'];
  const refused = [';foo', ';foo=', ';;', ';a="b', ';a=b c', ';a=b;A=c', ';=b'];
  test.each([
    ...accepted.map(parameters => [parameters, 201, 404] as const),
    ...refused.map(parameters => [parameters, 415, 415] as const),
  ])('is refused where its parameters are malformed or repeated: %j', async (parameters, created, deleted) => {
    const type = `application/json${parameters}`;
    const name = 'typed';
    expect((await api.post(`${maps}?dryRun=All`, { metadata: { name } }, { type })).status).toBe(created);
    expect((await api.call('DELETE', `${maps}/none`, { body: {}, type })).status).toBe(deleted);
  });

  test('without a media type is refused', async () => {
    expect((await api.post(`${maps}?dryRun=All`, { metadata: { name: 'a' } }, { type: ';a=b' })).status).toBe(415);
  });

  test('of protobuf with an empty body is 400', async () => {
    const { status, body } = await api.post(maps, '', { type: 'application/vnd.kubernetes.protobuf' });
    expect([status, body.message]).toEqual([
      400,
      'the object provided is unrecognized (must be of type ConfigMap): empty data (<empty>)',
    ]);
  });
});

describe('the Content-Type of a PATCH', () => {
  let api: Api;
  let path: string;
  beforeAll(async () => {
    api = await Api.shared();
    path = `${await api.namespace('patches')}/configmaps`;
    await api.made(path, { metadata: { name: 'a' } });
  });
  afterAll(() => api.close());

  test.each([
    [MERGE, 200, undefined],
    ['application/merge-patch+json;charset=utf-8', 200, undefined],
    ['application/Merge-Patch+json', 415, '415: Unsupported Media Type'],
    [
      'application/merge-patch+json ;charset=utf-8',
      415,
      'the body of the request was in an unknown format - accepted media types include: application/json-patch+json, application/merge-patch+json, application/strategic-merge-patch+json, application/apply-patch+yaml',
    ],
  ])('%s is compared literally', async (type, status, message) => {
    const answer = await api.patch(`${path}/a`, type, {});
    expect([answer.status, answer.body.message]).toEqual([status, message]);
  });
});

describe('the body of a PATCH', () => {
  let api: Api;
  let path: string;
  beforeAll(async () => {
    api = await Api.shared();
    path = `${await api.namespace('patched')}/configmaps`;
    await api.made(path, { metadata: { name: 'a' } });
  });
  afterAll(() => api.close());

  test.each([
    [JSON_PATCH, '[', 'error decoding patch: unexpected end of JSON input'],
    [MERGE, '{}x', "error decoding patch: invalid character 'x' after top-level value"],
    [STRATEGIC, 'x', "invalid character 'x' looking for beginning of value"],
  ])('%s that is not JSON is refused with the error of its syntax', async (type, text, message) => {
    const { status, body } = await api.patch(`${path}/a`, type, text);
    expect([status, body.message]).toEqual([400, message]);
  });

  test.each([
    [JSON_PATCH, '[', 'unexpected end of JSON input'],
    [JSON_PATCH, '{}', 'json: cannot unmarshal object into Go value of type jsonpatch.Patch'],
    [MERGE, '{}x', 'Invalid JSON Patch'],
    [STRATEGIC, 'x', "invalid character 'x' looking for beginning of value"],
  ])('%s that is not JSON is refused with less detail if fields are not validated', async (type, text, message) => {
    const { status, body } = await api.patch(`${path}/a?fieldValidation=Ignore`, type, text);
    expect([status, body.message]).toEqual([400, message]);
  });

  test('may not remove the version, without which no name is found', async () => {
    for (const given of [{ apiVersion: null }, { apiVersion: '' }]) {
      const { status, body } = await api.patch(`${path}/a`, MERGE, given);
      const message = 'the name of the object (a based on URL) was undeterminable: name must be provided';
      expect([status, body.message]).toEqual([400, message]);
    }
    expect((await api.patch(`${path}/a`, MERGE, { kind: null })).status).toBe(200);
    expect((await api.patch(`${path}/a`, STRATEGIC, 'null')).status).toBe(200);
  });

  test('with another uid is a conflict, also for an object that does not exist', async () => {
    const given = { metadata: { name: 'absent', uid: 'other' } };
    const { status, body } = await api.put(`${path}/absent`, given);
    const key = path.replace(/^.*namespaces\/(.*)\/configmaps$/, '/registry/configmaps/$1/absent');
    expect([status, body.message]).toEqual([
      409,
      `Operation cannot be fulfilled on configmaps "absent": StorageError: invalid object, Code: 4, Key: ${key}, ` +
        'ResourceVersion: 0, AdditionalErrorMsg: Precondition failed: UID in precondition: other, UID in object meta: ',
    ]);
    const dry = await api.put(`${path}/absent?dryRun=All`, given);
    expect(dry.body.message).toBe(String(body.message).replace('/registry/', '/'));
    const set = (name: string): string => path.replace('/api/v1', '/apis/apps/v1').replace('configmaps', name);
    expect((await api.put(`${set('deployments')}/absent/scale`, given)).status).toBe(409);
    expect((await api.put(`${set('deployments')}/absent/status`, given)).status).toBe(409);
  });
});

describe('the order of errors of a request:', () => {
  let api: Api;
  let home: string;
  beforeAll(async () => {
    api = await Api.shared();
    home = await api.namespace('wrong');
  });
  afterAll(() => api.close());

  test('a create checks the media type before the options, an update the options before the media type', async () => {
    const maps = `${home}/configmaps`;
    const type = 'text/plain';
    expect((await api.post(`${maps}?dryRun=x`, {}, { type })).status).toBe(415);
    expect((await api.put(`${maps}/a?dryRun=x`, {}, { type })).status).toBe(422);
  });

  test('a wrong namespace is reported before a missing or wrong name', async () => {
    for (const name of [undefined, 'other']) {
      const { status, body } = await api.put(`${home}/configmaps/a`, { metadata: { namespace: 'other', name } });
      expect([status, body.message]).toEqual([
        400,
        'the namespace of the provided object does not match the namespace sent on the request',
      ]);
    }
  });

  test('an object that is too large to be stored is refused with code 500 and its size', async () => {
    const revisions = home.replace('/api/v1', '/apis/apps/v1');
    const large = { metadata: { name: 'large' }, revision: 1, data: { text: 'x'.repeat(1_600_000) } };
    const { status, body } = await api.post(`${revisions}/controllerrevisions`, large);
    expect([status, body.reason, body.message]).toEqual([
      500,
      'RequestEntityTooLarge',
      'etcdserver: request is too large: controllerrevisions.apps must be at most 1572864 bytes',
    ]);
  });
});

describe('answers to writes', () => {
  let api: Api;
  beforeAll(async () => {
    api = await Api.shared();
  });
  afterAll(() => api.close());

  test('have the committed version in every form, including the row of a Table', async () => {
    const maps = `${await api.namespace('answers')}/configmaps`;
    const accept = 'application/json;as=Table;v=v1;g=meta.k8s.io';
    const { body } = await api.post(`${maps}?includeObject=Object`, { metadata: { name: 'a' } }, { accept });
    const row = listOf(body.rows)[0]!.object!.metadata!;
    const yaml = await api.get(`${maps}/a`, { accept: 'application/yaml' });
    expect(body.metadata!.resourceVersion).toBe(row.resourceVersion);
    expect(yaml.text).toContain(`resourceVersion: "${String(row.resourceVersion)}"`);
    const pretty = await api.put(`${maps}/a?pretty=true`, { metadata: { name: 'a' }, data: { k: 'v' } });
    expect(Number(pretty.body.metadata!.resourceVersion)).toBeGreaterThan(Number(row.resourceVersion));
    expect(pretty.text).toBe(JSON.stringify(pretty.body, null, 2));
  });
});
