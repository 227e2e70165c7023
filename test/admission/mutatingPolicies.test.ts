import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Answer, Api, type Loose, listOf } from '../api/support.js';

/* MutatingAdmissionPolicies and their bindings, through a running server with their feature gate. */

const GROUP = '/apis/admissionregistration.k8s.io/v1alpha1';
const MAPS = '/api/v1/namespaces/default/configmaps';

let api: Api;
beforeAll(async () => {
  api = await Api.start({
    featureGates: ['MutatingAdmissionPolicy=true'],
    runtimeConfig: ['admissionregistration.k8s.io/v1alpha1=true'],
  });
});
afterAll(() => api.close());

const merges = (expression: string): object => ({
  mutations: [{ patchType: 'ApplyConfiguration', applyConfiguration: { expression } }],
});
const patches = (expression: string): object => ({
  mutations: [{ patchType: 'JSONPatch', jsonPatch: { expression } }],
});

const policyOf = (name: string, spec: object): object => ({
  metadata: { name },
  spec: {
    matchConstraints: {
      resourceRules: [
        { apiGroups: ['', 'apps'], apiVersions: ['v1'], operations: ['CREATE', 'UPDATE'], resources: ['*'] },
      ],
      objectSelector: { matchLabels: { policy: name.split('-')[0] } },
    },
    reinvocationPolicy: 'Never',
    ...spec,
  },
});

async function bind(name: string, spec: object, paramRef?: object): Promise<void> {
  await api.made(`${GROUP}/mutatingadmissionpolicies`, policyOf(name, spec));
  await api.made(`${GROUP}/mutatingadmissionpolicybindings`, {
    metadata: { name },
    spec: { policyName: name, ...(paramRef ? { paramRef } : {}) },
  });
}

/** Creates a config map that the policies of a label match. */
const create = (policy: string, name = policy): Promise<Answer> =>
  api.post(MAPS, { metadata: { name, labels: { policy } }, data: { a: 'b' } });

/** The data of a config map once a policy has changed it. */
async function mutated(policy: string, spec: object): Promise<Loose> {
  await bind(policy, spec);
  const { status, body } = await create(policy);
  expect(status).toBe(201);
  return body;
}

test('the mutations of a policy without variables cannot name one', async () => {
  const spec = merges('Object{metadata: Object.metadata{labels: {"m": variables.p}}}');
  const { status, body } = await api.post(`${GROUP}/mutatingadmissionpolicies`, policyOf('nameless', spec));
  expect(status).toBe(422);
  expect(body['message']).toContain("undefined field 'p'");
});

const UNTYPED = 'error applying patch: failed to convert patch object to typed object';
const refusal = (name: string, why: string): string => `policy '${name}' with binding '${name}' denied request: ${why}`;

describe('an apply configuration', () => {
  test('is merged into the object from the first request after the answer to the write of the binding', async () => {
    const body = await mutated(
      'merges',
      merges('Object{metadata: Object.metadata{annotations: {"of": object.metadata.name}}, data: {"c": "d"}}'),
    );
    expect(body['data']).toEqual({ a: 'b', c: 'd' });
    expect(body['metadata']!['annotations']).toEqual({ of: 'merges' });
  });

  test('merges lists by their keys', async () => {
    await bind(
      'sidecar',
      merges(
        'Object{spec: Object.spec{template: Object.spec.template{spec: Object.spec.template.spec{' +
          'containers: [Object.spec.template.spec.containers{name: "extra", image: "extra:1"}]}}}}',
      ),
    );
    const labels = { policy: 'sidecar' };
    const { body } = await api.post('/apis/apps/v1/namespaces/default/deployments', {
      metadata: { name: 'd', labels },
      spec: {
        selector: { matchLabels: labels },
        template: { metadata: { labels }, spec: { containers: [{ name: 'own', image: 'own:1' }] } },
      },
    });
    const containers = listOf(body['spec']!['template']!['spec']!['containers']);
    expect(containers.map(one => one['name'])).toEqual(['own', 'extra']);
  });

  test.each([
    ['data: {"x": 1}', '.data.x: expected string, got &value.valueUnstructured{Value:1}'],
    ['foo: "x"', '.foo: field not declared in schema'],
  ])('with %s does not fit the kind and is refused', async (members, why) => {
    const name = `unfit${members.length}`;
    await bind(name, merges(`Object{${members}}`));
    const { status, body } = await create(name);
    expect([status, body['reason']]).toEqual([403, 'Invalid']);
    const text = `error applying patch: failed to convert patch object to typed object: ${why}`;
    expect(body['message']).toBe(refusal(name, text));
  });

  test('may not set atomic values, which would replace members that it does not name', async () => {
    await bind(
      'atomic',
      merges(
        'Object{metadata: Object.metadata{ownerReferences: [Object.metadata.ownerReferences{apiVersion: "v1", ' +
          'kind: "Pod", name: "x", uid: "y"}]}}',
      ),
    );
    expect((await create('atomic')).body['message']).toBe(
      refusal(
        'atomic',
        'error applying patch: invalid ApplyConfiguration: may not mutate atomic arrays, maps or structs: ' +
          '.metadata.ownerReferences[0]',
      ),
    );
  });

  test('names its types after the paths of the fields', async () => {
    await bind('misnamed', merges('Object{metadata: Object.spec{labels: {"a": "b"}}}'));
    expect((await create('misnamed')).body['message']).toContain(
      'type mismatch: unexpected type name "Object.spec", expected "Object.metadata"',
    );
  });
});

