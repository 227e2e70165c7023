import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Api } from '../api/support.js';

/*
 * The default roles and bindings of a new server: the senders that they are bound to, and the permissions of these
 * senders.
 */

const RBAC = '/apis/rbac.authorization.orchestrator.io/v1';
const GROUP = 'rbac.authorization.orchestrator.io';
const SPACE = 'shop';

/** A user and its groups. Absent groups: none but `system:authenticated`. */
interface Who {
  readonly user: string;
  readonly groups?: readonly string[];
}

let api: Api;
beforeAll(async () => {
  api = await Api.start({ naming: 'neutral', authorizationMode: ['RBAC'] });
  await api.namespace(SPACE);
  await api.until(async () => (await api.get(`${RBAC}/clusterroles/admin`)).body['rules'] !== undefined);
});
afterAll(() => api.close());

const account = (name: string, namespace = 'orchestrator-system'): Who => ({
  user: `system:serviceaccount:${namespace}:${name}`,
  groups: ['system:serviceaccounts', `system:serviceaccounts:${namespace}`, 'system:authenticated'],
});
const ANY: Who = { user: 'anybody', groups: ['system:authenticated'] };
const ANONYMOUS: Who = { user: 'system:anonymous', groups: ['system:unauthenticated'] };

/** The attributes of `get core/pods/log shop` (verb, group, resource, subresource, namespace) or `get /metrics`. */
function attributesOf(text: string): object {
  const [verb, what = '', namespace] = text.split(' ');
  if (what.startsWith('/')) return { nonResourceAttributes: { verb, path: what } };
  const [group = '', resource, subresource] = what.split('/');
  const named = { group: group === 'core' ? '' : group, resource, ...(subresource && { subresource }) };
  return { resourceAttributes: { verb, ...named, ...(namespace && { namespace }) } };
}

/** The requests among these that a user may make. */
async function allowedRequests(who: Who, requests: readonly string[]): Promise<string[]> {
  const found: string[] = [];
  for (const request of requests) {
    const spec = { ...who, groups: who.groups ?? ['system:authenticated'], ...attributesOf(request) };
    const { body } = await api.post('/apis/authorization.orchestrator.io/v1/subjectaccessreviews', { spec });
    if ((body['status'] as unknown as { allowed: boolean }).allowed) found.push(request);
  }
  return found;
}

/** Binds a cluster role to a new user, in a namespace or everywhere. Returns the user. */
async function bound(role: string, namespace?: string): Promise<Who> {
  const user = `holder-of-${role}${namespace ? '' : '-everywhere'}`;
  const path = namespace ? `${RBAC}/namespaces/${namespace}/rolebindings` : `${RBAC}/clusterrolebindings`;
  await api.made(path, {
    metadata: { name: user.replaceAll(':', '-') },
    roleRef: { apiGroup: GROUP, kind: 'ClusterRole', name: role },
    subjects: [{ apiGroup: GROUP, kind: 'User', name: user }],
  });
  return { user };
}

interface Subject {
  readonly kind: string;
  readonly name: string;
}
/** The subjects of the default binding of a role, as `Kind name`; undefined if there is none. */
async function subjectsOf(role: string): Promise<string[] | undefined> {
  const { status, body } = await api.get(`${RBAC}/clusterrolebindings/${role}`);
  if (status === 404) return undefined;
  return ((body['subjects'] ?? []) as unknown as Subject[]).map(({ kind, name }) => `${kind} ${name}`);
}

