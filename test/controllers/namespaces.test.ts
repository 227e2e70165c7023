import { afterEach, beforeEach, expect, test } from 'vitest';
import { Refusal } from '../../core/api/index.js';
import { namespaceDeletion } from '../../plugins/controllers/index.js';
import { FakeServer } from './fakeHost.js';
import { startControllers } from './settle.js';
import { eventually } from '../support/eventually.js';

let server: FakeServer;
beforeEach(() => {
  server = new FakeServer();
});
afterEach(() => server.close());

const namespace = (name: string): void => void server.create('v1', 'Namespace', { name });
const conditionsOf = (name: string): { type: string; status: string; reason: string; message: string }[] =>
  (server.send('GET', `/api/v1/namespaces/${name}`).status as { conditions?: never[] }).conditions ?? [];

test('[R117x] a deleted namespace is removed with all of its contents, and no others', async () => {
  namespace('a');
  namespace('b');
  for (const kind of ['ConfigMap', 'Secret']) server.create('v1', kind, { name: 'x', namespace: 'a' });
  server.create('v1', 'Secret', { name: 'x', namespace: 'b' });
  await startControllers(server, namespaceDeletion, {});
  server.send('DELETE', '/api/v1/namespaces/a');
  await eventually(() => !server.has('v1', 'namespaces', '', 'a'));
  expect([...server.objects.keys()]).toEqual(['core/namespaces||b', 'core/secrets|b|x']);
});

test('the deletion of a namespace that is terminating at the start is completed', async () => {
  namespace('a');
  server.create('v1', 'ConfigMap', { name: 'x', namespace: 'a' });
  server.send('DELETE', '/api/v1/namespaces/a');
  await startControllers(server, namespaceDeletion, {});
  await eventually(() => server.objects.size === 0);
});

test('a namespace waits for objects with finalizers, reports them in its conditions, and is removed after the last of them', async () => {
  namespace('a');
  server.create('v1', 'ConfigMap', { name: 'held', namespace: 'a', finalizers: ['example.com/hold'] });
  await startControllers(server, namespaceDeletion, {});
  server.send('DELETE', '/api/v1/namespaces/a');
  await eventually(() => conditionsOf('a').some(c => c.type === 'NamespaceFinalizersRemaining' && c.status === 'True'));
  expect(conditionsOf('a').map(c => `${c.type} ${c.status} ${c.reason}: ${c.message}`)).toEqual([
    'NamespaceDeletionDiscoveryFailure False ResourcesDiscovered: All resources successfully discovered',
    'NamespaceDeletionGroupVersionParsingFailure False ParsedGroupVersions: All legacy kube types successfully parsed',
    'NamespaceDeletionContentFailure False ContentDeleted: All content successfully deleted, may be waiting on finalization',
    'NamespaceContentRemaining True SomeResourcesRemain: Some resources are remaining: configmaps. has 1 resource instances',
    'NamespaceFinalizersRemaining True SomeFinalizersRemain: Some content in the namespace has finalizers remaining: example.com/hold in 1 resource instances',
  ]);
  server.send('PATCH', '/api/v1/namespaces/a/configmaps/held', { metadata: { finalizers: null } });
  await eventually(() => server.objects.size === 0);
});

test('a namespace with 10,000 objects is deleted with a few requests', async () => {
  namespace('a');
  for (let i = 0; i < 10_000; i++) server.create('v1', 'ConfigMap', { name: `x${i}`, namespace: 'a' });
  await startControllers(server, namespaceDeletion, {});
  await server.delivered();
  server.send('DELETE', '/api/v1/namespaces/a');
  await eventually(() => server.objects.size === 0);
  expect(server.requests.length).toBeLessThan(50);
});

test('a refused deletion is reported as a condition and retried', async () => {
  namespace('a');
  server.create('v1', 'ConfigMap', { name: 'x', namespace: 'a' });
  await startControllers(server, namespaceDeletion, {});
  let refusals = 2;
  server.intercept = (_, { method }) => {
    if (method === 'DELETE' && refusals-- > 0) throw new Refusal('Forbidden', 'not now');
  };
  const seen: string[] = [];
  server.host.watch(event => {
    const status = event.name === 'a' ? (event.object().status as { conditions?: { reason: string }[] }) : undefined;
    seen.push(...(status?.conditions ?? []).map(c => c.reason));
  });
  server.send('DELETE', '/api/v1/namespaces/a');
  await eventually(() => server.objects.size === 0);
  expect(seen).toContain('ContentDeletionFailed');
});

test('a conflict in a write of the status or the finalizer is retried', async () => {
  namespace('a');
  await startControllers(server, namespaceDeletion, {});
  let races = 3;
  server.intercept = (_, { method }) => {
    if ((method === 'PATCH' || method === 'PUT') && races-- > 0) throw new Refusal('Conflict', 'modified');
  };
  server.send('DELETE', '/api/v1/namespaces/a');
  await eventually(() => server.objects.size === 0);
});