describe('a JSON Patch', () => {
  test('is applied, with escaped keys and with objects as values', async () => {
    const body = await mutated(
      'patches',
      patches(
        '[JSONPatch{op: "add", path: "/metadata/annotations", value: {"a/b": "1"}},' +
          'JSONPatch{op: "replace", path: "/metadata/annotations/" + jsonpatch.escapeKey("a/b"), value: "2"},' +
          'JSONPatch{op: "copy", from: "/data/a", path: "/data/c"},' +
          'JSONPatch{op: "add", path: "/metadata/labels", value: Object.metadata.labels{?none: optional.none(), l: "m"}}]',
      ),
    );
    expect(body['metadata']).toMatchObject({ annotations: { 'a/b': '2' }, labels: { l: 'm' } });
    expect(body['data']).toEqual({ a: 'b', c: 'b' });
  });

  test('changes nothing where one of its tests fails', async () => {
    const operations =
      '[JSONPatch{op: "add", path: "/data/z", value: "z"}, JSONPatch{op: "test", path: "/data/a", value: "x"}]';
    expect((await mutated('tests', patches(operations)))['data']).toEqual({ a: 'b' });
  });

  test('is refused if the path of its test does not exist', async () => {
    await bind('placeless', patches('[JSONPatch{op: "test", path: "/binaryData/a", value: "x"}]'));
    const { status, body } = await create('placeless');
    expect(status).toBe(403);
    expect(body['message']).toContain(
      'JSON Patch: test operation does not apply: is missing path: /binaryData/a: missing value',
    );
  });

  test('that does not apply is refused', async () => {
    await bind('removes', patches('[JSONPatch{op: "remove", path: "/data/none"}]'));
    const { status, body } = await create('removes');
    expect(status).toBe(403);
    expect(body['message']).toContain("JSON Patch: error in remove for path: '/data/none'");
  });

  test('is refused if its copies together exceed the size of a body', async () => {
    const copies = 'variables.digits.map(i, JSONPatch{op: "copy", from: "/data/a", path: "/data/c" + i})';
    const digits = JSON.stringify(Array.from({ length: 40 }, (_, i) => String(i)));
    await bind('copies', { variables: [{ name: 'digits', expression: digits }], ...patches(copies) });
    const { status, body } = await api.post(MAPS, {
      metadata: { name: 'copies', labels: { policy: 'copies' } },
      data: { a: 'a'.repeat(100_000) },
    });
    expect(status).toBe(403);
    expect(body['message']).toContain('JSON Patch: Request entity too large: Unable to complete the copy');
  });

  test('with an unknown operation after a failed test changes nothing', async () => {
    const operations =
      '[JSONPatch{op: "test", path: "/data/a", value: "x"}, JSONPatch{op: "none", path: "/data/a", value: "x"}]';
    expect((await mutated('halts', patches(operations)))['data']).toEqual({ a: 'b' });
  });

  test('with an unknown operation is refused', async () => {
    await bind('unknown', patches('[JSONPatch{op: "none", path: "/data/a", value: "x"}]'));
    const { status, body } = await create('unknown');
    expect(status).toBe(403);
    expect(body['message']).toContain('JSON Patch: Unexpected kind: none');
  });
});

