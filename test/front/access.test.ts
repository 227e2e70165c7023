import { expect, test } from 'vitest';
import type { Exchange } from '../../core/api/listener.js';
import { AccessCache, credentialKey, decisionKey, type KnownObjects } from '../../workers/front/access/access.js';
import { ACCESS_CACHE_BYTES, CACHED_KEY_CHARACTERS } from '../../core/limits.js';
import { ANONYMOUS } from '../../core/model/user.js';
import type { Route } from '../../core/request/route.js';
import type { Grant } from '../../core/threads/messages/messages.js';
import { partly } from '../support/values.js';

const grant = (over: Partial<Grant> = {}): Grant => ({
  user: { name: 'ann', uid: '', groups: [], extra: new Map() },
  identityFor: 'forever',
  objects: [],
  allowedFor: 'forever',
  resources: [],
  allowed: true,
  ...over,
});
/** Two resources, whose objects change at the revisions that the test sets. */
function twoResources() {
  const resources = { 'core/namespaces': { revision: 1 }, 'rbac/roles': { revision: 1 } };
  const objects = { current: 1, unknown: [] as string[] };
  const cache = new AccessCache(
    {
      revision: () => objects.current,
      revisionOf: () => undefined,
      resource: name => resources[name as keyof typeof resources],
    },
    name => objects.unknown.push(name),
  );
  const change = (name: keyof typeof resources): void => {
    resources[name].revision = ++objects.current;
  };
  return { cache, objects, change };
}
const noObjects = (): KnownObjects => ({
  revision: () => 0,
  revisionOf: () => undefined,
  resource: () => undefined,
});
/** Records a permission, as a request does that the pool answers at once. */
const learn = (cache: AccessCache, credentials: string, key: string, found: Grant, now: number): void => {
  const permission = cache.permissionOf(found, cache.objects.revision(), now);
  cache.learn(credentials, key, found, permission, now);
};
const isAllowed = (cache: AccessCache, key: string, now = 0): boolean => {
  const known = cache.identity('token', now);
  return known !== undefined && cache.permission(known, key, now) !== undefined;
};

test('requests with different credentials or impersonation have different cache keys', () => {
  const keyOf = (headers: Record<string, string>, certificate?: string): string =>
    credentialKey(partly<Exchange>({ method: 'GET', headers: () => Object.entries(headers), certificate }));
  const names = [
    'authorization',
    'impersonate-user',
    'impersonate-group',
    'impersonate-uid',
    'impersonate-extra-scopes',
  ];
  const keys = [keyOf({}), keyOf({}, 'x'), ...names.map(name => keyOf({ [name]: 'x' }))];
  expect(new Set(keys).size).toBe(keys.length);
  const offering = (token: string): string =>
    keyOf({
      upgrade: 'websocket',
      connection: 'upgrade',
      'sec-websocket-protocol': `base64url.bearer.authorization.orchestrator.io.${token}, other`,
    });
  expect(new Set([...keys, offering('eA'), offering('eQ')]).size).toBe(keys.length + 2);
  expect(offering('eA')).toBe(keyOf({ authorization: 'Bearer x' }));
  expect(keyOf({ authorization: 'x', accept: 'a' })).toBe(keyOf({ authorization: 'x', accept: 'b' }));
});

test('requests with different selectors have different cache keys, wherever these have line ends', () => {
  const keyOf = (labelSelector: string, fieldSelector: string): string => {
    const target = { is: 'resource', verb: 'list', path: '/api/v1/secrets' } as const;
    const query = new Map(Object.entries({ labelSelector: [labelSelector], fieldSelector: [fieldSelector] }));
    return decisionKey(partly<Route>({ target, query }));
  };
  // Who may list one secret, or the secrets of a team, must not list those that have its name as a label.
  expect(keyOf('!a,', 'metadata.name=x,metadata.namespace!=b\n')).not.toBe(
    keyOf('!a,\nmetadata.name=x,metadata.namespace!=b', ''),
  );
  expect(keyOf('team=a\n,type=b', '')).not.toBe(keyOf('team=a', ',type=b\n'));
});

test('a decision is cached for its time, and not at all if it is a refusal or excludes caching', () => {
  const cache = new AccessCache(noObjects());
  learn(cache, 'token', 'forever', grant(), 0);
  learn(cache, 'token', 'for a while', grant({ allowedFor: 10 }), 0);
  learn(cache, 'token', 'never', grant({ allowedFor: 'never' }), 0);
  learn(cache, 'token', 'denied', grant({ allowed: false }), 0);
  const allowedAt = (now: number) =>
    ['forever', 'for a while', 'never', 'denied'].filter(key => isAllowed(cache, key, now));
  expect(allowedAt(9)).toEqual(['forever', 'for a while']);
  expect(allowedAt(10)).toEqual(['forever']);
});

test('a decision is cached until an object of a resource that it depends on changes', () => {
  const { cache, change } = twoResources();
  learn(cache, 'token', 'roles', grant({ resources: ['rbac/roles'] }), 0);
  learn(cache, 'token', 'both', grant({ resources: ['rbac/roles', 'core/namespaces'] }), 0);
  learn(cache, 'token', 'a while', grant({ resources: ['core/namespaces'], allowedFor: 10 }), 0);
  learn(cache, 'token', 'neither', grant(), 0);
  const allowed = () => ['roles', 'both', 'a while', 'neither'].filter(key => isAllowed(cache, key));
  expect(allowed()).toEqual(['roles', 'both', 'a while', 'neither']);
  change('core/namespaces');
  expect(allowed()).toEqual(['roles', 'neither']);
  learn(cache, 'token', 'both', grant({ resources: ['rbac/roles', 'core/namespaces'] }), 0);
  expect(allowed()).toEqual(['roles', 'both', 'neither']);
  change('rbac/roles');
  expect(allowed()).toEqual(['neither']);
});

