import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Api } from './support.js';

const NODES = '/api/v1/nodes';

test('a token with bytes above 0x7f is refused as unknown, even if it contains a known token', async () => {
  const api = await Api.start({ listener: 'node' });
  try {
    const { token } = api.server;
    for (const unknown of ['\xff', '\xa0', '\x85', 'é', `${token}\xa0`, `\xa0${token}`, `${token}\xff`])
      expect((await api.get(NODES, { token: '', headers: { authorization: `Bearer ${unknown}` } })).status).toBe(401);
    expect((await api.get(NODES, { token: '', headers: { authorization: `\xa0Bearer ${token}` } })).status).toBe(403);
  } finally {
    await api.close();
  }
});

test('impersonation with a name that uWS drops is refused, and never executed as the sender', async () => {
  const api = await Api.shared();
  for (const name of ['é', '\xff\xfe', ''])
    expect((await api.get(NODES, { headers: { 'impersonate-user': name } })).status).toBe(400);
});

describe('the Authorization header', () => {
  let api: Api;
  const asked = async (...authorization: string[]) => {
    const { status, headers, body } = await api.get(NODES, { token: '', headers: { authorization } });
    return { status, warning: headers['warning'], message: body['message'] };
  };
  beforeAll(async () => {
    api = await Api.shared();
  });
  afterAll(() => api.close());

  test('is used once: the first of several decides, and the others do not affect cached identities', async () => {
    const good = `Bearer ${api.server.token}`;
    for (let i = 0; i < 2; i++) {
      expect((await asked('Bearer unknown', good)).status).toBe(401);
      expect((await asked('Bearer unknown')).status).toBe(401);
      expect((await asked(good, 'Bearer unknown')).status).toBe(200);
    }
  });

  test('with two spaces before the token is ignored, and refusals warn about it', async () => {
    for (let i = 0; i < 2; i++)
      expect(await asked(`Bearer  ${api.server.token}`)).toEqual({
        status: 403,
        warning:
          '299 - "the provided Authorization header contains extra space before the bearer token, and is ignored"',
        message:
          'nodes is forbidden: User "system:anonymous" cannot list resource "nodes" in API group "" at the cluster scope',
      });
    expect((await asked('Bearer')).warning).toBeUndefined();
  });
});
