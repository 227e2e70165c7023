import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Answer, Api, type Loose } from '../api/support.js';
import { MERGE } from '../support/mediaTypes.js';

/* ValidatingAdmissionPolicies and their bindings, through a running server. */

const GROUP = '/apis/admissionregistration.k8s.io/v1';
const MAPS = '/api/v1/namespaces/default/configmaps';
const CONFIGMAPS = {
  apiGroups: [''],
  apiVersions: ['v1'],
  operations: ['CREATE', 'UPDATE'],
  resources: ['configmaps'],
};

let api: Api;
beforeAll(async () => {
  api = await Api.start();
});
afterAll(() => api.close());

let policies = 0;

/** Creates a policy, with a binding that denies unless another one is given. Returns their name. */
async function policy(spec: object, binding: object = {}): Promise<string> {
  const name = `policy-${++policies}`;
  const body = {
    metadata: { name },
    spec: { matchConstraints: { resourceRules: [CONFIGMAPS] }, ...spec },
  };
  expect((await api.post(`${GROUP}/validatingadmissionpolicies`, body)).status).toBe(201);
  const bound = { metadata: { name }, spec: { policyName: name, validationActions: ['Deny'], ...binding } };
  expect((await api.post(`${GROUP}/validatingadmissionpolicybindings`, bound)).status).toBe(201);
  return name;
}

/** A policy for config maps with this name only. */
const only = (name: string, spec: object): object => ({
  matchConstraints: { resourceRules: [{ ...CONFIGMAPS, resourceNames: [name] }] },
  ...spec,
});

const create = (name: string, more: object = {}, query = ''): Promise<Answer> =>
  api.post(`${MAPS}${query}`, { metadata: { name }, ...more });

const refusal = ({ status, body }: Answer): unknown => [status, body['reason'], body['message']];
const warnings = ({ headers }: Answer): readonly string[] => [headers['warning'] ?? []].flat();

