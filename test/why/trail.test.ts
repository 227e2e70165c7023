import { describe, expect, test } from 'vitest';
import { type AdmissionStep, InvalidCredentials, Refusal } from '../../core/api/index.js';
import { mutator, validator, type Change, type Mutator, type Validator } from '../../core/api/admission.js';
import { authenticator, type Authenticator, authorizer, type Authorizer } from '../../core/api/access.js';
import type { Contributed } from '../../core/api/point.js';
import type { ApiObject } from '../../core/model/object.js';
import { forbiddenField, invalid, invalidObject } from '../../core/model/refusal.js';
import type { Target } from '../../core/model/target.js';
import { ANONYMOUS } from '../../core/model/user.js';
import type { Conflict } from '../../core/schema/apply/ownership.js';
import { RecordingBudget } from '../../workers/pool/recordingBudget.js';
import { RequestTrail } from '../../workers/pool/trail.js';
import { partly } from '../support/values.js';

const contributed = <T>(plugin: string, value: T, more: Partial<Contributed<T>> = {}): Contributed<T> => ({
  plugin,
  value,
  failurePolicy: 'Fail',
  isBuiltIn: true,
  call: operation => operation(),
  ...more,
});
const stepsOf = (trail: RequestTrail): AdmissionStep[] => {
  const { steps } = trail.result('id');
  return steps === undefined ? [] : (JSON.parse(steps) as AdmissionStep[]);
};

const change = partly<Change>({
  operation: 'CREATE',
  target: { is: 'resource', verb: 'create', group: '', version: 'v1', resource: 'secrets', subresource: '' },
  user: ANONYMOUS,
  view: { subresource: '' },
});
const sets = (tea: string): Mutator => ({ on: {}, mutate: (_change, draft) => void (draft['tea'] = tea) });
const secret = (): ApiObject => ({ apiVersion: 'v1', kind: 'Secret', metadata: { name: 'a' }, tea: 'old' });

