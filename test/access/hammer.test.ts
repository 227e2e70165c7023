import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Api } from '../api/support.js';

/* A change of objects that decide about requests is effective for the next request on every connection, in many
 * repetitions. */

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

const codes = (): Promise<Set<number>> => codesOf('ann-token');

/** The codes of requests that are sent together, each on a new connection. */
async function codesOf(token: string, headers?: Record<string, string>): Promise<Set<number>> {
  const read = async () =>
    (await api.get('/api/v1/namespaces/default/configmaps', { token, ...(headers && { headers }) })).status;
  return new Set(await Promise.all(Array.from({ length: READERS }, read)));
}

test('changes of permissions to impersonate take effect with the next request', async () => {
  const path = '/apis/rbac.authorization.k8s.io/v1';
  const rules = [{ apiGroups: [''], resources: ['users'], verbs: ['impersonate'], resourceNames: ['kim'] }];
  await api.made(`${path}/clusterroles`, { metadata: { name: 'as-kim' }, rules });
  const roleRef = { apiGroup, kind: 'ClusterRole', name: 'view' };
  const subjects = [{ kind: 'User', apiGroup, name: 'kim' }];
  await api.made(`${RBAC}/rolebindings`, { metadata: { name: 'kim' }, roleRef, subjects });
  const asKim = { ...binding, metadata: { name: 'as-kim' }, roleRef: { ...roleRef, name: 'as-kim' } };
  for (let i = 0; i < ROUNDS; i++) {
    expect(await codesOf('ann-token', { 'impersonate-user': 'kim' })).toEqual(new Set([403]));
    await api.made(`${path}/clusterrolebindings`, asKim);
    expect(await codesOf('ann-token', { 'impersonate-user': 'kim' })).toEqual(new Set([200]));
    await api.delete(`${path}/clusterrolebindings/as-kim`);
  }
});

test('deletions of accounts and of the secrets of their tokens take effect with the next request', async () => {
  const core = '/api/v1/namespaces/default';
  const roleRef = { apiGroup, kind: 'ClusterRole', name: 'view' };
  const subjects = [{ kind: 'Group', apiGroup, name: 'system:serviceaccounts:default' }];
  await api.made(`${RBAC}/rolebindings`, { metadata: { name: 'accounts' }, roleRef, subjects });
  const annotations = { 'kubernetes.io/service-account.name': 'robot' };
  const type = 'kubernetes.io/service-account-token';
  for (let i = 0; i < ROUNDS / 4; i++) {
    await api.made(`${core}/serviceaccounts`, { metadata: { name: 'robot' } });
    const bound = (await api.post(`${core}/serviceaccounts/robot/token`, { spec: {} })).body.status!.token as never;
    await api.made(`${core}/secrets`, { metadata: { name: 'robot', annotations }, type });
    let legacy = '';
    await api.until(async () => {
      const { data } = (await api.get(`${core}/secrets/robot`)).body;
      legacy = Buffer.from(String(data?.token ?? ''), 'base64').toString();
      return legacy !== '';
    });
    expect([await codesOf(bound), await codesOf(legacy)]).toEqual([new Set([200]), new Set([200])]);
    await api.delete(`${core}/secrets/robot`);
    expect([await codesOf(bound), await codesOf(legacy)]).toEqual([new Set([200]), new Set([401])]);
    await api.delete(`${core}/serviceaccounts/robot`);
    expect(await codesOf(bound)).toEqual(new Set([401]));
  }
});

test('changes of bindings take effect with the next request', async () => {
  await api.made(`${RBAC}/roles`, roleFor('configmaps'));
  for (let i = 0; i < ROUNDS; i++) {
    expect(await codes()).toEqual(new Set([403]));
    await api.made(`${RBAC}/rolebindings`, binding);
    expect(await codes()).toEqual(new Set([200]));
    await api.delete(`${RBAC}/rolebindings/ann`);
  }
});

test('changes of roles take effect with the next request', async () => {
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
