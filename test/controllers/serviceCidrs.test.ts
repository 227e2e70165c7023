import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { ApiObject } from '../../core/api/index.js';
import { serviceCidrs } from '../../plugins/kinds/core/service/controllers/serviceCidrs.js';
import { type Answer, Api, type Loose, listOf } from '../api/support.js';
import { eventually } from '../support/eventually.js';
import { MERGE } from '../support/mediaTypes.js';
import { textOf } from '../support/values.js';
import { FakeServer } from './fakeHost.js';
import { startControllers, waitForIdle } from './settle.js';

/* Several networks for Services: the gate MultiCIDRServiceAllocator. */

const NETWORKING = '/apis/networking.k8s.io/v1beta1';
const CIDRS = `${NETWORKING}/servicecidrs`;
const ADDRESSES = `${NETWORKING}/ipaddresses`;
const SERVICES = '/api/v1/namespaces/default/services';
const FINALIZER = 'networking.k8s.io/service-cidr-finalizer';

const READY = { conditions: [{ type: 'Ready', status: 'True', message: 'Kubernetes Service CIDR is ready' }] };
let api: Api;
beforeAll(async () => {
  api = await Api.start({
    featureGates: ['MultiCIDRServiceAllocator=true'],
    runtimeConfig: ['networking.k8s.io/v1beta1=true'],
    serviceClusterIpRange: ['10.5.0.0/28'],
  });
});
afterAll(() => api?.close());

const service = (name: string, clusterIP?: string, query = ''): Promise<Answer> =>
  api.post(`${SERVICES}${query}`, {
    metadata: { name },
    spec: { ...(clusterIP && { clusterIP }), ports: [{ port: 80 }] },
  });
const cidr = (name: string, ...cidrs: string[]): Promise<Answer> =>
  api.post(CIDRS, { metadata: { name }, spec: { cidrs } });
const statusOf = async (path: string): Promise<number> => (await api.get(path)).status;
const addressOf = ({ body }: Answer): string => textOf(body.spec!.clusterIP);
/** The condition Ready of a ServiceCIDR; empty if there is none. */
const ready = async (name: string): Promise<Loose> => {
  const { body } = await api.get(`${CIDRS}/${name}`);
  return listOf(body.status?.conditions ?? []).find(({ type }) => textOf(type) === 'Ready') ?? {};
};
const isReady = async (name: string, status: 'True' | 'False'): Promise<boolean> => {
  const found = await ready(name);
  return found.status !== undefined && textOf(found.status) === status;
};

test('the networks of the flag become a ServiceCIDR, and the address of the server an IPAddress', async () => {
  await eventually(() => isReady('kubernetes', 'True'));
  const { metadata, spec } = (await api.get(`${CIDRS}/kubernetes`)).body;
  expect([spec!.cidrs, metadata!.finalizers]).toEqual([['10.5.0.0/28'], [FINALIZER]]);
  await eventually(async () => (await statusOf(`${ADDRESSES}/10.5.0.1`)) === 200);
  expect((await api.get(`${ADDRESSES}/10.5.0.1`)).body.spec).toEqual({
    parentRef: { resource: 'services', namespace: 'default', name: 'kubernetes' },
  });
});

test('an IPAddress exists as long as a Service has the address', async () => {
  expect((await service('a', '10.5.0.9')).status).toBe(201);
  const { metadata } = (await api.get(`${ADDRESSES}/10.5.0.9`)).body;
  expect(metadata!.labels).toEqual({
    'ipaddress.kubernetes.io/ip-family': 'IPv4',
    'ipaddress.kubernetes.io/managed-by': 'ipallocator.k8s.io',
  });
  expect(metadata!.managedFields).toMatchObject([{ manager: 'kube-apiserver', operation: 'Update' }]);
  expect((await api.patch(`${SERVICES}/a`, MERGE, { metadata: { labels: { x: 'y' } } })).status).toBe(200);
  expect(await statusOf(`${ADDRESSES}/10.5.0.9`)).toBe(200);
  const named = { type: 'ExternalName', externalName: 'a.example', clusterIP: '', clusterIPs: null };
  expect((await api.patch(`${SERVICES}/a`, MERGE, { spec: named })).status).toBe(200);
  expect(await statusOf(`${ADDRESSES}/10.5.0.9`)).toBe(404);
  const again = { type: 'ClusterIP', externalName: null, clusterIP: '10.5.0.9', clusterIPs: ['10.5.0.9'] };
  expect((await api.patch(`${SERVICES}/a`, MERGE, { spec: again })).status).toBe(200);
  expect(await statusOf(`${ADDRESSES}/10.5.0.9`)).toBe(200);
  expect((await api.delete(`${SERVICES}/a`)).status).toBe(200);
  expect(await statusOf(`${ADDRESSES}/10.5.0.9`)).toBe(404);
});