describe('the trail of a request', () => {
  test('has each mutator in order, with the patch of a change', async () => {
    const trail = new RequestTrail(new RecordingBudget());
    const mutate = mutator.combine([contributed('same', sets('old')), contributed('new', sets('s3cret'))]);
    await mutate(change, secret(), undefined, trail);
    expect(stepsOf(trail)).toMatchObject([
      { stage: 'Mutate', plugin: 'same', result: 'Passed' },
      { plugin: 'new', result: 'Changed', patch: '[{"op":"replace","path":"/tea","value":"s3cret"}]' },
    ]);
  });

  test('has no values of objects with credentials in changes, patches, messages and violations', async () => {
    const trail = new RequestTrail(new RecordingBudget());
    trail.isConfidential = true;
    await mutator.combine([contributed('new', sets('s3cret'))])(change, secret(), undefined, trail);
    trail.report({ result: 'Changed', patch: '[{"op":"add","path":"/tea","value":{"of":"s3cret"}}]' });
    trail.report({ result: 'Changed', patch: 's3cret' });
    trail.report({ result: 'Refused', message: 's3cret' });
    const broken = new Refusal('Invalid', 's3cret', { causes: [{ message: 's3cret', field: 'data' }] });
    const denied = new Refusal('Forbidden', 's3cret is too short');
    const unnamed = new Refusal('Forbidden', 'secrets is forbidden');
    expect(trail.result('id', unnamed).refusal?.message).toBe('secrets is forbidden');
    const unread = ['BadRequest', 'InternalError'] as const;
    for (const reason of unread)
      expect(trail.result('id', new Refusal(reason, 'json: s3cret')).refusal?.message).toBe('');
    trail.begin('Validate', 'webhook');
    trail.end(undefined, denied);
    for (const refusal of [broken, denied]) expect(JSON.stringify(trail.result('id', refusal))).not.toContain('s3cret');
    expect(stepsOf(trail).map(({ patch }) => patch)).toEqual([
      '[{"op":"replace","path":"/tea","value":"(redacted)"}]',
      '[{"op":"add","path":"/tea","value":"(redacted)"}]',
      undefined,
      undefined,
      undefined,
    ]);
  });

  test('says that changes were not compared if that would have taken too much time', async () => {
    const budget = new RecordingBudget();
    budget.spend(10_000_000);
    const trail = new RequestTrail(budget);
    await mutator.combine([contributed('new', sets('new'))])(change, secret(), undefined, trail);
    expect(trail.result('id').unseenChanges).toBe(true);
    expect(stepsOf(trail)).toMatchObject([{ plugin: 'new', result: 'Passed' }]);
  });

  test('has refusals, violations, and failures that are ignored', async () => {
    const trail = new RequestTrail(new RecordingBudget());
    const failing = (message: string): Validator => ({
      on: {},
      validate() {
        throw new Refusal('Forbidden', message);
      },
    });
    const finding: Validator = {
      on: {},
      validate: () => [{ reason: 'FieldValueInvalid', field: 'spec.tea', message: 'cold' }],
    };
    const validate = validator.combine([contributed('finds', finding), contributed('refuses', failing('no tea'))]);
    await expect(validate(change, undefined, trail)).rejects.toThrow('no tea');
    trail.begin('Validate', 'fails');
    trail.ignore(new Error('late'));
    trail.end(undefined);
    expect(stepsOf(trail)).toMatchObject([
      { stage: 'Validate', plugin: 'finds', result: 'Refused', message: 'spec.tea' },
      { plugin: 'refuses', result: 'Refused', message: 'no tea' },
      { plugin: 'fails', result: 'Failed', message: 'late' },
    ]);
  });

  test('is limited in size for every report of plugins', () => {
    const trail = new RequestTrail(new RecordingBudget());
    for (let i = 0; i < 1000; i++)
      trail.report({ part: 'p'.repeat(1e5), result: 'Changed', message: 'x'.repeat(1e5), patch: '1'.repeat(1e5) });
    const causes = Array.from({ length: 1000 }, () => ({ message: 'y'.repeat(1e5), field: 'z'.repeat(1e5) }));
    const owner = { manager: 'm', operation: 'Apply', apiVersion: 'v1' } as Conflict['owner'];
    trail.conflict(causes.map(() => ({ owner, path: `.${'z'.repeat(1e5)}` })));
    const result = trail.result('id', new Refusal('Invalid', 'x'.repeat(1e6), { causes }));
    expect(JSON.stringify(result).length).toBeLessThan(3_000_000);
    expect(stepsOf(trail)).toHaveLength(100);
    expect(result.refusal!.causes).toHaveLength(100);
    expect(result.refusal!.conflicts).toHaveLength(100);
  });

  test('has only the members of steps, and refuses unknown results', () => {
    const trail = new RequestTrail(new RecordingBudget());
    trail.report({ result: 'Passed', ms: Number.NaN, cost: 1n, of: 1n } as never);
    expect(stepsOf(trail)).toEqual([{ stage: 'Validate', plugin: '', result: 'Passed' }]);
    expect(() => trail.report({ result: 'Fine' } as never)).toThrow(
      'report: result must be one of Changed, Passed, Refused, Warned, Failed',
    );
  });

  test('has only the name that selectors choose', () => {
    const trail = new RequestTrail(new RecordingBudget());
    const asked: Target = {
      is: 'resource',
      verb: 'list',
      group: '',
      version: 'v1',
      resource: 'pods',
      subresource: '',
      namespace: '',
      name: '',
      path: '/api/v1/pods',
      fieldSelector: [{ key: 'metadata.name', operator: '=', values: ['tea'] }],
    };
    trail.deny([], asked);
    const { fieldSelector: _, ...plain } = asked;
    expect(trail.result('id', new Refusal('Forbidden', 'no')).asked).toEqual({ ...plain, name: 'tea' });
  });

  test('has no part of a token that an authenticator repeats in its message', async () => {
    const token = 'header00.claims00.signature00';
    const repeating: Authenticator = {
      cacheFor: 'never',
      authenticate() {
        throw new Refusal('Unauthorized', `${token} is unknown: signature00 of claims00`);
      },
    };
    const request = {
      header: (name: string) => (name === 'authorization' ? `Bearer ${token}` : undefined),
      headers: () => [],
      remoteAddress: '',
      path: '/',
      warn: () => undefined,
    };
    await expect(authenticator.combine([contributed('hook', repeating)]).authenticate(request)).rejects.toMatchObject({
      reasons: ['(redacted) is unknown: (redacted) of (redacted)'],
    });
  });

  test('has the causes of invalid credentials, which the sender does not get', () => {
    const trail = new RequestTrail(new RecordingBudget());
    const { refusal } = trail.result('id', new InvalidCredentials(['the token has expired'], ['jwt']));
    expect(refusal).toEqual({ reason: 'Unauthorized', message: 'the token has expired', causes: [] });
    const unknown = trail.result('id', new InvalidCredentials([], ['static-token', 'jwt'])).refusal;
    expect(unknown?.message).toBe('the credentials are not valid for static-token, jwt');
  });

  test('has the expression that is false, which the sender does not get', () => {
    const broken = { ...invalid('spec', {}, 'min is above max'), rule: 'self.min <= self.max' };
    const refusal = invalidObject('', 'Tea', 't', [broken]);
    const { causes } = new RequestTrail(new RecordingBudget()).result('id', refusal).refusal!;
    expect([causes[0]?.rule, JSON.stringify(refusal.toStatus())]).toEqual([
      'self.min <= self.max',
      expect.not.stringContaining('self.min'),
    ]);
  });

  test('has the rules that a Secret violates, unless a plugin has reported them', () => {
    const immutable = invalidObject('', 'Secret', 's', [forbiddenField('data', 'field is immutable')]);
    const trail = new RequestTrail(new RecordingBudget());
    trail.isConfidential = true;
    const shown = trail.result('id', immutable).refusal;
    expect([shown?.message, shown?.causes[0]?.message]).toEqual([
      'Secret "s" is invalid: data: Forbidden: field is immutable',
      'Forbidden: field is immutable',
    ]);
    const both = invalidObject('', 'Secret', 's', [forbiddenField('a', 'no'), invalid('b', 's3cret', 'no')]);
    const half = trail.result('id', both).refusal;
    expect([half?.message, half?.causes.map(({ message }) => message)]).toEqual(['', ['Forbidden: no', '']]);
    trail.begin('Validate', 'plugin');
    trail.end(undefined, undefined, [forbiddenField('a', 's3cret is too short')]);
    expect(trail.result('id', immutable).refusal).toMatchObject({ message: '', causes: [{ message: '' }] });
  });
});

