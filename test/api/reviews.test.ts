import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, test } from 'vitest';
import { Api, type Answer, causesIn } from './support.js';

const AUTHORIZATION = '/apis/authorization.k8s.io/v1';
const AUTHENTICATION = '/apis/authentication.k8s.io/v1';
const RBAC = '/apis/rbac.authorization.k8s.io/v1/namespaces/default';
const READ = { verbs: ['get', 'list'], apiGroups: [''], resources: ['configmaps'] };
const UPDATE_ONE = { verbs: ['update'], apiGroups: [''], resources: ['configmaps'], resourceNames: ['one'] };

let api: Api;
const directory = mkdtempSync(join(tmpdir(), 'reviews-'));
beforeAll(async () => {
  const tokenAuthFile = join(directory, 'tokens.csv');
  writeFileSync(tokenAuthFile, 'carol-token,carol,uid-carol\ndave-token,dave,uid-dave,"dev,qa"\n', { mode: 0o600 });
  api = await Api.start({ tokenAuthFile, authorizationMode: ['RBAC'] });
  await api.made(`${RBAC}/roles`, { metadata: { name: 'reader' }, rules: [READ, UPDATE_ONE] });
  await api.made(`${RBAC}/rolebindings`, {
    metadata: { name: 'reader' },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'reader' },
    subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'carol' }],
  });
});
afterAll(async () => {
  await api.close();
  rmSync(directory, { recursive: true });
});

const ask = (path: string, spec: object | undefined, token?: string): Promise<Answer> =>
  api.post(path, { spec }, { token });
const statusOf = async (path: string, spec: object | undefined, token?: string) =>
  (await ask(path, spec, token)).body['status'];
const causesOf = ({ body }: Answer) => causesIn(body).map(({ field }) => field);

const MAPS = { namespace: 'default', verb: 'get', resource: 'configmaps' };
const ALLOWED = {
  allowed: true,
  reason: 'RBAC: allowed by RoleBinding "reader/default" of Role "reader" to User "carol"',
};

describe('a SelfSubjectReview', () => {
  const path = `${AUTHENTICATION}/selfsubjectreviews`;

  it('answers with the sender and all groups, ignores the body and stores nothing [A047 A048 A160]', async () => {
    const { status, body } = await api.post(
      path,
      { metadata: { name: 'x', labels: { a: 'b' } }, status: { userInfo: { username: 'root' } } },
      { token: 'dave-token' },
    );
    expect(status).toBe(201);
    expect(body).toEqual({
      kind: 'SelfSubjectReview',
      apiVersion: 'authentication.k8s.io/v1',
      metadata: { creationTimestamp: expect.any(String) },
      status: { userInfo: { username: 'dave', uid: 'uid-dave', groups: ['dev', 'qa', 'system:authenticated'] } },
    });
    expect((await api.get(path)).status).toBe(405);
  });

  it('shows the impersonated user, with uid and extras [A049]', async () => {
    const headers = { 'impersonate-user': 'eve', 'impersonate-uid': 'u', 'impersonate-extra-from': 'here' };
    const { body } = await api.post(path, {}, { headers });
    expect(body['status']).toEqual({
      userInfo: { username: 'eve', uid: 'u', groups: ['system:authenticated'], extra: { from: ['here'] } },
    });
  });

  it('cannot be shown as a Table', async () => {
    const accept = 'application/json;as=Table;v=v1;g=meta.k8s.io';
    expect((await api.post(path, {}, { accept })).status).toBe(406);
  });
});

describe('a TokenReview', () => {
  const path = `${AUTHENTICATION}/tokenreviews`;
  const audience = 'https://kubernetes.default.svc';

  it('has the user of a token', async () => {
    const dave = { username: 'dave', uid: 'uid-dave', groups: ['dev', 'qa', 'system:authenticated'] };
    const status = { authenticated: true, user: dave, audiences: [audience] };
    expect(await statusOf(path, { token: 'dave-token' })).toEqual(status);
    expect(await statusOf(path, { token: 'dave-token', audiences: ['other', audience] })).toEqual(status);
  });

  it('does not authenticate an unknown token, or one for other audiences', async () => {
    const status = { user: {}, error: 'invalid bearer token' };
    expect(await statusOf(path, { token: 'nobodys' })).toEqual(status);
    expect(await statusOf(path, { token: 'dave-token', audiences: ['other'] })).toEqual(status);
  });

  it('needs a token in its spec, and the permission to create reviews', async () => {
    const { status, body } = await ask(path, {});
    expect([status, body['message']]).toEqual([400, 'token is required for TokenReview in authentication']);
    expect((await ask(path, { token: 'dave-token' }, 'carol-token')).status).toBe(403);
  });
});

