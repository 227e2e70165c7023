import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Api, type Answer, type Loose, listOf, rowsIn } from '../api/support.js';
import { textOf } from '../support/values.js';

const DECISIONS = '/apis/why.capstan.dev/v1/decisions';

let api: Api;
beforeAll(async () => {
  api = await Api.shared();
  for (const name of ['why-a', 'why-b']) await api.post('/api/v1/namespaces', { metadata: { name } });
});
afterAll(() => api.close());

/** The headers of a request that impersonates `user`, who has only the permissions of everybody. */
const as = (user: string, ...groups: string[]) => ({
  headers: { 'impersonate-user': user, ...(groups.length > 0 ? { 'impersonate-group': groups } : {}) },
});

const names = (list: Loose): unknown[] => listOf(list).map(one => one['name']);

describe('a request that no authorizer allows', () => {
  test('names its sender, the answer of each authorizer, and the smallest role that would allow it', async () => {
    const refused = await api.post('/api/v1/namespaces/why-a/pods', {}, as('wanda', 'dev'));
    expect(refused.status).toBe(403);
    const { metadata, request, sender, outcome, authorization } = await api.decisionOf(refused);
    expect(metadata!['name']).toBe(refused.headers['audit-id']);
    expect(request).toEqual({
      verb: 'create',
      path: '/api/v1/namespaces/why-a/pods',
      version: 'v1',
      resource: 'pods',
      namespace: 'why-a',
    });
    expect(sender).toEqual({
      username: 'wanda',
      groups: ['dev', 'system:authenticated'],
      authenticator: expect.any(String),
      impersonator: expect.any(String),
    });
    expect(outcome).toMatchObject({ code: 403, reason: 'Forbidden', message: refused.body['message'] });
    expect(authorization!['allowed']).toBe(false);
    expect(names(authorization!['authorizers']!)).toContain('rbac');
    expect(authorization!['explainedAt']).toEqual(expect.any(String));
    const grant = textOf(authorization!['grant']);
    const [role, binding] = grant.split('---\n');
    for (const [plural, body] of [
      ['roles', role!],
      ['rolebindings', binding!],
    ] as const) {
      const path = `/apis/rbac.authorization.k8s.io/v1/namespaces/why-a/${plural}`;
      expect((await api.post(path, body, { type: 'application/yaml' })).status).toBe(201);
    }
    // Now the body is read, which is not a pod.
    expect((await api.post('/api/v1/namespaces/why-a/pods', {}, as('wanda', 'dev'))).status).toBe(422);
  });

  test('shows the closest rules, with the parts that do not match', async () => {
    const rbac = '/apis/rbac.authorization.k8s.io/v1/namespaces/why-b';
    const meta = { name: 'reader' };
    const rules = [{ apiGroups: [''], resources: ['services'], verbs: ['get', 'list'] }];
    await api.post(`${rbac}/roles`, { metadata: meta, rules });
    const subjects = [{ kind: 'User', name: 'nora', apiGroup: 'rbac.authorization.k8s.io' }];
    const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'reader' };
    await api.post(`${rbac}/rolebindings`, { metadata: meta, subjects, roleRef });

    const source = 'RoleBinding "reader/why-b" of Role "reader" to User "nora"';
    const nearest = async (answer: Answer): Promise<unknown> => {
      const { authorization } = await api.decisionOf(answer);
      const said = listOf(authorization!['authorizers']).find(({ name }) => String(name) === 'rbac');
      return (said!['rules'] as unknown as Loose[] | undefined)?.map(rule => [rule['source'], rule['missing']]);
    };
    const path = '/api/v1/namespaces/why-b/services';
    expect(await nearest(await api.call('DELETE', `${path}/tea`, as('nora')))).toEqual([[source, ['verb']]]);
    expect(await nearest(await api.get('/api/v1/services', as('nora')))).toEqual([[source, ['namespace']]]);
    expect(await nearest(await api.get('/api/v1/namespaces/other/services', as('nora')))).toEqual([
      [source, ['namespace']],
    ]);
    expect(await nearest(await api.get('/api/v1/namespaces/why-b/pods', as('nora')))).toEqual([[source, ['resource']]]);
    expect(await nearest(await api.get('/apis/apps/v1/namespaces/why-c/deployments', as('nora')))).toBeUndefined();
  });

  test('is explained for the impersonated user, also if it has selectors', async () => {
    const { authorization } = await api.decisionOf(await api.get('/api/v1/pods?labelSelector=a=b', as('sela')));
    expect(authorization!['grant']).toEqual(expect.stringContaining('name: allow-list-pods-sela'));
    expect(authorization).toMatchObject({ allowed: false });
  });

  test('is explained for the sender who may not impersonate another user', async () => {
    const refused = await api.get('/api/v1/pods', { ...as('root'), token: '' });
    const { sender, authorization, request } = await api.decisionOf(refused);
    expect(refused.status).toBe(403);
    expect(request).toMatchObject({ verb: 'list', resource: 'pods' });
    expect(sender).toEqual({ username: 'system:anonymous', groups: ['system:unauthenticated'] });
    // A permission for senders without credentials would be one for everybody.
    expect(authorization!['grant']).toBeUndefined();
  });
});

