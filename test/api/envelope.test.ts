import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Api, deployment } from './support.js';
import { MERGE, STRATEGIC } from '../support/mediaTypes.js';

describe('kind and apiVersion of a body', () => {
  let api: Api;
  let maps: string;
  let path: string;
  beforeAll(async () => {
    api = await Api.shared();
    maps = `${await api.namespace('envelopes')}/configmaps`;
    path = `${maps}/a`;
    await api.made(maps, { metadata: { name: 'a' } });
    await api.made('/apis/apps/v1/namespaces/envelopes/deployments', deployment('web'));
  });
  afterAll(() => api.close());

  const WRONG: [string, object, string][] = [
    ['an unknown kind', { kind: 'Other' }, 'no kind "Other" is registered for version "v1"'],
    ['an unknown version', { apiVersion: 'v9' }, 'no kind "ConfigMap" is registered for version "v9"'],
    ['another kind', { kind: 'Pod' }, 'converting (v1.Pod) to (core.ConfigMap): unknown conversion'],
    ['a list', { kind: 'ConfigMapList' }, 'converting (v1.ConfigMapList) to (core.ConfigMap): unknown conversion'],
    [
      'a kind of another server',
      { apiVersion: 'apiextensions.k8s.io/v1', kind: 'CustomResourceDefinition' },
      'no kind "CustomResourceDefinition" is registered for version "apiextensions.k8s.io/v1"',
    ],
  ];

  test.each(WRONG)('a create or update with %s is refused', async (_what, given, reason) => {
    const { kind, apiVersion } = { kind: 'ConfigMap', apiVersion: 'v1', ...given };
    const version = apiVersion.slice(apiVersion.indexOf('/') + 1);
    const message = `${kind} in version "${version}" cannot be handled as a ConfigMap: ${reason}`;
    const body = { ...given, metadata: { name: 'a' } };
    for (const answer of [await api.post(maps, body), await api.put(path, body)])
      expect([answer.status, answer.body['message']]).toEqual([400, message]);
  });

  test.each(WRONG)('a patch to %s is refused with the reason alone', async (_what, given, reason) => {
    const { status, body } = await api.patch(path, MERGE, given);
    expect(status).toBe(422);
    expect(body['message']).toMatch(/^ "" is invalid: patch: Invalid value: "\{/);
    expect(body['message']).toMatch(new RegExp(`}": ${reason.replace(/[().]/g, '\\$&')}$`));
  });

  test('cannot be changed by a strategic merge patch', async () => {
    const { status, body } = await api.patch(path, STRATEGIC, { kind: 'Pod', apiVersion: 'v9' });
    expect([status, body['kind'], body['apiVersion']]).toEqual([200, 'ConfigMap', 'v1']);
    const number = await api.patch(path, STRATEGIC, { kind: 5 });
    expect([number.status, number.body['message']]).toEqual([
      422,
      ' "" is invalid: patch: Invalid value: "map[kind:5]": cannot convert int64 to string',
    ]);
  });

  test('a version of the kind other than that of the path is refused', async () => {
    const body = { apiVersion: 'autoscaling/v1', kind: 'HorizontalPodAutoscaler', metadata: { name: 'x' } };
    const answer = await api.post('/apis/autoscaling/v2/namespaces/envelopes/horizontalpodautoscalers', body);
    expect([answer.status, answer.body['message']]).toEqual([
      400,
      'the API version in the data (autoscaling/v1) does not match the expected API version (autoscaling/v2)',
    ]);
  });

  test('a malformed version is not recognized', async () => {
    const { status, body } = await api.post(maps, '{"kind":"ConfigMap","apiVersion":"x/y/z"}');
    expect([status, body['message']]).toEqual([
      400,
      'the object provided is unrecognized (must be of type ConfigMap): unexpected GroupVersion string: x/y/z ' +
        '({"kind":"ConfigMap","apiVersio ...)',
    ]);
  });

  test('a body of a subresource is accepted in the versions that have its kind', async () => {
    const namespace = '/api/v1/namespaces/envelopes';
    await api.made(`${namespace}/pods`, { metadata: { name: 'p' }, spec: { containers: [{ name: 'c', image: 'i' }] } });
    const evict = async (apiVersion: string) =>
      await api.post(`${namespace}/pods/p/eviction?dryRun=All`, {
        apiVersion,
        kind: 'Eviction',
        metadata: { name: 'p' },
      });
    for (const version of ['policy/v1', 'policy/v1beta1']) expect((await evict(version)).status).toBe(201);
    const refused = await evict('policy/v9');
    expect([refused.status, refused.body['message']]).toEqual([
      400,
      'Eviction in version "v9" cannot be handled as a Eviction: no kind "Eviction" is registered for version "policy/v9"',
    ]);
    const token = await api.post(`${namespace}/serviceaccounts/default/token?dryRun=All`, {
      apiVersion: 'authentication.k8s.io/v1beta1',
      kind: 'TokenRequest',
    });
    expect(token.status).toBe(400);
  });

  test('of a subresource are checked in the same way', async () => {
    const scale = '/apis/apps/v1/namespaces/envelopes/deployments/web/scale';
    const put = await api.put(scale, { kind: 'Pod', apiVersion: 'v1', metadata: { name: 'web' } });
    expect([put.status, put.body['message']]).toEqual([
      400,
      'Pod in version "v1" cannot be handled as a Scale: converting (v1.Pod) to (autoscaling.Scale): unknown conversion',
    ]);
    const patched = await api.patch(scale, MERGE, { spec: { replicas: 'many' } });
    expect(patched.status).toBe(422);
    expect(patched.body['message']).toMatch(/": json: cannot unmarshal string into Go struct field ScaleSpec\.spec/);
  });
});
