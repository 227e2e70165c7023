import { afterEach, beforeEach, expect, test } from 'vitest';
import type { ApiObject } from '../../core/api/index.js';
import { claimProtection, volumeProtection } from '../../plugins/controllers/index.js';
import { FakeServer } from './fakeHost.js';
import { startControllers, waitForIdle } from './settle.js';
import { eventually } from '../support/eventually.js';

let server: FakeServer;
beforeEach(async () => {
  server = new FakeServer();
  await startControllers(server, claimProtection, {});
  await startControllers(server, volumeProtection, {});
});
afterEach(() => server.close());

const CLAIMS = '/api/v1/namespaces/n/persistentvolumeclaims';
const claim = (name: string, more: object = {}): ApiObject =>
  server.create('v1', 'PersistentVolumeClaim', {
    name,
    namespace: 'n',
    finalizers: ['kubernetes.io/pvc-protection'],
    ...more,
  });
const pod = (name: string, spec: object, more: object = {}): ApiObject =>
  server.create('v1', 'Pod', { name, namespace: 'n', ...more }, { spec, status: { phase: 'Succeeded' } });
const mounting = (claimName: string): object => ({ volumes: [{ name: 'v', persistentVolumeClaim: { claimName } }] });
const there = (name: string): boolean => server.has('v1', 'persistentvolumeclaims', 'n', name);

test('a claim remains while a pod on a node uses it, even if the pod has ended', async () => {
  claim('c');
  pod('p', { nodeName: 'node', ...mounting('c') });
  server.send('DELETE', `${CLAIMS}/c`);
  await waitForIdle(server);
  expect(there('c')).toBe(true);
  server.send('DELETE', '/api/v1/namespaces/n/pods/p');
  await eventually(() => !there('c'));
});

test('a pod without a node does not keep a claim', async () => {
  claim('c');
  pod('p', mounting('c'));
  server.send('DELETE', `${CLAIMS}/c`);
  await eventually(() => !there('c'));
});

test('the claim of an ephemeral volume is kept only by the pod that controls it, until that pod has stopped', async () => {
  const spec = { nodeName: 'node', volumes: [{ name: 'v', ephemeral: {} }] };
  const { metadata } = pod('p', spec, { finalizers: ['example.com/hold'] });
  pod('other', spec);
  const ownerReferences = [{ apiVersion: 'v1', kind: 'Pod', name: 'p', uid: metadata.uid, controller: true }];
  claim('p-v', { ownerReferences });
  claim('other-v');
  for (const name of ['p-v', 'other-v']) server.send('DELETE', `${CLAIMS}/${name}`);
  await eventually(() => !there('other-v'));
  await waitForIdle(server);
  expect(there('p-v')).toBe(true);
  server.send('PATCH', '/api/v1/namespaces/n/pods/p', {
    metadata: { deletionTimestamp: '2026-01-01T00:00:00Z', deletionGracePeriodSeconds: 0 },
  });
  await eventually(() => !there('p-v'));
});

test('a volume is removed once it is no longer bound', async () => {
  const metadata = { name: 'v', finalizers: ['kubernetes.io/pv-protection'] };
  server.create('v1', 'PersistentVolume', metadata, { status: { phase: 'Bound' } });
  server.send('DELETE', '/api/v1/persistentvolumes/v');
  await waitForIdle(server);
  expect(server.has('v1', 'persistentvolumes', '', 'v')).toBe(true);
  server.send('PATCH', '/api/v1/persistentvolumes/v', { status: { phase: 'Released' } });
  await eventually(() => !server.has('v1', 'persistentvolumes', '', 'v'));
});

test('a claim that has lost the finalizer gets it back, and keeps its other finalizers', async () => {
  claim('c', { finalizers: ['a.b/c'] });
  const finalizers = () => server.send('GET', `${CLAIMS}/c`).metadata.finalizers;
  await eventually(() => finalizers()?.length === 2);
  expect(finalizers()).toEqual(['a.b/c', 'kubernetes.io/pvc-protection']);
});
