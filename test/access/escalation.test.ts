import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Api } from '../api/support.js';
import { MERGE } from '../support/mediaTypes.js';

const GROUP = 'rbac.authorization.k8s.io';
const RBAC = `/apis/${GROUP}/v1`;
const ROLES = `${RBAC}/namespaces/default/roles`;
const BINDINGS = `${RBAC}/namespaces/default/rolebindings`;
const rule = (group: string, resource: string, verbs: string[], ...resourceNames: string[]) => ({
  apiGroups: [group],
  resources: [resource],
  verbs,
  ...(resourceNames.length > 0 ? { resourceNames } : {}),
});
const role = (name: string, ...rules: object[]) => ({ metadata: { name }, rules });
const binding = (name: string, kind: string, ref: string, user = 'bob') => ({
  metadata: { name },
  subjects: [{ kind: 'User', apiGroup: GROUP, name: user }],
  roleRef: { apiGroup: GROUP, kind, name: ref },
});

describe.each([['RBAC'], ['RBAC,AlwaysDeny']])('with --authorization-mode=%s', modes => {
  let api: Api;
  const directory = mkdtempSync(join(tmpdir(), 'capstan-escalation-'));
  const carol = { token: 'carol' };

  beforeAll(async () => {
    writeFileSync(join(directory, 'tokens.csv'), 'carol,carol,1\nroot,root,2,system:masters\n');
    api = await Api.start({
      tokenAuthFile: join(directory, 'tokens.csv'),
      authorizationMode: modes === 'RBAC' ? ['RBAC'] : ['RBAC', 'AlwaysDeny'],
    });
    const manage = ['roles', 'rolebindings'].map(one => rule(GROUP, one, ['get', 'create', 'update', 'patch']));
    await api.made(
      ROLES,
      role('self', ...manage, rule('', 'configmaps', ['get']), rule('', 'secrets', ['get'], 'one')),
    );
    await api.made(BINDINGS, binding('self', 'Role', 'self', 'carol'));
  });
  afterAll(async () => {
    await api.close();
    rmSync(directory, { recursive: true, force: true });
  });

  test('writing a role needs the permissions that it grants [A354] [A442]', async () => {
    expect((await api.post(ROLES, role('same', rule('', 'configmaps', ['get'])), carol)).status).toBe(201);
    expect((await api.post(ROLES, role('named', rule('', 'secrets', ['get'], 'one')), carol)).status).toBe(201);
    for (const [name, more] of [
      ['verb', rule('', 'configmaps', ['get', 'delete'])],
      ['name', rule('', 'secrets', ['get'])],
      ['other-name', rule('', 'secrets', ['get'], 'two')],
      ['all', rule('*', '*', ['*'])],
      ['subresource', rule('', 'configmaps/x', ['get'])],
    ] as const) {
      const { status, body } = await api.post(ROLES, role(name, more), carol);
      expect([name, status]).toEqual([name, 403]);
      expect(body.message).toContain('is attempting to grant RBAC permissions not currently held:\n{APIGroups:');
    }
    const { body } = await api.post(ROLES, role('two', rule('', 'pods', ['get', 'list'], 'a', 'b')), carol);
    expect(body.message).toBe(
      `roles.${GROUP} "two" is forbidden: user "carol" (groups=["system:authenticated"]) is attempting to grant RBAC ` +
        'permissions not currently held:\n{APIGroups:[""], Resources:["pods"], ResourceNames:["a"], Verbs:["get" "list"]}' +
        '\n{APIGroups:[""], Resources:["pods"], ResourceNames:["b"], Verbs:["get" "list"]}',
    );
  });

  test('any change of a role that grants more is refused, even of labels; an update without a change is accepted', async () => {
    await api.made(ROLES, role('big', rule('', 'pods', ['*'])));
    const merge = (change: object) => api.patch(`${ROLES}/big`, MERGE, change, carol);
    expect((await merge({ metadata: { labels: { a: 'b' } } })).status).toBe(403);
    expect((await merge({})).status).toBe(200);
  });

  test('writing a binding needs the permissions of its role, or the verb bind on the role [A356] [A357] [A358] [A316]', async () => {
    expect((await api.post(BINDINGS, binding('own', 'Role', 'self'), carol)).status).toBe(201);
    expect((await api.post(BINDINGS, binding('none', 'Role', 'none'), carol)).status).toBe(404);
    expect((await api.post(BINDINGS, binding('admin', 'ClusterRole', 'cluster-admin'), carol)).status).toBe(403);
    await api.made(ROLES, role('binder', rule(GROUP, 'clusterroles', ['bind'], 'view')));
    await api.made(BINDINGS, binding('binder', 'Role', 'binder', 'carol'));
    expect((await api.post(BINDINGS, binding('view', 'ClusterRole', 'view'), carol)).status).toBe(201);
    expect((await api.post(BINDINGS, binding('edit', 'ClusterRole', 'edit'), carol)).status).toBe(403);
  });

  test('a binding whose reference does not name a role is refused for that reason, before its validation', async () => {
    const to = (roleRef: object) => ({ metadata: { name: 'odd' }, roleRef });
    const answers = async (path: string, roleRef: object) => {
      const { status, body } = await api.post(path, to(roleRef), carol);
      return [status, body.reason, body.message];
    };
    expect(await answers(BINDINGS, { kind: 'role', name: 'self' })).toEqual([
      500,
      undefined,
      'unsupported role reference kind: "role"',
    ]);
    expect(await answers(BINDINGS, { kind: 'Role', name: '' })).toEqual([
      400,
      'BadRequest',
      'Name parameter required.',
    ]);
    expect(await answers(BINDINGS, { kind: 'ClusterRole', name: 'a/b' })).toEqual([
      400,
      'BadRequest',
      `Name parameter invalid: "a/b": may not contain '/'`,
    ]);
    const clusterBindings = `${RBAC}/clusterrolebindings`;
    await api.made(`${RBAC}/clusterroles`, role('binders', rule(GROUP, 'clusterrolebindings', ['create'])));
    await api.made(clusterBindings, binding('binders', 'ClusterRole', 'binders', 'carol'));
    expect(await answers(clusterBindings, { kind: 'Role', name: 'self' })).toEqual([
      400,
      'BadRequest',
      'Namespace parameter required.',
    ]);
  });

  test('the verb bind counts in the group that the binding names', async () => {
    await api.made(ROLES, role('held-by-nobody', rule('', 'pods', ['*'])));
    await api.made(ROLES, role('bind-any', rule(GROUP, 'roles', ['bind'])));
    await api.made(BINDINGS, binding('bind-any', 'Role', 'bind-any', 'carol'));
    const post = (apiGroup: string) => {
      const body = {
        ...binding('by-bind', 'Role', 'held-by-nobody'),
        roleRef: { apiGroup, kind: 'Role', name: 'held-by-nobody' },
      };
      return api.post(`${BINDINGS}?dryRun=All`, body, carol);
    };
    const other = await post('apps');
    expect([other.status, other.body.message]).toEqual([403, expect.stringContaining('not currently held')]);
    expect((await post('')).status).toBe(201);
    expect((await post(GROUP)).status).toBe(201);
    await api.delete(`${BINDINGS}/bind-any`);
  });

  test('an invalid update lists each cause twice in the details and once in the message', async () => {
    await api.made(ROLES, role('twice', rule('', 'pods', ['get'])));
    const { status, body } = await api.put(`${ROLES}/twice`, role('twice', rule('', 'pods', [])));
    const cause = {
      field: 'rules[0].verbs',
      reason: 'FieldValueRequired',
      message: 'Required value: verbs must contain at least one value',
    };
    expect([status, body.details?.causes]).toEqual([422, [cause, cause]]);
    expect(body.message).toBe(`Role.${GROUP} "twice" is invalid: ${cause.field}: ${cause.message}`);
  });

  test('the verb escalate allows any role [A355] [A317], and system:masters all of it', async () => {
    expect((await api.post(ROLES, role('by-root', rule('*', '*', ['*'])), { token: 'root' })).status).toBe(201);
    await api.made(ROLES, role('escalator', rule(GROUP, 'roles', ['escalate'])));
    await api.made(BINDINGS, binding('escalator', 'Role', 'escalator', 'carol'));
    expect((await api.post(ROLES, role('by-carol', rule('*', '*', ['*'])), carol)).status).toBe(201);
  });

  test('writing an aggregation rule needs all permissions', async () => {
    const rules = [rule(GROUP, 'clusterroles', ['create', 'update'])];
    await api.made(`${RBAC}/clusterroles`, role('maker', ...rules));
    await api.made(`${RBAC}/clusterrolebindings`, binding('maker', 'ClusterRole', 'maker', 'carol'));
    const aggregating = {
      ...role('gathers'),
      aggregationRule: { clusterRoleSelectors: [{ matchLabels: { 'aggregate-to': 'x' } }] },
    };
    const refused = [
      403,
      `clusterroles.${GROUP} "gathers" is forbidden: must have cluster-admin privileges to use the aggregationRule`,
    ];
    const created = await api.post(`${RBAC}/clusterroles`, aggregating, carol);
    expect([created.status, created.body.message]).toEqual(refused);
    await api.made(`${RBAC}/clusterroles`, aggregating);
    for (const { aggregationRule } of [aggregating, { aggregationRule: null }]) {
      const body = { ...aggregating, aggregationRule, rules, metadata: { name: 'gathers' } };
      const updated = await api.call('PUT', `${RBAC}/clusterroles/gathers`, { body, ...carol });
      expect([updated.status, updated.body.message]).toEqual(refused);
    }
  });

  test('an invalid object that grants too much is refused for its grants', async () => {
    const body = binding('own', 'ClusterRole', 'cluster-admin');
    expect((await api.call('PUT', `${BINDINGS}/own`, { body, ...carol })).status).toBe(403);
    expect((await api.call('PUT', `${BINDINGS}/own`, { body, token: 'root' })).status).toBe(422);
  });
});
