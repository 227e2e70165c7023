import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Api } from '../api/support.js';

const directory = mkdtempSync(join(tmpdir(), 'capstan-permissions-'));
let api: Api;

beforeAll(async () => {
  const tokenAuthFile = join(directory, 'tokens.csv');
  writeFileSync(tokenAuthFile, 'ann-token,ann,1\n', { mode: 0o600 });
  const use = pathToFileURL(resolve('dist/test/server/fixtures/askedOnce.js')).href;
  api = await Api.start({ tokenAuthFile, plugins: [{ use }] });
});
afterAll(async () => {
  await api.close();
  rmSync(directory, { recursive: true });
});

test('every permission of an identity is determined once, even if its first request was refused', async () => {
  const status = async (path: string): Promise<number> => (await api.get(path, { token: 'ann-token' })).status;
  expect(await status('/api/v1/nodes')).toBe(403);
  const paths = ['default', 'other'].flatMap(namespace =>
    ['configmaps', 'secrets'].map(plural => `/api/v1/namespaces/${namespace}/${plural}`),
  );
  // Every pool thread has called the authorizer once; a further call would be denied.
  const times = 4 * availableParallelism();
  for (let i = 0; i < times; i++)
    for (const path of paths) expect(await status(path), `request ${i} of ${path}`).toBe(200);
});
