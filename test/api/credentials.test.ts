import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Api } from './support.js';

const NODES = '/api/v1/nodes';

describe('the Authorization header', () => {
  let api: Api;
  const asked = async (...authorization: string[]) => {
    return await api.get(NODES, { token: '', headers: { authorization } });
  };
  beforeAll(async () => {
    api = await Api.start();
  });
  afterAll(() => api.close());

  test('counts once: the first of several decides, and whoever the others name is not remembered for it', async () => {
    const good = `Bearer ${api.server.token}`;
    for (let i = 0; i < 2; i++) {
      expect((await asked('Bearer unknown', good)).status).toBe(401);
      expect((await asked('Bearer unknown')).status).toBe(401);
      expect((await asked(good, 'Bearer unknown')).status).toBe(200);
    }
  });
});
