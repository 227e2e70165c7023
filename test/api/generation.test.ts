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

  test('is not changed by refused writes that add an empty map', async () => {
    const path = '/apis/storage.k8s.io/v1/storageclasses';
    await api.made(path, { metadata: { name: 'c' }, provisioner: 'a/b' });
    const fields = async (at: string, patch: object) =>
      ((await api.patch(at, MERGE, patch)).body['details']?.['causes'] as { field: string }[] | undefined)?.map(
        ({ field }) => field,
      );
    expect(await fields(`${path}/c`, { parameters: {} })).toEqual(['parameters']);
    expect(await fields(`${path}/c`, { mountOptions: [], metadata: { labels: {} } })).toBeUndefined();
    const secrets = '/api/v1/namespaces/counts/secrets';
    await api.made(secrets, { metadata: { name: 's' }, immutable: true });
    expect(await fields(`${secrets}/s`, { data: {} })).toEqual(['data']);
    const maps = '/api/v1/namespaces/counts/configmaps';
    await api.made(maps, { metadata: { name: 'm' }, immutable: true });
    expect(await fields(`${maps}/m`, { binaryData: {} })).toEqual(['binaryData']);
    expect(await fields(`${maps}/m`, { data: {} })).toBeUndefined();
  });

  test.each(BODIES)('%s: an update with the body of the create changes nothing', async (path, members) => {
    const body = { metadata: { name: 'same' }, ...members };
    const created = await api.made(path, body);
    const { body: updated } = await api.put(`${path}/same`, body);
    expect(updated['metadata']).toEqual(created['metadata']);
    expect(created['metadata']!['generation']).toBe(1);
  });

  test('of a workload increases if a pointer is set to its zero value', async () => {
    const path = '/apis/apps/v1/namespaces/counts/deployments';
    await api.made(path, { metadata: { name: 'pointer' }, spec: { selector, template } });
    const automountServiceAccountToken = false;
    const patch = { spec: { template: { spec: { automountServiceAccountToken } } } };
    expect((await api.patch(`${path}/pointer`, MERGE, patch)).body['metadata']!['generation']).toBe(2);
  });

  test('of an EndpointSlice increases with changes of labels, and of no other metadata', async () => {
    const path = '/apis/discovery.k8s.io/v1/namespaces/counts/endpointslices';
    await api.made(path, { metadata: { name: 'slice' }, addressType: 'IPv4', endpoints: [], ports: [] });
    const generationAfter = async (metadata: object) =>
      (await api.patch(`${path}/slice`, MERGE, { metadata })).body['metadata']!['generation'];
    expect(await generationAfter({ annotations: { a: 'b' } })).toBe(1);
    expect(await generationAfter({ labels: { a: 'b' } })).toBe(2);
    // The version has no topology: the sent value is dropped, but increases the generation.
    const endpoints = [{ addresses: ['10.0.0.1'], deprecatedTopology: { a: 'b' } }];
    const { body } = await api.patch(`${path}/slice`, MERGE, { endpoints });
    expect(body).toMatchObject({ metadata: { generation: 3 }, endpoints: [{ addresses: ['10.0.0.1'] }] });
    expect(JSON.stringify(body['endpoints'])).not.toContain('Topology');
  });

  test('of a NetworkPolicy and of webhooks increases if an empty list is added', async () => {
    const policies = '/apis/networking.k8s.io/v1/namespaces/counts/networkpolicies';
    await api.made(policies, { metadata: { name: 'np' }, spec: { podSelector: {}, policyTypes: ['Egress'] } });
    const generationAfter = async (patch: object) =>
      (await api.patch(`${policies}/np`, MERGE, patch)).body['metadata']!['generation'];
    expect(await generationAfter({ spec: { ingress: [] } })).toBe(2);
    expect(await generationAfter({ spec: { podSelector: { matchLabels: {} } } })).toBe(3);
    expect(await generationAfter({ metadata: { labels: {} } })).toBe(3);
    expect(await generationAfter({ spec: { ingress: null } })).toBe(3);
    // The default types replace an empty list.
    await api.made(policies, { metadata: { name: 'types' }, spec: { podSelector: {} } });
    const { body } = await api.patch(`${policies}/types`, MERGE, { spec: { policyTypes: [] } });
    expect(body['metadata']!['generation']).toBe(1);
    const hooks = '/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations';
    const clientConfig = { url: 'https://127.0.0.1:1' };
    const webhook = { name: 'a.b.c', clientConfig, sideEffects: 'None', admissionReviewVersions: ['v1'] };
    await api.made(hooks, { metadata: { name: 'w' }, webhooks: [webhook] });
    const patched = await api.patch(`${hooks}/w`, MERGE, { webhooks: [{ ...webhook, matchConditions: [] }] });
    expect(patched.body['metadata']!['generation']).toBe(2);
  });
});
