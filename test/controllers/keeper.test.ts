import { afterEach, beforeEach, expect, test } from 'vitest';
import { Refusal } from '../../core/api/index.js';
import {
  defaultAccounts,
  rootCaPublisher,
  namespaceDeletion,
  ownService,
  systemNamespaces,
  systemObjects,
} from '../../plugins/controllers/index.js';
import { FakeServer } from './fakeHost.js';
import { startControllers } from './settle.js';
import { eventually } from '../support/eventually.js';

let server: FakeServer;
beforeEach(() => {
  server = new FakeServer();
});
afterEach(() => server.close());

const namespace = (name: string): void => void server.create('v1', 'Namespace', { name });
const object = (key: string): { [member: string]: unknown } | undefined => server.objects.get(key);
const shows = (key: string, member: string, wanted: unknown): Promise<unknown> =>
  eventually(() => JSON.stringify(object(key)?.[member]) === JSON.stringify(wanted));

test('system namespaces exist after the start and are recreated when deleted', async () => {
  await startControllers(server, systemNamespaces, {});
  const names = ['default', 'kube-system', 'kube-public', 'kube-node-lease'];
  expect([...server.objects.keys()].sort()).toEqual(names.map(n => `core/namespaces||${n}`).sort());
  await startControllers(server, namespaceDeletion, {});
  const before = server.send('GET', '/api/v1/namespaces/kube-public').metadata.uid;
  server.send('DELETE', '/api/v1/namespaces/kube-public');
  const uid = (): string | undefined => server.objects.get('core/namespaces||kube-public')?.metadata.uid;
  await eventually(() => uid() !== undefined && uid() !== before);
});

test('every namespace has its service account and root CA, which are restored when deleted or changed', async () => {
  namespace('old');
  await startControllers(server, defaultAccounts, {});
  await startControllers(server, rootCaPublisher, { rootCa: 'PEM' });
  namespace('new');
  const both = (ns: string): boolean =>
    server.has('v1', 'serviceaccounts', ns, 'default') && server.has('v1', 'configmaps', ns, 'kube-root-ca.crt');
  await eventually(() => both('old') && both('new'));
  server.send('DELETE', '/api/v1/namespaces/new/serviceaccounts/default');
  server.send('DELETE', '/api/v1/namespaces/old/configmaps/kube-root-ca.crt');
  await eventually(() => both('old') && both('new'));
  server.send('PATCH', '/api/v1/namespaces/new/configmaps/kube-root-ca.crt', { data: { 'ca.crt': 'other' } });
  await shows('core/configmaps|new|kube-root-ca.crt', 'data', { 'ca.crt': 'PEM' });
});

test('a root CA ConfigMap with additional data is corrected, its labels and annotations are kept', async () => {
  namespace('a');
  const path = '/api/v1/namespaces/a/configmaps/kube-root-ca.crt';
  server.create(
    'v1',
    'ConfigMap',
    { name: 'kube-root-ca.crt', namespace: 'a', labels: { of: 'mine' } },
    { data: { 'ca.crt': 'PEM', x: 'y' } },
  );
  await startControllers(server, rootCaPublisher, { rootCa: 'PEM' });
  await shows('core/configmaps|a|kube-root-ca.crt', 'data', { 'ca.crt': 'PEM' });
  const { metadata } = server.send('GET', path);
  expect([metadata.labels, Object.keys(metadata.annotations ?? {})]).toEqual([
    { of: 'mine' },
    ['kubernetes.io/description'],
  ]);
});

test('a terminating namespace gets no defaults', async () => {
  namespace('a');
  server.send('DELETE', '/api/v1/namespaces/a');
  await startControllers(server, defaultAccounts, {});
  await startControllers(server, rootCaPublisher, { rootCa: '' });
  await server.delivered();
  expect(server.requests).toEqual([]);
});

const own = (address: string, port: number): Promise<void> =>
  startControllers(server, ownService, { clusterIP: '10.0.0.1', port, address });

test('the endpoints of the server are updated if its address changes, and recreated when deleted', async () => {
  namespace('default');
  await own('192.0.2.1', 6443);
  const subsets = (ip: string, port: number): object[] => [
    { addresses: [{ ip }], ports: [{ name: 'https', protocol: 'TCP', port }] },
  ];
  await shows('core/endpoints|default|kubernetes', 'subsets', subsets('192.0.2.1', 6443));
  server.close();
  await own('192.0.2.7', 8443);
  await shows('core/endpoints|default|kubernetes', 'subsets', subsets('192.0.2.7', 8443));
  await eventually(() =>
    JSON.stringify(object('discovery.orchestrator.io/endpointslices|default|kubernetes')).includes('"192.0.2.7"'),
  );
  await eventually(() =>
    JSON.stringify(object('core/services|default|kubernetes')?.spec).includes('"targetPort":8443'),
  );
  server.send('DELETE', '/api/v1/namespaces/default/endpoints/kubernetes');
  await shows('core/endpoints|default|kubernetes', 'subsets', subsets('192.0.2.7', 8443));
});

test('a write that is refused as invalid is not retried', async () => {
  namespace('default');
  let refused = 0;
  server.intercept = (_, { method, path }) => {
    if (method !== 'POST' || !path.endsWith('/services')) return;
    refused++;
    throw new Refusal('Invalid', 'the address is taken');
  };
  await own('192.0.2.1', 6443);
  await eventually(() => server.has('v1', 'endpoints', 'default', 'kubernetes'));
  expect(refused).toBe(1);
});

test('the status of a system object is written even if the first write fails', async () => {
  let failures = 1;
  server.intercept = (_, { method, path }) => {
    if (method === 'PATCH' && path.endsWith('/status') && failures-- > 0) throw new Refusal('InternalError', 'not now');
  };
  await startControllers(server, systemObjects, { groups: [{ group: 'apps', priority: 1, versions: ['v1'] }] });
  await eventually(() =>
    JSON.stringify(object('apiregistration.orchestrator.io/apiservices||v1.apps')?.status ?? '').includes('Available'),
  );
});
