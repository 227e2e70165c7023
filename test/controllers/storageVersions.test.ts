import { hostname } from 'node:os';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { namingOf } from '../../core/naming.js';
import { identityLease, serverId } from '../../plugins/kinds/internal/storageVersion/controllers/identity.js';
import { statusOf } from '../../plugins/kinds/internal/storageVersion/controllers/status.js';
import { Api, type Loose } from '../api/support.js';
import { FakeServer } from './fakeHost.js';
import { eventually } from '../support/eventually.js';

const VERSIONS = '/apis/internal.apiserver.k8s.io/v1alpha1/storageversions';
const LEASES = '/apis/coordination.k8s.io/v1/namespaces/kube-system/leases';
const LABELS = { 'apiserver.kubernetes.io/identity': 'kube-apiserver' };
const id = serverId(namingOf('kubernetes'));

let api: Api;
beforeAll(async () => {
  api = await Api.start({
    naming: 'kubernetes',
    featureGates: ['StorageVersionAPI=true', 'APIServerIdentity=true'],
    useServiceAccountCredentials: true,
    authorizationMode: ['RBAC'],
    runtimeConfig: ['internal.apiserver.k8s.io/v1alpha1=true'],
  });
});
afterAll(() => api?.close());

const entry = (apiServerID: string, version: string): object => ({
  apiServerID,
  encodingVersion: version,
  decodableVersions: [version],
});

/** Waits until the StorageVersion with this name satisfies the condition, and returns it. */
async function untilSo(name: string, isSo: (object: Loose) => boolean): Promise<Loose> {
  let found!: Loose;
  await api.until(async () => {
    const { status, body } = await api.get(`${VERSIONS}/${name}`);
    found = body;
    return status === 200 && isSo(body);
  });
  return found;
}

/** Creates a StorageVersion, and replaces its status. */
async function make(name: string, status: object) {
  const { metadata } = await api.made(VERSIONS, { metadata: { name }, spec: {} });
  return await api.put(`${VERSIONS}/${name}/status`, { metadata, spec: {}, status });
}

describe('a server', () => {
  test('has the id that upstream would have on this machine', () => {
    expect(serverId(namingOf('kubernetes'), 'vm')).toBe('apiserver-wlv32tlttr4jl3gtroqexyxapa');
  });

  test('renews a Lease, and reports in which versions it stores, reads and serves each kind', async () => {
    const status = (await untilSo('apps.deployments', object => object.status?.['conditions'] !== undefined)).status!;
    expect(status).toEqual({
      storageVersions: [{ ...entry(id, 'apps/v1'), servedVersions: ['apps/v1'] }],
      commonEncodingVersion: 'apps/v1',
      conditions: [
        {
          type: 'AllEncodingVersionsEqual',
          status: 'True',
          lastTransitionTime: expect.any(String),
          reason: 'CommonEncodingVersionSet',
          message: 'Common encoding version set',
        },
      ],
    });
    const { body } = await api.get(`${LEASES}/${id}`);
    expect(body.metadata!.labels).toEqual({ ...LABELS, 'kubernetes.io/hostname': hostname() });
    expect(body.spec).toMatchObject({ holderIdentity: expect.stringContaining(`${id}_`), leaseDurationSeconds: 3600 });
    const versionsOf = async (name: string) =>
      (await untilSo(name, object => object.status?.['conditions'] !== undefined)).status!;
    expect(await versionsOf('core.events')).toMatchObject({
      storageVersions: [{ decodableVersions: ['v1', 'events.k8s.io/v1'], servedVersions: ['v1'] }],
    });
    expect(await versionsOf('autoscaling.horizontalpodautoscalers')).toMatchObject({
      storageVersions: [
        {
          encodingVersion: 'autoscaling/v2',
          decodableVersions: ['autoscaling/v2', 'autoscaling/v1'],
          servedVersions: ['autoscaling/v1', 'autoscaling/v2'],
        },
      ],
    });
    expect((await api.get(`${VERSIONS}/events.k8s.io.events`)).status).toBe(404);
  });
});

test('servers without a Lease are removed from StorageVersions, and StorageVersions without a server are deleted', async () => {
  expect(
    (await make('test.none', { storageVersions: [entry('none', 'v1')], commonEncodingVersion: 'v1' })).status,
  ).toBe(200);
  await api.until(async () => (await api.get(`${VERSIONS}/test.none`)).status === 404);
  await api.made(LEASES, { metadata: { name: 'other', labels: LABELS }, spec: {} });
  await make('test.both', { storageVersions: [entry('other', 'v1'), entry(id, 'v2')] });
  await api.delete(`${LEASES}/other`);
  const { status } = await untilSo('test.both', object => object.status?.['commonEncodingVersion'] !== undefined);
  expect(status).toMatchObject({ storageVersions: [entry(id, 'v2')], commonEncodingVersion: 'v2' });
});

