import { beforeAll, describe, expect, it } from 'vitest';
import type { ApiObject } from '../../core/model/object.js';
import { loadEngine } from '../../core/schema/custom/engine.js';
import { parseGoUrl } from '../../plugins/kinds/shared/admission/goUrl.js';
import { create, lines, update } from './helpers.js';

const GROUP = 'admissionregistration.orchestrator.io';
const POLICIES = `${GROUP}/validatingadmissionpolicies`;
const BINDINGS = `${GROUP}/validatingadmissionpolicybindings`;
const WEBHOOKS = `${GROUP}/validatingwebhookconfigurations`;

beforeAll(() => loadEngine());

const RULE = { apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['pods'] };

const made = (content: object): ApiObject => ({ apiVersion: 'v1', kind: 'Kind', metadata: { name: 'x' }, ...content });

const policy = (spec: object): ApiObject =>
  made({ spec: { matchConstraints: { resourceRules: [RULE] }, validations: [{ expression: 'true' }], ...spec } });

const webhook = (change: object): ApiObject =>
  made({
    webhooks: [
      {
        name: 'a.b.c',
        clientConfig: { url: 'https://host/path' },
        sideEffects: 'None',
        admissionReviewVersions: ['v1'],
        ...change,
      },
    ],
  });

const violationsOf = (storageName: string, object: ApiObject): string[] =>
  lines(create(storageName, object).violations);

describe('policies', () => {
  it.each([
    [{ expression: '1' }, ['expression: Invalid value: "1": must evaluate to bool but got int']],
    [{ expression: 'object.x' }, ['expression: Invalid value: "object.x": must evaluate to bool but got dyn']],
    [{ expression: 'true', messageExpression: '"s"' }, []],
    [{ expression: 'true', message: ' ' }, ['message: Invalid value: " ": message must be non-empty if specified']],
    [{ expression: ' ' }, ['expression: Required value: expression is not specified']],
  ])('a validation of %j has the violations %j', (validation, wrong) => {
    expect(violationsOf(POLICIES, policy({ validations: [validation] }))).toEqual(
      wrong.map(line => `spec.validations[0].${line}`),
    );
  });
  it('all expressions except messages can use the authorizer, and params need a paramKind', () => {
    const asks = 'authorizer.group("").resource("pods").check("get").allowed()';
    expect(violationsOf(POLICIES, policy({ validations: [{ expression: asks }] }))).toEqual([]);
    const inMessage = { expression: 'true', messageExpression: `string(${asks})` };
    expect(violationsOf(POLICIES, policy({ validations: [inMessage] }))).toEqual([
      expect.stringContaining("undeclared reference to 'authorizer'"),
    ]);
    const usesParams = { validations: [{ expression: 'params.x == 1' }] };
    expect(violationsOf(POLICIES, policy(usesParams))).toEqual([
      expect.stringContaining("undeclared reference to 'params'"),
    ]);
    const paramKind = { apiVersion: 'v1', kind: 'ConfigMap' };
    expect(violationsOf(POLICIES, policy({ ...usesParams, paramKind }))).toEqual([]);
  });
  it('a variable may use those before it, and has the type of its expression', () => {
    const [one, two] = [
      { name: 'one', expression: '1' },
      { name: 'two', expression: 'variables.one + 1' },
    ];
    const validations = [{ expression: 'variables.two == 2' }];
    expect(violationsOf(POLICIES, policy({ variables: [one, two], validations }))).toEqual([]);
    expect(violationsOf(POLICIES, policy({ variables: [two, one], validations }))).toEqual([
      expect.stringContaining("undefined field 'one'"),
    ]);
    expect(
      violationsOf(POLICIES, policy({ variables: [one], validations: [{ expression: 'variables.one == "s"' }] })),
    ).toEqual([expect.stringContaining('found no matching overload')]);
  });
  it('unchanged expressions of an update are checked with the functions of all releases', () => {
    const before = policy({});
    expect(update(POLICIES, before, draft => void (draft.metadata.labels = { a: 'b' })).violations).toEqual([]);
    const broken = policy({ validations: [{ expression: 'nothing' }] });
    expect(update(POLICIES, before, draft => void (draft.spec = broken.spec)).violations).toHaveLength(1);
  });
  it('a binding refers to a parameter by name or by selector, and defines the action if there is none', () => {
    const binding = (paramRef: object): ApiObject =>
      made({ spec: { policyName: 'p', validationActions: ['Deny'], paramRef } });
    expect(violationsOf(BINDINGS, binding({ name: 'n', parameterNotFoundAction: 'Deny' }))).toEqual([]);
    expect(violationsOf(BINDINGS, binding({ name: 'n' }))).toEqual([
      'spec.paramRef.parameterNotFoundAction: Required value',
    ]);
    expect(violationsOf(BINDINGS, binding({ name: 'n', selector: {}, parameterNotFoundAction: 'Deny' }))).toHaveLength(
      2,
    );
    const alpha = { ...binding({ name: 'n' }), apiVersion: 'admissionregistration.k8s.io/v1alpha1' };
    expect(create(BINDINGS, alpha)).toMatchObject({
      made: { spec: { paramRef: { parameterNotFoundAction: 'Deny' } } },
      violations: [],
    });
  });
});

describe('webhooks', () => {
  it.each([
    [{ name: 'a.b' }, 'name: Invalid value: "a.b": should be a domain with at least three segments separated by dots'],
    [{ sideEffects: 'Some' }, 'sideEffects: Unsupported value: "Some": supported values: "None", "NoneOnDryRun"'],
    [{ timeoutSeconds: 31 }, 'timeoutSeconds: Invalid value: 31: the timeout value must be between 1 and 30 seconds'],
    [
      { admissionReviewVersions: ['v2'] },
      'admissionReviewVersions: Invalid value: []string{"v2"}: must include at least one of v1, v1beta1',
    ],
    [
      { matchConditions: [{ name: 'c', expression: '1 ' }] },
      'matchConditions[0].expression: Invalid value: "1": must evaluate to bool but got int',
    ],
    [{ failurePolicy: '' }, 'failurePolicy: Unsupported value: "": supported values: "Fail", "Ignore"'],
    [
      { rules: [{ ...RULE, resources: ['pods/*', 'pods/log'] }] },
      `rules[0].resources[1]: Invalid value: "pods/log": if 'pods/*' is present, must not specify pods/log`,
    ],
  ])('%j is refused', (change, line) => {
    expect(violationsOf(WEBHOOKS, webhook(change))).toEqual([`webhooks[0].${line}`]);
  });
  it('an update may keep side effects that the stored object has', () => {
    const old = webhook({ sideEffects: 'Some' });
    const { violations } = update(WEBHOOKS, old, draft => void (draft.metadata.labels = { a: 'b' }));
    expect(violations).toEqual([]);
  });
  it.each([
    ['https://u:p@host:1/a?b#c', { scheme: 'https', user: 'u:p', host: 'host:1', query: 'b', fragment: 'c' }],
    ['a b', { scheme: '', user: '', host: '', query: '', fragment: '' }],
    ['https:x', { scheme: 'https', user: '', host: '', query: '', fragment: '' }],
    ['%', 'invalid URL escape "%"'],
    ['::1', 'missing protocol scheme'],
    ['1:2', 'first path segment in URL cannot contain colon'],
    ['https://a b/', 'invalid character " " in host name'],
    ['https://a:b/', 'invalid port ":b" after host'],
    ['https://a/\n', 'net/url: invalid control character in URL'],
  ])('%s is parsed as %j', (text, parts) => expect(parseGoUrl(text)).toEqual(parts));
});
