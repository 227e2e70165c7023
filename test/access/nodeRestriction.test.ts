import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Api, type Answer } from '../api/support.js';
import { pkcs10 } from './certificateRequests.js';
import { MERGE } from '../support/mediaTypes.js';

/* A server in mode Node,RBAC with NodeRestriction, and nodes that write to it. */

const NODES = '/api/v1/nodes';
const CORE = '/api/v1/namespaces/default';

let api: Api;
const as = (node: string) => ({
  headers: { 'impersonate-user': `system:node:${node}`, 'impersonate-group': 'system:nodes' },
});
const nodeOf = (name: string, rest: object = {}, spec: object = {}) => ({ metadata: { name, ...rest }, spec });
const podOn = (nodeName: string, name: string, rest: object = {}, metadata: object = {}) => ({
  metadata: { name, ...metadata },
  spec: { nodeName, containers: [{ name: 'c', image: 'i' }], ...rest },
});
const patch = (path: string, body: object, node: string): Promise<Answer> =>
  api.call('PATCH', path, { body, type: MERGE, ...as(node) });
const refusal = ({ status, body }: Answer) => [status, body?.message];

beforeAll(async () => {
  api = await Api.start({ authorizationMode: ['Node', 'RBAC'], enableAdmissionPlugins: ['NodeRestriction'] });
  for (const node of ['n1', 'n2']) await api.made(NODES, nodeOf(node));
  await api.made(`${CORE}/pods`, podOn('n1', 'p1', { volumes: [{ name: 'v', secret: { secretName: 'used' } }] }));
  await api.made(`${CORE}/pods`, podOn('n2', 'p2'));
  await api.made(`${CORE}/secrets`, { metadata: { name: 'used' } });
});
afterAll(() => api.close());

