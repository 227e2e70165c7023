import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Answer, Api, causesIn } from '../api/support.js';
import { MERGE } from '../support/mediaTypes.js';

/*
 * Parameters of policies: the server reads them with its own permissions, so users who write policies and bindings must
 * be able to read the same objects.
 */

const GROUP = 'admissionregistration.k8s.io';
const RBAC = '/apis/rbac.authorization.k8s.io/v1';
const SECRET = { apiVersion: 'v1', kind: 'Secret' };
const NOT_FOUND = { parameterNotFoundAction: 'Deny' };

let api: Api;
const as = (user: string) => ({ headers: { 'impersonate-user': user } });
const shown = (user: string) => `&{${user}  [system:authenticated] map[]}`;
const causes = ({ status, body }: Answer): unknown => [
  status,
  causesIn(body).map(({ field, message }) => `${field}: ${message}`),
];

/**
 * Gives a user all rights on policies and bindings, and these rights in addition: cluster-wide, or in the namespace
 * `default`.
 */
async function author(user: string, rules: object[] = [], inDefault: object[] = []): Promise<void> {
  const subjects = [{ kind: 'User', apiGroup: 'rbac.authorization.k8s.io', name: user }];
  const roleRef = { apiGroup: 'rbac.authorization.k8s.io', name: user };
  const metadata = { name: user };
  const policies = { apiGroups: [GROUP], resources: ['*'], verbs: ['*'] };
  await api.made(`${RBAC}/clusterroles`, { metadata, rules: [policies, ...rules] });
  await api.made(`${RBAC}/clusterrolebindings`, { metadata, subjects, roleRef: { ...roleRef, kind: 'ClusterRole' } });
  await api.made(`${RBAC}/namespaces/default/roles`, { metadata, rules: inDefault });
  const binding = { metadata, subjects, roleRef: { ...roleRef, kind: 'Role' } };
  await api.made(`${RBAC}/namespaces/default/rolebindings`, binding);
}

const rule = (verb: string, resource: string, apiGroup = '', resourceNames?: string[]) => ({
  apiGroups: [apiGroup],
  resources: [resource],
  verbs: [verb],
  ...(resourceNames ? { resourceNames } : {}),
});

beforeAll(async () => {
  api = await Api.start({
    featureGates: ['MutatingAdmissionPolicy=true'],
    runtimeConfig: [`${GROUP}/v1alpha1=true`],
  });
  await author('nobody');
  await author('reader', [rule('get', 'secrets')]);
  await author('lister', [rule('list', 'secrets')]);
  await author('local', [], [rule('get', 'secrets'), rule('list', 'secrets')]);
  await author('named', [], [rule('get', 'secrets', '', ['one'])]);
  await author('of-group', [rule('get', '*', 'nope.io')]);
  await author('of-all', [rule('get', '*', '*')]);
});
afterAll(() => api.close());

