import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Api, type Loose, listOf, type Sent } from '../api/support.js';
import { textOf } from '../support/values.js';

/* The permissions that roles and bindings of users grant, tested by requests to a running server. */

const GROUP = 'rbac.authorization.orchestrator.io';
const RBAC = `/apis/${GROUP}/v1`;
const SELF = '/apis/authentication.orchestrator.io/v1/selfsubjectreviews';

let api: Api;
beforeAll(async () => {
  api = await Api.start({ naming: 'neutral', authorizationMode: ['RBAC'] });
});
afterAll(() => api.close());

/** A rule for a resource, as `verbs group/resource`. */
const rule = (text: string): object => {
  const [verbs, what = ''] = text.split(' ');
  const [group = '', ...resource] = what.split('/');
  return { verbs: verbs!.split(','), apiGroups: [group === 'core' ? '' : group], resources: [resource.join('/')] };
};
const roleOf = (name: string, ...rules: string[]): object => ({ metadata: { name }, rules: rules.map(rule) });
const bindingOf = (name: string, kind: string, ...subjects: object[]): object => ({
  metadata: { name },
  roleRef: { apiGroup: GROUP, kind, name },
  subjects,
});
const named = (kind: string, name: string): object => ({ kind, apiGroup: GROUP, name });
const accountOf = (namespace: string, name: string): object => ({ kind: 'ServiceAccount', namespace, name });

let made = 0;
/** Makes a namespace with a role and a binding of the same name to these subjects. Returns its name. */
async function spaceWith(rules: readonly string[], ...subjects: object[]): Promise<string> {
  const name = `space-${++made}`;
  const path = `${RBAC}/namespaces/${name}`;
  await api.namespace(name);
  await api.made(`${path}/roles`, roleOf(name, ...rules));
  await api.made(`${path}/rolebindings`, bindingOf(name, 'Role', ...subjects));
  return name;
}

const as = (user: string, ...groups: string[]): Sent => ({
  headers: { 'impersonate-user': user, ...(groups.length > 0 ? { 'impersonate-group': groups } : {}) },
});
const pods = (space: string): string => `/api/v1/namespaces/${space}/pods`;
const statusOf = async (path: string, sent: Sent): Promise<number> => (await api.get(path, sent)).status;
const account = (space: string, name: string): Sent => as(`system:serviceaccount:${space}:${name}`);

describe('a binding grants its role to', () => {
  test('users, whose names are case-sensitive, in its namespace alone [R028 A078 A086]', async () => {
    const space = await spaceWith(['list core/pods'], named('User', 'Alice'));
    expect(await statusOf(pods(space), as('Alice'))).toBe(200);
    expect(await statusOf(pods(space), as('alice'))).toBe(403);
    expect(await statusOf(pods('default'), as('Alice'))).toBe(403);
    // A binding never refers to a role in another namespace.
    await api.made(`${RBAC}/namespaces/default/rolebindings`, bindingOf(space, 'Role', named('User', 'Alice')));
    expect(await statusOf(pods('default'), as('Alice'))).toBe(403);
  });

  test('groups [A076]', async () => {
    const space = await spaceWith(['list core/pods'], named('Group', 'dev'));
    expect(await statusOf(pods(space), as('ann', 'dev'))).toBe(200);
    expect(await statusOf(pods(space), as('dev', 'ops'))).toBe(403);
  });

  test('the service account of an application, and to no other account [A077 A360]', async () => {
    const space = await spaceWith(['list core/pods'], accountOf('default', 'app'));
    expect(await statusOf(pods(space), account('default', 'app'))).toBe(200);
    expect(await statusOf(pods(space), account('default', 'default'))).toBe(403);
    expect(await statusOf(pods(space), account(space, 'app'))).toBe(403);
  });

  test('the default account of a namespace [A361]', async () => {
    const space = await spaceWith(['list core/pods'], accountOf('default', 'default'));
    expect(await statusOf(pods(space), account('default', 'default'))).toBe(200);
    expect(await statusOf(pods(space), account('default', 'app'))).toBe(403);
  });

  test('all accounts of a namespace [A362]', async () => {
    const space = await spaceWith(['list core/pods'], named('Group', 'system:serviceaccounts:default'));
    expect(await statusOf(pods(space), account('default', 'any'))).toBe(200);
    expect(await statusOf(pods(space), account(space, 'any'))).toBe(403);
  });

  test('all accounts, also with cluster-admin [A363]', async () => {
    const space = await spaceWith(['list core/pods'], named('Group', 'system:serviceaccounts'));
    expect(await statusOf(pods(space), account('anywhere', 'any'))).toBe(200);
    expect(await statusOf(pods(space), as('any'))).toBe(403);
    const all = { ...bindingOf('cluster-admin', 'ClusterRole', named('Group', 'system:serviceaccounts')) };
    const path = `${RBAC}/clusterrolebindings`;
    await api.made(path, { ...all, metadata: { name: 'all-accounts' } });
    expect(await statusOf('/api/v1/secrets', account('anywhere', 'any'))).toBe(200);
    await api.delete(`${path}/all-accounts`);
    expect(await statusOf('/api/v1/secrets', account('anywhere', 'any'))).toBe(403);
  });
});