/** `bound to` are the subjects of the default binding: undefined for none, [] for one that binds nobody. */
const BOUND: readonly [name: string, boundTo: readonly string[], who: Who, may: string[], mayNot: string[]][] = [
  [
    '[A102] system:basic-user',
    ['Group system:authenticated'],
    ANY,
    [
      'create authentication.orchestrator.io/selfsubjectreviews',
      'create authorization.orchestrator.io/selfsubjectaccessreviews',
      'create authorization.orchestrator.io/selfsubjectrulesreviews',
    ],
    ['create authorization.orchestrator.io/subjectaccessreviews', `get core/pods ${SPACE}`],
  ],
  [
    '[A103] system:discovery',
    ['Group system:authenticated'],
    ANY,
    ['get /api', 'get /apis', 'get /apis/apps/v1', 'get /openapi/v2', 'get /version'],
    ['get /metrics', 'post /api'],
  ],
  [
    '[A104] system:public-info-viewer',
    ['Group system:authenticated', 'Group system:unauthenticated'],
    ANONYMOUS,
    ['get /healthz', 'get /livez', 'get /readyz', 'get /version', 'get /version/'],
    ['get /api', 'get /livez/ping', 'get /metrics'],
  ],
  [
    '[A105] cluster-admin',
    ['Group system:masters'],
    { user: 'root', groups: ['system:masters'] },
    ['delete core/nodes', 'escalate rbac.authorization.orchestrator.io/clusterroles', 'put /anything'],
    [],
  ],
  [
    '[A109] system:orchestrator-scheduler',
    ['User system:orchestrator-scheduler'],
    { user: 'system:orchestrator-scheduler' },
    ['create core/pods/binding', 'watch core/nodes', 'update core/pods/status'],
    ['create core/pods', 'get core/secrets'],
  ],
  [
    '[A110] system:volume-scheduler',
    ['User system:orchestrator-scheduler'],
    { user: 'system:orchestrator-scheduler' },
    [
      'update core/persistentvolumes',
      'patch core/persistentvolumeclaims',
      'list storage.orchestrator.io/storageclasses',
    ],
    ['delete core/persistentvolumes'],
  ],
  [
    '[A111] system:orchestrator-controller-manager',
    ['User system:orchestrator-controller-manager'],
    { user: 'system:orchestrator-controller-manager' },
    ['list example.com/things', 'create core/serviceaccounts/token', 'update core/secrets'],
    ['create core/pods'],
  ],
  [
    '[A113] system:node-proxier',
    ['User system:orchestrator-proxy'],
    { user: 'system:orchestrator-proxy' },
    ['watch core/services', 'list discovery.orchestrator.io/endpointslices', 'get core/nodes'],
    ['update core/services'],
  ],
  [
    '[A116] system:orchestrator-dns',
    ['ServiceAccount orchestrator-dns'],
    account('orchestrator-dns'),
    ['list core/services', 'watch core/endpoints'],
    ['get core/services'],
  ],
  [
    '[A121] system:monitoring',
    ['Group system:monitoring'],
    { user: 'scraper', groups: ['system:monitoring'] },
    ['get /healthz', 'get /healthz/ping', 'get /livez/etcd', 'get /readyz/x', 'get /metrics', 'get /metrics/slis'],
    ['get /logs', 'list core/nodes'],
  ],
];

test.each(BOUND)(
  '%s is bound to the subjects that the specification names, and grants them what they need',
  async (name, to, who, may, not) => {
    const role = name.replace(/^\[\w+\] /, '');
    expect(await subjectsOf(role)).toEqual(to);
    expect(await allowedRequests(who, [...may, ...not])).toEqual(may);
  },
);

const UNBOUND: readonly [name: string, may: string[], mayNot: string[]][] = [
  ['[A112] system:node', ['get core/secrets', 'patch core/pods/status'], ['update core/secrets']],
  [
    '[A114] system:auth-delegator',
    ['create authentication.orchestrator.io/tokenreviews', 'create authorization.orchestrator.io/subjectaccessreviews'],
    ['get core/pods'],
  ],
  ['[A115] system:orchestrator-aggregator', ['get core/services', 'watch core/endpoints'], ['update core/services']],
  ['[A117] system:node-agent-api-admin', ['get core/nodes/log', 'create core/nodes/proxy'], ['delete core/nodes']],
  [
    '[A118] system:node-bootstrapper',
    ['create certificates.orchestrator.io/certificatesigningrequests'],
    ['update certificates.orchestrator.io/certificatesigningrequests/approval'],
  ],
  ['[A119] system:node-problem-detector', ['get core/nodes', 'patch core/nodes/status'], ['update core/nodes']],
  [
    '[A120] system:persistent-volume-provisioner',
    [
      'create core/persistentvolumes',
      'update core/persistentvolumeclaims',
      'list storage.orchestrator.io/storageclasses',
    ],
    ['create core/persistentvolumeclaims'],
  ],
];

