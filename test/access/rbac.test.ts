import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { ApiObject, Target } from '../../core/api/index.js';
import { namingOf } from '../../core/naming.js';
import { NamespaceBindings } from '../../plugins/authz/rbac/bindings.js';
import { type Rbac, rbac } from '../../plugins/authz/rbac/evaluate.js';
import type { PolicyRule, Subject } from '../../plugins/authz/rbac/policy.js';
import { allowsPath, allowsResource, compileRules } from '../../plugins/authz/rbac/rules.js';
import { missingPermissions } from '../../plugins/authz/rbac/covers.js';
import { ListInformer, target, user } from './support.js';

const naming = namingOf('kubernetes');
const rule = (apiGroups: string, resources: string, verbs: string, resourceNames?: string[]): PolicyRule => ({
  apiGroups: [apiGroups],
  resources: resources.split(' '),
  verbs: verbs.split(' '),
  ...(resourceNames ? { resourceNames } : {}),
});
const role = (namespace: string, name: string, ...rules: PolicyRule[]): ApiObject => ({
  apiVersion: 'rbac.authorization.k8s.io/v1',
  kind: namespace ? 'Role' : 'ClusterRole',
  metadata: { name, ...(namespace ? { namespace } : {}) },
  rules,
});
const binding = (namespace: string, name: string, kind: string, of: string, ...subjects: Subject[]): ApiObject => ({
  apiVersion: 'rbac.authorization.k8s.io/v1',
  kind: namespace ? 'RoleBinding' : 'ClusterRoleBinding',
  metadata: { name, ...(namespace ? { namespace } : {}) },
  roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind, name: of },
  subjects,
});
const carol: Subject = { kind: 'User', name: 'carol' };

interface World {
  roles: ListInformer;
  clusterRoles: ListInformer;
  roleBindings: ListInformer;
  clusterRoleBindings: ListInformer;
  rbac: Rbac;
}
function world(): World {
  const informers = {
    roles: new ListInformer(),
    clusterRoles: new ListInformer(),
    roleBindings: new ListInformer(),
    clusterRoleBindings: new ListInformer(),
  };
  return { ...informers, rbac: rbac(informers, naming) };
}
/** Rules bound to carol in the namespace `a`. */
function given(...rules: PolicyRule[]): World {
  const w = world();
  w.roles.put(role('a', 'r', ...rules));
  w.roleBindings.put(binding('a', 'b', 'Role', 'r', carol));
  return w;
}
const may = (w: World, asked: Target, name = 'carol', ...groups: string[]): boolean =>
  w.rbac.authorize(user(name, ...groups), asked).is === 'allow';
const inA = (members: Parameters<typeof target>[0]) => target({ namespace: 'a', ...members });
const byName = (operator: '=' | '!=', key: string, value: string) => [{ key, operator, values: [value] }] as const;

