import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Api } from '../api/support.js';

describe('a server that allows everything', () => {
  let api: Api;
  beforeAll(async () => {
    api = await Api.start({ authorizationMode: ['RBAC', 'AlwaysAllow'] });
  });
  afterAll(() => api.close());

  test('refuses anonymous requests [A274]', async () => {
    expect((await api.get('/version', { token: '' })).status).toBe(401);
    const basic = { authorization: `Basic ${Buffer.from('bad:wrong').toString('base64')}` };
    expect((await api.get('/api/v1/namespaces', { token: '', headers: basic })).status).toBe(401);
    expect((await api.get('/version')).status).toBe(200);
  });
});
