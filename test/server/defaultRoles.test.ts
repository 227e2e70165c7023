import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Agent, request } from 'undici';
import { afterAll, expect, test } from 'vitest';
import { Api } from '../api/support.js';
import { startServer } from './library.js';

const dataDir = mkdtempSync(join(tmpdir(), 'capstan-default-roles-'));
const agent = new Agent({ connect: { rejectUnauthorized: false } });
afterAll(async () => {
  await agent.close();
  rmSync(dataDir, { recursive: true, force: true });
});

const BINDING = '/apis/rbac.authorization.k8s.io/v1/clusterrolebindings/system:public-info-viewer';
const SETTINGS = { storage: 'rocksdb', dataDir } as const;

test('a server that finds no default roles in a used store writes them before it answers health endpoints', async () => {
  // As after a first start that ended before the roles were written.
  const first = await Api.start(SETTINGS);
  expect((await first.delete(BINDING)).status).toBe(200);
  await first.close();
  const server = await startServer({ ...SETTINGS, port: 0, naming: 'kubernetes' });
  try {
    for (const path of ['/livez', '/readyz', '/healthz']) {
      const { statusCode, body } = await request(server.url + path, { dispatcher: agent });
      expect([path, statusCode, await body.text()]).toEqual([path, 200, 'ok']);
    }
  } finally {
    await server.close();
  }
});