test('subresources need their own permission [R006]', async () => {
  const space = await spaceWith(['get core/pods'], named('User', 'reader'));
  await api.made(pods(space), { metadata: { name: 'web' }, spec: { containers: [{ name: 'web', image: 'web' }] } });
  expect(await statusOf(`${pods(space)}/web`, as('reader'))).toBe(200);
  const { status, body } = await api.get(`${pods(space)}/web/log`, as('reader'));
  expect([status, body.message]).toEqual([
    403,
    `pods "web" is forbidden: User "reader" cannot get resource "pods/log" in API group "" in the namespace "${space}"`,
  ]);
});

test('a dry run needs the permissions of the request, and is refused with the same message [R279]', async () => {
  const space = await spaceWith(['get core/configmaps'], named('User', 'reader'));
  const path = `/api/v1/namespaces/${space}/configmaps`;
  const answers = await Promise.all(
    [path, `${path}?dryRun=All`].map(one => api.post(one, { metadata: { name: 'x' } }, as('reader'))),
  );
  expect(answers.map(({ status }) => status)).toEqual([403, 403]);
  expect(answers[1]!.body.message).toEqual(answers[0]!.body.message);
});

test('a sender is authenticated before it is authorized [A001]', async () => {
  expect((await api.get('/api/v1/secrets', { token: 'nonsense' })).status).toBe(401);
  expect((await api.get('/api/v1/secrets', { token: '' })).status).toBe(403);
});

