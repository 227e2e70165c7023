import assert from 'node:assert/strict';
import type { Authenticator, Authorizer, Decision } from '../../api/access.js';
import type { Awaitable } from '../../api/point.js';
import { Refusal } from '../../model/refusal.js';
import type { Target } from '../../model/target.js';
import type { User } from '../../model/user.js';
import { type ConformanceTest, suite } from '../suite.js';
import { ALL_TARGETS, frozenCopy, HOSTILE_TEXTS, received, type ReceivedSample } from './samples.js';

/** An authenticator under test, and the expected results for some requests. */
export interface AuthenticatorCase {
  /** Makes one; called for each test. */
  make(): Awaitable<Authenticator>;
  /** A request with good credentials, and the name and groups of its user. */
  readonly good: { readonly request: ReceivedSample; readonly name: string; readonly groups: readonly string[] };
  /** Requests with credentials that the authenticator supports, and that are invalid. */
  readonly bad?: readonly ReceivedSample[];
}

/** The user, null, or 401 for a refusal. Rethrows other errors. */
async function outcomeOf(authenticator: Authenticator, sample: ReceivedSample): Promise<User | null | 401> {
  try {
    const found = await authenticator.authenticate(received(sample));
    return found && 'user' in found ? found.user : (found ?? null);
  } catch (error) {
    if (error instanceof Refusal && error.code === 401) return 401;
    throw error;
  }
}

/** Names of the headers that an authenticator reads of a request. */
async function headersRead(authenticator: Authenticator, sample: ReceivedSample): Promise<Set<string>> {
  const names = new Set<string>();
  const request = received(sample);
  const header = (name: string): string | undefined => (names.add(name), request.header(name));
  await authenticator.authenticate({ ...request, header });
  return names;
}

/**
 * Returns the tests that every authenticator must pass.
 *
 * @example
 * const good = { request: { headers: { 'x-api-key': 'secret' } }, name: 'ann', groups: [] };
 * for (const { name, run } of authenticatorConformance({ make: () => new ApiKeys(config), good })) test(name, run);
 */
export function authenticatorConformance({ make, good, bad = [] }: AuthenticatorCase): readonly ConformanceTest[] {
  return suite(({ it }) => {
    it('returns a complete user for good credentials, each time', async () => {
      const authenticator = await make();
      for (let i = 0; i < 2; i++) {
        const user = await outcomeOf(authenticator, good.request);
        assert.ok(user !== null && user !== 401, 'good credentials must give a user');
        assert.deepEqual([user.name, user.groups], [good.name, good.groups]);
        assert.equal(typeof user.uid, 'string', 'uid must be a string');
        assert.ok(user.extra instanceof Map, 'extra must be a Map');
      }
    });

    it('returns null for a request without credentials', async () => {
      assert.equal(await outcomeOf(await make(), {}), null);
    });

    it('refuses invalid credentials with 401', async () => {
      const authenticator = await make();
      for (const sample of bad) assert.equal(await outcomeOf(authenticator, sample), 401, JSON.stringify(sample));
    });

    it('returns no user for hostile texts, and does not fail', async () => {
      const authenticator = await make();
      const names = await headersRead(authenticator, good.request);
      for (const text of HOSTILE_TEXTS)
        for (const value of [text, `Bearer ${text}`]) {
          const headers = Object.fromEntries(Array.from(names, name => [name, value]));
          const outcome = await outcomeOf(authenticator, { headers });
          assert.ok(outcome === null || outcome === 401, `${JSON.stringify(value.slice(0, 40))} must give no user`);
        }
    });

    it('does not mix up concurrent requests', async () => {
      const authenticator = await make();
      const samples = Array.from({ length: 20 }, (_, i) => (i % 2 === 0 ? good.request : {}));
      const users = await Promise.all(samples.map(sample => outcomeOf(authenticator, sample)));
      for (const [i, user] of users.entries())
        assert.equal(user === null || user === 401 ? user : user.name, i % 2 === 0 ? good.name : null);
    });

    it('says how long its answers may be cached', async () => {
      const { cacheFor } = await make();
      const isTime = typeof cacheFor === 'number' && cacheFor >= 0;
      assert.ok(cacheFor === 'forever' || cacheFor === 'never' || isTime, 'cacheFor: forever, never or milliseconds');
    });
  });
}

/** An authorizer under test, and the expected decisions. */
export interface AuthorizerCase {
  /** Makes one; called for each test. */
  make(): Awaitable<Authorizer>;
  readonly decisions: readonly { readonly user: User; readonly target: Target; readonly is: Decision['is'] }[];
}

function checkDecision(decision: Decision): void {
  assert.ok(['allow', 'deny', 'noOpinion'].includes(decision?.is), `unknown decision ${JSON.stringify(decision)}`);
  if (decision.is === 'deny') assert.ok(decision.reason, 'deny must have a reason');
}

/**
 * Returns the tests that every authorizer must pass.
 *
 * @example
 * const decisions = [{ user: user('ann'), target: target({ verb: 'list' }), is: 'allow' }] as const;
 * for (const { name, run } of authorizerConformance({ make: () => new Teams(host), decisions })) test(name, run);
 */
export function authorizerConformance({ make, decisions }: AuthorizerCase): readonly ConformanceTest[] {
  return suite(({ it }) => {
    it('decides as expected, each time', async () => {
      const authorizer = await make();
      for (let i = 0; i < 2; i++)
        for (const { user, target, is } of decisions) {
          const decision = await authorizer.authorize(user, target);
          assert.equal(decision.is, is, `${user.name} ${target.verb} ${target.path}`);
        }
    });

    it('decides about every kind of request, with hostile names too, and denies with a reason', async () => {
      const authorizer = await make();
      const users = new Set(decisions.map(({ user }) => user));
      for (const user of users)
        for (const target of ALL_TARGETS) checkDecision(await authorizer.authorize(user, target));
    });

    it('changes neither user nor target', async () => {
      const authorizer = await make();
      for (const { user, target } of decisions) {
        checkDecision(await authorizer.authorize(frozenCopy(user), frozenCopy(target)));
      }
    });

    it('says how long its decisions hold', async () => {
      const { dependsOn } = await make();
      const isTime = (value: unknown): boolean => typeof value === 'number' && value >= 0;
      const isList = (value: unknown): boolean =>
        Array.isArray(value) && value.every(name => typeof name === 'string' && name.includes('/'));
      const { resources, milliseconds } = Object(dependsOn) as { resources?: unknown; milliseconds?: unknown };
      assert.ok(
        dependsOn === 'never' || isTime(dependsOn) || isList(dependsOn) || (isList(resources) && isTime(milliseconds)),
        'dependsOn: storage names, never, milliseconds or { resources, milliseconds }',
      );
    });
  });
}
