import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { readJson, writeJson } from '../../core/model/text/jsonText.js';
import { Hooks, install } from '../admission/hooks.js';
import { Api } from './support.js';
import { MERGE, STRATEGIC } from '../support/mediaTypes.js';

/* Integers beyond 2^53 are kept exactly in every input and output format. */

const EXACT = ['9007199254740993', '9223372036854775807', '-9223372036854775808'];
const CRDS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const BOXES = '/apis/number.test/v1/namespaces/default/boxes';
const APPLY = 'application/apply-patch+yaml';
const PROTOBUF = 'application/vnd.kubernetes.protobuf';

const SPEC = `{"type":"object",
  "x-kubernetes-validations":[{"rule":"!has(self.int) || self.int != 9007199254740995","message":"not this one"}],
  "properties":{
    "int":{"type":"integer"},"any":{"x-kubernetes-preserve-unknown-fields":true},"number":{"type":"number"},
    "least":{"type":"integer","minimum":9007199254740992},"third":{"type":"integer","multipleOf":3},"tenth":{"type":"number","multipleOf":0.1},
    "one":{"type":"integer","enum":[9007199254740993]},
    "default":{"type":"integer","default":9007199254740993},
    "set":{"type":"array","x-kubernetes-list-type":"set","items":{"type":"integer"}},
    "map":{"type":"array","x-kubernetes-list-type":"map","x-kubernetes-list-map-keys":["id"],
      "items":{"type":"object","required":["id"],"properties":{"id":{"type":"integer"},"v":{"type":"string"}}}}}}`;
const DEFINITION = `{"metadata":{"name":"boxes.number.test"},"spec":{"group":"number.test","scope":"Namespaced",
  "names":{"plural":"boxes","kind":"Box"},"versions":[
    {"name":"v1","served":true,"storage":true,"subresources":{"status":{}},
      "additionalPrinterColumns":[{"name":"Int","type":"integer","jsonPath":".spec.int"},
        {"name":"Text","type":"string","jsonPath":".spec.int"},
        {"name":"Found","type":"string","jsonPath":".spec.map[?(@.id==9007199254740993)].v"}],
      "schema":{"openAPIV3Schema":{"type":"object","properties":{"spec":${SPEC},
        "status":{"type":"object","x-kubernetes-preserve-unknown-fields":true}}}}},
    {"name":"v2","served":true,"storage":false,
      "schema":{"openAPIV3Schema":{"type":"object","x-kubernetes-preserve-unknown-fields":true}}}]}}`;

let api: Api;
beforeAll(async () => {
  api = await Api.start();
  expect((await api.post(CRDS, DEFINITION)).status).toBe(201);
  await api.until(async () => (await api.get(BOXES)).status === 200);
});
afterAll(() => api.close());

let boxes = 0;
const box = (spec: string, name = `box-${++boxes}`): string =>
  `{"apiVersion":"number.test/v1","kind":"Box","metadata":{"name":"${name}"},"spec":${spec}}`;