test('rows of a Table of IPAddresses have the age, although no column is defined for it', async () => {
  const { body } = await api.get(ADDRESSES, { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io' });
  expect(listOf(body.columnDefinitions!).map(({ name }) => textOf(name))).toEqual(['Name', 'ParentRef']);
  expect(body['rows']).toMatchObject([{ cells: ['10.5.0.1', 'services/default/kubernetes', expect.any(String)] }]);
});

test('a write of a ServiceCIDR also writes its status, and owns it', async () => {
  const condition = (status: string) => ({
    conditions: [{ type: 'Example', status, reason: 'r', message: 'm', lastTransitionTime: '2024-01-01T00:00:00Z' }],
  });
  const spec = { cidrs: ['10.6.0.0/28'] };
  const made = await api.post(`${CIDRS}?fieldManager=me`, {
    metadata: { name: 'mine' },
    spec,
    status: condition('True'),
  });
  expect([made.status, made.body['status']]).toEqual([201, condition('True')]);
  const changed = await api.patch(`${CIDRS}/mine?fieldManager=me`, MERGE, { status: condition('False') });
  expect(changed.body['status']).toMatchObject({
    conditions: expect.arrayContaining(condition('False').conditions) as unknown,
  });
  const mine = listOf(changed.body.metadata!.managedFields!).find(({ manager }) => textOf(manager) === 'me');
  expect(Object.keys(mine!.fieldsV1!)).toContain('f:status');
  await api.delete(`${CIDRS}/mine`);
  await eventually(async () => (await statusOf(`${CIDRS}/mine`)) === 404);
});

test('an address is allocated once, also to concurrent creates, and dry runs create no IPAddress', async () => {
  expect((await service('dry', '10.5.0.10', '?dryRun=All')).status).toBe(201);
  expect(await statusOf(`${ADDRESSES}/10.5.0.10`)).toBe(404);
  const answers = await Promise.all(Array.from({ length: 6 }, (_, i) => service(`race-${i}`, '10.5.0.10')));
  expect(answers.map(({ status }) => status).sort()).toEqual([201, 422, 422, 422, 422, 422]);
  const refused = answers.find(({ status }) => status === 422)!;
  expect(refused.text).toContain('failed to allocate IP 10.5.0.10: provided IP is already allocated');
  await Promise.all(answers.map((_, i) => api.delete(`${SERVICES}/race-${i}`)));
  await api.made(ADDRESSES, { metadata: { name: '10.5.0.10' }, spec: { parentRef: { resource: 'x', name: 'y' } } });
  expect((await service('taken', '10.5.0.10')).text).toContain('provided IP is already allocated');
  await api.delete(`${ADDRESSES}/10.5.0.10`);
});

test('Services get addresses of all networks, until all are full', async () => {
  const made: Answer[] = [];
  for (let i = 0; i < 13; i++) made.push(await service(`fill-${i}`));
  expect(made.map(({ status }) => status)).toEqual(Array(13).fill(201));
  const full = await service('full');
  expect([full.status, full.body.message]).toEqual([
    500,
    'Internal error occurred: failed to allocate a serviceIP: range is full',
  ]);
  expect((await service('out', '10.6.0.2')).text).toContain('the provided network does not match the current range');
  expect((await cidr('more', '10.6.0.0/30')).status).toBe(201);
  expect(addressOf(await service('more-1'))).toMatch(/^10\.6\.0\.[12]$/);
  expect(addressOf(await service('more-2'))).toMatch(/^10\.6\.0\.[12]$/);
  expect((await service('more-3')).status).toBe(500);
});

describe('a ServiceCIDR that is deleted', () => {
  test('remains while addresses need it, and allocates none', async () => {
    await eventually(() => isReady('more', 'True'));
    await api.delete(`${SERVICES}/more-2`);
    await api.delete(`${CIDRS}/more`);
    await eventually(() => isReady('more', 'False'));
    expect(await ready('more')).toMatchObject({
      reason: 'Terminating',
      message:
        'There are still IPAddresses referencing the ServiceCIDR, please remove them or create a new ServiceCIDR',
    });
    expect((await service('late')).status).toBe(500);
  });

  test('is removed when no address needs it, or another ServiceCIDR has the same network', async () => {
    const server = new FakeServer();
    await startControllers(server, serviceCidrs, {});
    const version = 'networking.k8s.io/v1beta1';
    const labels = { 'ipaddress.kubernetes.io/managed-by': 'ipallocator.k8s.io' };
    server.create(version, 'IPAddress', { name: '10.1.0.7', labels }, { spec: {} });
    const make = (name: string, more: object, cidrs = ['10.1.0.0/24']): ApiObject =>
      server.create(
        version,
        'ServiceCIDR',
        { name, finalizers: [FINALIZER], ...more },
        { spec: { cidrs }, status: READY },
      );
    const deletionTimestamp = '2020-01-01T00:00:00Z';
    make('unused', { deletionTimestamp }, ['10.2.0.0/24']);
    await eventually(() => !server.has(version, 'servicecidrs', '', 'unused'));
    make('used', { deletionTimestamp });
    await waitForIdle(server);
    expect(server.has(version, 'servicecidrs', '', 'used')).toBe(true);
    make('other', {}, ['10.0.0.0/8']);
    await eventually(() => !server.has(version, 'servicecidrs', '', 'used'));
    await server.close();
  });
});

test('IPAddresses that were deleted are created again, with an event', async () => {
  const name = addressOf(await api.get(`${SERVICES}/fill-0`));
  await api.delete(`${ADDRESSES}/${name}`);
  await eventually(async () => (await statusOf(`${ADDRESSES}/${name}`)) === 200);
  await eventually(async () => {
    const { body } = await api.get('/api/v1/namespaces/default/events?fieldSelector=involvedObject.name=fill-0');
    return listOf(body.items).some(({ reason }) => textOf(reason) === 'ClusterIPNotAllocated');
  });
});

test.each<[string[], string]>([
  [[], 'spec.cidrs: Required value: at least one CIDR required'],
  [['10.1.0.0/16', 'fd00::/112', '10.2.0.0/16'], 'may only hold up to 2 values'],
  [['10.1.0.0/16', '10.2.0.0/16'], 'may specify no more than one IP for each IP family'],
  [['10.1.0.1/16'], "wrong CIDR format, IP doesn't match network IP address"],
  [['FD00::/112'], 'CIDR not in RFC 5952 canonical format'],
  [['10.1.0.0'], `netip.ParsePrefix("10.1.0.0"): no '/'`],
  [['10.1.0.0/33'], 'netip.ParsePrefix("10.1.0.0/33"): prefix length out of range'],
  [['010.1.0.0/16'], 'ParseAddr("010.1.0.0"): IPv4 field has octet with leading zero'],
])('the networks %j are refused', async (cidrs, message) => {
  const answer = await cidr('bad', ...cidrs);
  expect(answer.status).toBe(422);
  expect(answer.body.message).toContain(message);
});

test.each<[string, object, string]>([
  ['FD00::1', { resource: 'r', name: 'n' }, 'must be a canonical format IP address'],
  ['10.6.0', { resource: 'r', name: 'n' }, 'ParseAddr("10.6.0"): IPv4 address too short'],
  ['10.7.0.1', {}, 'spec.parentRef.resource: Required value, spec.parentRef.name: Required value'],
  [
    '10.7.0.1',
    { group: 'b_', resource: 'r', name: 'a/b' },
    `spec.parentRef.name: Invalid value: "a/b": may not contain '/'`,
  ],
])('the IPAddress %s of %j is refused', async (name, parentRef, message) => {
  const answer = await api.post(ADDRESSES, { metadata: { name }, spec: { parentRef } });
  expect(answer.status).toBe(422);
  expect(answer.body.message).toContain(message);
});

test('neither networks nor the owner of an address can be changed', async () => {
  const { text } = await api.patch(`${CIDRS}/kubernetes`, MERGE, { spec: { cidrs: ['10.9.0.0/24'] } });
  expect(text).toContain('field is immutable');
  const changed = await api.patch(`${ADDRESSES}/10.5.0.1`, MERGE, { spec: { parentRef: { name: 'z' } } });
  expect(changed.text).toContain('spec.parentRef: Invalid value');
});