describe('rules of resources', () => {
  const named = rule('', 'secrets', 'get list watch update create deletecollection', ['one', 'two']);
  const selected = (
    verb: 'list' | 'watch' | 'deletecollection',
    ...by: Parameters<typeof byName>
  ): Parameters<typeof target>[0] => ({
    resource: 'secrets',
    verb,
    path: '/api/v1/secrets',
    fieldSelector: byName(...by),
  });
  const table: [string, PolicyRule, Parameters<typeof target>[0], boolean][] = [
    ['the verb and resource are granted', rule('', 'pods', 'get'), { name: 'x' }, true],
    ['another verb is not', rule('', 'pods', 'get'), { verb: 'delete', name: 'x' }, false],
    ['another group is not [A066]', rule('apps', 'pods', 'get'), { name: 'x' }, false],
    [
      'the core group does not cover others [A066]',
      rule('', 'deployments', 'get'),
      { group: 'apps', resource: 'deployments' },
      false,
    ],
    ['* covers every verb [A070]', rule('', 'pods', '*'), { verb: 'deletecollection' }, true],
    [
      '* covers every group',
      rule('*', 'deployments', 'get'),
      { group: 'apps', resource: 'deployments', name: 'x' },
      true,
    ],
    ['* covers every resource [A068]', rule('', '*', 'get'), { resource: 'services', name: 'x' }, true],
    ['* covers subresources', rule('', '*', 'get'), { subresource: 'status', name: 'x' }, true],
    [
      'a resource does not cover its subresources [A067]',
      rule('', 'pods', '*'),
      { subresource: 'log', name: 'x' },
      false,
    ],
    [
      'a subresource is named with a slash [A067]',
      rule('', 'pods/log', 'get'),
      { subresource: 'log', name: 'x' },
      true,
    ],
    ['a subresource does not cover its resource [A067]', rule('', 'pods/log', 'get'), { name: 'x' }, false],
    [
      '*/scale covers that subresource',
      rule('', '*/scale', 'get'),
      { resource: 'x', subresource: 'scale', name: 'x' },
      true,
    ],
    ['*/scale does not cover the resource', rule('', '*/scale', 'get'), { resource: 'x', name: 'x' }, false],
    ['x/* means nothing for subresources', rule('', 'pods/*', 'get'), { subresource: 'status', name: 'x' }, false],
    ['x/* means nothing for the resource', rule('', 'pods/*', 'get'), { name: 'x' }, false],
    [
      'neutral groups of requests match spoken ones of rules',
      rule('storage.k8s.io', 'x', 'get'),
      { group: 'storage.orchestrator.io', resource: 'x' },
      true,
    ],
    ['a named object [A069]', named, { resource: 'secrets', name: 'one' }, true],
    ['an object not named [A069]', named, { resource: 'secrets', name: 'three' }, false],
    ['a list without a name', named, { resource: 'secrets', verb: 'list' }, false],
    ['a list selected by name', named, selected('list', '=', 'metadata.name', 'two'), true],
    ['a watch selected by name', named, selected('watch', '=', 'metadata.name', 'two'), true],
    ['a list selected by another name', named, selected('list', '=', 'metadata.name', 'x'), false],
    ['a list selected by not being that name', named, selected('list', '!=', 'metadata.name', 'one'), false],
    ['a list selected by another field', named, selected('list', '=', 'type', 'one'), false],
    ['create cannot be restricted to names', named, { resource: 'secrets', verb: 'create' }, false],
    ['deletecollection by name neither', named, selected('deletecollection', '=', 'metadata.name', 'one'), false],
    ['an empty list of names does not restrict [A069]', rule('', 'pods', 'get', []), { name: 'any' }, true],
  ];
  test.each(table)('%s', (_, given_, asked, expected) => expect(may(given(given_), inA(asked))).toBe(expected));

  test('two roles grant the union of their rules [A073]', () => {
    const w = given(rule('', 'pods', 'get'));
    w.roles.put(role('a', 's', rule('', 'pods', 'list')));
    w.roleBindings.put(binding('a', 'c', 'Role', 's', carol));
    expect(may(w, inA({ name: 'x' })) && may(w, inA({ verb: 'list' }))).toBe(true);
  });

  test('compiled rules agree with an uncompiled evaluation', () => {
    const word: fc.Arbitrary<string> = fc.constantFrom('*', 'a', 'b', 'a/s', '*/s', 'a/*');
    const some = fc.array(word, { maxLength: 3 });
    const rules = fc.array(fc.record({ verbs: some, apiGroups: some, resources: some, resourceNames: some }), {
      maxLength: 4,
    });
    const asked = fc.record({
      verb: word,
      group: word,
      resource: fc.constantFrom('a', 'b'),
      sub: fc.constantFrom('', 's'),
      name: word,
    });
    fc.assert(
      fc.property(rules, asked, (given_, { verb, group, resource, sub, name }) => {
        const full = sub ? `${resource}/${sub}` : resource;
        const plain = given_.some(
          r =>
            (r.verbs.includes('*') || r.verbs.includes(verb)) &&
            (r.apiGroups.includes('*') || r.apiGroups.includes(group)) &&
            (r.resources.includes('*') ||
              r.resources.includes(full) ||
              (sub !== '' && r.resources.includes(`*/${sub}`))) &&
            (r.resourceNames.length === 0 || r.resourceNames.includes(name)),
        );
        const question = { verb, group, resource: full, anySubresource: sub ? `*/${sub}` : '', name };
        expect(allowsResource(compileRules(given_), question)).toBe(plain);
      }),
    );
  });
});