test('keys that share a reason are not allowed by a decision that has expired', () => {
  const { cache, change } = twoResources();
  const found = grant({ resources: ['rbac/roles'], reason: 'a role' });
  learn(cache, 'token', 'before', found, 0);
  change('rbac/roles');
  learn(cache, 'token', 'after', found, 0);
  expect(['before', 'after'].map(key => isAllowed(cache, key))).toEqual([false, true]);
});

test('a decision that is made before a change of its dependencies, and received after it, is not cached', () => {
  const { cache, objects, change } = twoResources();
  const asked = objects.current;
  change('core/namespaces');
  const found = grant({ resources: ['core/namespaces'] });
  cache.learn('token', 'k', found, cache.permissionOf(found, asked, 0), 0);
  expect(isAllowed(cache, 'k')).toBe(false);
});

test('a decision that depends on a resource that is not stored is not cached', () => {
  const { cache, objects } = twoResources();
  learn(cache, 'token', 'k', grant({ resources: ['rbac/roles', 'core/namespace'] }), 0);
  expect(isAllowed(cache, 'k')).toBe(false);
  expect(objects.unknown).toEqual(['core/namespace']);
});

test('further permissions of a cached identity are added', () => {
  const cache = new AccessCache(noObjects());
  learn(cache, 'token', 'first', grant(), 0);
  learn(cache, 'token', 'second', grant({ identityFor: 'never' }), 0);
  expect(['first', 'second', 'third'].map(key => isAllowed(cache, key))).toEqual([true, true, false]);
});

test('an identity whose first request was refused is cached, and later permissions are added', () => {
  const cache = new AccessCache(noObjects());
  learn(cache, 'token', 'refused', grant({ allowed: false, allowedFor: 'never' }), 0);
  expect(cache.identity('token', 0)?.user.name).toBe('ann');
  learn(cache, 'token', 'allowed', grant({ identityFor: 'never' }), 0);
  expect(['refused', 'allowed'].map(key => isAllowed(cache, key))).toEqual([false, true]);
});

test('an identity that must not be cached is not, nor are its permissions', () => {
  const cache = new AccessCache(noObjects());
  learn(cache, 'token', 'k', grant({ identityFor: 'never' }), 0);
  expect(cache.identity('token', 0)).toBeUndefined();
});

test('an identity expires with its permissions', () => {
  const cache = new AccessCache(noObjects());
  learn(cache, 'token', 'k', grant({ identityFor: 10 }), 0);
  expect(isAllowed(cache, 'k', 9)).toBe(true);
  learn(cache, 'token', 'later', grant({ identityFor: 'never' }), 9);
  expect(isAllowed(cache, 'later', 9)).toBe(true);
  expect(isAllowed(cache, 'later', 10)).toBe(false);
});

test('of unauthenticated credentials, only their absence is cached', () => {
  const cache = new AccessCache(noObjects());
  learn(cache, '\nauthorization Basic 1', 'k', grant({ user: ANONYMOUS }), 0);
  learn(cache, '', 'k', grant({ user: ANONYMOUS }), 0);
  expect(cache.identity('\nauthorization Basic 1', 0)).toBeUndefined();
  expect(cache.identity('', 0)?.user).toBe(ANONYMOUS);
});

test('an identity with too many permissions drops its own, the least recently used first', () => {
  const cache = new AccessCache(noObjects());
  learn(cache, 'other', 'k', grant(), 0);
  learn(cache, 'token', 'unused', grant(), 0);
  learn(cache, 'token', 'used', grant(), 0);
  for (let i = 0; i < (4 * ACCESS_CACHE_BYTES) / 2048 / 2; i++) {
    learn(cache, 'token', `${i}`.padEnd(1024), grant({ identityFor: 'never' }), 0);
    if (i % 100 === 0) expect(isAllowed(cache, 'used')).toBe(true);
  }
  expect(isAllowed(cache, 'unused')).toBe(false);
  expect(cache.permission(cache.identity('other', 0)!, 'k', 0)).toBeDefined();
});

test('too many identities drop the least recently used ones', () => {
  const cache = new AccessCache(noObjects());
  learn(cache, 'unused', 'k', grant(), 0);
  learn(cache, 'token', 'k', grant(), 0);
  for (let i = 0; i < (2 * ACCESS_CACHE_BYTES) / 20_000; i++) {
    learn(cache, `${i}`.padEnd(10_000), 'k', grant(), 0);
    if (i % 100 === 0) expect(isAllowed(cache, 'k')).toBe(true);
  }
  expect(cache.identity('unused', 0)).toBeUndefined();
});

test('a permission with a key that is too long is not cached', () => {
  const cache = new AccessCache(noObjects());
  const long = 'x'.repeat(CACHED_KEY_CHARACTERS + 1);
  learn(cache, 'token', long, grant(), 0);
  expect(isAllowed(cache, long)).toBe(false);
});
