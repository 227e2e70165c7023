import { afterEach, beforeEach, expect, test } from 'vitest';
import { type ApiObject, Refusal } from '../../core/api/index.js';
import { bootstrapObjects } from '../../plugins/authz/bootstrap/index.js';
import { rbacBootstrap, roleAggregation } from '../../plugins/controllers/index.js';
import { FakeServer } from './fakeHost.js';
import { startControllers } from './settle.js';
import { eventually } from '../support/eventually.js';

let server: FakeServer;
beforeEach(() => {
  server = new FakeServer();
});
afterEach(() => server.close());

const ROLES = '/apis/rbac.authorization.k8s.io/v1/clusterroles';
const rulesOf = (role: string): unknown =>
  server.objects.get(`rbac.authorization.orchestrator.io/clusterroles||${role}`)?.rules;

test('every default role and binding exists after the start', async () => {
  await startControllers(server, rbacBootstrap, {});
  expect(server.objects.size).toBe(bootstrapObjects(server.host).length);
});

test('a second start writes nothing; a start after a change restores the defaults [A098 A099]', async () => {
  await startControllers(server, rbacBootstrap, {});
  const revision = (): string[] => [...server.objects.values()].map(o => o.metadata.resourceVersion ?? '');
  const before = revision();
  await startControllers(server, rbacBootstrap, {});
  expect(revision()).toEqual(before);
  server.send('PATCH', `${ROLES}/system:discovery`, { rules: [] });
  await startControllers(server, rbacBootstrap, {});
  expect(JSON.stringify(rulesOf('system:discovery'))).toContain('/openapi');
  const binding = 'rbac.authorization.orchestrator.io/clusterrolebindings||system:discovery';
  server.send('PATCH', `${ROLES.replace('roles', 'rolebindings')}/system:discovery`, { subjects: [] });
  expect(server.objects.get(binding)?.['subjects']).toEqual([]);
  await startControllers(server, rbacBootstrap, {});
  expect(server.objects.get(binding)?.['subjects']).toMatchObject([{ name: 'system:authenticated' }]);
});

test('an aggregating role follows the roles that its selectors match [A091]', async () => {
  await startControllers(server, roleAggregation, {});
  const role = (name: string, rest: Partial<ApiObject>, labels = {}): void =>
    void server.create('rbac.authorization.k8s.io/v1', 'ClusterRole', { name, labels }, rest);
  const rule = (resource: string): object => ({ apiGroups: [''], resources: [resource], verbs: ['get'] });
  role('all', { aggregationRule: { clusterRoleSelectors: [{ matchLabels: { to: 'all' } }] }, rules: null });
  role('one', { rules: [rule('pods')] }, { to: 'all' });
  await eventually(() => JSON.stringify(rulesOf('all')) === JSON.stringify([rule('pods')]));
  server.send('PATCH', `${ROLES}/one`, { rules: [rule('secrets')] });
  await eventually(() => JSON.stringify(rulesOf('all')) === JSON.stringify([rule('secrets')]));
});

test('an aggregating role that cannot be written does not prevent updates of others', async () => {
  server.intercept = (_, { method, path }) => {
    if (method === 'PATCH' && path.endsWith('/broken')) throw new Refusal('Invalid', 'no');
  };
  await startControllers(server, roleAggregation, {});
  const rules = [{ apiGroups: [''], resources: ['pods'], verbs: ['get'] }];
  const selecting = { aggregationRule: { clusterRoleSelectors: [{ matchLabels: { to: 'all' } }] }, rules: null };
  for (const name of ['broken', 'sound'])
    server.create('rbac.authorization.k8s.io/v1', 'ClusterRole', { name }, selecting);
  server.create('rbac.authorization.k8s.io/v1', 'ClusterRole', { name: 'one', labels: { to: 'all' } }, { rules });
  await eventually(() => JSON.stringify(rulesOf('sound')) === JSON.stringify(rules));
});
