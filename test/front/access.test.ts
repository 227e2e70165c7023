import { expect, test } from 'vitest';
import type { Exchange } from '../../core/api/listener.js';
import { AccessCache, credentialKey } from '../../workers/front/access/access.js';
import { ACCESS_CACHE_BYTES, CACHED_KEY_CHARACTERS } from '../../core/limits.js';
import { ANONYMOUS } from '../../core/model/user.js';
import type { Grant } from '../../core/threads/messages/messages.js';
import { partly } from '../support/values.js';

const grant = (over: Partial<Grant> = {}): Grant => ({
  user: { name: 'ann', uid: '', groups: [], extra: new Map() },
  identityFor: 'forever',
  objects: [],
  dependsOn: 'policy',
  allowed: true,
  ...over,
});
const isAllowed = (cache: AccessCache, key: string, now = 0): boolean => {
  const known = cache.identity('token', now);
  return known !== undefined && cache.permission(known, key, now) !== undefined;
};

test('requests with other credentials or impersonation have other cache keys', () => {
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

test('a decision is cached until the policy changes, and at most for its time', () => {
  const cache = new AccessCache(() => undefined);
  cache.learn('token', 'by policy', grant(), cache.policy, 0);
  cache.learn('token', 'for a while', grant({ dependsOn: 10 }), cache.policy, 0);
  cache.learn('token', 'never', grant({ dependsOn: 'never' }), cache.policy, 0);
  cache.learn('token', 'denied', grant({ allowed: false }), cache.policy, 0);
  const allowedAt = (now: number) =>
    ['by policy', 'for a while', 'never', 'denied'].filter(key => isAllowed(cache, key, now));
  expect(allowedAt(9)).toEqual(['by policy', 'for a while']);
  expect(allowedAt(10)).toEqual(['by policy']);
  // A decision with a limited time may have been made by RBAC, after an authorizer without opinion.
  cache.policy++;
  expect(allowedAt(9)).toEqual([]);
});

test('a decision made before a change of policy, and received after it, is not cached', () => {
  const cache = new AccessCache(() => undefined);
  const before = cache.policy++;
  cache.learn('token', 'k', grant(), before, 0);
  expect(isAllowed(cache, 'k')).toBe(false);
});

test('further permissions of a cached identity are added', () => {
  const cache = new AccessCache(() => undefined);
  cache.learn('token', 'first', grant(), 0, 0);
  cache.learn('token', 'second', grant({ identityFor: 'never' }), 0, 0);
  expect(['first', 'second', 'third'].map(key => isAllowed(cache, key))).toEqual([true, true, false]);
});

test('an identity whose first request was refused is cached, and later permissions are added', () => {
  const cache = new AccessCache(() => undefined);
  cache.learn('token', 'refused', grant({ allowed: false, dependsOn: 'never' }), 0, 0);
  expect(cache.identity('token', 0)?.user.name).toBe('ann');
  cache.learn('token', 'allowed', grant({ identityFor: 'never' }), 0, 0);
  expect(['refused', 'allowed'].map(key => isAllowed(cache, key))).toEqual([false, true]);
});

test('an identity that must not be cached is not, nor are its permissions', () => {
  const cache = new AccessCache(() => undefined);
  cache.learn('token', 'k', grant({ identityFor: 'never' }), 0, 0);
  expect(cache.identity('token', 0)).toBeUndefined();
});

test('an identity expires with its permissions', () => {
  const cache = new AccessCache(() => undefined);
  cache.learn('token', 'k', grant({ identityFor: 10 }), 0, 0);
  expect(isAllowed(cache, 'k', 9)).toBe(true);
  cache.learn('token', 'later', grant({ identityFor: 'never' }), 0, 9);
  expect(isAllowed(cache, 'later', 9)).toBe(true);
  expect(isAllowed(cache, 'later', 10)).toBe(false);
});

test('of unauthenticated credentials, only their absence is cached', () => {
  const cache = new AccessCache(() => undefined);
  cache.learn('\nauthorization Basic 1', 'k', grant({ user: ANONYMOUS }), 0, 0);
  cache.learn('', 'k', grant({ user: ANONYMOUS }), 0, 0);
  expect(cache.identity('\nauthorization Basic 1', 0)).toBeUndefined();
  expect(cache.identity('', 0)?.user).toBe(ANONYMOUS);
});

test('an identity with too many permissions drops its own, the least recently used first', () => {
  const cache = new AccessCache(() => undefined);
  cache.learn('other', 'k', grant(), 0, 0);
  cache.learn('token', 'unused', grant(), 0, 0);
  cache.learn('token', 'used', grant(), 0, 0);
  for (let i = 0; i < (4 * ACCESS_CACHE_BYTES) / 2048 / 2; i++) {
    cache.learn('token', `${i}`.padEnd(1024), grant({ identityFor: 'never' }), 0, 0);
    if (i % 100 === 0) expect(isAllowed(cache, 'used')).toBe(true);
  }
  expect(isAllowed(cache, 'unused')).toBe(false);
  expect(cache.permission(cache.identity('other', 0)!, 'k', 0)).toBeDefined();
});

test('too many identities drop the least recently used ones', () => {
  const cache = new AccessCache(() => undefined);
  cache.learn('unused', 'k', grant(), 0, 0);
  cache.learn('token', 'k', grant(), 0, 0);
  for (let i = 0; i < (2 * ACCESS_CACHE_BYTES) / 20_000; i++) {
    cache.learn(`${i}`.padEnd(10_000), 'k', grant(), 0, 0);
    if (i % 100 === 0) expect(isAllowed(cache, 'k')).toBe(true);
  }
  expect(cache.identity('unused', 0)).toBeUndefined();
});

test('a permission with a key that is too long is not cached', () => {
  const cache = new AccessCache(() => undefined);
  const long = 'x'.repeat(CACHED_KEY_CHARACTERS + 1);
  cache.learn('token', long, grant(), 0, 0);
  expect(isAllowed(cache, long)).toBe(false);
});
