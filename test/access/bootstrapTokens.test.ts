import { afterAll, beforeAll, expect, test } from 'vitest';
import { Api } from '../api/support.js';
import { textOf } from '../support/values.js';

const SECRETS = '/api/v1/namespaces/kube-system/secrets';
const SELF = '/apis/authentication.k8s.io/v1/selfsubjectreviews';
const AUTHENTICATES = { 'usage-bootstrap-authentication': 'true' };
const VALUE = '0123456789abcdef';

let api: Api;
let made = 0;

beforeAll(async () => {
  api = await Api.start({ enableBootstrapTokenAuth: true, controllers: ['*', 'tokencleaner', 'bootstrapsigner'] });
  await api.until(async () => (await api.get('/api/v1/namespaces/kube-system')).status === 200);
});
afterAll(() => api.close());

/** Makes the secret of a token; returns the token. */
async function tokenWith(data: object, type = 'bootstrap.kubernetes.io/token'): Promise<string> {
  const id = `abc${String(++made).padStart(3, '0')}`;
  const stringData = { 'token-id': id, 'token-secret': VALUE, ...data };
  await api.made(SECRETS, { metadata: { name: `bootstrap-token-${id}` }, type, stringData });
  return `${id}.${VALUE}`;
}
const whoIs = (token: string) => api.post(SELF, { metadata: {} }, { token });
const inAnHour = (): string => new Date(Date.now() + 3_600_000).toISOString();

test('a bootstrap token authenticates as its own user, in the common group and those that its secret names [A190] [A026] [A021] [A454]', async () => {
  const token = await tokenWith({
    ...AUTHENTICATES,
    description: 'for the first node',
    expiration: inAnHour(),
    'auth-extra-groups': 'system:bootstrappers:two,system:bootstrappers:one',
  });
  expect((await whoIs(token)).body.status?.userInfo).toEqual({
    username: `system:bootstrap:${token.slice(0, 6)}`,
    groups: ['system:bootstrappers', 'system:bootstrappers:one', 'system:bootstrappers:two', 'system:authenticated'],
  });
});

test.each([
  ['without the usage', {}, undefined],
  ['with another usage', { 'usage-bootstrap-authentication': 'false' }, undefined],
  ['with a reserved group [A083]', { ...AUTHENTICATES, 'auth-extra-groups': 'system:masters' }, undefined],
  ['with an empty group', { ...AUTHENTICATES, 'auth-extra-groups': 'system:bootstrappers:a,' }, undefined],
  ['that has expired', { ...AUTHENTICATES, expiration: '2020-01-01T00:00:00Z' }, undefined],
  ['whose expiration is not a time', { ...AUTHENTICATES, expiration: 'tomorrow' }, undefined],
  ['of another id [A019]', { ...AUTHENTICATES, 'token-id': 'zzzzzz' }, undefined],
  ['without an id [A019]', { ...AUTHENTICATES, 'token-id': '' }, undefined],
  ['with another secret [A020]', { ...AUTHENTICATES, 'token-secret': 'f123456789abcdef' }, undefined],
  ['without a secret [A020]', { ...AUTHENTICATES, 'token-secret': '' }, undefined],
  ['in a secret of another type [A016]', AUTHENTICATES, 'Opaque'],
])('a token %s is 401 [A022] [A024]', async (_what, data, type) => {
  expect((await whoIs(await tokenWith(data, type))).status).toBe(401);
});

test.each([
  ['in another namespace [A017]', '/api/v1/namespaces/default/secrets', 'bootstrap-token-zzz001', 'zzz001'],
  ['of another name [A018]', SECRETS, 'bootstrap-token-other1', 'zzz002'],
])('a token in a secret %s is 401', async (_what, path, name, id) => {
  const stringData = { 'token-id': id, 'token-secret': VALUE, ...AUTHENTICATES };
  await api.made(path, { metadata: { name }, type: 'bootstrap.kubernetes.io/token', stringData });
  expect((await whoIs(`${id}.${VALUE}`)).status).toBe(401);
});

