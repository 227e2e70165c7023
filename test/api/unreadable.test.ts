import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Api } from './support.js';
import { MERGE, STRATEGIC } from '../support/mediaTypes.js';

describe('bodies that are not an object of the kind', () => {
  let api: Api;
  let maps: string;
  let pods: string;
  beforeAll(async () => {
    api = await Api.shared();
    const space = await api.namespace('unreadable');
    maps = `${space}/configmaps`;
    pods = `${space}/pods`;
    await api.made(pods, { metadata: { name: 'a' }, spec: { containers: [{ name: 'c', image: 'i' }] } });
  });
  afterAll(() => api.close());
  const message = async (path: string, body: string, type?: string): Promise<unknown> => {
    const answer = await api.post(path, body, type ? { type } : {});
    expect([answer.status, answer.body.reason]).toEqual([400, 'BadRequest']);
    return answer.body.message;
  };

  test('the refusal names the expected kind, the cause and the beginning of the text', async () => {
    expect(await message('/api/v1/namespaces', 'apiVersion: v1\nkind: Pod\nmetadata: {name: a}\n')).toBe(
      "the object provided is unrecognized (must be of type Namespace): couldn't get version/kind; json parse error: invalid character 'a' looking for beginning of value (61706956657273696f6e3a2076310a6b696e643a20506f640a6d65746164 ...)",
    );
    expect(await message(maps, '{"kind": "ConfigMap" "metadata": {}}')).toBe(
      `the object provided is unrecognized (must be of type ConfigMap): couldn't get version/kind; json parse error: invalid character '"' after object key:value pair ({"kind": "ConfigMap" "metadata ...)`,
    );
    expect(await message(maps, '[]')).toMatch(
      /^the object provided is unrecognized \(must be of type ConfigMap\): .*array.* \(5b5d\)$/,
    );
    expect(await message(maps, '{"apiVersion":1}')).toContain('field .apiVersion of type string ({"apiVersion":1})');
    expect(await message(maps, 'a: [', 'application/yaml')).toMatch(
      /^the object provided is unrecognized \(must be of type ConfigMap\): yaml: .* \(613a205b\)$/,
    );
    expect(await message(`${pods}/a/binding`, 'x')).toContain('(must be of type Binding)');
  });

  test.each([
    [{ metadata: { labels: 'invalid' } }, 'map[metadata:map[labels:invalid]]', 'cannot restore map from string'],
    [{ metadata: { finalizers: { a: 1 } } }, 'map[metadata:map[finalizers:map[a:1]]]', 'cannot restore slice from map'],
    [{ spec: { securityContext: [] } }, 'map[spec:map[securityContext:[]]]', 'cannot restore struct from: slice'],
    [{ spec: { priority: 'x' } }, 'map[spec:map[priority:x]]', 'unrecognized type: int32'],
    [{ spec: { priority: 1.5 } }, 'map[spec:map[priority:1.5]]', 'cannot convert float64 to int32'],
    [
      { spec: { nodeName: 5, hostname: null } },
      'map[spec:map[hostname:<nil> nodeName:5]]',
      'cannot convert int64 to string',
    ],
    [{ spec: { hostNetwork: 'yes' } }, 'map[spec:map[hostNetwork:yes]]', 'unrecognized type: bool'],
    [
      { metadata: { creationTimestamp: 5 } },
      'map[metadata:map[creationTimestamp:5]]',
      'json: cannot unmarshal number into Go value of type string',
    ],
    [
      { spec: { overhead: { cpu: true } } },
      'map[spec:map[overhead:map[cpu:true]]]',
      "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'",
    ],
  ])('a strategic merge patch %j whose result is not an object is shown as a tree', async (patch, shown, why) => {
    const { status, body } = await api.patch(`${pods}/a`, STRATEGIC, patch);
    expect([status, body.reason]).toEqual([422, 'Invalid']);
    expect(body.message).toBe(` "" is invalid: patch: Invalid value: ${JSON.stringify(shown)}: ${why}`);
  });

  test('the refusal of other patches shows their result', async () => {
    const { status, body } = await api.patch(`${pods}/a`, MERGE, {
      metadata: { labels: 'b' },
    });
    expect([status, body.reason]).toEqual([422, 'Invalid']);
    expect(body.message).toMatch(
      /^ "" is invalid: patch: Invalid value: "\{\\"apiVersion\\":\\"v1\\",\\"kind\\":\\"Pod\\".*": json: cannot unmarshal string into Go struct field ObjectMeta\.metadata\.labels of type map\[string\]string$/,
    );
  });
});

describe('a node', () => {
  let api: Api;
  beforeAll(async () => {
    api = await Api.shared();
  });
  afterAll(() => api.close());

  test('is created with its status; an update does not change it', async () => {
    const made = await api.post('/api/v1/nodes', { metadata: { name: 'n' }, status: { capacity: { memory: '1Gi' } } });
    expect([made.status, made.body.status]).toMatchObject([
      201,
      { capacity: { memory: '1Gi' }, allocatable: { memory: '1Gi' } },
    ]);
    const updated = await api.put('/api/v1/nodes/n', { ...made.body, status: {} });
    expect([updated.status, updated.body.status]).toMatchObject([200, { capacity: { memory: '1Gi' } }]);
  });
});

describe('the OpenAPI documents', () => {
  let api: Api;
  beforeAll(async () => {
    api = await Api.shared();
  });
  afterAll(() => api.close());

  test('describe the parameters of lists', async () => {
    const { text } = await api.get('/openapi/v2');
    const { paths, parameters: shared } = JSON.parse(text);
    const { parameters = [], get } = paths['/api/v1/namespaces/{namespace}/configmaps'];
    const resolve = ({ $ref, ...own }: { $ref?: string }) => ($ref ? shared[$ref.slice('#/parameters/'.length)] : own);
    const ofLists: { name: string; description?: string }[] = [...parameters, ...get.parameters].map(resolve);
    for (const wanted of ['labelSelector', 'fieldSelector', 'watch', 'limit', 'continue'])
      expect(ofLists.find(({ name }) => name === wanted)?.description, wanted).toMatch(/^[A-Z].+\.$/);
  });
});
