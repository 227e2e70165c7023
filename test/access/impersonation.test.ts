import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { ResourceTarget } from '../../core/model/target.js';
import type { User } from '../../core/model/user.js';
import { impersonatedUser } from '../../core/access/impersonate.js';
import { Api } from '../api/support.js';
import { CERTIFICATE_REQUEST } from './data/certificateRequest.js';

const asking = async (...headers: [string, string][]): Promise<{ user: User | undefined; asked: string[] }> => {
  const asked: string[] = [];
  const user = await impersonatedUser(
    [['authorization', 'Bearer t'], ...headers],
    async ({ verb, group, resource, subresource, namespace, name }: ResourceTarget) => {
      asked.push([verb, group, subresource ? `${resource}/${subresource}` : resource, namespace, name].join(' '));
    },
  );
  return { user, asked };
};

describe('impersonation [A278 A279 A280 A281 A282 A283 A286 A287]', () => {
  test('needs a permission for each attribute, and an authenticated sender', async () => {
    const { user, asked } = await asking(
      ['impersonate-user', 'zoe'],
      ['impersonate-group', 'one'],
      ['impersonate-group', ',,,two'],
      ['impersonate-extra-scopes', 'a'],
      ['impersonate-extra-scopes', 'b'],
      ['impersonate-extra-example.test%2fkey', 'v'],
      ['impersonate-uid', 'u-1'],
    );
    expect(user).toEqual({
      name: 'zoe',
      uid: 'u-1',
      groups: ['one', ',,,two', 'system:authenticated'],
      extra: new Map([
        ['scopes', ['a', 'b']],
        ['example.test/key', ['v']],
      ]),
    });
    expect(asked).toEqual([
      'impersonate  users  zoe',
      'impersonate  groups  one',
      'impersonate  groups  ,,,two',
      'impersonate authentication.orchestrator.io userextras/scopes  a',
      'impersonate authentication.orchestrator.io userextras/scopes  b',
      'impersonate authentication.orchestrator.io userextras/example.test/key  v',
      'impersonate authentication.orchestrator.io uids  u-1',
    ]);
  });

  test.each([
    [
      'system:serviceaccount:default:robot',
      'impersonate  serviceaccounts default robot',
      ['system:serviceaccounts', 'system:serviceaccounts:default', 'system:authenticated'],
    ],
    [
      'system:serviceaccount:default:Bad_',
      'impersonate  users  system:serviceaccount:default:Bad_',
      ['system:authenticated'],
    ],
    ['system:anonymous', 'impersonate  users  system:anonymous', ['system:unauthenticated']],
  ])('%s has the groups of its kind of user', async (name, question, groups) => {
    const { user, asked } = await asking(['impersonate-user', name]);
    expect([asked, user?.groups]).toEqual([[question], groups]);
  });

  test('groups in the headers replace default groups', async () => {
    const account = await asking(
      ['impersonate-user', 'system:serviceaccount:default:robot'],
      ['impersonate-group', 'only'],
    );
    expect(account.user?.groups).toEqual(['only', 'system:authenticated']);
    const known = await asking(['impersonate-user', 'zoe'], ['impersonate-group', 'system:authenticated']);
    expect(known.user?.groups).toEqual(['system:authenticated']);
    const unknown = await asking(['impersonate-user', 'zoe'], ['impersonate-group', 'system:unauthenticated']);
    expect(unknown.user?.groups).toEqual(['system:unauthenticated']);
    const nobody = await asking(
      ['impersonate-user', 'system:anonymous'],
      ['impersonate-group', 'system:authenticated'],
    );
    expect(nobody.user?.groups).toEqual(['system:authenticated', 'system:unauthenticated']);
  });

  test('an empty name means no impersonation; other attributes without a name are an error', async () => {
    expect(await asking(['impersonate-user', ''])).toEqual({ user: undefined, asked: [] });
    await expect(asking(['impersonate-group', 'one'])).rejects.toThrow('without impersonating a user');
  });
});

describe('requests that impersonate a user', () => {
  let api: Api;
  beforeAll(async () => {
    api = await Api.shared();
  });
  afterAll(() => api.close());
  const spaces = '/api/v1/namespaces';

  test('have the permissions of that user, even if more permissions of the sender are cached [A288]', async () => {
    expect((await api.get(spaces)).status).toBe(200);
    expect((await api.get(spaces)).status).toBe(200);
    for (let again = 0; again < 2; again++) {
      const { status, body } = await api.get(spaces, { headers: { 'impersonate-user': 'zoe' } });
      expect([status, body.message]).toEqual([
        403,
        'namespaces is forbidden: User "zoe" cannot list resource "namespaces" in API group "" at the cluster scope',
      ]);
    }
    const master = { 'impersonate-user': 'zoe', 'impersonate-group': 'system:masters' };
    expect((await api.get(spaces, { headers: master })).status).toBe(200);
    expect((await api.get(spaces)).status).toBe(200);
  });

  test('need a name, even if the sender is cached [A279 A280 A282]', async () => {
    for (const alone of ['impersonate-group', 'impersonate-uid', 'impersonate-extra-scopes']) {
      const made = await api.post(`${spaces}?dryRun=All`, { metadata: { name: 'x' } }, { headers: { [alone]: 'one' } });
      expect([made.status, made.body.message]).toEqual([400, expect.stringContaining('without impersonating a user')]);
      expect((await api.get(spaces)).status).toBe(200);
      expect((await api.get(spaces, { headers: { [alone]: 'one' } })).status).toBe(400);
    }
  });

  test('need the current permission to impersonate [A284 A285 A315]', async () => {
    const rbac = '/apis/rbac.authorization.k8s.io/v1';
    const bob = { 'impersonate-user': 'bob' };
    const refused = await api.get(spaces, { token: '', headers: bob });
    expect([refused.status, refused.body.message]).toEqual([
      403,
      'users "bob" is forbidden: User "system:anonymous" cannot impersonate resource "users" in API group "" at the cluster scope',
    ]);
    await api.made(`${rbac}/clusterroles`, {
      metadata: { name: 'as-bob' },
      rules: [{ apiGroups: [''], resources: ['users'], verbs: ['impersonate'], resourceNames: ['bob'] }],
    });
    await api.made(`${rbac}/clusterrolebindings`, {
      metadata: { name: 'as-bob' },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'as-bob' },
      subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'system:anonymous' }],
    });
    const message = async (): Promise<unknown> => (await api.get(spaces, { token: '', headers: bob })).body.message;
    expect(await message()).toContain('User "bob" cannot list');
    await api.delete(`${rbac}/clusterrolebindings/as-bob`);
    expect(await message()).toContain('User "system:anonymous" cannot impersonate');
  });

  test('create objects that show the impersonated user', async () => {
    const { status, body } = await api.post(
      '/apis/certificates.k8s.io/v1/certificatesigningrequests',
      {
        metadata: { name: 'asked' },
        spec: { request: CERTIFICATE_REQUEST, signerName: 'example.com/s', usages: ['client auth'] },
      },
      { headers: { 'impersonate-user': 'zoe', 'impersonate-group': 'system:masters' } },
    );
    expect([status, body.spec?.username, body.spec?.groups]).toEqual([
      201,
      'zoe',
      ['system:masters', 'system:authenticated'],
    ]);
  });
});