describe('other refusals', () => {
  test('invalid credentials have the reason, and no sender', async () => {
    const refused = await api.get('/api/v1/pods', { token: 'bad' });
    expect(refused.status).toBe(401);
    const decision = await api.decisionOf(refused);
    expect(decision['sender']).toBeUndefined();
    expect(decision['outcome']).toMatchObject({ code: 401, reason: 'Unauthorized' });
    expect(decision['outcome']!['message']).toMatch(/^the credentials are not valid for .*service-account/);
    expect(JSON.stringify(decision)).not.toContain('bad"');
  });

  test('a missing object is named, for a read and for a write', async () => {
    for (const method of ['GET', 'DELETE'] as const) {
      const refused = await api.call(method, '/api/v1/namespaces/why-a/configmaps/none');
      const { outcome, authorization } = await api.decisionOf(refused);
      expect(outcome).toMatchObject({ code: 404, message: 'configmaps "none" not found' });
      expect(authorization).toMatchObject({ allowed: true });
    }
  });

  test('an unknown path is named', async () => {
    const message = '404 page not found';
    for (const path of ['/nothing', '/apis/example.com/v1/nothing']) {
      const refused = await api.get(path);
      expect([refused.status, refused.text]).toEqual([404, `${message}\n`]);
      expect((await api.decisionOf(refused))['outcome']).toMatchObject({ code: 404, message });
    }
  });

  test('an invalid object has each violation with its field, without values for a Secret', async () => {
    const invalid = { metadata: { name: 'x', labels: { '-': 's3cret!' } }, data: { '/': 'czNjcmV0' }, type: 'a' };
    const configMap = await api.post('/api/v1/namespaces/why-a/configmaps', { ...invalid, data: { '/': '' } });
    const { violations } = await api.decisionOf(configMap);
    expect(violations).toEqual([
      { field: 'metadata.labels', reason: 'FieldValueInvalid', message: expect.stringContaining('"-"') },
      { field: 'metadata.labels', reason: 'FieldValueInvalid', message: expect.stringContaining('s3cret!') },
      { field: 'data[/]', reason: 'FieldValueInvalid', message: expect.stringContaining('Invalid value: "/"') },
    ]);

    const secret = await api.decisionOf(await api.post('/api/v1/namespaces/why-a/secrets', invalid));
    const found = listOf(secret['violations']);
    expect(found.map(({ field, message }) => [field, message])).toEqual([
      ['metadata.labels', ''],
      ['metadata.labels', ''],
      ['data[/]', ''],
    ]);
    const cut = await api.call('POST', '/api/v1/namespaces/why-a/secrets', { body: '{"stringData":{"a":"s3cret' });
    expect([cut.status, cut.text]).toEqual([400, expect.stringContaining('s3cret')]);
    for (const one of [secret, await api.decisionOf(cut)]) expect(JSON.stringify(one)).not.toContain('s3cret');
  });

  test('an apply that conflicts has the manager of each field, and the time', async () => {
    const path = '/api/v1/namespaces/why-a/configmaps/conflict';
    const apply = (manager: string, tea: string) =>
      api.call('PATCH', `${path}?fieldManager=${manager}`, {
        body: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'conflict' }, data: { tea } },
        type: 'application/apply-patch+yaml',
      });
    await apply('kitchen', 'green');
    const { conflicts, violations } = await api.decisionOf(await apply('garden', 'black'));
    expect(conflicts).toEqual([
      { field: '.data.tea', manager: 'kitchen', operation: 'Apply', since: expect.stringMatching(/^20.*Z$/) },
    ]);
    expect(violations).toBeUndefined();
  });
});

