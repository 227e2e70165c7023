import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Answer, Api, type Sent } from './support.js';

const APPLY = 'application/apply-patch+yaml';
const RBAC = '/apis/rbac.authorization.k8s.io/v1/namespaces/made';
const LEASES = '/apis/coordination.k8s.io/v1/namespaces/made/leases';
const LEASE = { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', spec: { holderIdentity: 'x' } };

describe('an update or apply of an object that does not exist', () => {
  let api: Api;
  const as: Sent = { headers: { 'impersonate-user': 'writer' } };
  const lease = (name: string): object => ({ ...LEASE, metadata: { name } });
  const put = (name: string): Promise<Answer> => api.put(`${LEASES}/${name}`, lease(name), as);
  const apply = (name: string): Promise<Answer> =>
    api.patch(`${LEASES}/${name}?fieldManager=m`, APPLY, lease(name), as);
  const grant = (verbs: readonly string[]): Promise<Answer> =>
    api.put(`${RBAC}/roles/writer`, {
      metadata: { name: 'writer' },
      rules: [{ apiGroups: ['coordination.k8s.io'], resources: ['leases'], verbs }],
    });
  beforeAll(async () => {
    api = await Api.shared();
    await api.namespace('made');
    expect((await grant(['get', 'update', 'patch'])).status).toBe(201);
    await api.made(`${RBAC}/rolebindings`, {
      metadata: { name: 'writer' },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'writer' },
      subjects: [{ kind: 'User', name: 'writer', apiGroup: 'rbac.authorization.k8s.io' }],
    });
  });
  afterAll(() => api.close());

  test('keeps deletion members of its body, unlike a create', async () => {
    const deletion = { deletionTimestamp: '2030-01-01T00:00:00Z', deletionGracePeriodSeconds: 5 };
    const leaseWithDeletion = (name: string): object => ({ ...LEASE, metadata: { name, ...deletion } });
    const path = (name: string): string => `${LEASES}/${name}`;
    const applied = await api.patch(`${path('doomed-1')}?fieldManager=m`, APPLY, leaseWithDeletion('doomed-1'));
    expect(applied).toMatchObject({ status: 201, body: { metadata: deletion } });
    expect(await api.put(path('doomed-2'), leaseWithDeletion('doomed-2'))).toMatchObject({
      status: 201,
      body: { metadata: deletion },
    });
    const posted = await api.made(LEASES, leaseWithDeletion('doomed-3'));
    for (const member of Object.keys(deletion)) expect(posted['metadata']).not.toHaveProperty(member);
  });

  test('needs the permission to create every time', async () => {
    await api.made(LEASES, lease('there'));
    expect((await apply('there')).status).toBe(200);
    for (const write of [put, apply])
      for (let i = 0; i < 2; i++) {
        const { status, body } = await write('absent');
        expect([status, body.message]).toEqual([
          403,
          'leases.coordination.k8s.io "absent" is forbidden: User "writer" cannot create resource "leases" in API group "coordination.k8s.io" in the namespace "made"',
        ]);
      }
    expect((await api.get(`${LEASES}/absent`)).status).toBe(404);
  });

  test('creates the object with that permission, until it is revoked', async () => {
    expect((await grant(['get', 'update', 'patch', 'create'])).status).toBe(200);
    expect([(await put('put')).status, (await apply('applied')).status]).toEqual([201, 201]);
    expect((await grant(['get', 'update', 'patch'])).status).toBe(200);
    expect([(await put('later')).status, (await apply('later')).status]).toEqual([403, 403]);
  });
});
