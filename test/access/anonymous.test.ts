import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Api } from '../api/support.js';

describe('a server that allows everything', () => {
  let api: Api;
  let folder: string;
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'always-allow-'));
    const tokenAuthFile = join(folder, 'tokens');
    writeFileSync(tokenAuthFile, 'eve-token,eve,1');
    api = await Api.start({ authorizationMode: ['RBAC', 'AlwaysAllow'], tokenAuthFile });
  });
  afterAll(async () => {
    await api.close();
    rmSync(folder, { recursive: true });
  });

  test('allows everything to any user [A319]', async () => {
    const token = 'eve-token';
    for (const path of ['/api/v1/secrets', '/metrics', '/api/v1/nodes'])
      expect((await api.get(path, { token })).status).toBe(200);
    const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'free' } };
    expect((await api.post('/api/v1/namespaces', namespace, { token })).status).toBe(201);
  });

  test('refuses anonymous requests [A274]', async () => {
    expect((await api.get('/version', { token: '' })).status).toBe(401);
    const basic = { authorization: `Basic ${Buffer.from('bad:wrong').toString('base64')}` };
    expect((await api.get('/api/v1/namespaces', { token: '', headers: basic })).status).toBe(401);
    expect((await api.get('/version')).status).toBe(200);
  });
});