describe.each([
  ['validatingadmission', 'v1', { validations: [{ expression: 'true' }] }, { validationActions: ['Deny'] }],
  [
    'mutatingadmission',
    'v1alpha1',
    {
      reinvocationPolicy: 'Never',
      mutations: [{ patchType: 'JSONPatch', jsonPatch: { expression: '[JSONPatch{op: "remove", path: "/data/x"}]' } }],
    },
    {},
  ],
] as const)('parameters of %spolicies', (kind, version, parts, actions) => {
  const policies = `/apis/${GROUP}/${version}/${kind}policies`;
  const bindings = `/apis/${GROUP}/${version}/${kind}policybindings`;
  const policy = (name: string, paramKind?: object) => ({
    metadata: { name },
    spec: {
      ...(paramKind ? { paramKind } : {}),
      ...parts,
      matchConstraints: {
        resourceRules: [{ apiGroups: ['x.io'], apiVersions: ['v1'], operations: ['CREATE'], resources: ['x'] }],
      },
    },
  });
  const binding = (name: string, policyName: string, paramRef?: object) => ({
    metadata: { name },
    spec: { policyName, ...actions, ...(paramRef ? { paramRef } : {}) },
  });
  /** In the message for bindings of mutating policies, upstream swaps user and verb. */
  const who = (user: string, verb: string, what: string): string => {
    const [first, second] = kind === 'mutatingadmission' ? [verb, shown(user)] : [shown(user), verb];
    return `spec.paramRef: Forbidden: user ${first} does not have "${second}" permission ${what}`;
  };
  const unknown = (failure: string, user: string, verb: string): string =>
    `spec.paramRef: Forbidden: ${failure} to determine minimum required permissions and user ${shown(user)} does not ` +
    `have "${verb}" permission for all groups, versions and resources`;
  const ofKind = (user: string, name: string, apiVersion: string): string =>
    `spec.paramKind: Forbidden: user ${shown(user)} must have "get" permission on all objects of the referenced ` +
    `paramKind (kind=${name}, apiVersion=${apiVersion})`;

  beforeAll(async () => {
    await api.made(policies, policy('secrets', SECRET));
    await api.made(policies, policy('maps', { apiVersion: 'v1', kind: 'ConfigMap' }));
    await api.made(policies, policy('unserved', { apiVersion: 'nope.io/v1', kind: 'Thing' }));
    await api.made(policies, policy('none'));
  });

  test('need the permission to get all objects of their kind', async () => {
    const dry = `${policies}?dryRun=All`;
    for (const user of ['nobody', 'lister', 'local', 'named', 'of-group'])
      expect(causes(await api.post(dry, policy('new', SECRET), as(user)))).toEqual([
        422,
        [ofKind(user, 'Secret', 'v1')],
      ]);
    for (const user of ['reader', 'of-all'])
      expect((await api.post(dry, policy('new', SECRET), as(user))).status).toBe(201);
    expect((await api.post(dry, policy('new', SECRET))).status).toBe(201);
  });

  test('of a kind that is not served need the permission to get everything in its group', async () => {
    const dry = `${policies}?dryRun=All`;
    const thing = { apiVersion: 'nope.io/v1', kind: 'Thing' };
    for (const user of ['nobody', 'reader'])
      expect(causes(await api.post(dry, policy('new', thing), as(user)))).toEqual([
        422,
        [ofKind(user, 'Thing', 'nope.io/v1')],
      ]);
    for (const user of ['of-group', 'of-all'])
      expect((await api.post(dry, policy('new', thing), as(user))).status).toBe(201);
  });

  test('are authorized when an update or an apply gives a policy another kind, and only then', async () => {
    const change = (name: string, spec: object) => api.patch(`${policies}/${name}`, MERGE, { spec }, as('nobody'));
    expect(causes(await change('none', { paramKind: SECRET }))).toEqual([422, [ofKind('nobody', 'Secret', 'v1')]]);
    expect(causes(await change('maps', { paramKind: SECRET }))).toEqual([422, [ofKind('nobody', 'Secret', 'v1')]]);
    const applied = { apiVersion: `${GROUP}/${version}`, kind: 'x', ...policy('applied', SECRET) };
    applied.kind = kind === 'mutatingadmission' ? 'MutatingAdmissionPolicy' : 'ValidatingAdmissionPolicy';
    const apply = await api.patch(
      `${policies}/applied?fieldManager=x`,
      'application/apply-patch+yaml',
      applied,
      as('nobody'),
    );
    expect(causes(apply)).toEqual([422, [ofKind('nobody', 'Secret', 'v1')]]);
    expect((await change('secrets', { failurePolicy: 'Ignore' })).status).toBe(200);
    await api.made(policies, policy('fewer', SECRET));
    expect((await change('fewer', { paramKind: null })).status).toBe(200);
  });

  test('are authorized only if the object is otherwise valid', async () => {
    const wrong = { ...policy('new', SECRET).spec, failurePolicy: 'Maybe' };
    const { body } = await api.post(policies, { metadata: { name: 'new' }, spec: wrong }, as('nobody'));
    expect(body['message']).toContain('spec.failurePolicy');
    expect(body['message']).not.toContain('paramKind');
  });

  test('in a binding need the permission to get the object that it names', async () => {
    const named = { name: 'one', namespace: 'default', ...NOT_FOUND };
    const refused = (user: string) => [422, [who(user, 'get', 'on the object referenced by paramRef')]];
    const bind = (paramRef: object, user: string) =>
      api.post(`${bindings}?dryRun=All`, binding('new', 'secrets', paramRef), as(user));
    for (const user of ['nobody', 'lister']) expect(causes(await bind(named, user))).toEqual(refused(user));
    for (const user of ['reader', 'local', 'named', 'of-all']) expect((await bind(named, user)).status).toBe(201);
    expect(causes(await bind({ ...named, name: 'two' }, 'named'))).toEqual(refused('named'));
    // Without a namespace, the object can be in any one.
    const anywhere = { name: 'one', ...NOT_FOUND };
    for (const user of ['local', 'named']) expect(causes(await bind(anywhere, user))).toEqual(refused(user));
    expect((await bind(anywhere, 'reader')).status).toBe(201);
  });

  test('in a binding with a selector need the permission to list', async () => {
    const bind = (paramRef: object, user: string) =>
      api.post(`${bindings}?dryRun=All`, binding('new', 'secrets', { ...paramRef, ...NOT_FOUND }), as(user));
    const refused = (user: string) => [422, [who(user, 'list', 'on the object referenced by paramRef')]];
    for (const user of ['nobody', 'reader', 'local'])
      expect(causes(await bind({ selector: {} }, user))).toEqual(refused(user));
    expect((await bind({ selector: { matchLabels: { a: 'b' } }, namespace: 'default' }, 'local')).status).toBe(201);
    expect((await bind({ selector: {} }, 'lister')).status).toBe(201);
  });

  test('in a binding to a policy without paramKind need the permission to read everything', async () => {
    const one = { name: 'one', namespace: 'default', ...NOT_FOUND };
    const bind = (policyName: string, user: string, paramRef: object = one) =>
      api.post(`${bindings}?dryRun=All`, binding('new', policyName, paramRef), as(user));
    expect(causes(await bind('gone', 'reader'))).toEqual([
      422,
      [unknown('unable to get policy gone', 'reader', 'get')],
    ]);
    expect(causes(await bind('gone', 'lister', { selector: {}, ...NOT_FOUND }))).toEqual([
      422,
      [unknown('unable to get policy gone', 'lister', 'list')],
    ]);
    expect(causes(await bind('none', 'reader'))).toEqual([
      422,
      [who('reader', 'get', 'on the object referenced by paramRef')],
    ]);
    const failure = 'unable to resolve paramKind &{nope.io/v1 Thing}';
    expect(causes(await bind('unserved', 'reader'))).toEqual([422, [unknown(failure, 'reader', 'get')]]);
    for (const policyName of ['gone', 'none', 'unserved']) expect((await bind(policyName, 'of-all')).status).toBe(201);
    expect((await bind('unserved', 'of-group')).status).toBe(201);
  });

  test('are authorized for every change of a binding to them, but not for its removal', async () => {
    await api.made(bindings, binding('bound', 'secrets', { name: 'one', ...NOT_FOUND }));
    const change = (body: object) => api.patch(`${bindings}/bound`, MERGE, body, as('nobody'));
    const refused = [422, [who('nobody', 'get', 'on the object referenced by paramRef')]];
    expect(causes(await change({ metadata: { labels: { a: 'b' } } }))).toEqual(refused);
    expect(causes(await change({ spec: { paramRef: { namespace: 'default' } } }))).toEqual(refused);
    expect(causes(await change({ spec: { policyName: 'maps' } }))).toEqual(refused);
    expect((await change({ metadata: { finalizers: null } })).status).toBe(200);
    expect((await change({ spec: { paramRef: null } })).status).toBe(200);
    expect(causes(await change({ spec: { paramRef: { name: 'one', ...NOT_FOUND } } }))).toEqual(refused);
    expect((await api.call('DELETE', `${bindings}/bound`, as('nobody'))).status).toBe(200);
  });
});

test('are refused with a message that shows uid, groups and extra of the user', async () => {
  const headers = {
    'impersonate-user': 'nobody',
    'impersonate-uid': 'u1',
    'impersonate-group': ['dev', 'qa'],
    'impersonate-extra-scopes': ['a', 'b'],
  };
  const body = {
    metadata: { name: 'x' },
    spec: {
      paramKind: SECRET,
      validations: [{ expression: 'true' }],
      matchConstraints: {
        resourceRules: [{ apiGroups: ['x.io'], apiVersions: ['v1'], operations: ['CREATE'], resources: ['x'] }],
      },
    },
  };
  const { status, body: answer } = await api.post(`/apis/${GROUP}/v1/validatingadmissionpolicies`, body, { headers });
  expect(status).toBe(422);
  expect(answer['message']).toContain('user &{nobody u1 [dev qa system:authenticated] map[scopes:[a b]]} must have');
});
