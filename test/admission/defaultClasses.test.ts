import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Api } from '../api/support.js';
import { Hooks, install } from './hooks.js';

/* The classes that new claims and ingresses get, and the finalizers of new volumes and claims. */

const CLAIMS = '/api/v1/namespaces/default/persistentvolumeclaims';
const INGRESSES = '/apis/networking.k8s.io/v1/namespaces/default/ingresses';
const STORAGE = '/apis/storage.k8s.io/v1/storageclasses';
const INGRESS_CLASSES = '/apis/networking.k8s.io/v1/ingressclasses';

let api: Api;
beforeAll(async () => {
  api = await Api.start();
});
afterAll(() => api.close());

const claim = (name: string, spec: object = {}, metadata: object = {}): object => ({
  metadata: { name, ...metadata },
  spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } }, ...spec },
});
const ingress = (name: string, spec: object = {}): object => ({
  metadata: { name },
  spec: { defaultBackend: { service: { name: 's', port: { number: 80 } } }, ...spec },
});
const marked = (name: string, mark: string, more: object): object => ({
  metadata: { name, annotations: { [mark]: 'true' } },
  ...more,
});

describe('a new claim', () => {
  test('gets the default storage class unless it names one', async () => {
    expect((await api.made(CLAIMS, claim('before')))['spec']!['storageClassName']).toBeUndefined();
    const mark = 'storageclass.kubernetes.io/is-default-class';
    await api.made(STORAGE, { metadata: { name: 'other' }, provisioner: 'p' });
    await api.made(STORAGE, marked('b', mark, { provisioner: 'p' }));
    expect((await api.made(CLAIMS, claim('without')))['spec']!['storageClassName']).toBe('b');
    expect((await api.made(CLAIMS, claim('named', { storageClassName: '' })))['spec']!['storageClassName']).toBe('');
    const old = claim('old', {}, { annotations: { 'volume.beta.kubernetes.io/storage-class': 'x' } });
    expect((await api.made(CLAIMS, old))['spec']!['storageClassName']).toBeUndefined();
  });
});

describe('a new ingress', () => {
  test('gets the default ingress class unless it names one', async () => {
    expect((await api.made(INGRESSES, ingress('before')))['spec']!['ingressClassName']).toBeUndefined();
    const mark = 'ingressclass.kubernetes.io/is-default-class';
    await api.made(INGRESS_CLASSES, marked('c', mark, { spec: { controller: 'a.b/c' } }));
    expect((await api.made(INGRESSES, ingress('without')))['spec']!['ingressClassName']).toBe('c');
    const named = await api.made(INGRESSES, ingress('named', { ingressClassName: 'd' }));
    expect(named['spec']!['ingressClassName']).toBe('d');
  });
});

test('mutating webhooks see the finalizers of new volumes and claims', async () => {
  const hooks = await Hooks.start();
  const rules = [{ apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['persistentvolumes'] }];
  await install(api, 'Mutating', 'volumes', hooks.webhook('/volumes', { rules, objectSelector: {} }));
  const spec = { capacity: { storage: '1Gi' }, accessModes: ['ReadWriteOnce'], hostPath: { path: '/x' } };
  await api.made('/api/v1/persistentvolumes', { metadata: { name: 'v' }, spec });
  const seen = hooks.take('/volumes').map(({ request }) => request['object']!['metadata']!['finalizers']);
  expect(seen).toEqual([['kubernetes.io/pv-protection']]);
  await hooks.close();
});