describe('senders', () => {
  const whoIs = async (sent: Sent): Promise<Loose> => (await api.post(SELF, {}, sent)).body.status!.userInfo!;

  test('are users, accounts or anonymous [A002]', async () => {
    const binding = bindingOf('system:basic-user', 'ClusterRole', named('Group', 'system:unauthenticated'));
    await api.made(`${RBAC}/clusterrolebindings`, { ...binding, metadata: { name: 'who-am-i' } });
    await api.until(async () => (await api.get('/api/v1/namespaces/default/serviceaccounts/default')).status === 200);
    const issued = await api.post('/api/v1/namespaces/default/serviceaccounts/default/token', { spec: {} });
    const token = textOf(issued.body.status!.token);
    const users = [await whoIs({}), await whoIs({ token }), await whoIs({ token: '' })];
    expect(users.map(({ username }) => username)).toEqual([
      'orchestrator-admin',
      'system:serviceaccount:default:default',
      'system:anonymous',
    ]);
  });

  test('that are users are not API objects [A006]', async () => {
    const { body } = await api.get('/apis', {
      accept: 'application/json;g=apidiscovery.orchestrator.io;v=v2;as=APIGroupDiscoveryList',
    });
    const resources = listOf(body.items).flatMap(({ versions }) =>
      listOf(versions).flatMap(version => listOf(version.resources).map(({ resource }) => resource as unknown)),
    );
    expect(resources).toContain('clusterroles');
    expect(resources.filter(one => one === 'users' || one === 'groups')).toEqual([]);
    expect((await api.get('/api/v1/users')).status).toBe(404);
  });

  test('that are accounts are objects of a namespace, created with it and by requests [A003 A004]', async () => {
    const path = `${await api.namespace('with-accounts')}/serviceaccounts`;
    await api.until(async () => (await api.get(`${path}/default`)).status === 200);
    await api.made(path, { metadata: { name: 'robot' } });
    const { body } = await api.get(path);
    expect(listOf(body.items).map(({ metadata }) => metadata!.name)).toEqual(['default', 'robot']);
  });

  test('that are workloads have the token of their account, which a secret can hold [R014 A005]', async () => {
    const space = await api.namespace('with-workloads');
    await api.until(async () => (await api.get(`${space}/serviceaccounts/default`)).status === 200);
    const spec = { containers: [{ name: 'web', image: 'web' }] };
    const pod = await api.made(`${space}/pods`, { metadata: { name: 'web' }, spec });
    const volume = listOf(pod.spec!.volumes).find(({ projected }) => projected !== undefined)!;
    const sources = listOf(volume.projected!.sources);
    // The files that clients in a cluster look for: token, CA and namespace.
    expect(sources.flatMap(source => Object.keys(source))).toEqual(
      expect.arrayContaining(['serviceAccountToken', 'configMap', 'downwardAPI']),
    );
    const [mount] = listOf(listOf(pod.spec!.containers)[0]!.volumeMounts);
    expect(mount!.mountPath).toBe('/var/run/secrets/orchestrator.io/serviceaccount');
    const map = textOf(sources[1]!.configMap!.name);
    await api.until(async () => (await api.get(`${space}/configmaps/${map}`)).status === 200);
    const ca = (await api.get(`${space}/configmaps/${map}`)).body.data!['ca.crt'];
    expect(ca).toMatch(/^-----BEGIN CERTIFICATE-----/);
    const boundObjectRef = { kind: 'Pod', apiVersion: 'v1', name: 'web', uid: pod.metadata!.uid };
    const issued = await api.post(`${space}/serviceaccounts/default/token`, { spec: { boundObjectRef } });
    const token = textOf(issued.body.status!.token);
    expect((await whoIs({ token })).username).toBe('system:serviceaccount:with-workloads:default');
    const annotations = { 'orchestrator.io/service-account.name': 'default' };
    const type = 'orchestrator.io/service-account-token';
    await api.made(`${space}/secrets`, { metadata: { name: 'kept', annotations }, type });
    await api.until(async () => (await api.get(`${space}/secrets/kept`)).body.data?.token !== undefined);
    const kept = textOf((await api.get(`${space}/secrets/kept`)).body.data!.token);
    const stored = Buffer.from(kept, 'base64').toString();
    expect((await whoIs({ token: stored })).username).toBe('system:serviceaccount:with-workloads:default');
  });

  test('with the certificate of an administrator may do everything in an empty store [A359]', async () => {
    const { groups } = await whoIs({});
    expect(groups).toContain('system:masters');
    expect((await api.made(`${RBAC}/clusterroles`, roleOf('first', 'get core/pods'))).kind).toBe('ClusterRole');
  });
});

