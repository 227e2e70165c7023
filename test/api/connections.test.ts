import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Api } from './support.js';
import { MERGE } from '../support/mediaTypes.js';

const pod = { metadata: { name: 'p' }, spec: { nodeName: 'n', containers: [{ name: 'c', image: 'i' }] } };

describe('subresources that connect to a workload', () => {
  let api: Api;
  let path: string;
  beforeAll(async () => {
    api = await Api.shared();
    const namespace = await api.namespace('connected');
    await api.until(async () => (await api.get(`${namespace}/serviceaccounts/default`)).status === 200);
    await api.made(`${namespace}/pods`, pod);
    path = `${namespace}/pods/p`;
  });
  afterAll(() => api.close());

  test.each(['log', 'exec', 'attach', 'portforward', 'proxy'])(
    '%s of a pod on a node is refused with 405',
    async name => {
      const { status, body } = await api.get(`${path}/${name}`);
      expect([status, body.message]).toEqual([405, `get is not supported on pods/${name} by this server`]);
      expect((await api.get(`${path}x/${name}`)).status).toBe(404);
    },
  );

  test('are refused in the same way if the client accepts only a form that the server does not have', async () => {
    for (const name of ['exec', 'proxy'])
      for (const method of ['GET', 'POST'] as const) {
        const { status } = await api.call(method, `${path}/${name}`, { accept: 'text/html' });
        expect([method, name, status]).toEqual([method, name, 405]);
      }
    expect((await api.call('GET', `${path}/log`, { accept: 'text/html' })).status).toBe(406);
  });

  test.each(['PUT', 'PATCH', 'DELETE', 'POST'] as const)(
    '%s on proxy does not change the pod [R150x]',
    async method => {
      const type = method === 'PATCH' ? MERGE : 'application/json';
      const { status } = await api.call(method, `${path}/proxy`, {
        body: { metadata: { labels: { changed: 'yes' } } },
        type,
      });
      expect(status).toBe(405);
      const { body } = await api.get(path);
      expect([body.metadata!.labels, body.metadata!.deletionTimestamp]).toEqual([undefined, undefined]);
    },
  );
});
