import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Answer, Api, causesIn } from '../api/support.js';
import { caPem } from './certificates/der.js';
import { MERGE } from '../support/mediaTypes.js';

/* Permissions that a request needs where another one could seem to be enough. */

const GROUP = 'rbac.authorization.k8s.io';
const RBAC = `/apis/${GROUP}/v1`;
const MAPS = '/api/v1/namespaces/default/configmaps';
const BUNDLES = '/apis/certificates.k8s.io/v1alpha1/clustertrustbundles';

let api: Api;
const as = (user: string, ...groups: string[]) => ({
  headers: { 'impersonate-user': user, ...(groups.length > 0 ? { 'impersonate-group': groups } : {}) },
});
const refusal = ({ status, body }: Answer): unknown => [status, body?.['message']];
const statusOf = async (path: string, sent: object): Promise<number> => (await api.get(path, sent)).status;

const roleRef = (name: string) => ({ apiGroup: GROUP, kind: 'ClusterRole', name });
const bind = (user: string, role: string) =>
  api.made(`${RBAC}/clusterrolebindings`, {
    metadata: { name: user },
    roleRef: roleRef(role),
    subjects: [{ kind: 'User', apiGroup: GROUP, name: user }],
  });
async function grant(user: string, ...rules: object[]): Promise<void> {
  await api.made(`${RBAC}/clusterroles`, { metadata: { name: user }, rules });
  await bind(user, user);
}
const on = (apiGroup: string, resource: string, verbs: string[], ...resourceNames: string[]) => ({
  apiGroups: [apiGroup],
  resources: [resource],
  verbs,
  ...(resourceNames.length > 0 ? { resourceNames } : {}),
});
const paths = (verbs: string[], ...nonResourceURLs: string[]) => ({ nonResourceURLs, verbs });

beforeAll(async () => {
  api = await Api.start({
    authorizationMode: ['Node', 'RBAC'],
    enableAdmissionPlugins: ['NodeRestriction'],
    featureGates: ['ClusterTrustBundle=true'],
    runtimeConfig: ['certificates.k8s.io/v1alpha1=true'],
  });
  await api.made(MAPS, { metadata: { name: 'one' } });
});
afterAll(() => api.close());

describe('the snapshot of the store', () => {
  const SNAPSHOT = '/store/snapshot';

  beforeAll(async () => {
    await grant('monitoring', paths(['get'], '*'));
    await grant('prefix', paths(['*'], '/store/*', '/store/snapshot*'));
    await bind('operator', 'cluster-admin');
    await grant('backup', paths(['get'], SNAPSHOT));
  });

  test('is not given by a wildcard, nor by the role cluster-admin', async () => {
    for (const user of ['nobody', 'monitoring', 'prefix', 'operator'])
      expect([user, refusal(await api.get(SNAPSHOT, as(user)))]).toEqual([
        user,
        [403, `forbidden: User "${user}" cannot get path "${SNAPSHOT}"`],
      ]);
    for (const path of ['/%73tore/snapshot', '/store%2Fsnapshot', '/store/snapshot?x', '/store/snapshot/'])
      expect([path, (await api.get(path, as('monitoring'))).text]).not.toEqual([
        path,
        expect.stringContaining('capstan-snapshot'),
      ]);
    for (const path of ['/metrics', '/healthz', '/livez/ping'])
      expect([path, await statusOf(path, as('monitoring'))]).toEqual([path, 200]);
  });

  test('is given by a rule with its name, and to system:masters', async () => {
    for (const sent of [as('backup'), as('root', 'system:masters'), {}])
      expect((await api.get(SNAPSHOT, sent)).text).toMatch(/^capstan-snapshot 3 /);
  });

  test('cannot be granted by those who hold a wildcard only', async () => {
    const write = on(GROUP, '*', ['create', 'update', 'patch', 'get']);
    await grant('granter', write, paths(['*'], '*'));
    await grant('granter-of-backups', write, paths(['get'], SNAPSHOT));
    const role = (...urls: string[]) => ({ metadata: { name: 'more' }, rules: [paths(['get'], ...urls)] });
    const create = (user: string, ...urls: string[]) =>
      api.post(`${RBAC}/clusterroles?dryRun=All`, role(...urls), as(user));
    const refused = await create('granter', SNAPSHOT);
    expect(refused.status).toBe(403);
    expect(refused.body['message']).toContain(`{NonResourceURLs:["${SNAPSHOT}"], Verbs:["get"]}`);
    expect((await create('granter', '/metrics', '*')).status).toBe(201);
    expect((await create('granter-of-backups', SNAPSHOT)).status).toBe(201);
    const binding = { metadata: { name: 'more' }, roleRef: roleRef('backup'), subjects: [] };
    const bindAs = async (user: string) =>
      (await api.post(`${RBAC}/clusterrolebindings?dryRun=All`, binding, as(user))).status;
    expect([await bindAs('granter'), await bindAs('granter-of-backups')]).toEqual([403, 201]);
  });
});

