import { describe, expect, test } from 'vitest';
import { type AdmissionStep, InvalidCredentials, Refusal } from '../../core/api/index.js';
import { mutator, validator, type Change, type Mutator, type Validator } from '../../core/api/admission.js';
import { authorizer, type Authorizer } from '../../core/api/access.js';
import type { Contributed } from '../../core/api/point.js';
import type { ApiObject } from '../../core/model/object.js';
import { ANONYMOUS } from '../../core/model/user.js';
import { RecordingBudget } from '../../workers/pool/recordingBudget.js';
import { RequestTrail } from '../../workers/pool/trail.js';

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

const change = {
  operation: 'CREATE',
  target: { is: 'resource', verb: 'create', group: '', version: 'v1', resource: 'secrets', subresource: '' },
  user: ANONYMOUS,
  view: { subresource: '' },
} as unknown as Change;
const sets = (tea: string): Mutator => ({ on: {}, mutate: (_change, draft) => void (draft['tea'] = tea) });
const secret = (): ApiObject => ({ apiVersion: 'v1', kind: 'Secret', metadata: { name: 'a' }, tea: 'old' });

describe('the trail of a request', () => {
  test('has each mutator in order, with the object before and after a change', async () => {
    const trail = new RequestTrail(new RecordingBudget());
    const mutate = mutator.combine([contributed('same', sets('old')), contributed('new', sets('s3cret'))]);
    await mutate(change, secret(), undefined, trail);
    expect(stepsOf(trail)).toMatchObject([
      { stage: 'Mutate', plugin: 'same', result: 'Passed' },
      { stage: 'Mutate', plugin: 'new', result: 'Changed', before: expect.any(String), after: expect.any(String) },
    ]);
  });

  test('has no values of objects with credentials: not of changes, patches, messages and violations', async () => {
    const trail = new RequestTrail(new RecordingBudget());
    trail.isConfidential = true;
    await mutator.combine([contributed('new', sets('s3cret'))])(change, secret(), undefined, trail);
    trail.report({ result: 'Changed', patch: '[{"op":"add","path":"/tea","value":{"of":"s3cret"}}]' });
    trail.report({ result: 'Changed', patch: 's3cret' });
    trail.report({ result: 'Refused', message: 's3cret' });
    const invalid = new Refusal('Invalid', 's3cret', { causes: [{ message: 's3cret', field: 'data' }] });
    const text = JSON.stringify(trail.result('id', invalid));
    expect(text).not.toContain('s3cret');
    expect(stepsOf(trail).map(({ patch }) => patch)).toEqual([
      '[{"op":"replace","path":"/tea","value":"(redacted)"}]',
      '[{"op":"add","path":"/tea","value":"(redacted)"}]',
      undefined,
      undefined,
    ]);
  });

  test('says that changes were not looked at, when that would have taken too much time', async () => {
    const budget = new RecordingBudget();
    budget.spend('x'.repeat(10_000_000));
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

  test('has bounds, whatever plugins report', () => {
    const trail = new RequestTrail(new RecordingBudget());
    for (let i = 0; i < 1000; i++)
      trail.report({ result: 'Changed', message: 'x'.repeat(1e5), patch: '1'.repeat(1e5) });
    const causes = Array.from({ length: 1000 }, () => ({ message: 'y'.repeat(1e5), field: 'z'.repeat(1e5) }));
    const result = trail.result('id', new Refusal('Invalid', 'x'.repeat(1e6), { causes }));
    expect(JSON.stringify(result).length).toBeLessThan(2_000_000);
    expect(stepsOf(trail)).toHaveLength(100);
    expect(result.refusal!.causes).toHaveLength(100);
  });

  test('has the causes of invalid credentials, which the sender does not learn', () => {
    const trail = new RequestTrail(new RecordingBudget());
    const { refusal } = trail.result('id', new InvalidCredentials(['the token has expired']));
    expect(refusal).toEqual({ reason: 'Unauthorized', message: 'the token has expired', causes: [] });
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

  test('explain themselves, each of them; one that fails or answers nonsense does not keep the others from it', async () => {
    const rules = [{ source: 'a', rule: 'b', missing: ['verb'] }];
    const authorization = authorizer.combine([
      contributed('silent', saying('noOpinion')),
      contributed('rbac', saying('noOpinion', { explain: () => ({ rules }) })),
      contributed('lies', saying('noOpinion', { explain: () => ({ rules: 'none' }) as never })),
      contributed('fails', saying('noOpinion', { explain: () => Promise.reject(new Error('no')) })),
    ]);
    expect(await authorization.explain(ANONYMOUS, target)).toEqual([
      { plugin: 'silent', is: 'noOpinion', reason: 'noOpinion!' },
      { plugin: 'rbac', is: 'noOpinion', reason: 'noOpinion!', explanation: { rules } },
      { plugin: 'lies', is: 'noOpinion', reason: 'noOpinion!', error: expect.stringContaining('explain must return') },
      { plugin: 'fails', is: 'noOpinion', reason: 'noOpinion!', error: 'no' },
    ]);
  });
});
