import { afterAll, beforeAll, expect, test } from 'vitest';
import { Api } from '../api/support.js';

const SECRETS = '/api/v1/namespaces/kube-system/secrets';
const SELF = '/apis/authentication.k8s.io/v1/selfsubjectreviews';
const AUTHENTICATES = { 'usage-bootstrap-authentication': 'true' };
const VALUE = '0123456789abcdef';

let api: Api;
let made = 0;

beforeAll(async () => {
  api = await Api.start({ enableBootstrapTokenAuth: true });
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

test('a bootstrap token is a user of its own in the group of all and those that its secret names [A190] [A026]', async () => {
  const token = await tokenWith({
    ...AUTHENTICATES,
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
  ['with a foreign group', { ...AUTHENTICATES, 'auth-extra-groups': 'system:masters' }, undefined],
  ['with an empty group', { ...AUTHENTICATES, 'auth-extra-groups': 'system:bootstrappers:a,' }, undefined],
  ['that has expired', { ...AUTHENTICATES, expiration: '2020-01-01T00:00:00Z' }, undefined],
  ['whose expiry is no time', { ...AUTHENTICATES, expiration: 'tomorrow' }, undefined],
  ['of another id', { ...AUTHENTICATES, 'token-id': 'zzzzzz' }, undefined],
  ['in a secret of another type', AUTHENTICATES, 'Opaque'],
])('a token %s is 401 [A022] [A024]', async (_what, data, type) => {
  expect((await whoIs(await tokenWith(data, type))).status).toBe(401);
});

test('a token is known by all of its characters, and ends with its secret', async () => {
  const token = await tokenWith(AUTHENTICATES);
  expect((await whoIs(token)).status).toBe(201);
  for (const wrong of [`${token.slice(0, -1)}0`, `${token}0`, token.toUpperCase(), 'zzzzzz.0123456789abcdef'])
    expect([wrong, (await whoIs(wrong)).status]).toEqual([wrong, 401]);
  await api.delete(`${SECRETS}/bootstrap-token-${token.slice(0, 6)}`);
  expect((await whoIs(token)).status).toBe(401);
});

test('tokens are unknown unless the setting enables them [A187]', async () => {
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
