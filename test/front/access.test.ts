import { expect, test } from 'vitest';
import type { Exchange } from '../../core/api/listener.js';
import { AccessCache, credentialKey } from '../../workers/front/access.js';
import { DECISION_CHARACTERS, DECISIONS } from '../../core/limits.js';
import type { Grant } from '../../core/threads/messages.js';

const grant = (over: Partial<Grant> = {}): Grant => ({
  user: { name: 'ann', uid: '', groups: [], extra: new Map() },
  identityFor: 'forever',
  dependsOn: 'policy',
  allowed: true,
  ...over,
});
const isAllowed = (cache: AccessCache, key: string, now = 0): boolean => {
  const known = cache.identity('token', now);
  return known !== undefined && cache.isAllowed(known, key, now);
};

test('requests with other credentials, or on behalf of others, are known by other keys', () => {
  const keyOf = (headers: Record<string, string>, certificate?: string): string =>
    credentialKey({ headers: () => Object.entries(headers), certificate } as unknown as Exchange);
  const names = [
    'authorization',
    'impersonate-user',
    'impersonate-group',
    'impersonate-uid',
    'impersonate-extra-scopes',
  ];
  const keys = [keyOf({}), keyOf({}, 'x'), ...names.map(name => keyOf({ [name]: 'x' }))];
  expect(new Set(keys).size).toBe(keys.length);
  expect(keyOf({ authorization: 'x', accept: 'a' })).toBe(keyOf({ authorization: 'x', accept: 'b' }));
});

test('a decision is remembered until the policy changes, and for its time at most', () => {
  const cache = new AccessCache();
  cache.learn('token', 'by policy', grant(), cache.policy, 0);
  cache.learn('token', 'for a while', grant({ dependsOn: 10 }), cache.policy, 0);
  cache.learn('token', 'never', grant({ dependsOn: 'never' }), cache.policy, 0);
  cache.learn('token', 'denied', grant({ allowed: false }), cache.policy, 0);
  const allowedAt = (now: number) =>
    ['by policy', 'for a while', 'never', 'denied'].filter(key => isAllowed(cache, key, now));
  expect(allowedAt(9)).toEqual(['by policy', 'for a while']);
  expect(allowedAt(10)).toEqual(['by policy']);
  // What was allowed for a while may have been allowed by policy, behind somebody without opinion.
  cache.policy++;
  expect(allowedAt(9)).toEqual([]);
});

test('a decision made before a change of policy, learnt after it, does not count', () => {
  const cache = new AccessCache();
  const before = cache.policy++;
  cache.learn('token', 'k', grant(), before, 0);
  expect(isAllowed(cache, 'k')).toBe(false);
});

test.each([
  ['entries', DECISIONS, ''],
  ['characters', DECISION_CHARACTERS / (64 * 1024), 'x'.repeat(64 * 1024)],
])('over its bound of %s the cache begins anew', (_, fitting, long) => {
  const cache = new AccessCache();
  cache.learn('token', 'first', grant(), 0, 0);
  for (let i = 0; i < fitting / 2; i++) cache.learn('token', `${long}${i}`, grant(), 0, 0);
  expect(isAllowed(cache, 'first')).toBe(true);
  for (let i = 0; i < fitting; i++) cache.learn('token', `${long}${i}`, grant(), 0, 0);
  expect(isAllowed(cache, 'first')).toBe(false);
  cache.learn('token', 'last', grant(), 0, 0);
  expect(isAllowed(cache, 'last')).toBe(true);
});