test.each(UNBOUND)(
  '%s is bound to nobody, and grants the permissions that the component needs',
  async (name, may, not) => {
    const role = name.replace(/^\[\w+\] /, '');
    expect((await subjectsOf(role)) ?? []).toEqual([]);
    expect(await allowedRequests(await bound(role), [...may, ...not])).toEqual(may);
  },
);

/** Each controller with a request that only it needs. */
const CONTROLLERS: readonly [name: string, may: string][] = [
  ['[A130] attachdetach-controller', 'create storage.orchestrator.io/volumeattachments'],
  ['[A131] certificate-controller', 'update certificates.orchestrator.io/certificatesigningrequests/approval'],
  ['[A132] clusterrole-aggregation-controller', 'escalate rbac.authorization.orchestrator.io/clusterroles'],
  ['[A133] cronjob-controller', 'update batch/cronjobs/status'],
  ['[A134] daemon-set-controller', 'update apps/daemonsets/status'],
  ['[A135] deployment-controller', 'update apps/deployments/status'],
  ['[A136] disruption-controller', 'update policy/poddisruptionbudgets/status'],
  ['[A137] endpoint-controller', 'create core/endpoints/restricted'],
  ['[A138] expand-controller', 'patch core/persistentvolumeclaims/status'],
  ['[A139] generic-garbage-collector', 'delete example.com/things'],
  ['[A140] horizontal-pod-autoscaler', 'update autoscaling/horizontalpodautoscalers/status'],
  ['[A141] job-controller', 'update batch/jobs/status'],
  ['[A142] namespace-controller', 'update core/namespaces/finalize'],
  ['[A143] node-controller', 'delete core/nodes'],
  ['[A144] persistent-volume-binder', 'update core/persistentvolumes/status'],
  ['[A145] pod-garbage-collector', 'delete core/pods'],
  ['[A146] pv-protection-controller', 'update core/persistentvolumes'],
  ['[A147] pvc-protection-controller', 'update core/persistentvolumeclaims'],
  ['[A148] replicaset-controller', 'update apps/replicasets/status'],
  ['[A149] replication-controller', 'update core/replicationcontrollers/status'],
  ['[A150] resourcequota-controller', 'update core/resourcequotas/status'],
  ['[A151] root-ca-cert-publisher', 'create core/configmaps'],
  ['[A152] route-controller', 'patch core/nodes/status'],
  ['[A153] service-account-controller', 'create core/serviceaccounts'],
  ['[A154] service-controller', 'patch core/services/status'],
  ['[A155] statefulset-controller', 'update apps/statefulsets/status'],
  ['[A156] ttl-controller', 'patch core/nodes'],
];

test.each(CONTROLLERS)('%s has its own role, which is bound to its account', async (name, may) => {
  const controller = name.replace(/^\[\w+\] /, '');
  expect((await api.get(`${RBAC}/clusterroles/system:controller:${controller}`)).status).toBe(200);
  expect(await subjectsOf(`system:controller:${controller}`)).toEqual([`ServiceAccount ${controller}`]);
  expect(await allowedRequests(account(controller), [may, 'impersonate core/users'])).toEqual([may]);
  expect(await allowedRequests(account(controller, SPACE), [may])).toEqual([]);
});