test('a token that has expired is deleted [A188]', async () => {
  const token = await tokenWith({ ...AUTHENTICATES, expiration: '2020-01-01T00:00:00Z' });
  const path = `${SECRETS}/bootstrap-token-${token.slice(0, 6)}`;
  await api.until(async () => (await api.get(path)).status === 404);
});

test('tokens for signing sign the information about the cluster, which anybody may then read [A025 A028 A029 A033 A189]', async () => {
  const [space, rbac] = ['/api/v1/namespaces/kube-public', '/apis/rbac.authorization.k8s.io/v1/namespaces/kube-public'];
  const path = `${space}/configmaps/cluster-info`;
  const cluster = { server: api.server.url, 'certificate-authority-data': 'Y2E=' };
  const kubeconfig = JSON.stringify({ apiVersion: 'v1', kind: 'Config', clusters: [{ name: '', cluster }] });
  await api.until(async () => (await api.get(space)).status === 200);
  await api.made(`${space}/configmaps`, { metadata: { name: 'cluster-info' }, data: { kubeconfig } });
  const signs = await tokenWith({ 'usage-bootstrap-signing': 'true' });
  const silent = await tokenWith({ 'usage-bootstrap-signing': 'false' });
  const keyOf = (token: string): string => `jws-kubeconfig-${token.slice(0, 6)}`;
  await api.until(async () => (await api.get(path)).body.data![keyOf(signs)] !== undefined);
  expect((await api.get(path)).body.data![keyOf(silent)]).toBeUndefined();
  expect((await api.get(path, { token: '' })).status).toBe(403);
  const rules = [{ verbs: ['get'], apiGroups: [''], resources: ['configmaps'], resourceNames: ['cluster-info'] }];
  const group = 'rbac.authorization.k8s.io';
  await api.made(`${rbac}/roles`, { metadata: { name: 'info' }, rules });
  await api.made(`${rbac}/rolebindings`, {
    metadata: { name: 'info' },
    roleRef: { apiGroup: group, kind: 'Role', name: 'info' },
    subjects: [{ apiGroup: group, kind: 'User', name: 'system:anonymous' }],
  });
  const { status, body } = await api.get(path, { token: '' });
  expect([status, JSON.parse(textOf(body.data!.kubeconfig))]).toMatchObject([200, { clusters: [{ cluster }] }]);
});

test.each([
  'ABC001.0123456789abcdef',
  'abc001.0123456789abcde',
  'abc00.0123456789abcdef',
  'abc001-0123456789abcdef',
  'abc001.0123456789abcde!',
])('a text in another form is not a bootstrap token: %s [A027]', async text => {
  await tokenWith(AUTHENTICATES);
  expect((await whoIs(text)).status).toBe(401);
});

test('a token must match in all characters, and is invalid once its secret is deleted', async () => {
  const token = await tokenWith(AUTHENTICATES);
  expect((await whoIs(token)).status).toBe(201);
  for (const wrong of [`${token.slice(0, -1)}0`, `${token}0`, token.toUpperCase(), 'zzzzzz.0123456789abcdef'])
    expect([wrong, (await whoIs(wrong)).status]).toEqual([wrong, 401]);
  await api.delete(`${SECRETS}/bootstrap-token-${token.slice(0, 6)}`);
  expect((await whoIs(token)).status).toBe(401);
});

test('tokens are refused unless the setting enables them [A187]', async () => {
  const off = await Api.shared();
  try {
    await off.until(async () => (await off.get('/api/v1/namespaces/kube-system')).status === 200);
    const stringData = { 'token-id': 'abcdef', 'token-secret': VALUE, ...AUTHENTICATES };
    await off.made(SECRETS, {
      metadata: { name: 'bootstrap-token-abcdef' },
      type: 'bootstrap.kubernetes.io/token',
      stringData,
    });
    expect((await off.post(SELF, { metadata: {} }, { token: `abcdef.${VALUE}` })).status).toBe(401);
  } finally {
    await off.close();
  }
});