describe('authorizers', () => {
  const target = { is: 'path', verb: 'get', path: '/tea' } as const;
  const saying = (is: 'allow' | 'deny' | 'noOpinion', more: Partial<Authorizer> = {}): Authorizer => ({
    dependsOn: [],
    authorize: () => ({ is, reason: `${is}!` }),
    ...more,
  });

  test('are recorded up to the one that decides', async () => {
    const authorization = authorizer.combine([
      contributed('node', saying('noOpinion')),
      contributed('night', saying('deny')),
      contributed('rbac', saying('allow')),
    ]);
    const { opinions } = await authorization.authorize(ANONYMOUS, target);
    expect(opinions).toEqual([
      { plugin: 'node', is: 'noOpinion', reason: 'noOpinion!' },
      { plugin: 'night', is: 'deny', reason: 'deny!' },
    ]);
  });

  test('are all asked for explanations, even if one fails or returns an invalid value', async () => {
    const rules = [{ source: 'a', rule: 'b', missing: ['verb'] }];
    const authorization = authorizer.combine([
      contributed('silent', saying('noOpinion')),
      contributed('rbac', saying('noOpinion', { explain: () => ({ rules }) })),
      contributed('lies', saying('noOpinion', { explain: () => ({ rules: 'none' }) as never })),
      contributed('grants', saying('noOpinion', { explain: () => ({ rules, grant: [1n] }) as never })),
      contributed('throws', { dependsOn: [], authorize: () => Promise.reject(new Error('down')) }),
      contributed('fails', saying('noOpinion', { explain: () => Promise.reject(new Error('no')) })),
    ]);
    expect(await authorization.explain(ANONYMOUS, target)).toEqual([
      { plugin: 'silent', is: 'noOpinion', reason: 'noOpinion!' },
      { plugin: 'rbac', is: 'noOpinion', reason: 'noOpinion!', explanation: { rules } },
      { plugin: 'lies', is: 'noOpinion', reason: 'noOpinion!', error: expect.stringContaining('explain must return') },
      {
        plugin: 'grants',
        is: 'noOpinion',
        reason: 'noOpinion!',
        error: expect.stringContaining('explain must return'),
      },
      { plugin: 'throws', is: 'deny', error: 'down' },
      { plugin: 'fails', is: 'noOpinion', reason: 'noOpinion!', error: 'no' },
    ]);
  });
});
