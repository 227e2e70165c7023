import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Api } from '../api/support.js';

/* A change of what decides about requests is effective for the next request on every connection, again and again. */

const RBAC = '/apis/rbac.authorization.k8s.io/v1/namespaces/default';
const ROUNDS = 40;
const READERS = 6;
const apiGroup = 'rbac.authorization.k8s.io';
const binding = {
  metadata: { name: 'ann' },
  roleRef: { apiGroup, kind: 'Role', name: 'reader' },
  subjects: [{ kind: 'User', apiGroup, name: 'ann' }],
};
const roleFor = (...resources: string[]) => ({
  metadata: { name: 'reader' },
  rules: [{ apiGroups: [''], resources, verbs: ['list'] }],
});

const directory = mkdtempSync(join(tmpdir(), 'capstan-hammer-'));
let api: Api;
beforeAll(async () => {
  const tokenAuthFile = join(directory, 'tokens.csv');
  writeFileSync(tokenAuthFile, 'ann-token,ann,1\n');
  api = await Api.start({ tokenAuthFile, authorizationMode: ['Node', 'RBAC'] });
});
afterAll(async () => {
  await api.close();
  rmSync(directory, { recursive: true });
});

/** The codes of requests of the user that are sent together, each on a connection of its own. */
const codes = async (): Promise<Set<number>> => {
  const read = async () => (await api.get('/api/v1/namespaces/default/configmaps', { token: 'ann-token' })).status;
  return new Set(await Promise.all(Array.from({ length: READERS }, read)));
};

test('bindings', async () => {
  await api.made(`${RBAC}/roles`, roleFor('configmaps'));
  for (let i = 0; i < ROUNDS; i++) {
    expect(await codes()).toEqual(new Set([403]));
    await api.made(`${RBAC}/rolebindings`, binding);
    expect(await codes()).toEqual(new Set([200]));
    await api.delete(`${RBAC}/rolebindings/ann`);
  }
});

test('roles', async () => {
  await api.made(`${RBAC}/rolebindings`, binding);
  for (let i = 0; i < ROUNDS; i++)
    for (const [resource, code] of [
      ['secrets', 403],
      ['configmaps', 200],
    ] as const) {
      await api.call('PUT', `${RBAC}/roles/reader`, { body: roleFor(resource) });
      expect(await codes()).toEqual(new Set([code]));
    }
});