describe('a policy', () => {
  test('is enforced from the first request after the answer to the write of its binding, until its deletion', async () => {
    for (let i = 0; i < 5; i++) {
      const name = await policy(only(`at-once-${i}`, { validations: [{ expression: 'false', message: 'no' }] }));
      const denied = await create(`at-once-${i}`);
      expect(refusal(denied)).toEqual([
        422,
        'Invalid',
        `configmaps "at-once-${i}" is forbidden: ValidatingAdmissionPolicy '${name}' with binding '${name}' denied ` +
          'request: no',
      ]);
      await api.delete(`${GROUP}/validatingadmissionpolicybindings/${name}`);
      expect((await create(`at-once-${i}`)).status).toBe(201);
    }
  });

  test('refuses with its reason, and with the message of its expression, its fixed message or a default one', async () => {
    await policy(
      only('reasons', {
        validations: [{ expression: '!has(object.data.big)', reason: 'RequestEntityTooLarge' }],
      }),
    );
    const big = await create('reasons', { data: { big: 'x' } });
    expect([big.status, big.body['reason']]).toEqual([413, 'RequestEntityTooLarge']);
    expect(big.body['message']).toContain('failed expression: !has(object.data.big)');
    await policy(
      only('says', {
        variables: [{ name: 'sum', expression: 'int(object.data.a) + 1' }],
        validations: [
          {
            expression: 'variables.sum < 3',
            message: 'unused',
            messageExpression: "'the sum is ' + string(variables.sum)",
          },
        ],
      }),
    );
    expect((await create('says', { data: { a: '2' } })).body['message']).toContain('denied request: the sum is 3');
    expect((await create('says', { data: { a: 'x' } })).body['message']).toContain(
      'composited variable "sum" fails to evaluate',
    );
    expect((await create('says', { data: { a: '1' } })).status).toBe(201);
  });

  test('warns instead of refusing if its binding says so, and ignores errors if it is configured to', async () => {
    const name = await policy(only('warned', { validations: [{ expression: 'false', message: 'careful' }] }), {
      validationActions: ['Warn', 'Audit'],
    });
    const warned = await create('warned');
    expect(warned.status).toBe(201);
    expect(warnings(warned)).toEqual([
      `299 - "Validation failed for ValidatingAdmissionPolicy '${name}' with binding '${name}': careful"`,
    ]);
    const broken = [{ expression: "object.data.absent == 'x'" }];
    await policy(only('ignored', { failurePolicy: 'Ignore', validations: broken }));
    expect((await create('ignored')).status).toBe(201);
    await policy(only('failed', { validations: broken }));
    expect((await create('failed')).body['message']).toContain('resulted in error: no such key: data');
  });

  test('[A552] [A553] sees the request typed, the objects untyped, the namespace, and what the sender may do', async () => {
    await policy({
      matchConditions: [{ name: 'seen', expression: "request.name == 'seen' && request.operation == 'UPDATE'" }],
      validations: [
        { expression: "oldObject.data.a == '1' && object.data.a == '2'" },
        { expression: "namespaceObject.metadata.name == 'default' && request.dryRun == false" },
        { expression: "authorizer.requestResource.check('update').allowed()" },
        { expression: "!authorizer.serviceAccount('default', 'x').path('/metrics').check('get').allowed()" },
        { expression: "request.options.fieldManager == 'me' && !has(request.subResource)" },
        { expression: 'false', message: 'all hold' },
      ],
    });
    await create('seen', { data: { a: '1' } });
    const answer = await api.patch(`${MAPS}/seen?fieldManager=me`, MERGE, {
      data: { a: '2' },
    });
    expect(answer.body['message']).toContain('denied request: all hold');
  });

  test('matches equivalent versions and sees the object in the version of its rules', async () => {
    await policy({
      matchConstraints: {
        resourceRules: [{ apiGroups: ['autoscaling'], apiVersions: ['v1'], operations: ['CREATE'], resources: ['*'] }],
      },
      validations: [
        { expression: 'false', messageExpression: "object.apiVersion + ' from ' + request.requestResource.version" },
      ],
    });
    const answer = await api.post('/apis/autoscaling/v2/namespaces/default/horizontalpodautoscalers', {
      metadata: { name: 'h' },
      spec: { maxReplicas: 2, scaleTargetRef: { kind: 'Deployment', name: 'd' } },
    });
    expect(answer.body['message']).toContain('denied request: autoscaling/v1 from v2');
  });

  test('applies to subresources, deletes and connections that its rules name', async () => {
    await policy({
      matchConstraints: {
        resourceRules: [
          { apiGroups: [''], apiVersions: ['v1'], operations: ['CONNECT', 'DELETE'], resources: ['pods', 'pods/exec'] },
        ],
      },
      validations: [{ expression: "object != null && object.command[0] != 'ls'", message: 'not this' }],
    });
    await api.post('/api/v1/namespaces/default/pods', {
      metadata: { name: 'p' },
      spec: { containers: [{ name: 'c', image: 'i' }] },
    });
    const exec = await api.call('POST', '/api/v1/namespaces/default/pods/p/exec?command=ls');
    expect(exec.body['message']).toContain('denied request: not this');
    const other = await api.call('POST', '/api/v1/namespaces/default/pods/p/exec?command=id');
    expect(other.body['message']).not.toContain('denied request');
    expect((await api.delete('/api/v1/namespaces/default/pods/p')).status).toBe(422);
  });

  test('sees the objects of a deletecollection without a name, and the namespace of a new namespace', async () => {
    const names = await policy({
      matchConstraints: {
        resourceRules: [{ apiGroups: [''], apiVersions: ['v1'], operations: ['DELETE'], resources: ['secrets'] }],
      },
      validations: [{ expression: 'false', messageExpression: "has(request.name) ? request.name : 'none'" }],
    });
    await api.made('/api/v1/namespaces/default/secrets', { metadata: { name: 'kept' } });
    expect((await api.delete('/api/v1/namespaces/default/secrets')).body['message']).toBe(
      `secrets "Unknown" is forbidden: ValidatingAdmissionPolicy '${names}' with binding '${names}' denied request: none`,
    );
    expect((await api.delete('/api/v1/namespaces/default/secrets/kept')).body['message']).toContain('request: kept');
    await policy({
      matchConstraints: {
        resourceRules: [{ apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['namespaces'] }],
      },
      matchConditions: [{ name: 'only', expression: "request.namespace == 'own'" }],
      validations: [{ expression: 'false' }],
    });
    expect((await api.post('/api/v1/namespaces', { metadata: { name: 'own' } })).status).toBe(422);
  });

  test('sees a Binding, through the subresource of pods and through its own kind', async () => {
    await policy({
      matchConstraints: {
        resourceRules: [
          { apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['pods/binding', 'bindings'] },
        ],
      },
      validations: [{ expression: 'false', messageExpression: "object.kind + ' of ' + request.resource.resource" }],
    });
    await api.made('/api/v1/namespaces/default/pods', {
      metadata: { name: 'bound' },
      spec: { containers: [{ name: 'c', image: 'i' }] },
    });
    const binding = { metadata: { name: 'bound' }, target: { kind: 'Node', name: 'n' } };
    const message = async (path: string): Promise<string> =>
      String((await api.post(`/api/v1/namespaces/default/${path}`, binding)).body['message']);
    expect(await message('pods/bound/binding')).toContain('denied request: Binding of pods');
    expect(await message('bindings')).toContain('denied request: Binding of bindings');
  });

  test.each(['validating', 'mutating'])('applies to %s webhook configurations, also in dry runs', async kind => {
    const name = await policy({
      matchConstraints: {
        resourceRules: [
          {
            apiGroups: ['admissionregistration.k8s.io'],
            apiVersions: ['*'],
            operations: ['CREATE'],
            resources: [`${kind}webhookconfigurations`],
          },
        ],
      },
      validations: [{ expression: `object.metadata.name != 'guarded'`, message: 'guarded' }],
    });
    const path = `${GROUP}/${kind}webhookconfigurations`;
    for (const query of ['', '?dryRun=All'])
      expect(refusal(await api.post(path + query, { metadata: { name: 'guarded' } }))).toEqual([
        422,
        'Invalid',
        expect.stringContaining(`ValidatingAdmissionPolicy '${name}' with binding '${name}' denied request: guarded`),
      ]);
    expect((await api.post(path, { metadata: { name: 'free' } })).status).toBe(201);
  });

  test.each([
    ['an optional', 'object.?data.?none', 'variables.v != 3'],
    ['a quantity', "quantity('2')", 'variables.v.isInteger() || variables.v + 1 == 2'],
    ['a list of quantities', "[quantity('2')]", 'variables.v[0].isInteger() || variables.v[0] + 1 == 2'],
    ['a URL', "url('http://a/')", "variables.v.getHost() == 'a' || variables.v + 1 == 2"],
    ['an address', "ip('::1')", 'variables.v.isLoopback() || variables.v + 1 == 2'],
    ['the authorizer', 'authorizer', "variables.v.path('/x').check('get').allowed() || variables.v + 1 == 2"],
    ['the request', 'request', "variables.v.operation == 'CREATE' || variables.v.none == 1"],
    ['the namespace', 'namespaceObject', "variables.v.metadata.name == 'default' || variables.v.none == 1"],
  ])('does not check the type of a variable with %s before its evaluation', async (what, expression, validation) => {
    const name = what.replaceAll(' ', '-').toLowerCase();
    await policy(
      only(name, {
        variables: [{ name: 'v', expression }],
        validations: [{ expression: validation }, { expression: 'false', message: 'ran' }],
      }),
    );
    expect((await create(name, { data: {} })).body['message']).toContain('denied request: ran');
  });

  test('checks the types of its other variables when it is written', async () => {
    const message = async (expression: string): Promise<unknown> => {
      const spec = {
        matchConstraints: { resourceRules: [CONFIGMAPS] },
        variables: [{ name: 'v', expression }],
        validations: [{ expression: 'variables.v + 1 == 2' }],
      };
      const body = { metadata: { name: 'typed' }, spec };
      return (await api.post(`${GROUP}/validatingadmissionpolicies?dryRun=All`, body)).body['message'];
    };
    expect(await message("'a'")).toContain("applied to '(string, int)'");
    expect(await message("['a']")).toContain("applied to '(list(string), int)'");
  });

  test('sees members that are null, without members below them', async () => {
    const rules = { apiGroups: ['*'], apiVersions: ['*'], operations: ['CREATE'], resources: ['clusterroles'] };
    await policy({
      matchConstraints: { resourceRules: [{ ...rules, resourceNames: ['nulls'] }] },
      validations: [
        { expression: 'object.rules == null && has(object.rules)' },
        { expression: '!object.?rules.?none.hasValue() && !object.rules.?none.?deeper.hasValue()' },
        { expression: 'false', message: 'ran' },
      ],
    });
    const roles = '/apis/rbac.authorization.k8s.io/v1/clusterroles';
    for (const rules of [{ rules: null }, {}])
      expect((await api.post(roles, { metadata: { name: 'nulls' }, ...rules })).body['message']).toContain(
        'denied request: ran',
      );
  });

  test('does not apply to policies', async () => {
    const all = { apiGroups: ['*'], apiVersions: ['*'], operations: ['*'], resources: ['*'], scope: 'Cluster' };
    const name = await policy({
      matchConstraints: { resourceRules: [all] },
      validations: [{ expression: 'false' }],
    });
    expect((await api.post('/api/v1/namespaces', { metadata: { name: 'refused' } })).status).toBe(422);
    expect((await api.delete(`${GROUP}/validatingadmissionpolicies/${name}`)).status).toBe(200);
    expect((await api.post('/api/v1/namespaces', { metadata: { name: 'refused' } })).status).toBe(201);
  });

  test('refuses requests for which its audit annotations cannot be computed, whatever its actions', async () => {
    const auditAnnotations = [{ key: 'broken', valueExpression: 'string(1 / 0)' }];
    await policy(only('unnoted', { auditAnnotations }), { validationActions: ['Warn'] });
    expect((await create('unnoted')).body['message']).toContain("expression 'string(1 / 0)' resulted in error");
    await policy(only('unnoted-ignored', { auditAnnotations, failurePolicy: 'Ignore' }));
    expect((await create('unnoted-ignored')).status).toBe(201);
  });

  test('warns of each object of a collection that is deleted', async () => {
    const rule = { ...CONFIGMAPS, operations: ['DELETE'] };
    const objectSelector = { matchLabels: { swept: 'yes' } };
    const messageExpression = "'sweeping ' + oldObject.metadata.name";
    await policy(
      {
        matchConstraints: { resourceRules: [rule], objectSelector },
        validations: [{ expression: 'false', messageExpression }],
      },
      { validationActions: ['Warn'] },
    );
    for (const name of ['swept-1', 'swept-2']) await create(name, { metadata: { name, labels: { swept: 'yes' } } });
    const swept = await api.delete(`${MAPS}?labelSelector=swept%3Dyes`);
    expect(swept.status).toBe(200);
    expect(warnings(swept).join()).toMatch(/sweeping swept-1.*sweeping swept-2/);
  });

  test('stops when its expressions have cost too much', async () => {
    const list = `[${Array.from({ length: 40 }, (_, i) => i).join(',')}]`;
    const expensive = `${list}.all(a, ${list}.all(b, ${list}.all(c, ${list}.all(d, a + b + c + d >= 0))))`;
    await policy(only('expensive', { validations: [{ expression: expensive }] }));
    expect((await create('expensive')).body['message']).toContain('actual cost limit exceeded');
  });
});