describe('a node', () => {
  test('changes only itself, and not its labels for isolation, taints and owners [A382] [A387]', async () => {
    expect((await patch(`${NODES}/n1`, { metadata: { labels: { a: 'b' } } }, 'n1')).status).toBe(200);
    expect((await patch(`${NODES}/n1/status`, { status: { phase: 'Running' } }, 'n1')).status).toBe(200);
    const other = 'nodes "n2" is forbidden: node "n1" is not allowed to modify node "n2"';
    expect(refusal(await patch(`${NODES}/n2`, { metadata: { labels: { a: 'b' } } }, 'n1'))).toEqual([403, other]);
    expect(refusal(await patch(`${NODES}/n2/status`, { status: { phase: 'Running' } }, 'n1'))).toEqual([403, other]);
    const label = { 'a.node-restriction.kubernetes.io/x': 'y' };
    expect(refusal(await patch(`${NODES}/n1`, { metadata: { labels: label } }, 'n1'))).toEqual([
      403,
      'nodes "n1" is forbidden: is not allowed to modify labels: a.node-restriction.kubernetes.io/x',
    ]);
    expect((await patch(`${NODES}/n1/status`, { metadata: { labels: label } }, 'n1')).status).toBe(403);
    expect(refusal(await patch(`${NODES}/n1`, { spec: { taints: [] } }, 'n1'))).toEqual([
      403,
      'nodes "n1" is forbidden: node "n1" is not allowed to modify taints',
    ]);
    const tainted = { status: { phase: 'Running' }, spec: { taints: [{ key: 'k', effect: 'NoSchedule' }] } };
    expect((await patch(`${NODES}/n1/status`, tainted, 'n1')).status).toBe(403);
    const owner = [{ apiVersion: 'v1', kind: 'Pod', name: 'p1', uid: 'u' }];
    expect((await patch(`${NODES}/n1`, { metadata: { ownerReferences: owner } }, 'n1')).status).toBe(403);
  });

  test.each([
    [{ 'kubernetes.io/hostname': 'h', 'node.kubernetes.io/x': 'y', 'a.kubelet.kubernetes.io/x': 'y', plain: 'z' }, ''],
    [{ 'kubernetes.io/b': 'v', 'x.k8s.io/a': 'v', 'topology.kubernetes.io/zone': 'z' }, 'kubernetes.io/b, x.k8s.io/a'],
    [{ 'node-role.kubernetes.io/control-plane': '' }, 'node-role.kubernetes.io/control-plane'],
    [{ 'node-restriction.kubernetes.io/a': 'v' }, 'node-restriction.kubernetes.io/a'],
  ])('registers with the labels %j, unless they are reserved', async (labels, refused) => {
    const body = nodeOf('n3', { labels }, { taints: [{ key: 'k', effect: 'NoSchedule' }] });
    const answer = await api.post(`${NODES}?dryRun=All`, body, as('n3'));
    if (refused === '') expect(answer.status).toBe(201);
    else
      expect(refusal(answer)).toEqual([
        403,
        `nodes "n3" is forbidden: node "n3" is not allowed to set the following labels: ${refused}`,
      ]);
  });

  test('creates only mirror pods on itself, which refer to no other objects [A383]', async () => {
    const annotations = { 'kubernetes.io/config.mirror': 'x' };
    const uid = (await api.get(`${NODES}/n1`)).body.metadata?.uid;
    const owner = { apiVersion: 'v1', kind: 'Node', name: 'n1', uid, controller: true };
    const create = (spec: object, metadata: object, node = 'n1') =>
      api.post(`${CORE}/pods?dryRun=All`, podOn('n1', 'm', spec, metadata), as(node));
    const mirror = { annotations, ownerReferences: [owner] };
    expect((await create({}, mirror)).status).toBe(201);
    expect(refusal(await create({}, {}))[1]).toContain('can only create mirror pods');
    expect((await create({}, mirror, 'n2')).status).toBe(403);
    for (const change of [{ uid: 'x' }, { name: 'n2' }, { controller: false }, { blockOwnerDeletion: true }])
      expect((await create({}, { annotations, ownerReferences: [{ ...owner, ...change }] })).status).toBe(403);
    const why = async (spec: object) => refusal(await create(spec, mirror))[1];
    const ofNode = 'pods "m" is forbidden: node "n1" can not create pods that reference ';
    for (const [volume, what] of [
      [{ configMap: { name: 's' } }, 'configmaps'],
      [{ persistentVolumeClaim: { claimName: 's' } }, 'persistentvolumeclaims'],
    ] as const)
      expect(await why({ volumes: [{ name: 'v', ...volume }] })).toBe(ofNode + what);
    const ofMirror = 'pods "m" is forbidden: a mirror pod may not ';
    expect(await why({ volumes: [{ name: 'v', secret: { secretName: 's' } }] })).toBe(`${ofMirror}reference secrets`);
    expect(await why({ serviceAccountName: 'default' })).toBe(`${ofMirror}reference service accounts`);
  });

  test('that has no Node object cannot create mirror pods', async () => {
    const annotations = { 'kubernetes.io/config.mirror': 'x' };
    const ownerReferences = [{ apiVersion: 'v1', kind: 'Node', name: 'n9', uid: '', controller: true }];
    const pod = podOn('n9', 'm', {}, { annotations, ownerReferences });
    expect(refusal(await api.post(`${CORE}/pods`, pod, as('n9')))).toEqual([404, 'node "n9" not found']);
  });

  test('requests node certificates in its own name alone', async () => {
    const path = '/apis/certificates.k8s.io/v1/certificatesigningrequests?dryRun=All';
    for (const [commonName, signer, status] of [
      ['system:node:n1', 'kubelet-serving', 201],
      ['system:node:n2', 'kubelet-serving', 403],
      ['alice', 'kubelet-serving', 403],
      ['alice', 'kube-apiserver-client-kubelet', 403],
      ['alice', 'kube-apiserver-client', 201],
    ] as const) {
      const { request } = await pkcs10(`O=system:nodes,CN=${commonName}`);
      const isServing = signer === 'kubelet-serving';
      const usages = ['digital signature', isServing ? 'server auth' : 'client auth'];
      const spec = { signerName: `kubernetes.io/${signer}`, usages, request };
      const answer = await api.post(path, { metadata: { name: 'r' }, spec }, as('n1'));
      expect([commonName, signer, answer.status]).toEqual([commonName, signer, status]);
    }
  });

  test('reports the status of its pods and deletes them, and no others', async () => {
    const report = { status: { message: 'x' } };
    expect((await patch(`${CORE}/pods/p1/status`, report, 'n1')).status).toBe(200);
    expect((await patch(`${CORE}/pods/p2/status`, report, 'n1')).status).toBe(403);
    expect((await patch(`${CORE}/pods/p1/status`, { metadata: { labels: { a: 'b' } } }, 'n1')).status).toBe(403);
    expect(refusal(await api.call('DELETE', `${CORE}/pods/p2`, as('n1')))).toEqual([
      403,
      'pods "p2" is forbidden: node "n1" can only delete pods with spec.nodeName set to itself',
    ]);
    expect((await api.call('DELETE', `${CORE}/pods/p1?dryRun=All`, as('n1'))).status).toBe(200);
  });

  test('gets only tokens that are bound to its pods', async () => {
    const uid = async (pod: string) => (await api.get(`${CORE}/pods/${pod}`)).body.metadata?.uid;
    const request = async (pod: string, members: object = {}) =>
      api.post(
        `${CORE}/serviceaccounts/default/token`,
        { spec: { boundObjectRef: { kind: 'Pod', apiVersion: 'v1', name: pod, uid: await uid(pod), ...members } } },
        as('n1'),
      );
    expect((await request('p1')).status).toBe(201);
    const because = (why: string) => [403, `serviceaccounts "default" is forbidden: ${why}`];
    expect(refusal(await request('p1', { uid: '' }))).toEqual(
      because('node requested token with a pod binding without a uid'),
    );
    expect(refusal(await request('p2'))).toEqual(
      because('node requested token bound to a pod scheduled on a different node'),
    );
    const unbound = await api.post(`${CORE}/serviceaccounts/default/token`, { spec: {} }, as('n1'));
    expect(refusal(unbound)).toEqual(because('node requested token not bound to a pod'));
  });

  test('creates only the lease and the storage node with its name', async () => {
    for (const path of [
      '/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases',
      '/apis/storage.k8s.io/v1/csinodes',
    ]) {
      const make = (name: string) => api.post(path, { metadata: { name }, spec: { drivers: [] } }, as('n1'));
      expect([(await make('n2')).status, (await make('n1')).status]).toEqual([403, 201]);
      expect((await make('')).body.message).toContain(' "Unknown" is forbidden: can only access ');
    }
  });
});

