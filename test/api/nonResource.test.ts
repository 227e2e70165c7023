import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Api } from './support.js';

const RBAC = '/apis/rbac.authorization.k8s.io/v1';
const NAME = 'asks-path';
/** Non-resource paths, with the answer if there is nothing at the path. */
const PATHS = [
  ['[A404]', '/api', 200],
  ['[A405]', '/apis', 200],
  ['[A406]', '/metrics', 200],
  ['[A407]', '/logs', 404],
  ['[A408]', '/debug', 404],
  ['[A409]', '/healthz', 200],
  ['[A410]', '/livez', 200],
  ['[A411]', '/openapi/v2', 200],
  ['[A412]', '/readyz', 200],
  ['[A413]', '/version', 200],
] as const;

describe('paths outside of the resources', () => {
  let api: Api;
  const anonymous = (path: string) => api.get(path, { token: '' });
  beforeAll(async () => {
    api = await Api.start();
    // By default, all users can read health and version.
    expect((await api.delete(`${RBAC}/clusterrolebindings/system:public-info-viewer`)).status).toBe(200);
    const apiGroup = 'rbac.authorization.k8s.io';
    await api.made(`${RBAC}/clusterroles`, { metadata: { name: NAME }, rules: [] });
    await api.made(`${RBAC}/clusterrolebindings`, {
      metadata: { name: NAME },
      roleRef: { apiGroup, kind: 'ClusterRole', name: NAME },
      subjects: [{ apiGroup, kind: 'User', name: 'system:anonymous' }],
    });
  });
  afterAll(() => api.close());

  test('/api names the address at which the server listens', async () => {
    const [range] = (await api.get('/api')).body.serverAddressByClientCIDRs as unknown as object[];
    expect(range).toEqual({ clientCIDR: '0.0.0.0/0', serverAddress: new URL(api.server.url).host });
  });

  test.each(PATHS)('%s %s is authorized by its path and verb', async (_id, path, served) => {
    const refused = await anonymous(path);
    expect(refused.status).toBe(403);
    expect(refused.body).toMatchObject({
      reason: 'Forbidden',
      message: `forbidden: User "system:anonymous" cannot get path "${path}"`,
      details: {},
    });
    const rules = [{ nonResourceURLs: [path], verbs: ['get'] }];
    await api.put(`${RBAC}/clusterroles/${NAME}`, { metadata: { name: NAME }, rules });
    expect((await anonymous(path)).status).toBe(served);
    expect((await api.call('POST', path, { token: '' })).status).toBe(403);
    for (const [, other] of PATHS) if (other !== path) expect((await anonymous(other)).status).toBe(403);
  });

  test('health, metrics, OpenAPI, the list of paths and groups support all methods, other discovery only GET', async () => {
    const answered = async (method: 'HEAD' | 'PUT' | 'DELETE', path: string): Promise<number> =>
      (await api.call(method, path)).status;
    const open = ['/livez', '/readyz/ping', '/metrics', '/openapi/v2', '/openapi/v3', '/openapi/v3/apis/apps/v1', '/'];
    for (const path of [...open, '/apis', '/apis/', '/apis/apps'])
      for (const method of ['HEAD', 'PUT'] as const)
        expect([method, path, await answered(method, path)]).toEqual([method, path, 200]);
    for (const path of ['/api', '/api/v1', '/apis/apps/v1', '/version'])
      for (const method of ['HEAD', 'PUT'] as const)
        expect([method, path, await answered(method, path)]).toEqual([method, path, 405]);
    expect(await answered('DELETE', '/metrics')).toBe(405);
    expect((await api.call('POST', '/api', { accept: 'text/plain' })).status).toBe(405);
  });

  test('answers without their own Cache-Control forbid caching', async () => {
    for (const path of [
      '/nosuch',
      '/metrics',
      '/livez/nosuch',
      '/openapi/v2',
      '/openapi/v3',
      '/openapi/v3/nosuch',
      '/api',
      '/',
    ])
      expect([path, (await api.get(path)).headers['cache-control']]).toEqual([path, 'no-cache, private']);
  });
});
