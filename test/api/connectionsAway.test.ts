import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Api, pod } from './support.js';

describe('subresources that connect to nodes', () => {
  let api: Api;
  let pods: string;
  beforeAll(async () => {
    api = await Api.shared();
    const shop = await api.namespace('away');
    pods = `${shop}/pods`;
    await api.made(pods, pod('one'));
    const two = {
      containers: ['a', 'b'].map(name => ({ name, image: 'i' })),
      initContainers: [{ name: 'c', image: 'i' }],
    };
    await api.made(pods, { metadata: { name: 'two' }, spec: two });
    await api.made(`${shop}/services`, {
      metadata: { name: 'web' },
      spec: { clusterIP: 'None', ports: [{ port: 1 }] },
    });
  });
  afterAll(() => api.close());

  test('a pod without a node has an empty log, and other connections fail without a host [R154x]', async () => {
    const log = await api.get(`${pods}/one/log`);
    expect([log.status, log.text]).toEqual([204, '']);
    for (const sub of ['exec?command=ls', 'attach', 'portforward']) {
      for (const answer of [await api.get(`${pods}/one/${sub}`), await api.post(`${pods}/one/${sub}`, {})])
        expect([answer.status, answer.body['message']]).toEqual([400, 'pod one does not have a host assigned']);
    }
    for (const path of ['proxy', 'proxy/a/b'])
      for (const method of ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const) {
        const answer = await api.call(method, `${pods}/one/${path}`);
        expect([method, answer.status, answer.body['message']]).toEqual([method, 400, 'address not allowed']);
      }
  });

  test('containers and the options of a log are validated first', async () => {
    const choose =
      'a container name must be specified for pod two, choose one of: [a b] or one of the init containers: [c]';
    for (const sub of ['log', 'exec', 'attach']) {
      expect((await api.get(`${pods}/two/${sub}`)).body['message']).toBe(choose);
      expect((await api.get(`${pods}/two/${sub}?container=x`)).body['message']).toBe(
        'container x is not valid for pod two',
      );
    }
    expect((await api.get(`${pods}/two/log?container=c`)).status).toBe(204);
    for (const [query, status, message] of [
      ['tailLines=-1', 422, 'tailLines: Invalid value: -1: must be greater than or equal to 0'],
      ['limitBytes=0', 422, 'limitBytes: Invalid value: 0: must be greater than 0'],
      ['sinceSeconds=0', 422, 'sinceSeconds: Invalid value: 0: must be greater than 0'],
      ['sinceSeconds=1&sinceTime=2020-01-01T00:00:00Z', 422, 'at most one of'],
      ['tailLines=x', 400, 'strconv.ParseInt'],
    ] as const) {
      const refused = await api.get(`${pods}/one/log?${query}`);
      expect([refused.status, refused.body['message']]).toEqual([status, expect.stringContaining(message)]);
    }
  });

  test('missing objects are named by their resource; a Service has no endpoints; a node cannot be reached [R150x]', async () => {
    for (const sub of ['log', 'exec', 'proxy', 'proxy/x'])
      expect((await api.get(`${pods}/none/${sub}`)).body['message']).toBe('pods "none" not found');
    const services = '/api/v1/namespaces/away/services';
    for (const id of ['web', 'web:80', 'https:web:80']) {
      const refused = await api.get(`${services}/${id}/proxy/a`);
      expect([refused.status, refused.body['message']]).toEqual([503, 'no endpoints available for service "web"']);
    }
    expect((await api.get(`${services}/a:b:c:d/proxy`)).body['message']).toBe('invalid service request "a:b:c:d"');
    expect((await api.get(`${services}/none:80/proxy`)).body['message']).toBe('services "none" not found');
    expect((await api.call('HEAD', `${services}/none:80/proxy`)).status).toBe(404);
    await api.made('/api/v1/nodes', { metadata: { name: 'away' } });
    expect((await api.get('/api/v1/nodes/away/proxy')).status).toBe(405);
    expect((await api.post('/api/v1/componentstatuses/x', {})).status).toBe(405);
  });
});