describe('a watch of one object', () => {
  beforeAll(async () => {
    await grant('getter', on('', 'configmaps', ['get'], 'one'));
    await grant('watcher', on('', 'configmaps', ['watch']));
  });

  const once = 'timeoutSeconds=1';
  test.each([
    [`${MAPS}/one?watch=1&${once}`, 200, 403],
    [`${MAPS}/one?watch=true&fieldSelector=metadata.name%3Done&${once}`, 200, 403],
    [`${MAPS}/two?watch=1&${once}`, 403, 403],
    [`/api/v1/watch/namespaces/default/configmaps/one?${once}`, 403, 200],
    [`${MAPS}?watch=1&fieldSelector=metadata.name%3Done&${once}`, 403, 200],
    [`${MAPS}?watch=1&${once}`, 403, 200],
  ])('is a get, unless the path is that of a watch: %s', async (path, byGetter, byWatcher) => {
    expect([await statusOf(path, as('getter')), await statusOf(path, as('watcher'))]).toEqual([byGetter, byWatcher]);
  });

  test('is refused as a get', async () => {
    expect(refusal(await api.get(`${MAPS}/one?watch=1`, as('watcher')))).toEqual([
      403,
      'configmaps "one" is forbidden: User "watcher" cannot get resource "configmaps" in API group "" in the ' +
        'namespace "default"',
    ]);
  });

  test('is a stream of that object', async () => {
    const watch = await api.watch(`${MAPS}/one?watch=1`);
    const { type, object } = await watch.next();
    expect([type, object['metadata']?.['name']]).toEqual(['ADDED', 'one']);
    watch.close();
  });

  test('is counted as a watch', async () => {
    await api.get(`${MAPS}/one?watch=1&timeoutSeconds=1`);
    const counted = (await api.get('/metrics')).text
      .split('\n')
      .filter(line => /^apiserver_request_total\{.*resource="configmaps"/.test(line) && line.includes('verb="WATCH"'));
    expect(counted.some(line => line.includes('scope="resource"'))).toBe(true);
  });
});

describe('a node without a name', () => {
  const nameless = as('system:node:', 'system:nodes');
  const why = 'is forbidden: could not determine node from user "system:node:"';

  test.each([
    ['selfsubjectaccessreviews.authorization.k8s.io', '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews'],
    ['selfsubjectrulesreviews.authorization.k8s.io', '/apis/authorization.k8s.io/v1/selfsubjectrulesreviews'],
    ['selfsubjectreviews.authentication.k8s.io', '/apis/authentication.k8s.io/v1/selfsubjectreviews'],
  ])('may not even ask for a review: %s', async (name, path) => {
    const spec = { namespace: 'default', resourceAttributes: { verb: 'get', resource: 'pods' } };
    expect(refusal(await api.post(path, { spec }, nameless))).toEqual([403, `${name} "Unknown" ${why}`]);
  });

  test('changes nothing, whatever its other groups may do', async () => {
    const powerful = as('system:node:', 'system:nodes', 'system:masters');
    expect(refusal(await api.post(MAPS, { metadata: { name: 'x' } }, powerful))).toEqual([
      403,
      `configmaps "x" ${why}`,
    ]);
    const patch = { ...powerful, body: { data: { a: 'b' } }, type: MERGE };
    expect(refusal(await api.call('PATCH', `${MAPS}/one`, patch))).toEqual([403, `configmaps "one" ${why}`]);
    expect(refusal(await api.call('DELETE', `${MAPS}/one`, powerful))).toEqual([403, `configmaps "one" ${why}`]);
    expect(refusal(await api.post('/api/v1/nodes', { metadata: { name: 'x' } }, powerful))).toEqual([
      403,
      `nodes "x" ${why}`,
    ]);
    expect((await api.get(`${MAPS}/one`, powerful)).status).toBe(200);
  });

  test('is not restricted outside of the group of nodes', async () => {
    const other = as('system:node:', 'system:masters');
    expect((await api.post(`${MAPS}?dryRun=All`, { metadata: { name: 'x' } }, other)).status).toBe(201);
  });
});

describe('a review of rules', () => {
  const review = async (sent: object) =>
    (await api.post('/apis/authorization.k8s.io/v1/selfsubjectrulesreviews', { spec: { namespace: 'default' } }, sent))
      .body['status'];

  test('of a node is incomplete: what it may do depends on its pods', async () => {
    const status = await review(as('system:node:n1', 'system:nodes'));
    expect([status?.['incomplete'], status?.['evaluationError']]).toEqual([
      true,
      'node authorizer does not support user rule resolution',
    ]);
    expect(status?.['resourceRules']).toContainEqual({
      verbs: ['create'],
      apiGroups: ['authentication.k8s.io'],
      resources: ['selfsubjectreviews'],
    });
  });

  test('of others is complete', async () => {
    for (const sent of [as('carol'), as('system:node:n1')]) {
      const status = await review(sent);
      expect([status?.['incomplete'], status?.['evaluationError']]).toEqual([false, undefined]);
    }
  });
});

describe('a trust bundle', () => {
  const [ONE, OTHER] = [caPem('one'), caPem('other')];
  const bundle = (name: string, signerName?: string) => ({
    metadata: { name },
    spec: { trustBundle: ONE, ...(signerName ? { signerName } : {}) },
  });
  const write = on('certificates.k8s.io', 'clustertrustbundles', ['*']);
  const forbidden = (name: string) => [
    403,
    `clustertrustbundles.certificates.k8s.io "${name}" is forbidden: user not permitted to attest for signerName "x.io/s"`,
  ];

  beforeAll(async () => {
    await grant('writer', write);
    await grant('attester', write, on('certificates.k8s.io', 'signers', ['attest'], 'x.io/s'));
    await grant('domain', write, on('certificates.k8s.io', 'signers', ['attest'], 'x.io/*'));
    await grant('other', write, on('certificates.k8s.io', 'signers', ['attest', 'sign'], 'x.io/t'));
  });

  test('of a signer can only be written with the verb attest on the signer', async () => {
    const create = (user: string) => api.post(`${BUNDLES}?dryRun=All`, bundle('x.io:s:a', 'x.io/s'), as(user));
    for (const user of ['writer', 'other']) expect(refusal(await create(user))).toEqual(forbidden('x.io:s:a'));
    for (const user of ['attester', 'domain']) expect((await create(user)).status).toBe(201);
    expect((await api.post(`${BUNDLES}?dryRun=All`, bundle('plain'), as('writer'))).status).toBe(201);
  });

  test('needs the verb attest for changes of its spec and labels, but not of its finalizers', async () => {
    await api.made(BUNDLES, bundle('x.io:s:b', 'x.io/s'));
    const change = (user: string, body: object) => api.patch(`${BUNDLES}/x.io:s:b`, MERGE, body, as(user));
    expect(refusal(await change('writer', { spec: { trustBundle: OTHER } }))).toEqual(forbidden('x.io:s:b'));
    expect(refusal(await change('writer', { metadata: { labels: { a: 'b' } } }))).toEqual(forbidden('x.io:s:b'));
    expect((await change('writer', { metadata: { finalizers: ['x.io/y'] } })).status).toBe(200);
    expect((await change('attester', { spec: { trustBundle: OTHER } })).status).toBe(200);
  });

  test('keeps its signer, which its name shows', async () => {
    const messages = async (answer: Promise<Answer>): Promise<unknown> => {
      const { status, body } = await answer;
      const causes = causesIn(body);
      return [status, causes.map(({ message }) => message)];
    };
    const prefix = 'Invalid value: "wrong": ClusterTrustBundle for signerName x.io/s must be named with prefix x.io:s:';
    expect(await messages(api.post(BUNDLES, bundle('wrong', 'x.io/s')))).toEqual([422, [prefix]]);
    expect(await messages(api.post(BUNDLES, bundle('a:b')))).toEqual([
      422,
      ['Invalid value: "a:b": ClusterTrustBundle without signer name must not have ":" in its name'],
    ]);
    await api.made(BUNDLES, bundle('x.io:s:c', 'x.io/s'));
    expect(await messages(api.patch(`${BUNDLES}/x.io:s:c`, MERGE, { spec: { signerName: null } }))).toEqual([
      422,
      [
        'Invalid value: "x.io:s:c": ClusterTrustBundle without signer name must not have ":" in its name',
        'Invalid value: "": field is immutable',
      ],
    ]);
  });
});

describe('special paths', () => {
  /** Paths, and which senders may read them: one without credentials, one with credentials, and one with all paths. */
  test.each([
    ['/healthz', 200, 200, 200],
    ['/livez/ping', 403, 403, 200],
    ['/readyz/ping', 403, 403, 200],
    ['/version', 200, 200, 200],
    ['/api', 403, 200, 200],
    ['/apis', 403, 200, 200],
    ['/openapi/v3', 403, 200, 200],
    ['/metrics', 403, 403, 200],
    ['/metrics/slis', 403, 403, 200],
    ['/debug/pprof', 403, 403, 404],
    ['/logs', 403, 403, 404],
    ['/configz', 403, 403, 404],
    ['/store', 403, 403, 404],
    ['/store/snapshot', 403, 403, 403],
  ])('%s needs its permission', async (path, anonymous, authenticated, all) => {
    expect([
      await statusOf(path, { token: '' }),
      await statusOf(path, as('nobody')),
      await statusOf(path, as('monitoring')),
    ]).toEqual([anonymous, authenticated, all]);
  });
});

/*
 * Cases in which the permission for a resource or verb could seem to include another: of all resources and verbs,
 * compared with upstream, the pairs that an implementation is most likely to confuse.
 */
describe('a right', () => {
  const CORE = '/api/v1/namespaces/default';
  const DRY = '?dryRun=All';
  const pod = { metadata: { name: 'p' }, spec: { containers: [{ name: 'c', image: 'i' }] } };
  const apply = 'application/apply-patch+yaml';

  beforeAll(async () => {
    await api.made(`${CORE}/pods`, pod);
    await grant('patcher', on('', 'configmaps', ['patch', 'get']));
    await grant('updater', on('', 'namespaces', ['get', 'update', 'patch']), on('', 'pods', ['*']));
    await grant('lease-updater', on('coordination.k8s.io', 'leases', ['get', 'update']));
    await grant('evicter', on('', 'pods/eviction', ['create']));
    await grant('deleter', on('', 'configmaps', ['delete']));
    await grant('impersonator', on('', 'users', ['impersonate']));
  });

  test.each<[string, string, 'PATCH' | 'PUT' | 'POST' | 'DELETE', string, object | undefined, string?]>([
    [
      'to patch does not create',
      'patcher',
      'PATCH',
      `${MAPS}/new${DRY}&fieldManager=x`,
      { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'new' } },
      apply,
    ],
    [
      'to update does not create',
      'lease-updater',
      'PUT',
      `/apis/coordination.k8s.io/v1/namespaces/default/leases/new${DRY}`,
      { metadata: { name: 'new' }, spec: {} },
    ],
    [
      'to write a namespace does not finalize it',
      'updater',
      'PUT',
      `/api/v1/namespaces/default/finalize${DRY}`,
      { metadata: { name: 'default' }, spec: {} },
    ],
    ['to write a pod is not one to its status', 'updater', 'PATCH', `${CORE}/pods/p/status${DRY}`, {}, MERGE],
    [
      'to write a pod does not add containers',
      'updater',
      'PATCH',
      `${CORE}/pods/p/ephemeralcontainers${DRY}`,
      {},
      MERGE,
    ],
    [
      'to write a pod does not bind it',
      'updater',
      'POST',
      `${CORE}/pods/p/binding${DRY}`,
      { metadata: { name: 'p' }, target: { kind: 'Node', name: 'n' } },
    ],
    [
      'to write a pod does not evict it',
      'updater',
      'POST',
      `${CORE}/pods/p/eviction${DRY}`,
      { metadata: { name: 'p' } },
    ],
    ['to write a pod does not run in it', 'updater', 'POST', `${CORE}/pods/p/exec?command=x`, undefined],
    ['to evict a pod does not delete it', 'evicter', 'DELETE', `${CORE}/pods/p${DRY}`, undefined],
    ['to delete one does not delete all', 'deleter', 'DELETE', `${MAPS}${DRY}`, undefined],
    ['to read nothing gives no token', 'nobody', 'POST', `${CORE}/serviceaccounts/default/token`, { spec: {} }],
  ])('%s', async (_name, user, method, path, body, type) => {
    const answer = await api.call(method, path, { ...as(user), ...(body ? { body } : {}), ...(type ? { type } : {}) });
    expect([answer.status, answer.body?.['reason']]).toEqual([403, 'Forbidden']);
    expect(answer.body['message']).toContain(`User "${user}" cannot `);
  });
});