describe('a SelfSubjectAccessReview', () => {
  const path = `${AUTHORIZATION}/selfsubjectaccessreviews`;

  it('says whether the sender may make a request, and supports no verb but create [R011 A161 A167 A170 A173 A174x]', async () => {
    expect(await statusOf(path, { resourceAttributes: MAPS }, 'carol-token')).toEqual(ALLOWED);
    expect(await statusOf(path, { resourceAttributes: { ...MAPS, verb: 'delete' } }, 'carol-token')).toEqual({
      allowed: false,
    });
    expect(await statusOf(path, { resourceAttributes: MAPS }, 'dave-token')).toEqual({ allowed: false });
    const updateOne = { ...MAPS, verb: 'update', name: 'one' };
    expect(await statusOf(path, { resourceAttributes: updateOne }, 'carol-token')).toEqual(ALLOWED);
    for (const changed of [
      { namespace: 'other' },
      { group: 'apps' },
      { resource: 'secrets' },
      { name: 'other', verb: 'update' },
    ])
      expect(await statusOf(path, { resourceAttributes: { ...MAPS, ...changed } }, 'carol-token')).toEqual({
        allowed: false,
      });
    const mayUse = async (nonResourceAttributes: object) =>
      (await statusOf(path, { nonResourceAttributes }, 'dave-token'))?.['allowed'];
    expect(await mayUse({ path: '/api', verb: 'get' })).toBe(true);
    expect([await mayUse({ path: '/api', verb: 'post' }), await mayUse({ path: '/metrics', verb: 'get' })]).toEqual([
      false,
      false,
    ]);
    for (const method of ['GET', 'DELETE'] as const) expect((await api.call(method, path)).status).toBe(405);
    expect((await api.get(`${path}/x`)).status).toBe(404);
  });

  it('accepts API groups in the naming of clients', async () => {
    const rules = [{ verbs: ['get'], apiGroups: ['storage.k8s.io'], resources: ['csistoragecapacities'] }];
    await api.made(`${RBAC}/roles`, { metadata: { name: 'storage' }, rules });
    await api.made(`${RBAC}/rolebindings`, {
      metadata: { name: 'storage' },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'storage' },
      subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'dave' }],
    });
    const resourceAttributes = { ...MAPS, group: 'storage.k8s.io', resource: 'csistoragecapacities' };
    expect(await statusOf(path, { resourceAttributes }, 'dave-token')).toMatchObject({ allowed: true });
  });

  it('must have a resource or a path, and no metadata', async () => {
    expect(causesOf(await ask(path, undefined))).toEqual(['spec.resourceAttributes']);
    const both = { resourceAttributes: MAPS, nonResourceAttributes: { path: '/', verb: 'get' } };
    expect((await ask(path, both)).body['message']).toBe(
      '.authorization.k8s.io "" is invalid: spec.nonResourceAttributes: Invalid value: ' +
        'authorization.NonResourceAttributes{Path:"/", Verb:"get"}: cannot be specified in combination with ' +
        'resourceAttributes',
    );
    const named = await api.post(path, { metadata: { name: 'x' }, spec: { resourceAttributes: MAPS } });
    expect(causesOf(named)).toEqual(['metadata']);
  });
});