test('an update of an old version is explained with the writers since, and the times', async () => {
  const path = '/api/v1/namespaces/why-a/configmaps/old';
  const first = { metadata: { name: 'old' }, data: { tea: 'white', cups: '1' } };
  const { body } = await api.post('/api/v1/namespaces/why-a/configmaps?fieldManager=cook', first);
  const put = (manager: string, tea: string) =>
    api.call('PUT', `${path}?fieldManager=${manager}`, { body: { ...body, data: { tea, cups: '2' } } });
  expect((await put('waiter', 'green')).status).toBe(200);
  const { outcome, conflicts } = await api.decisionOf(await put('guest', 'black'));
  expect(outcome!['code']).toBe(409);
  expect(conflicts).toEqual([
    {
      field: '.metadata.resourceVersion',
      manager: 'waiter',
      operation: 'Update',
      since: expect.stringMatching(/^20.*Z$/),
    },
  ]);
});

describe('the list of decisions', () => {
  test('has the newest first, can be selected by fields, and is read in pages', async () => {
    for (const name of ['one', 'two', 'three']) await api.get(`/api/v1/namespaces/why-list/pods/${name}`, as('lena'));
    const query = 'fieldSelector=sender.username=lena,outcome.code=403';
    const named = (list: Answer): unknown[] => listOf(list.body['items']).map(({ request }) => request!['name']);
    const all = await api.get(`${DECISIONS}?${query}`);
    expect(named(all)).toEqual(['three', 'two', 'one']);
    const first = await api.get(`${DECISIONS}?${query}&limit=2`);
    expect(named(first)).toEqual(['three', 'two']);
    const { continue: token } = first.body['metadata']! as unknown as { continue: string };
    const second = await api.get(`${DECISIONS}?${query}&limit=2&continue=${token}`);
    expect(named(second)).toEqual(['one']);
    expect(second.body['metadata']!['continue']).toBeUndefined();
  });

  test('is a Table for kubectl', async () => {
    await api.get('/api/v1/namespaces/why-list/services', as('tina'));
    const table = await api.get(`${DECISIONS}?fieldSelector=sender.username=tina`, {
      accept: 'application/json;as=Table;v=v1;g=meta.k8s.io',
    });
    expect(table.body['columnDefinitions']).toHaveLength(9);
    const [row] = rowsIn(table.body);
    expect(row!.cells.slice(1, 7)).toEqual([403, 'tina', 'list', 'services', 'why-list', '']);
  });

  test('refuses unknown selectors and tokens', async () => {
    const message = async (query: string): Promise<unknown> => (await api.get(`${DECISIONS}?${query}`)).body['message'];
    expect(await message('fieldSelector=sender.uid=1')).toContain('field label not supported: sender.uid');
    expect(await message('continue=x')).toContain('invalid continue token');
  });

  test('is only for administrators, as is each decision', async () => {
    const refused = await api.get(DECISIONS, as('tina'));
    expect(refused.status).toBe(403);
    expect((await api.get(`${DECISIONS}/${refused.headers['audit-id'] as string}`, as('tina'))).status).toBe(403);
    expect((await api.get(`${DECISIONS}/none`)).status).toBe(404);
    expect((await api.get(`${DECISIONS}?watch=true`)).status).toBe(405);
  });
});

describe('an explanation', () => {
  const EXPLANATIONS = '/apis/why.capstan.dev/v1/explanations';
  const attributes = { verb: 'create', resource: 'pods', namespace: 'why-ask' };

  test('says whether a user is allowed to do something, and which role would allow it, without doing it', async () => {
    const asked = await api.post(EXPLANATIONS, { spec: { user: 'alma', resourceAttributes: attributes } });
    expect(asked.status).toBe(201);
    expect(asked.body['status']).toMatchObject({ allowed: false, grant: expect.stringContaining('name: alma') });
  });

  test('is about its sender if the request names no user', async () => {
    const { body } = await api.post(EXPLANATIONS, { spec: { resourceAttributes: attributes } });
    expect(body['status']).toMatchObject({ allowed: true });
    expect(body['status']!['grant']).toBeUndefined();
  });

  test('refuses requests without an action', async () => {
    const { status, body } = await api.post(EXPLANATIONS, { spec: { user: 'alma' } });
    expect([status, body['message']]).toEqual([422, expect.stringContaining('exactly one of nonResourceAttributes')]);
  });
});
