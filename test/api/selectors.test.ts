import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { QUERY_PARAMETERS, SELECTOR_KEYS } from '../../core/limits.js';
import { Api, type Loose, namesIn } from './support.js';
import { textOf } from '../support/values.js';

const tokenOf = (body: Loose): Loose | undefined => (body['metadata'] as Loose)['continue'];

describe('field selectors', () => {
  let api: Api;
  beforeAll(async () => void (api = await Api.shared()));
  afterAll(() => api.close());

  test.each([
    ['/api/v1/events', 'involvedObject.name', 'reportingComponent', 'source'],
    ['/apis/events.k8s.io/v1/events', 'regarding.name', 'reportingController'],
  ])('each version of events supports only its own field names: %s', async (path, ...known) => {
    for (const field of [
      'involvedObject.name',
      'regarding.name',
      'reportingComponent',
      'reportingController',
      'source',
    ]) {
      const { status, body } = await api.get(`${path}?fieldSelector=${field}%3Dx`);
      expect([field, status, body['message']]).toEqual(
        known.includes(field) ? [field, 200, undefined] : [field, 400, `field label not supported: ${field}`],
      );
    }
  });

  test('replica sets can be selected only by name and namespace', async () => {
    const { status, body } = await api.get('/apis/apps/v1/replicasets?fieldSelector=status.replicas%3D0');
    expect([status, body['message']]).toEqual([
      400,
      '"status.replicas" is not a known field selector: only "metadata.name", "metadata.namespace"',
    ]);
  });

  test('an invalid resourceVersionMatch is reported before an unknown field', async () => {
    const match = '&resourceVersion=1&resourceVersionMatch=Newest';
    expect((await api.get(`/api/v1/secrets?fieldSelector=wrong%3Dx${match}`)).body).toMatchObject({
      code: 422,
      details: { kind: 'ListOptions' },
    });
  });

  test('a full page before the last object has a token even if no further object is selected, at old and current versions', async () => {
    const path = `${await api.namespace('aged')}/secrets`;
    for (const [name, type] of Object.entries({ a: 'x/one', b: 'x/one', c: 'x/two' }))
      await api.made(path, { metadata: { name }, type });
    const resourceVersion = textOf((await api.get(path)).body['metadata']!['resourceVersion']);
    const pages = async (type: string, version: string) => {
      const { body } = await api.get(`${path}?fieldSelector=type%3D${type}&limit=2${version}`);
      return [namesIn(body), tokenOf(body) !== undefined];
    };
    const then = `&resourceVersion=${resourceVersion}`;
    for (const [type, chosen] of [
      ['x/one', [['a', 'b'], true]],
      ['x/two', [['c'], false]],
    ] as const)
      expect(await pages(type, '')).toEqual(chosen);
    await api.made(path, { metadata: { name: 'd' } });
    expect(await pages('x/one', then)).toEqual([['a', 'b'], true]);
    expect(await pages('x/two', then)).toEqual([['c'], false]);
    expect(await pages('x/two&limit=1', then)).toEqual([['c'], false]);
  });

  test('a selector for one namespace ends a list over all of them with that namespace', async () => {
    for (const name of ['first', 'second']) {
      const path = await api.namespace(name);
      for (const map of ['a', 'b']) await api.made(`${path}/secrets`, { metadata: { name: map } });
    }
    const list = async (query: string) => (await api.get(`/api/v1/secrets?${query}`)).body;
    const all = await list('fieldSelector=metadata.namespace%3Dfirst&limit=2');
    expect([namesIn(all), tokenOf(all)]).toEqual([['a', 'b'], undefined]);
    const one = await list('fieldSelector=metadata.namespace%3Dfirst&limit=1');
    expect(one['metadata']).toEqual({ resourceVersion: expect.any(String), continue: expect.any(String) });
    const rest = await list(`fieldSelector=metadata.namespace%3Dfirst&limit=1&continue=${textOf(tokenOf(one))}`);
    expect([namesIn(one), namesIn(rest), tokenOf(rest)]).toEqual([['a'], ['b'], undefined]);
    const named = await list('fieldSelector=metadata.name%3Da,metadata.namespace%3Dfirst&limit=1');
    expect([namesIn(named), tokenOf(named)]).toEqual([['a'], undefined]);
    expect(namesIn(await list('fieldSelector=metadata.namespace%3D'))).toEqual([]);
    expect(namesIn(await list('fieldSelector=metadata.namespace%3Dfirst,metadata.namespace%3Dsecond'))).toEqual([]);
  });

  test('a selector that is too long and a query with too many parameters are refused', async () => {
    const keys = Array.from({ length: SELECTOR_KEYS + 1 }, (_, i) => `!k${i}`).join();
    for (const [method, more] of [
      ['GET', ''],
      ['GET', '&watch=1'],
      ['DELETE', ''],
    ] as const) {
      const { status, body } = await api.call(
        method,
        `/api/v1/namespaces/default/secrets?labelSelector=${keys}${more}`,
      );
      expect([status, body['message']]).toEqual([
        400,
        `labelSelector is too large: it may have at most ${SELECTOR_KEYS} different keys`,
      ]);
    }
    const many = `/api/v1/secrets?${'a&'.repeat(QUERY_PARAMETERS)}watch=1`;
    const { status, body } = await api.get(many, { token: '' });
    expect([status, body['message']]).toEqual([400, `the query has more than ${QUERY_PARAMETERS} parameters`]);
  });
});