describe('a SubjectAccessReview', () => {
  const path = `${AUTHORIZATION}/subjectaccessreviews`;

  it('says whether a given user or group may make a request, without a name [R025 R511 A162 A175x]', async () => {
    expect(await statusOf(path, { user: 'carol', resourceAttributes: MAPS })).toEqual(ALLOWED);
    expect(await statusOf(path, { user: 'x', extra: { a: null }, resourceAttributes: MAPS })).toEqual({
      allowed: false,
    });
    expect(await statusOf(path, { groups: ['system:masters'], resourceAttributes: MAPS })).toEqual({ allowed: true });
    expect(causesOf(await ask(path, { resourceAttributes: MAPS }))).toEqual(['spec.user']);
    // v1 has `groups`, where v1beta1 had `group`.
    const byGroup = await api.post(`${path}?fieldValidation=Strict`, {
      spec: { user: 'x', group: ['system:masters'], resourceAttributes: MAPS },
    });
    expect([byGroup.status, byGroup.body['message']]).toEqual([
      400,
      expect.stringContaining('unknown field "spec.group"'),
    ]);
    expect((await api.get(path)).status).toBe(405);
  });

  it('validates selectors, and reports requirements that it could not parse', async () => {
    const about = (selectors: object) => ({
      user: 'carol',
      resourceAttributes: { ...MAPS, verb: 'list', ...selectors },
    });
    const field = 'spec.resourceAttributes.labelSelector';
    const rejectedFields = async (labelSelector: object) => causesOf(await ask(path, about({ labelSelector })));
    expect(await rejectedFields({})).toEqual([`${field}.requirements`]);
    expect(await rejectedFields({ rawSelector: 'a', requirements: [{ key: 'a', operator: 'Exists' }] })).toEqual([
      `${field}.rawSelector`,
    ]);
    expect(await rejectedFields({ requirements: [{ key: 'a', operator: 'In' }] })).toEqual([
      `${field}.requirements[0].values`,
    ]);
    const errorOf = async (selectors: object) => (await statusOf(path, about(selectors)))?.['evaluationError'];
    const near = { key: 'a', operator: 'Near', values: ['b'] };
    expect(await errorOf({ labelSelector: { requirements: [near] } })).toBe(`${field} ignored due to parse error`);
    expect(await errorOf({ labelSelector: { requirements: [near, { key: 'b', operator: 'Exists' }] } })).toBe(
      `${field} partially ignored due to parse error`,
    );
    expect(await errorOf({ labelSelector: { rawSelector: 'a in (b)' }, fieldSelector: { rawSelector: 'a=b' } })).toBe(
      undefined,
    );
  });

  it('takes the name of an object from its own field, and not from a field selector as requests do', async () => {
    const rules = [{ ...READ, resourceNames: ['settings'] }];
    await api.made(`${RBAC}/roles`, { metadata: { name: 'settings' }, rules });
    await api.made(`${RBAC}/rolebindings`, {
      metadata: { name: 'settings' },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'settings' },
      subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'fred' }],
    });
    const mayList = async (attributes: object) =>
      (await statusOf(path, { user: 'fred', resourceAttributes: { ...MAPS, verb: 'list', ...attributes } }))?.[
        'allowed'
      ];
    const requirements = [{ key: 'metadata.name', operator: 'In', values: ['settings'] }];
    expect([await mayList({ name: 'settings' }), await mayList({ name: 'other' })]).toEqual([true, false]);
    expect(await mayList({ fieldSelector: { requirements } })).toBe(false);
  });
});

test('a refused review names the user before selectors', async () => {
  const resourceAttributes = { ...MAPS, fieldSelector: {} };
  const { body } = await ask(`${AUTHORIZATION}/subjectaccessreviews`, { resourceAttributes });
  expect(body['message']).toMatch(/spec\.user: .*, spec\.resourceAttributes\.fieldSelector\.requirements: /);
});

describe('a LocalSubjectAccessReview', () => {
  const path = `${AUTHORIZATION}/namespaces/default/localsubjectaccessreviews`;

  it('is limited to its namespace [A163 A176x]', async () => {
    const { body } = await ask(path, { user: 'carol', resourceAttributes: MAPS });
    expect(body['metadata']?.['namespace']).toBe('default');
    expect(body['status']).toEqual(ALLOWED);
    const other = { ...MAPS, namespace: 'other' };
    expect(causesOf(await ask(path, { user: 'carol', resourceAttributes: other }))).toEqual([
      'spec.resourceAttributes.namespace',
    ]);
    expect(causesOf(await ask(path, { user: 'carol', nonResourceAttributes: { path: '/', verb: 'get' } }))).toEqual([
      'spec.nonResourceAttributes',
    ]);
    expect((await api.get(path)).status).toBe(405);
  });

  it('may be about a namespace that does not exist', async () => {
    const nowhere = `${AUTHORIZATION}/namespaces/nowhere/localsubjectaccessreviews`;
    const resourceAttributes = { ...MAPS, namespace: 'nowhere' };
    expect(await statusOf(nowhere, { user: 'fred', resourceAttributes })).toEqual({ allowed: false });
  });
});

describe('a SelfSubjectRulesReview', () => {
  const path = `${AUTHORIZATION}/selfsubjectrulesreviews`;

  it('lists what the sender may do in a namespace [A164 A177x]', async () => {
    const here = await statusOf(path, { namespace: 'default' }, 'carol-token');
    expect(here?.['incomplete']).toBe(false);
    expect(here?.['resourceRules']).toContainEqual(READ);
    expect((await statusOf(path, { namespace: 'other' }, 'carol-token'))?.['resourceRules']).not.toContainEqual(READ);
    const { body } = await ask(path, undefined);
    expect([body['code'], body['message']]).toEqual([400, 'no namespace on request']);
    expect((await api.get(path)).status).toBe(405);
  });
});
