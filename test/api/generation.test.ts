import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Api } from './support.js';
import { MERGE } from '../support/mediaTypes.js';

const labels = { app: 'web' };
const podSpec = (restartPolicy?: string) => ({
  ...(restartPolicy ? { restartPolicy } : {}),
  volumes: [{ name: 'v', configMap: { name: 'm' } }],
  containers: [{ name: 'c', image: 'i:1', ports: [{ containerPort: 80 }] }],
});
const template = { metadata: { labels }, spec: podSpec() };
const selector = { matchLabels: labels };

/** A body of each kind that holds a template of pods, without most of the fields that have defaults. */
const BODIES: [string, object][] = [
  ['/api/v1/namespaces/counts/podtemplates', { template }],
  ['/api/v1/namespaces/counts/replicationcontrollers', { spec: { selector: labels, template } }],
  ['/apis/apps/v1/namespaces/counts/daemonsets', { spec: { selector, template } }],
  ['/apis/apps/v1/namespaces/counts/deployments', { spec: { selector, template } }],
  ['/apis/apps/v1/namespaces/counts/replicasets', { spec: { selector, template } }],
  ['/apis/apps/v1/namespaces/counts/statefulsets', { spec: { serviceName: 's', selector, template } }],
  [
    '/apis/batch/v1/namespaces/counts/cronjobs',
    { spec: { schedule: '* * * * *', jobTemplate: { spec: { template: { spec: podSpec('Never') } } } } },
  ],
];

describe('metadata.generation', () => {
  let api: Api;
  beforeAll(async () => {
    api = await Api.shared();
    await api.namespace('counts');
  });
  afterAll(() => api.close());

  test.each(BODIES)('%s: an update with the body as it was first sent changes nothing', async (path, members) => {
    const body = { metadata: { name: 'same' }, ...members };
    const created = await api.made(path, body);
    const { body: updated } = await api.put(`${path}/same`, body);
    expect(updated['metadata']).toEqual(created['metadata']);
    expect(created['metadata']!['generation']).toBe(1);
  });

  test('of a workload counts a pointer that is set to its zero value', async () => {
    const path = '/apis/apps/v1/namespaces/counts/deployments';
    await api.made(path, { metadata: { name: 'pointer' }, spec: { selector, template } });
    const automountServiceAccountToken = false;
    const patch = { spec: { template: { spec: { automountServiceAccountToken } } } };
    expect((await api.patch(`${path}/pointer`, MERGE, patch)).body['metadata']!['generation']).toBe(2);
  });

  test('of an EndpointSlice counts changes of labels, and of no other metadata', async () => {
    const path = '/apis/discovery.k8s.io/v1/namespaces/counts/endpointslices';
    await api.made(path, { metadata: { name: 'slice' }, addressType: 'IPv4', endpoints: [], ports: [] });
    const generationAfter = async (metadata: object) =>
      (await api.patch(`${path}/slice`, MERGE, { metadata })).body['metadata']!['generation'];
    expect(await generationAfter({ annotations: { a: 'b' } })).toBe(1);
    expect(await generationAfter({ labels: { a: 'b' } })).toBe(2);
  });
});