test('other users are not restricted, even if they are named like nodes [A392]', async () => {
  const labels = { 'node-restriction.kubernetes.io/x': 'y' };
  expect((await api.call('PATCH', `${NODES}/n2`, { body: { metadata: { labels } }, type: MERGE })).status).toBe(200);
  const binding = {
    metadata: { name: 'like-a-node' },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'cluster-admin' },
    subjects: [{ kind: 'User', apiGroup: 'rbac.authorization.k8s.io', name: 'system:node:n1' }],
  };
  await api.made('/apis/rbac.authorization.k8s.io/v1/clusterrolebindings', binding);
  const headers = { 'impersonate-user': 'system:node:n1' };
  const answer = await api.call('PATCH', `${NODES}/n2`, { body: { metadata: { labels } }, type: MERGE, headers });
  expect(answer.status).toBe(200);
  await api.delete('/apis/rbac.authorization.k8s.io/v1/clusterrolebindings/like-a-node');
});

test('a change of its pods changes what a node may read with the next request, on any connection', async () => {
  const reads = async () => (await api.get(`${CORE}/secrets/used`, as('n2'))).status;
  for (let i = 0; i < 30; i++) {
    expect(await reads()).toBe(403);
    await api.made(`${CORE}/pods`, podOn('n2', 'q', { volumes: [{ name: 'v', secret: { secretName: 'used' } }] }));
    expect(await Promise.all(Array.from({ length: 4 }, reads))).toEqual([200, 200, 200, 200]);
    await api.call('DELETE', `${CORE}/pods/q?gracePeriodSeconds=0`);
  }
});

test.each([
  [{ serviceAccountName: 'default' }, 'reference service accounts'],
  [{ imagePullSecrets: [{ name: 's' }] }, 'reference secrets'],
  [{ volumes: [{ name: 'v', csi: { driver: 'd', nodePublishSecretRef: { name: 's' } } }] }, 'reference secrets'],
  [
    { volumes: [{ name: 'v', projected: { sources: [{ serviceAccountToken: { path: 't' } }] } }] },
    'use ServiceAccountToken volume projections',
  ],
])('a mirror pod with %j is refused, whoever creates it', async (spec, what) => {
  const pod = podOn('n1', 'm', spec, { annotations: { 'kubernetes.io/config.mirror': 'x' } });
  expect(refusal(await api.post(`${CORE}/pods`, pod))).toEqual([
    403,
    `pods "m" is forbidden: a mirror pod may not ${what}`,
  ]);
});