describe('a custom object', () => {
  test.each(EXACT)('keeps %s from JSON in all representations', async number => {
    const created = await api.post(BOXES, box(`{"int":${number},"any":[{"a":${number}}],"number":${number}}`, 'json'));
    expect(created.text).toContain(`"int":${number},`);
    expect(created.text).toContain(`"default":9007199254740993`);
    for (const type of ['application/json', 'application/yaml']) {
      const { text } = await api.get(`${BOXES}/json`, { accept: type });
      expect(text.match(new RegExp(`${number}$|${number}\\D`, 'gm'))).toHaveLength(number === EXACT[0] ? 4 : 3);
    }
    for (const at of ['/apis/number.test/v2/namespaces/default/boxes', `${BOXES}?limit=500`])
      expect((await api.get(at)).text).toContain(`"int":${number}`);
    const table = await api.get(`${BOXES}/json`, { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io' });
    expect(table.text).toContain(`"cells":["json",${number},"${number}",null]`);
    await api.delete(`${BOXES}/json`);
  });

  test('has exact integers in watches, also in another version', async () => {
    const { resourceVersion } = (await api.get(BOXES)).body['metadata']!;
    await api.post(BOXES, box('{"any":9223372036854775807}', 'watched'));
    for (const at of [BOXES, '/apis/number.test/v2/namespaces/default/boxes']) {
      const { text } = await api.get(`${at}?watch=1&timeoutSeconds=1&resourceVersion=${resourceVersion}`);
      expect(text).toContain('"any":9223372036854775807');
    }
  });

  test('keeps integers from YAML, updates, patches and status writes', async () => {
    const yaml = `{apiVersion: number.test/v1, kind: Box, metadata: {name: yaml}, spec: {int: 0x7fffffffffffffff, any: -9_223_372_036_854_775_808}}`;
    const created = await api.post(BOXES, yaml, { type: 'application/yaml' });
    expect(created.text).toContain('"any":-9223372036854775808,');
    const put = (created.text as string).replace('9223372036854775807', '9223372036854775806');
    expect((await api.put(`${BOXES}/yaml`, put)).text).toContain('"int":9223372036854775806');
    const merged = await api.patch(`${BOXES}/yaml`, MERGE, '{"spec":{"int":9007199254740993}}');
    expect(merged.text).toContain('"int":9007199254740993');
    const again = await api.patch(`${BOXES}/yaml`, MERGE, '{"spec":{"int":9007199254740993}}');
    expect(again.body['metadata']!['resourceVersion']).toBe(merged.body['metadata']!['resourceVersion']);
    const patch = (value: string): string =>
      `[{"op":"test","path":"/spec/int","value":${value}},{"op":"copy","from":"/spec/int","path":"/spec/any"}]`;
    const JSON_PATCH = 'application/json-patch+json';
    expect((await api.patch(`${BOXES}/yaml`, JSON_PATCH, patch('9007199254740992'))).status).toBe(422);
    expect((await api.patch(`${BOXES}/yaml`, JSON_PATCH, patch('9007199254740993'))).text).toContain(
      '"any":9007199254740993',
    );
    const status = await api.patch(`${BOXES}/yaml/status`, MERGE, '{"status":{"n":9223372036854775807}}');
    expect(status.text).toContain('"status":{"n":9223372036854775807}');
  });

  test('is applied with exact values, which identify items and conflict only if they differ', async () => {
    const apply = (manager: string, spec: string) =>
      api.patch(`${BOXES}/applied?fieldManager=${manager}`, APPLY, box(spec, 'applied'));
    const spec = '{"int":9007199254740993,"set":[9007199254740993],"map":[{"id":9007199254740993,"v":"a"}]}';
    const first = await apply('one', spec);
    expect(first.text).toContain('"k:{\\"id\\":9007199254740993}"');
    expect(first.text).toContain('"v:9007199254740993"');
    expect((await apply('two', '{"int":9007199254740993}')).status).toBe(200);
    const other = await apply('three', '{"int":9007199254740992}');
    expect([other.status, other.text]).toEqual([409, expect.stringContaining('.spec.int')]);
    const beside = await apply('three', '{"set":[9007199254740992],"map":[{"id":9007199254740992,"v":"b"}]}');
    expect(beside.text).toContain('"set":[9007199254740993,9007199254740992]');
    const table = await api.get(`${BOXES}/applied`, { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io' });
    expect(table.text).toContain('"9007199254740993","a"]');
  });

  test.each([
    ['{"int":9007199254740995}', 'not this one'],
    ['{"least":9007199254740991}', 'should be greater than or equal to 9007199254740992'],
    ['{"third":9007199254740994}', 'should be a multiple of 3'],
    ['{"one":9007199254740992}', 'Unsupported value: 9007199254740992: supported values: \\"9007199254740993\\"'],
    ['{"set":[9007199254740993,9007199254740993]}', 'Duplicate value: 9007199254740993'],
    ['{"int":9223372036854775808}', 'must be of type integer: \\"number\\"'],
  ])('is refused for %s: %s', async (spec, message) => {
    const { status, text } = await api.post(BOXES, box(spec));
    expect([status, text]).toEqual([422, expect.stringContaining(message)]);
  });

  test.each([
    ['{"int":9007199254740996}', '"int":9007199254740996'],
    ['{"third":9007199254740993}', '"third":9007199254740993'],
    ['{"one":9007199254740993}', '"one":9007199254740993'],
    ['{"number":9223372036854775808}', '"number":9223372036854775808'.replace('5808', '6000')],
    ['{"any":1e17}', '"any":100000000000000000'],
  ])('is accepted with %s', async (spec, expected) => {
    const { status, text } = await api.post(BOXES, box(spec));
    expect([status, text]).toEqual([201, expect.stringContaining(expected)]);
  });

  test.each(['1e400', '9'.repeat(400), '[-1E+999]'])('with a number beyond doubles is refused (%s)', async number => {
    const { status, text } = await api.post(BOXES, box(`{"any":${number}}`));
    expect([status, text]).toEqual([400, expect.stringContaining('cannot unmarshal number')]);
  });
});

describe('a built-in object', () => {
  const REVISIONS = '/apis/apps/v1/namespaces/default/controllerrevisions';
  const revision = (name: string, number: string): string =>
    `{"apiVersion":"apps/v1","kind":"ControllerRevision","metadata":{"name":"${name}"},"revision":${number},"data":{"a":${number},"b":9223372036854775808}}`;

  test('keeps its 64-bit fields, and untyped parts, in JSON and tables', async () => {
    const made = await api.post(REVISIONS, revision('r', '9223372036854775807'));
    expect(made.text).toContain('"revision":9223372036854775807');
    expect(made.text).toContain('"data":{"a":9223372036854775807,"b":9223372036854775808}'.replace('5808', '6000'));
    const table = await api.get(`${REVISIONS}/r`, { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io' });
    expect(table.text).toContain('"r","\\u003cnone\\u003e",9223372036854775807');
  });

  test.each(EXACT)('is the same with %s after protobuf and back', async number => {
    const name = `pb-${number.replace('-', 'm')}`;
    const pod = `{"metadata":{"name":"${name}"},"spec":{"containers":[{"name":"c","image":"i"}],"tolerations":[{"key":"k","operator":"Exists","effect":"NoExecute","tolerationSeconds":${number}}]}}`;
    const made = await api.post('/api/v1/namespaces/default/pods', pod);
    expect(made.text).toContain(`"tolerationSeconds":${number}`);
    const { decodeMessage, decodeEnvelope, encodeEnvelope, encodeMessage } = await import(
      '../../core/schema/protobuf/protobuf.js'
    );
    const { findType } = await import('../../core/schema/table/types.js');
    const type = findType('core.v1.Pod')!;
    const raw = encodeMessage(type, readJson(pod));
    const { raw: back } = decodeEnvelope(encodeEnvelope('v1', 'Pod', raw));
    expect(writeJson(decodeMessage(type, back).value)).toContain(`"tolerationSeconds":${number}`);
    const sent = encodeEnvelope('v1', 'Pod', encodeMessage(type, readJson(pod.replace(name, `${name}-again`))));
    const again = await api.post('/api/v1/namespaces/default/pods', sent, { type: PROTOBUF });
    expect(again.text).toContain(`"tolerationSeconds":${number}`);
  });

  test('is patched and applied exactly', async () => {
    const at = `${REVISIONS}/patched`;
    await api.post(REVISIONS, revision('patched', '9007199254740993'));
    for (const type of [MERGE, STRATEGIC])
      for (const number of ['9223372036854775806', '9223372036854775807'])
        expect((await api.patch(at, type, `{"revision":${number}}`)).text).toContain(`"revision":${number}`);
    const applied = await api.patch(`${at}-2?fieldManager=a`, APPLY, revision('patched-2', '9223372036854775807'));
    expect(applied.text).toContain('"revision":9223372036854775807');
    const conflict = await api.patch(`${at}-2?fieldManager=b`, APPLY, revision('patched-2', '9223372036854775806'));
    expect(conflict.status).toBe(409);
  });

  test('is refused for values outside of a range, with the exact value in the message', async () => {
    const pod = (number: string): string =>
      `{"metadata":{"name":"p"},"spec":{"securityContext":{"runAsUser":${number}},"containers":[{"name":"c","image":"i"}]}}`;
    const { text } = await api.post('/api/v1/namespaces/default/pods', pod('9223372036854775807'));
    expect(text).toContain('Invalid value: 9223372036854775807: must be between 0 and 2147483647');
    expect((await api.post('/api/v1/namespaces/default/pods', pod('9223372036854775808'))).status).toBe(400);
  });
});

test('expressions of policies and webhooks see the exact integers, and patches of webhooks set them', async () => {
  const GROUP = '/apis/admissionregistration.k8s.io/v1';
  const rules = [{ apiGroups: ['number.test'], apiVersions: ['*'], operations: ['*'], resources: ['boxes'] }];
  await api.made(`${GROUP}/validatingadmissionpolicies`, {
    metadata: { name: 'exact' },
    spec: {
      matchConstraints: { resourceRules: rules },
      validations: [{ expression: '!has(object.spec.int) || object.spec.int != 9007199254740997', message: 'policy' }],
    },
  });
  await api.made(`${GROUP}/validatingadmissionpolicybindings`, {
    metadata: { name: 'exact' },
    spec: { policyName: 'exact', validationActions: ['Deny'] },
  });
  expect((await api.post(BOXES, box('{"int":9007199254740997}'))).text).toContain('policy');
  expect((await api.post(BOXES, box('{"int":9007199254740996}'))).status).toBe(201);
  const hooks = await Hooks.start();
  try {
    const patch = Buffer.from('[{"op":"add","path":"/spec/any","value":9223372036854775807}]').toString('base64');
    hooks.on('/any', () => ({ patch, patchType: 'JSONPatch' }));
    await install(api, 'Mutating', 'exact', hooks.webhook('/any', { rules, objectSelector: {} }));
    const { text } = await api.post(BOXES, box('{"int":9007199254740996}'));
    expect(text).toContain('"int":9007199254740996');
    expect(text).toContain('"any":9223372036854775807');
    await api.delete(`${GROUP}/mutatingwebhookconfigurations/exact`);
  } finally {
    await hooks.close();
  }
});

test('the OpenAPI document of a custom kind has the exact default', async () => {
  const { text } = await api.get('/openapi/v3/apis/number.test/v1');
  expect(text).toContain('"default":9007199254740993');
  expect((await api.get('/openapi/v2')).text).toContain('9007199254740993');
  const protobuf = 'application/com.github.proto-openapi.spec.v2@v1.0+protobuf';
  expect((await api.get('/openapi/v2', { accept: protobuf })).text).toContain('9007199254740993');
});

describe('an integer of a built-in kind that is written with a fraction or an exponent', () => {
  const DEPLOYMENTS = '/apis/apps/v1/namespaces/default/deployments';
  const deployment = (replicas: string, name = 'written'): string =>
    `{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"${name}"},"spec":{"replicas":${replicas},
      "selector":{"matchLabels":{"a":"b"}},"template":{"metadata":{"labels":{"a":"b"}},
        "spec":{"containers":[{"name":"c","image":"i","ports":[{"containerPort":80}]}]}}}}`;
  const MISMATCH = (text: string): string =>
    `json: cannot unmarshal number ${text} into Go struct field DeploymentSpec.spec.replicas of type int32`;
  const at = `${DEPLOYMENTS}/written`;
  beforeAll(async () => {
    expect((await api.post(DEPLOYMENTS, deployment('7'))).status).toBe(201);
  });

  test.each(['1.0', '1e3', '10E-1', '-0.0'])(
    'is refused as %s in JSON, a merge patch and a JSON Patch, which keep the literal',
    async text => {
      const created = await api.post(DEPLOYMENTS, deployment(text, 'other'));
      expect([created.status, created.body['message']]).toEqual([
        400,
        `Deployment in version "v1" cannot be handled as a Deployment: ${MISMATCH(text)}`,
      ]);
      expect((await api.put(at, deployment(text))).status).toBe(400);
      const merged = await api.patch(at, MERGE, `{"spec":{"replicas":${text}}}`);
      expect([merged.status, merged.text]).toEqual([422, expect.stringContaining(MISMATCH(text))]);
      for (const path of ['/spec/replicas', '/spec'])
        for (const op of ['add', 'replace']) {
          const value = path === '/spec' ? `{"replicas":${text}}` : text;
          const patch = `[{"op":"test","path":"/spec/replicas","value":7.0},{"op":"${op}","path":"${path}","value":${value}}]`;
          const patched = await api.patch(at, 'application/json-patch+json', patch);
          expect([patched.status, patched.text]).toEqual([422, expect.stringContaining(MISMATCH(text))]);
        }
    },
  );

  test('is refused in lists, maps and options of deletes as well', async () => {
    const port = deployment('1', 'other').replace('80', '80.0');
    expect((await api.post(DEPLOYMENTS, port)).text).toContain(
      'json: cannot unmarshal number 80.0 into Go struct field ContainerPort.spec.template.spec.containers.ports.containerPort of type int32',
    );
    const deleted = await api.call('DELETE', at, { body: '{"gracePeriodSeconds":1.0}', type: 'application/json' });
    expect(deleted.status).toBe(400);
  });

  test('is accepted in YAML, a strategic merge patch and an apply, which keep only the value', async () => {
    const strategic = await api.patch(at, STRATEGIC, '{"spec":{"replicas":3.0}}');
    expect([strategic.status, strategic.text]).toEqual([200, expect.stringContaining('"replicas":3,')]);
    const yaml = 'apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: written}\nspec: {replicas: 1e3}\n';
    const applied = await api.patch(`${at}?fieldManager=a&force=true`, APPLY, yaml);
    expect([applied.status, applied.text]).toEqual([200, expect.stringContaining('"replicas":1000,')]);
  });
});

test('a quantity keeps the literal of a number', async () => {
  const QUOTAS = '/api/v1/namespaces/default/resourcequotas';
  const quota = (name: string, text: string): string =>
    `{"metadata":{"name":"${name}"},"spec":{"hard":{"x.y/z":${text}}}}`;
  for (const [text, stored] of Object.entries({ '1e3': '1e3', '9007199254740993.0': '9007199254740993' })) {
    const { body } = await api.post(QUOTAS, quota(`q-${stored}`, text));
    expect(body['spec']!['hard']!['x.y/z']).toBe(stored);
    const patched = await api.patch(`${QUOTAS}/q-${stored}`, MERGE, `{"spec":{"hard":{"x.y/z":1${text}}}}`);
    expect(patched.body['spec']!['hard']!['x.y/z']).toBe(`1${stored}`);
  }
});

test('an integer beyond 2^53 that YAML writes as a float is stored as an integer in a custom object', async () => {
  const yaml = 'apiVersion: number.test/v1\nkind: Box\nmetadata: {name: float}\nspec: {int: 9007199254740994.0}\n';
  const made = await api.call('POST', BOXES, { body: yaml, type: 'application/yaml' });
  expect([made.status, made.text]).toEqual([201, expect.stringContaining('"int":9007199254740994')]);
});

test('a double is a multiple of another one if the quotient of the doubles is whole', async () => {
  for (const multiple of ['0.3', '0.7', '12.1', '-0.4'])
    expect((await api.post(BOXES, box(`{"tenth":${multiple}}`))).status).toBe(201);
  for (const other of ['0.35', '9007199254740993.5', '1e300'])
    expect((await api.post(BOXES, box(`{"tenth":${other}}`))).text).toContain('should be a multiple of 0.1');
});
