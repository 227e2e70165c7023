import { describe, expect, test } from 'vitest';
import { type Authorizer, authorizer, nameOf, type Target } from '../../core/api/index.js';
import { forbidden } from '../../core/access/messages.js';
import { namingOf } from '../../core/naming.js';
import { allowAll, denyAll } from '../../plugins/authz/always.js';
import { masters } from '../../plugins/authz/systemMasters.js';
import { contributed, target, user } from './support.js';

const carol = user('carol');
const path: Target = { is: 'path', verb: 'get', path: '/a b' };

describe('modes', () => {
  const decide = async (who: string[], ...modes: (typeof allowAll)[]) =>
    (await authorizer.combine(modes.map(value => contributed(value))).authorize(user('x', ...who), path)).decision;
  test('AlwaysAllow allows, AlwaysDeny does not [A009]', async () => {
    expect(await decide([], allowAll)).toEqual({ is: 'allow' });
    expect(await decide([], denyAll)).toEqual({ is: 'noOpinion', reason: 'Everything is forbidden.' });
  });
  test('without a decision the request is denied [A008]', async () => expect((await decide([])).is).toBe('noOpinion'));
  test('system:masters is allowed before any mode decides', async () => {
    expect((await decide(['system:masters'], masters, denyAll)).is).toBe('allow');
    expect((await decide(['masters'], masters, denyAll)).is).toBe('noOpinion');
  });
});

describe('rules of a user, from all authorizers', () => {
  const rulesFrom = (...authorizers: Authorizer[]) =>
    authorizer.combine(authorizers.map(value => contributed(value))).rulesFor(user('x', 'system:masters'), 'n');
  test('combine those of all authorizers that have rules', async () => {
    const pathRules = [{ verbs: ['get'], nonResourceURLs: ['/a'] }];
    const own: Authorizer = { ...denyAll, rulesFor: () => ({ resourceRules: [], pathRules, error: 'no role' }) };
    expect(await rulesFrom(masters, denyAll, own, allowAll)).toEqual({
      resourceRules: [{ verbs: ['*'], apiGroups: ['*'], resources: ['*'] }],
      pathRules: [...pathRules, { verbs: ['*'], nonResourceURLs: ['*'] }],
      incomplete: false,
      error: 'no role',
    });
  });
  test('are incomplete if an authorizer cannot list its rules or fails', async () => {
    const { rulesFor: _rulesFor, ...mute } = denyAll;
    const failing: Authorizer = {
      ...denyAll,
      rulesFor: () => {
        throw new Error('out of order');
      },
    };
    expect(await rulesFrom(mute, failing)).toEqual({
      resourceRules: [],
      pathRules: [],
      incomplete: true,
      error: '[the authorizer x cannot list rules, out of order]',
    });
  });
});

describe('the message of a 403', () => {
  const ns = { namespace: 'default' };
  const scale = { ...ns, group: 'apps', resource: 'deployments', subresource: 'scale', name: 'x' };
  test.each<[Target, string, object]>([
    [
      target({ verb: 'list', resource: 'nodes' }),
      'nodes is forbidden: User "carol" cannot list resource "nodes" in API group "" at the cluster scope',
      { kind: 'nodes' },
    ],
    [
      target({ ...ns, name: 'x' }),
      'pods "x" is forbidden: User "carol" cannot get resource "pods" in API group "" in the namespace "default"',
      { name: 'x', kind: 'pods' },
    ],
    [
      target({ ...ns, subresource: 'log', name: 'x' }),
      'pods "x" is forbidden: User "carol" cannot get resource "pods/log" in API group "" in the namespace "default"',
      { name: 'x', kind: 'pods' },
    ],
    [
      target(scale),
      'deployments.apps "x" is forbidden: User "carol" cannot get resource "deployments/scale" in API group "apps" in the namespace "default"',
      { name: 'x', group: 'apps', kind: 'deployments' },
    ],
    [
      target({ verb: 'list', group: 'storage.orchestrator.io', resource: 'storageclasses' }),
      'storageclasses.storage.k8s.io is forbidden: User "carol" cannot list resource "storageclasses" in API group "storage.k8s.io" at the cluster scope',
      { group: 'storage.k8s.io', kind: 'storageclasses' },
    ],
    [path, 'forbidden: User "carol" cannot get path "/a b"', {}],
  ])('%# names user, verb, resource, group and scope [A294] [A318]', (asked, message, details) => {
    expect(forbidden(carol, asked, '', namingOf('kubernetes')).toStatus()).toEqual({
      kind: 'Status',
      apiVersion: 'v1',
      metadata: {},
      status: 'Failure',
      message,
      reason: 'Forbidden',
      details,
      code: 403,
    });
  });
  test('ends with the reasons of the authorizers', () => {
    expect(forbidden(carol, path, 'RBAC: x', namingOf('neutral')).message).toBe(
      'forbidden: User "carol" cannot get path "/a b": RBAC: x',
    );
  });
});

describe('the name of the requested object', () => {
  const by = (value: string) => [{ key: 'metadata.name', operator: '=' as const, values: [value] }];
  test.each([
    ['list', 'one', 'one'],
    ['watch', 'one', 'one'],
    ['deletecollection', 'one', ''],
    ['list', 'a/b', ''],
    ['list', 'a%b', ''],
    ['list', '..', ''],
    ['list', '.', ''],
  ] as const)('%s with metadata.name=%s: %j', (verb, value, expected) => {
    expect(nameOf(target({ verb, path: '/api/v1/pods', fieldSelector: by(value) }))).toBe(expected);
  });
});
