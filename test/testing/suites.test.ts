import { describe, expect, test } from 'vitest';
import {
  type ApiObject,
  type Authenticator,
  type Authorizer,
  type Mutator,
  Refusal,
  type User,
  type Validator,
} from '../../core/api/index.js';
import {
  authenticatorConformance,
  authorizerConformance,
  change,
  mutatorConformance,
  target,
  user,
  validatorConformance,
} from '../../core/testing/index.js';
import { failing } from './failing.js';

/* The findings of each conformance suite in a part that breaks a promise. */

describe('the suite of authenticators', () => {
  const ann: User = { name: 'ann', uid: '', groups: [], extra: new Map() };
  const good = { request: { headers: { 'x-key': 'good' } }, name: 'ann', groups: [] };
  const bad = [{ headers: { 'x-key': 'bad' } }];
  const unauthorized = (): never => {
    throw new Refusal('Unauthorized', 'Unauthorized');
  };
  const found = (authenticate: Authenticator['authenticate'], cacheFor: unknown = 'never') =>
    failing(authenticatorConformance({ make: () => ({ authenticate, cacheFor: cacheFor as 'never' }), good, bad }));

  test.each<[string, Authenticator['authenticate'], string[]]>([
    [
      'a good one',
      r => (r.header('x-key') === 'good' ? ann : r.header('x-key') === undefined ? null : unauthorized()),
      [],
    ],
    [
      'knows everybody',
      () => ann,
      [
        'returns null for a request without credentials',
        'refuses invalid credentials with 401',
        'returns no user for hostile texts, and does not fail',
        'does not mix up concurrent requests',
      ],
    ],
    [
      'looks names up in an object',
      r =>
        (({ good: ann }) as Record<string, User>)[r.header('x-key') ?? ''] ??
        (r.header('x-key') ? unauthorized() : null),
      ['returns no user for hostile texts, and does not fail'],
    ],
    [
      'returns half a user',
      r =>
        r.header('x-key') === 'good'
          ? ({ name: 'ann', groups: [] } as never)
          : r.header('x-key') === undefined
            ? null
            : unauthorized(),
      ['returns a complete user for good credentials, each time'],
    ],
    [
      'has no opinion on invalid credentials',
      r => (r.header('x-key') === 'good' ? ann : null),
      ['refuses invalid credentials with 401'],
    ],
  ])('finds the fault of an authenticator that %s', async (_what, authenticate, expected) => {
    expect(await found(authenticate)).toEqual(expected);
  });

  test('finds an unknown cacheFor', async () => {
    expect(await found(() => null, 'always')).toContain('says how long its answers may be cached');
  });
});

describe('the suite of authorizers', () => {
  const decisions = [{ user: user('ann'), target: target(), is: 'allow' }] as const;
  const found = (authorize: Authorizer['authorize']) =>
    failing(authorizerConformance({ make: () => ({ authorize, dependsOn: 'never' }), decisions }));

  test.each<[string, Authorizer['authorize'], string[]]>([
    ['is good', () => ({ is: 'allow' }), []],
    [
      'has no opinion on paths',
      (_, t) => (t.is === 'path' ? (undefined as never) : { is: 'allow' }),
      ['decides about every kind of request, with hostile names too, and denies with a reason'],
    ],
    [
      'denies without reason',
      (_, t) => (t.verb === 'get' ? { is: 'allow' } : ({ is: 'deny' } as never)),
      ['decides about every kind of request, with hostile names too, and denies with a reason'],
    ],
    [
      'modifies the user',
      u => (((u as { name: string }).name = 'x'), { is: 'allow' }),
      ['changes neither user nor target'],
    ],
    ['denies', () => ({ is: 'deny', reason: 'no' }), ['decides as expected, each time']],
  ])('finds the fault of an authorizer that %s', async (_what, authorize, expected) => {
    expect(await found(authorize)).toEqual(expected);
  });
});

const map = (data: object): ApiObject =>
  ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' }, data }) as ApiObject;

describe('the suite of mutators', () => {
  const found = (mutate: Mutator['mutate'], on: object = {}) =>
    failing(
      mutatorConformance({
        make: () => ({ on, mutate }),
        drafts: [{ change: change(), draft: map({ n: 1 }), after: map({ n: 2 }) }],
      }),
    );
  const data = (draft: ApiObject) => draft['data'] as { n: unknown };

  test.each<[string, Mutator['mutate'], string[]]>([
    ['is good', (_, draft) => void (draft['data'] = { n: 2 }), []],
    [
      'counts up',
      (_, draft) => void (draft['data'] = { n: Number(data(draft)?.n ?? 0) + 1 }),
      ['changes nothing more when it is called again, as after a conflict'],
    ],
    ['needs a member', (_, draft) => void (data(draft).n = 2), ['does not fail for drafts that lack members']],
    [
      'renames',
      (_, draft) => void Object.assign(draft, { data: { n: 2 }, metadata: { name: 'b' } }),
      [
        'changes drafts as expected',
        'changes nothing more when it is called again, as after a conflict',
        'leaves a draft that is JSON, of the same kind and name',
      ],
    ],
    [
      'modifies the change',
      (change, draft) => void Object.assign(draft, { data: { n: 2 } }, Object.assign(change, { kind: 'x' }).old),
      ['does not modify the change'],
    ],
  ])('finds the fault of a mutator that %s', async (_what, mutate, expected) => {
    expect(await found(mutate)).toEqual(expected);
  });

  test('finds an unknown operation', async () => {
    expect(await found(() => undefined, { operations: ['PATCH'] })).toContain('selects changes by lists of texts');
  });
});

describe('the suite of validators', () => {
  const found = (validate: Validator['validate']) =>
    failing(
      validatorConformance({
        make: () => ({ on: {}, validate }),
        objects: [{ change: change(), after: map({ n: 1 }), fields: ['data.n'] }],
      }),
    );
  const violation = { reason: 'FieldValueInvalid', field: 'data.n', message: 'Invalid value' } as const;

  test.each<[string, Validator['validate'], string[]]>([
    ['is good', () => [violation], []],
    ['finds nothing', () => [], ['finds the expected violations in frozen objects, each time']],
    ['says nothing', () => [{ ...violation, message: '' }], ['gives each violation a reason, a field and a message']],
    [
      'needs a member',
      (_, after) => ((after!['data'] as { n: number }).n > 0 ? [violation] : []),
      ['does not fail for objects that lack members'],
    ],
    [
      'modifies the object',
      (_, after) => (((after as ApiObject).metadata.name = 'b'), [violation]),
      [
        'finds the expected violations in frozen objects, each time',
        'gives each violation a reason, a field and a message',
        'does not fail for objects that lack members',
      ],
    ],
  ])('finds the fault of a validator that %s', async (_what, validate, expected) => {
    expect(await found(validate)).toEqual(expected);
  });
});