describe('rules of paths', () => {
  const rules = compileRules([
    { verbs: ['get'], nonResourceURLs: ['/exact', '/tree/*', '/pre*', '/*/mid'] },
    { verbs: ['post'], nonResourceURLs: ['/post'] },
    { verbs: ['*'], nonResourceURLs: ['/any'] },
  ]);
  test.each([
    ['get', '/exact', true],
    ['get', '/exact/', false],
    ['get', '/exact/more', false],
    ['get', '/tree', false],
    ['get', '/tree/', true],
    ['get', '/tree/a/b', true],
    ['get', '/pre', true],
    ['get', '/prefix', true],
    ['get', '/a/mid', false],
    ['get', '/*/mid', true],
    ['get', '/post', false],
    ['post', '/post', true],
    ['put', '/post', false],
    ['put', '/any', true],
    ['head', '/exact', false],
    ['get', '/other', false],
  ])('%s %s: %s; only a trailing * is a wildcard [A072]', (verb, path, expected) => {
    expect(allowsPath(rules, verb, path)).toBe(expected);
  });
  test('* matches every path', () => {
    expect(allowsPath(compileRules([{ verbs: ['*'], nonResourceURLs: ['*'] }]), 'delete', '/x')).toBe(true);
  });
});

describe('bindings', () => {
  const reader = role('', 'reader', rule('', 'pods', 'list'), { verbs: ['get'], nonResourceURLs: ['/logs'] });
  const list = (namespace: string): Target => target({ verb: 'list', namespace });

  test('a cluster role bound in a namespace applies only there [A087]', () => {
    const w = world();
    w.clusterRoles.put(reader);
    w.roleBindings.put(binding('a', 'b', 'ClusterRole', 'reader', carol));
    expect([
      may(w, list('a')),
      may(w, list('b')),
      may(w, list('')),
      may(w, { is: 'path', verb: 'get', path: '/logs' }),
    ]).toEqual([true, false, false, false]);
  });

  test('a cluster role bound by a cluster role binding applies everywhere, until the binding is removed [A088]', () => {
    const w = world();
    w.clusterRoles.put(reader);
    w.clusterRoleBindings.put(binding('', 'b', 'ClusterRole', 'reader', carol));
    expect([may(w, list('a')), may(w, list('')), may(w, { is: 'path', verb: 'get', path: '/logs' })]).toEqual([
      true,
      true,
      true,
    ]);
    w.clusterRoleBindings.remove('b');
    expect(may(w, list('a'))).toBe(false);
  });

  test.each<[string, Subject, [string, ...string[]], boolean]>([
    ['a user [A075]', { kind: 'User', name: 'bob' }, ['bob'], true],
    ['names are case-sensitive', { kind: 'User', name: 'Bob' }, ['bob'], false],
    ['a group', { kind: 'Group', name: 'dev' }, ['bob', 'dev'], true],
    ['a group is not a user', { kind: 'Group', name: 'bob' }, ['bob'], false],
    ['a service account', { kind: 'ServiceAccount', name: 'ci', namespace: 'b' }, ['system:serviceaccount:b:ci'], true],
    [
      'a service account of the binding’s namespace',
      { kind: 'ServiceAccount', name: 'ci' },
      ['system:serviceaccount:a:ci'],
      true,
    ],
    ['* is a name like others', { kind: 'User', name: '*' }, ['bob'], false],
    ['an unknown kind binds nobody', { kind: 'Robot', name: 'bob' }, ['bob'], false],
  ])('subject: %s', (_, subject, [name, ...groups], expected) => {
    const w = world();
    w.roles.put(role('a', 'r', rule('', 'pods', 'list')));
    w.roleBindings.put(binding('a', 'b', 'Role', 'r', subject));
    expect(may(w, list('a'), name, ...groups)).toBe(expected);
  });

  test('a service account without namespace in a cluster role binding binds nobody', () => {
    const w = world();
    w.clusterRoles.put(reader);
    w.clusterRoleBindings.put(binding('', 'b', 'ClusterRole', 'reader', { kind: 'ServiceAccount', name: 'ci' }));
    expect(may(w, list('a'), 'system:serviceaccount::ci')).toBe(false);
  });
});