test('are there from the start; those of the system begin with system: [A095 A096]', async () => {
  const { body } = await api.get(`${RBAC}/clusterroles`);
  const names = (body['items'] as unknown as { metadata: { name: string } }[]).map(({ metadata }) => metadata.name);
  expect(names.filter(name => !name.startsWith('system:'))).toEqual(['admin', 'cluster-admin', 'edit', 'view']);
});

describe('a role for users, bound in a namespace', () => {
  const inSpace = (...requests: string[]): string[] => requests.map(request => `${request} ${SPACE}`);
  const WRITES_ENDPOINTS = inSpace('update core/endpoints', 'update discovery.orchestrator.io/endpointslices');
  const ROLES = inSpace(`get ${GROUP}/roles`, `get ${GROUP}/rolebindings`);
  const SECRETS = inSpace('get core/secrets');
  const READS = inSpace('get core/pods', 'list apps/deployments', 'watch batch/jobs');
  const elsewhere = ['get core/pods default', 'list core/nodes'];

  test('admin administers it, except its quota, itself and endpoints [A106 A123 A124 A125]', async () => {
    expect(await subjectsOf('admin')).toBeUndefined();
    const admin = await bound('admin', SPACE);
    const may = [...READS, ...ROLES, ...SECRETS, ...inSpace(`create ${GROUP}/roles`, `create ${GROUP}/rolebindings`)];
    const not = [...WRITES_ENDPOINTS, ...inSpace('create core/resourcequotas', 'update core/namespaces'), ...elsewhere];
    expect(await allowedRequests(admin, [...may, ...not])).toEqual(may);
    const headers = { 'impersonate-user': admin.user };
    const role = { metadata: { name: 'mine' }, rules: [{ verbs: ['get'], apiGroups: [''], resources: ['pods'] }] };
    expect((await api.post(`${RBAC}/namespaces/${SPACE}/roles`, role, { headers })).status).toBe(201);
    expect((await api.post(`${RBAC}/namespaces/default/roles`, role, { headers })).status).toBe(403);
  });

  test('edit writes most objects and reads secrets, but no roles and endpoints [A107 A126 A127 A128]', async () => {
    expect(await subjectsOf('edit')).toBeUndefined();
    const may = [...READS, ...SECRETS, ...inSpace('create core/pods', 'update apps/deployments')];
    const not = [...ROLES, ...WRITES_ENDPOINTS, ...elsewhere];
    expect(await allowedRequests(await bound('edit', SPACE), [...may, ...not])).toEqual(may);
    // Pods run as any account of the namespace.
    const pod = {
      metadata: { name: 'as-robot' },
      spec: { serviceAccountName: 'robot', containers: [{ name: 'a', image: 'a' }] },
    };
    await api.made(`/api/v1/namespaces/${SPACE}/serviceaccounts`, { metadata: { name: 'robot' } });
    const headers = { 'impersonate-user': 'holder-of-edit' };
    expect((await api.post(`/api/v1/namespaces/${SPACE}/pods`, pod, { headers })).status).toBe(201);
  });

  test('view reads most objects, but no roles and secrets [A108 A129]', async () => {
    expect(await subjectsOf('view')).toBeUndefined();
    const not = [...ROLES, ...SECRETS, ...inSpace('create core/pods'), ...elsewhere];
    expect(await allowedRequests(await bound('view', SPACE), [...READS, ...not])).toEqual(READS);
  });

  test('cluster-admin allows everything in it, and to delete it [A122]', async () => {
    const path = await api.namespace('doomed');
    const { user } = await bound('cluster-admin', 'doomed');
    expect(
      await allowedRequests({ user }, [
        'delete core/pods doomed',
        'put example.com/things/x doomed',
        'list core/nodes',
      ]),
    ).toEqual(['delete core/pods doomed', 'put example.com/things/x doomed']);
    const headers = { 'impersonate-user': user };
    expect((await api.call('DELETE', '/api/v1/namespaces/default', { headers })).status).toBe(403);
    expect((await api.call('DELETE', path, { headers })).status).toBe(200);
  });
});