describe('roles and bindings', () => {
  const inDefault = (kind: string): string => `${RBAC}/namespaces/default/${kind}`;
  const causesOf = async (path: string, body: object): Promise<unknown[]> => {
    const answer = await api.post(path, body);
    expect(answer.status).toBe(422);
    return listOf(answer.body.details!.causes).map(({ field }) => field);
  };

  test('are four kinds of one group, two of them in namespaces [A061 A062 A063 A064 A065]', async () => {
    const { body } = await api.get(RBAC);
    const kinds = listOf(body.resources).map(({ kind, namespaced }) => [kind, namespaced]);
    expect(kinds).toEqual([
      ['ClusterRoleBinding', false],
      ['ClusterRole', false],
      ['RoleBinding', true],
      ['Role', true],
    ]);
    const subject = named('User', 'ann');
    const role = await api.made(inDefault('roles'), roleOf('four', 'get core/pods'));
    expect(role).toMatchObject({ kind: 'Role', metadata: { name: 'four', namespace: 'default' }, rules: [{}] });
    const aggregationRule = { clusterRoleSelectors: [{ matchLabels: { of: 'nobody' } }] };
    const cluster = await api.made(`${RBAC}/clusterroles`, { ...roleOf('four'), aggregationRule });
    expect(cluster).toMatchObject({ kind: 'ClusterRole', aggregationRule });
    expect(cluster.metadata!.namespace).toBeUndefined();
    const binding = await api.made(inDefault('rolebindings'), bindingOf('four', 'Role', subject));
    expect(binding).toMatchObject({
      metadata: { namespace: 'default' },
      subjects: [subject],
      roleRef: { name: 'four' },
    });
    const everywhere = await api.made(`${RBAC}/clusterrolebindings`, bindingOf('four', 'ClusterRole', subject));
    expect(everywhere).toMatchObject({ kind: 'ClusterRoleBinding', subjects: [subject] });
  });

  test('have names that are segments of a path [A074]', async () => {
    for (const kind of ['roles', 'rolebindings'])
      for (const name of ['a/b', '.', '..', 'a%b'])
        expect(await causesOf(inDefault(kind), { ...bindingOf('x', 'Role'), ...roleOf(name) })).toContain(
          'metadata.name',
        );
    await api.made(inDefault('roles'), roleOf('system:x', 'get core/pods'));
  });

  test('have rules for paths in the whole cluster only [A071]', async () => {
    const rules = [{ verbs: ['get'], nonResourceURLs: ['/metrics'] }];
    expect(await causesOf(inDefault('roles'), { metadata: { name: 'paths' }, rules })).toContain(
      'rules[0].nonResourceURLs',
    );
    await api.made(`${RBAC}/clusterroles`, { metadata: { name: 'paths' }, rules });
  });

  test('may contain verbs that no request has [A314]', async () => {
    await api.made(inDefault('roles'), roleOf('verbs', 'redirect,proxy core/services'));
  });

  test.each([
    [
      'of a user with another group [A079]',
      { kind: 'User', apiGroup: 'x.example.com', name: 'ann' },
      'subjects[0].apiGroup',
    ],
    [
      'of a group with another group [A079]',
      { kind: 'Group', apiGroup: 'x.example.com', name: 'dev' },
      'subjects[0].apiGroup',
    ],
    ['of an account without namespace [A080]', { kind: 'ServiceAccount', name: 'app' }, 'subjects[0].namespace'],
  ])('have no subjects %s', async (_what, subject, field) => {
    expect(await causesOf(`${RBAC}/clusterrolebindings`, bindingOf('odd', 'ClusterRole', subject))).toEqual([field]);
  });

  test('refer to roles alone, in their group [A084]', async () => {
    const refer = (roleRef: object): Promise<unknown[]> =>
      causesOf(inDefault('rolebindings'), { metadata: { name: 'odd' }, roleRef });
    expect(await refer({ apiGroup: GROUP, kind: 'Group', name: 'four' })).toEqual(['roleRef.kind']);
    expect(await refer({ apiGroup: 'apps', kind: 'Role', name: 'four' })).toEqual(['roleRef.apiGroup']);
  });

  test('refer to the same role as long as they exist [A085 A441]', async () => {
    const path = `${inDefault('rolebindings')}/stays`;
    await api.made(inDefault('roles'), roleOf('stays', 'get core/pods'));
    const binding = await api.made(inDefault('rolebindings'), bindingOf('stays', 'Role', named('User', 'ann')));
    const changed = { ...binding, roleRef: { apiGroup: GROUP, kind: 'ClusterRole', name: 'view' } };
    const { status, body } = await api.put(path, changed);
    expect([status, listOf(body.details!.causes).map(({ field }) => field)]).toEqual([422, ['roleRef']]);
    await api.delete(path);
    const { metadata: _, ...rest } = changed as unknown as Record<string, object>;
    await api.made(inDefault('rolebindings'), { ...rest, metadata: { name: 'stays' } });
  });
});

describe('other kinds for access', () => {
  // From the published document of release 1.32, without apiVersion, kind and metadata.
  test.each([
    ['api/v1', 'core.v1.ServiceAccount', 'automountServiceAccountToken imagePullSecrets secrets'],
    ['api/v1', 'authentication.v1.TokenRequestSpec', 'audiences boundObjectRef expirationSeconds'],
    ['api/v1', 'authentication.v1.TokenRequestStatus', 'expirationTimestamp token'],
    ['api/v1', 'authentication.v1.BoundObjectReference', 'name uid'],
    ['apis/authentication.orchestrator.io/v1', 'authentication.v1.TokenReviewSpec', 'audiences token'],
    [
      'apis/authentication.orchestrator.io/v1',
      'authentication.v1.TokenReviewStatus',
      'audiences authenticated error user',
    ],
    [
      'apis/certificates.orchestrator.io/v1',
      'certificates.v1.CertificateSigningRequestSpec',
      'expirationSeconds extra groups request signerName uid usages username',
    ],
    [
      'apis/certificates.orchestrator.io/v1',
      'certificates.v1.CertificateSigningRequestStatus',
      'certificate conditions',
    ],
  ])('have the fields of release 1.32: %s %s [A060x]', async (path, type, fields) => {
    const { components } = (await api.get(`/openapi/v3/${path}`)).body;
    const [, schema] = Object.entries(components!.schemas!).find(([name]) => name.endsWith(`.${type}`))!;
    const common = ['apiVersion', 'kind', 'metadata'];
    const found = Object.keys(schema.properties!).filter(name => !common.includes(name));
    expect(found.sort()).toEqual(fields.split(' '));
  });
});