describe('parameters', () => {
  const LIMITS = '/apis/example.com/v1/namespaces/default/limits';
  const kind = { paramKind: { apiVersion: 'example.com/v1', kind: 'Limit' } };
  const atMost = {
    validations: [
      {
        expression: 'int(object.data.v) <= params.max',
        messageExpression: "'at most ' + string(params.max)",
      },
    ],
  };
  const put = (name: string, max: number, labels: object = {}): Promise<Loose> =>
    api.made(LIMITS, { apiVersion: 'example.com/v1', kind: 'Limit', metadata: { name, labels }, max });

  beforeAll(async () => {
    const schema = { type: 'object', properties: { max: { type: 'integer' } } };
    await api.made('/apis/apiextensions.k8s.io/v1/customresourcedefinitions', {
      metadata: { name: 'limits.example.com' },
      spec: {
        group: 'example.com',
        scope: 'Namespaced',
        names: { plural: 'limits', singular: 'limit', kind: 'Limit' },
        versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: schema } }],
      },
    });
    await api.until(async () => (await api.get(LIMITS)).status === 200);
    await put('five', 5, { set: 'a' });
    await put('three', 3, { set: 'a' });
  });

  test('are read by name, and their changes take effect with the next request', async () => {
    await policy(only('by-name', { ...kind, ...atMost }), {
      paramRef: { name: 'five', parameterNotFoundAction: 'Deny' },
    });
    expect((await create('by-name', { data: { v: '6' } })).body['message']).toContain('denied request: at most 5');
    await api.patch(`${LIMITS}/five`, MERGE, { max: 7 });
    expect((await create('by-name', { data: { v: '6' } }, '?dryRun=All')).status).toBe(201);
    await api.patch(`${LIMITS}/five`, MERGE, { max: 5 });
  });

  test('selected by a selector must all be satisfied', async () => {
    await policy(only('selected', { ...kind, ...atMost }), {
      paramRef: { selector: { matchLabels: { set: 'a' } }, parameterNotFoundAction: 'Deny' },
    });
    expect((await create('selected', { data: { v: '4' } })).body['message']).toContain('denied request: at most 3');
    expect((await create('selected', { data: { v: '3' } })).status).toBe(201);
  });

  test('that are missing deny or allow, as the binding says', async () => {
    const paramRef = { name: 'none' };
    await policy(only('missing', { ...kind, ...atMost }), {
      paramRef: { ...paramRef, parameterNotFoundAction: 'Deny' },
    });
    expect((await create('missing')).body['message']).toContain(
      'failed to configure binding: no params found for policy binding with `Deny` parameterNotFoundAction',
    );
    await policy(only('absent', { ...kind, ...atMost }), {
      paramRef: { ...paramRef, parameterNotFoundAction: 'Allow' },
    });
    expect((await create('absent')).status).toBe(201);
  });

  test('of a kind that is not served fail the policy', async () => {
    await policy(
      only('unserved', {
        paramKind: { apiVersion: 'example.com/v9', kind: 'None' },
        validations: [{ expression: 'true' }],
      }),
      { paramRef: { name: 'x', parameterNotFoundAction: 'Allow' } },
    );
    expect((await create('unserved')).body['message']).toContain('failed to configure policy: failed to find resource');
  });
});