describe('a mutating policy', () => {
  test('sees the changes of its earlier mutations, and its variables are computed again', async () => {
    const mutations = [
      { patchType: 'ApplyConfiguration', applyConfiguration: { expression: 'Object{data: {"x": variables.count}}' } },
      { patchType: 'ApplyConfiguration', applyConfiguration: { expression: 'Object{data: {"y": variables.count}}' } },
    ];
    const variables = [{ name: 'count', expression: 'string(size(object.data))' }];
    expect((await mutated('several', { variables, mutations }))['data']).toEqual({ a: 'b', x: '1', y: '2' });
  });

  test('uses parameters, and refuses where they are missing', async () => {
    const paramKind = { apiVersion: 'v1', kind: 'ConfigMap' };
    await bind(
      'params',
      { paramKind, ...merges('Object{data: {"x": params.data.value}}') },
      { name: 'the-params', namespace: 'default' },
    );
    const missing = await create('params', 'without');
    expect(missing.body['reason']).toBe('Forbidden');
    expect(missing.body['message']).toBe(
      refusal(
        'params',
        'failed to configure binding: no params found for policy binding with `Deny` parameterNotFoundAction',
      ),
    );
    await api.made(MAPS, { metadata: { name: 'the-params' }, data: { value: 'given' } });
    expect((await create('params', 'with')).body['data']).toEqual({ a: 'b', x: 'given' });
  });

  test('is not applied if its match conditions are false', async () => {
    const matchConditions = [{ name: 'other', expression: 'object.metadata.name == "other"' }];
    expect((await mutated('conditions', { matchConditions, ...merges('Object{data: {"x": "1"}}') }))['data']).toEqual({
      a: 'b',
    });
  });

  test('whose expression fails refuses the request, unless it ignores failures', async () => {
    const failing = merges('Object{data: {"x": object.none}}');
    await bind('fails', failing);
    const { status, body } = await create('fails');
    expect(status).toBe(403);
    expect(body['message']).toContain('resulted in error: no such key: none');
    expect((await mutated('ignores', { failurePolicy: 'Ignore', ...failing }))['data']).toEqual({ a: 'b' });
  });

  test('is applied again if it is IfNeeded and a later one has changed the object', async () => {
    const counts = merges('Object{data: {"size": string(size(object.data))}}');
    await bind('again-1', { reinvocationPolicy: 'IfNeeded', ...counts });
    await bind('again-2', merges('Object{data: {"more": "1"}}'));
    // The first run counts a; the second one a, size and more.
    expect((await create('again')).body['data']).toEqual({ a: 'b', size: '3', more: '1' });
    await bind('never-1', counts);
    await bind('never-2', merges('Object{data: {"more": "1"}}'));
    expect((await create('never')).body['data']).toEqual({ a: 'b', size: '1', more: '1' });
  });

  test.each([
    [
      'without mutations',
      { mutations: [] },
      'spec.mutations: Required value: mutations must contain at least one item',
    ],
    ['without a reinvocation policy', { ...merges('Object{}'), reinvocationPolicy: '' }, 'spec.reinvocationPolicy'],
    ['whose patch type does not fit', { mutations: [{ patchType: 'JSONPatch' }] }, 'spec.mutations[0].jsonPatch'],
    ['of another type', merges('{"a": 1}'), 'must evaluate to Object but got map(string, int)'],
    ['with a list of others', patches('[Object{}]'), 'must evaluate to list(JSONPatch) but got list(Object)'],
    ['with an unknown field', patches('[JSONPatch{foo: "x"}]'), "expected type of field 'foo' is '' but provided"],
    [
      'with an object in a variable',
      { variables: [{ name: 'a', expression: 'Object{}' }], ...merges('Object{}') },
      "'Object'",
    ],
  ])('%s is refused', async (_what, spec, why) => {
    const answer = await api.post(`${GROUP}/mutatingadmissionpolicies`, policyOf('invalid', spec));
    expect(answer.status).toBe(422);
    expect(answer.body['message']).toContain(why);
  });
});

describe('a policy that mutates', () => {
  test('reports all violations, and applies nothing', async () => {
    await bind('twice', {
      mutations: [
        {
          patchType: 'ApplyConfiguration',
          applyConfiguration: { expression: 'Object{metadata: Object.metadata{labels: null}}' },
        },
        { patchType: 'JSONPatch', jsonPatch: { expression: '[JSONPatch{op: "remove", path: "/none"}]' } },
      ],
    });
    const { status, body } = await create('twice');
    expect([status, body['details']!['causes']]).toEqual([
      403,
      [
        { message: refusal('twice', `${UNTYPED}: .metadata.labels: expected map, got &{NULL_VALUE}`) },
        {
          message: refusal(
            'twice',
            "JSON Patch: error in remove for path: '/none': Unable to remove nonexistent key: none: missing value",
          ),
        },
      ],
    ]);
  });

  test('that adds a field that the kind does not have fails the request', async () => {
    await bind('adds', patches('[JSONPatch{op: "add", path: "/spec", value: Object.spec{replicas: 4}}]'));
    const { status, body } = await create('adds');
    expect([status, body['message']]).toEqual([
      500,
      'Internal error occurred: strict decoding error: unknown field "spec"',
    ]);
  });

  test('is applied to connections', async () => {
    const pods = '/api/v1/namespaces/default/pods';
    const resourceRules = [{ apiGroups: [''], apiVersions: ['v1'], operations: ['CONNECT'], resources: ['pods/exec'] }];
    await bind('connects', {
      matchConstraints: { resourceRules },
      ...patches('[JSONPatch{op: "remove", path: "/none"}]'),
    });
    await api.made(pods, { metadata: { name: 'pod' }, spec: { containers: [{ name: 'c', image: 'i' }] } });
    const { status, body } = await api.post(`${pods}/pod/exec?command=ls`, {});
    expect(status).toBe(403);
    expect(body['message']).toContain("policy 'connects' with binding 'connects' denied request");
  });

  test('cannot match deletions, and neither can its binding', async () => {
    const resourceRules = [{ apiGroups: [''], apiVersions: ['v1'], operations: ['DELETE'], resources: ['secrets'] }];
    const { status, body } = await api.post(`${GROUP}/mutatingadmissionpolicybindings`, {
      metadata: { name: 'deletes' },
      spec: { policyName: 'deletes', matchResources: { resourceRules } },
    });
    expect([status, listOf(body['details']!['causes'])[0]!['field']]).toEqual([
      422,
      'spec.matchResources.resourceRules.operations',
    ]);
  });
});