test('expired Leases of servers are removed, and no others', async () => {
  const server = new FakeServer();
  const lease = (name: string, age: number, labels: object): void => {
    const renewTime = new Date(server.host.now() - age * 1000).toISOString();
    const metadata = { name, namespace: 'kube-system', labels } as { name: string };
    server.create('coordination.k8s.io/v1', 'Lease', metadata, { spec: { renewTime, leaseDurationSeconds: 100 } });
  };
  server.create('v1', 'Namespace', { name: 'kube-system' });
  lease('gone', 101, LABELS);
  lease('slow', 99, LABELS);
  lease('another', 101, {});
  try {
    await identityLease(server.host, 'run').start();
    const names = () =>
      ['gone', 'slow', 'another', id].filter(name =>
        server.has('coordination.k8s.io/v1', 'leases', 'kube-system', name),
      );
    await eventually(() => names().join() === `slow,another,${id}`);
  } finally {
    await server.close();
  }
});

let refusals = 0;
test.each([
  [{ storageVersions: [entry('a', 'v1')], commonEncodingVersion: 'v2' }, 'the actual common encoding version is v1'],
  [{ storageVersions: [entry('a', 'v1')] }, 'Invalid value: "null": the common encoding version is v1'],
  [{ commonEncodingVersion: 'v1' }, 'should be nil if servers do not agree'],
  [{ storageVersions: [entry('A', 'v1')], commonEncodingVersion: 'v1' }, 'storageVersions[0].apiServerID: Invalid'],
  [{ storageVersions: [entry('a', '/v1')], commonEncodingVersion: '/v1' }, 'group part: must be non-empty'],
  [{ storageVersions: [entry('a', 'x/y/z')], commonEncodingVersion: 'x/y/z' }, 'an apiVersion is a DNS-1035 label'],
  [
    { storageVersions: [{ ...entry('a', 'v1'), decodableVersions: ['v2'], servedVersions: ['v3'] }] },
    'Invalid value: []string{"v2"}: decodableVersions must include encodingVersion v1, status.storageVersions[0]' +
      '.servedVersions[0]: Invalid value: "v3": individual served version : v3 must be included in decodableVersions : [v2]',
  ],
  [
    { storageVersions: [entry('a', '/')], commonEncodingVersion: '/' },
    'encodingVersion: Invalid value: "/": group part: must be non-empty,version part: must be non-empty, ',
  ],
  [
    { storageVersions: [{ ...entry('a', 'v1'), servedVersions: ['/v1'] }], commonEncodingVersion: 'v1' },
    'servedVersions[0]: Invalid value: "/v1": group part: must be non-empty, ',
  ],
  [
    { conditions: [{ type: 'A', status: 'True', reason: '', message: 'm' }] },
    'status[0].reason: Required value: reason cannot be empty',
  ],
  [
    { conditions: [{ type: 'A', status: '', reason: 'r', message: 'm' }] },
    'status[0].status: Invalid value: "": name part must be non-empty',
  ],
  [
    { conditions: Array(3).fill({ type: 'A', status: 'True', reason: 'r', message: 'm' }) },
    'status[2].type: Invalid value: "A": the type of the condition is not unique, it also appears in conditions[1]',
  ],
])('a status is refused: %#', async (status, message) => {
  const name = `test.x${++refusals}`;
  const refused = await make(name, status);
  expect([refused.status, refused.body.message]).toEqual([422, expect.stringContaining(message)]);
});

test.each([
  ['x', 'name must be in the form of <group>.<resource>'],
  ['A.b', 'the group segment a lowercase RFC 1123 subdomain'],
  ['a.', 'the resource segment a DNS-1035 label'],
])('the name %s is refused', async (name, message) => {
  const { status, body } = await api.post(VERSIONS, { metadata: { name }, spec: {} });
  expect([status, body.message]).toEqual([422, expect.stringContaining(message)]);
});

test('the time of the condition changes with its status and with the common version', () => {
  const servers = (...versions: readonly string[]) => versions.map(version => entry(version, version));
  const at = (storageVersions: readonly object[], before: object | undefined, seconds: number) =>
    statusOf(storageVersions, before, seconds * 1000);
  const timeOf = (status: ReturnType<typeof at>): string =>
    status.conditions!.map(one => `${one.status} ${one.lastTransitionTime}`).join();
  const first = at(servers('v1'), undefined, 1);
  const same = at(servers('v1', 'v1'), first, 2);
  const differing = at(servers('v1', 'v2'), same, 3);
  const later = at(servers('v2'), at(servers('v1'), first, 4), 5);
  expect([first, same, differing, later].map(timeOf)).toEqual([
    'True 1970-01-01T00:00:01Z',
    'True 1970-01-01T00:00:01Z',
    'False 1970-01-01T00:00:03Z',
    'True 1970-01-01T00:00:05Z',
  ]);
});