describe('reasons', () => {
  test('an allowed request names binding, role and subject', () => {
    const w = given(rule('', 'pods', 'get'));
    expect(w.rbac.authorize(user('carol'), inA({ name: 'x' }))).toEqual({
      is: 'allow',
      reason: 'RBAC: allowed by RoleBinding "b/a" of Role "r" to User "carol"',
    });
  });

  test('missing roles are named once; a role that is created later applies', () => {
    const w = world();
    const ask = () => w.rbac.authorize(user('carol'), inA({ verb: 'list' }));
    expect(ask()).toEqual({ is: 'noOpinion' });
    w.roleBindings.put(binding('a', 'b', 'Role', 'later', carol));
    expect(ask().reason).toBe('RBAC: role.rbac.authorization.k8s.io "later" not found');
    w.roleBindings.put(
      binding('a', 'c', 'ClusterRole', 'never', carol),
      binding('a', 'd', 'ClusterRole', 'never', carol),
    );
    expect(ask().reason).toBe(
      'RBAC: [role.rbac.authorization.k8s.io "later" not found, clusterrole.rbac.authorization.k8s.io "never" not found]',
    );
    w.roles.put(role('a', 'later', rule('', 'pods', 'list')));
    expect(ask().is).toBe('allow');
    w.roles.remove('later');
    expect(ask().is).toBe('noOpinion');
  });

  test('a binding that names a user twice, or the user and its group, counts once', () => {
    const w = world();
    const dev = { kind: 'Group', name: 'dev' };
    w.roles.put(role('a', 'r', rule('', 'pods', 'get')));
    w.roleBindings.put(binding('a', 'b', 'Role', 'r', carol, carol, dev));
    expect(w.rbac.policyRulesOf(user('carol'), 'a').rules).toHaveLength(1);
    expect(w.rbac.policyRulesOf(user('carol', 'dev'), 'a').rules).toHaveLength(1);
  });

  test('all rules in a namespace are listed, cluster-wide rules first', () => {
    const w = given(rule('', 'pods', 'get'));
    w.clusterRoles.put(role('', 'c', rule('', 'nodes', 'list')));
    w.clusterRoleBindings.put(
      binding('', 'c', 'ClusterRole', 'c', carol),
      binding('', 'd', 'ClusterRole', 'absent', carol),
    );
    const held = w.rbac.policyRulesOf(user('carol'), 'a');
    expect(held.rules.map(r => r.resources)).toEqual([['nodes'], ['pods']]);
    expect(held.missing).toEqual(['clusterrole.rbac.authorization.k8s.io "absent" not found']);
    expect(w.rbac.policyRulesOf(user('carol'), 'b').rules).toHaveLength(1);
  });
});

describe('covered permissions', () => {
  test.each<[string, PolicyRule, PolicyRule, number]>([
    ['a rule covers itself', rule('', 'pods', 'get list'), rule('', 'pods', 'get list'), 0],
    ['missing verbs are single permissions', rule('', 'pods', 'get'), rule('', 'pods', 'get list watch'), 2],
    ['names do not cover all', rule('', 'pods', 'get', ['a']), rule('', 'pods', 'get'), 1],
    ['all covers names', rule('', 'pods', 'get'), rule('', 'pods', 'get', ['a', 'b']), 0],
    ['* covers one', rule('*', '*', '*'), rule('apps', 'deployments/scale', 'get'), 0],
    ['one does not cover *', rule('', 'pods', 'get'), rule('', '*', 'get'), 1],
    ['*/scale covers x/scale', rule('', '*/scale', 'get'), rule('', 'x/scale', 'get'), 0],
    [
      'a path prefix covers paths below',
      { verbs: ['get'], nonResourceURLs: ['/a/*'] },
      { verbs: ['get'], nonResourceURLs: ['/a/b', '/a'] },
      1,
    ],
  ])('%s', (_, have, want, missing) => expect(missingPermissions([have], [want])).toHaveLength(missing));
});

test('requests that name namespaces without bindings leave nothing in memory, because anybody may invent names', () => {
  const bindings = new ListInformer([binding('a', 'b', 'Role', 'r', carol)]);
  const namespaces = new NamespaceBindings(bindings);
  for (let i = 0; i < 100; i++) expect(namespaces.in(`invented-${i}`).users.size).toBe(0);
  expect(namespaces.in('a').users.has('carol')).toBe(true);
  expect(namespaces.size).toBe(1);
  bindings.put(binding('invented-1', 'b', 'Role', 'r', carol));
  expect(namespaces.in('invented-1').users.has('carol')).toBe(true);
});
