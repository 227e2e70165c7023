import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Answer, Api, type Loose, listOf, rowsIn } from '../../api/support.js';
import { MERGE } from '../../support/mediaTypes.js';

/*
 * Features that published definitions need: objects without or with arbitrary members, atomic ones, several versions,
 * unusual plurals.
 */

const CRDS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const APPLY = 'application/apply-patch+yaml';
const GROUP = 'published.example.com';
const TEXT = { type: 'string' };
const FREE = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };
const ATOMIC = { ...FREE, 'x-kubernetes-map-type': 'atomic' };

const schemaOf = (properties: object): object => ({
  type: 'object',
  properties: {
    spec: { type: 'object', properties: { replicas: { type: 'integer' }, ...properties } },
    status: { type: 'object', properties: { replicas: { type: 'integer' } } },
  },
});

const scale = { specReplicasPath: '.spec.replicas', statusReplicasPath: '.status.replicas' };
const versionOf = (name: string, properties: object, storage = true): object => ({
  name,
  served: true,
  storage,
  schema: { openAPIV3Schema: schemaOf(properties) },
  subresources: { status: {}, scale },
});

let api: Api;

/** Defines a kind, and returns the path of its group when it is served. */
async function define(plural: string, versions: readonly object[], scope = 'Namespaced'): Promise<string> {
  const group = `${plural}-${scope.toLowerCase()}.${GROUP}`;
  const names = { plural, kind: 'Thing' };
  await api.made(CRDS, { metadata: { name: `${plural}.${group}` }, spec: { group, scope, names, versions } });
  await api.until(async () => (await api.get(`/apis/${group}/v1/${plural}`)).status === 200);
  return `/apis/${group}`;
}

/** Applies a spec to an object of a kind. `path` is that of its group. */
function apply(path: string, version: string, plural: string, spec: object, query = 'fieldManager=one') {
  const body = {
    apiVersion: `${path.slice('/apis/'.length)}/${version}`,
    kind: 'Thing',
    metadata: { name: 'a' },
    spec,
  };
  return api.patch(`${path}/${version}/namespaces/default/${plural}/a?${query}`, APPLY, body);
}

/** An object of a kind, by the path of its group. */
const thing = (path: string): object => ({
  apiVersion: `${path.slice('/apis/'.length)}/v1`,
  kind: 'Thing',
  metadata: { name: 'a' },
});

const ownedBy = ({ body }: Answer, manager: string): unknown =>
  (body['metadata']!['managedFields'] as unknown as { manager: string; fieldsV1: unknown }[]).find(
    entry => entry.manager === manager,
  )?.fieldsV1;

beforeAll(async () => {
  api = await Api.start();
});
afterAll(() => api?.close());

describe('a kind whose plural is namespaces', () => {
  it('has objects in namespaces, with their subresources', async () => {
    const group = await define('namespaces', [versionOf('v1', {})]);
    const path = `${group}/v1/namespaces/default/namespaces`;
    const made = await api.made(path, { ...thing(group), spec: { replicas: 1 } });
    expect([made['metadata']!['namespace'], made['metadata']!['name']]).toEqual(['default', 'a']);
    expect((await api.patch(`${path}/a`, MERGE, { spec: { replicas: 2 } })).body['spec']).toEqual({ replicas: 2 });
    expect((await api.patch(`${path}/a/status`, MERGE, { status: { replicas: 2 } })).status).toBe(200);
    expect((await api.get(`${path}/a/scale`)).body['kind']).toBe('Scale');
    for (const list of [path, `${group}/v1/namespaces`]) expect((await api.get(list)).body['items']).toHaveLength(1);
    // The path of a namespace names an object in it, too.
    const other = await api.get(`${group}/v1/namespaces/default`);
    expect(other.body['message']).toBe(`namespaces.${group.slice(6)} "default" not found`);
    expect((await api.delete(`${path}/a`)).status).toBe(200);
    expect((await api.delete(path)).status).toBe(200);
  });

  it('has no objects that a path can name if it is cluster-scoped', async () => {
    const group = await define('namespaces', [versionOf('v1', {})], 'Cluster');
    await api.made(`${group}/v1/namespaces`, thing(group));
    expect((await api.get(`${group}/v1/namespaces`)).body['items']).toHaveLength(1);
    for (const path of ['a', 'a/status']) expect((await api.get(`${group}/v1/namespaces/${path}`)).status).toBe(404);
  });
});

describe('an apply', () => {
  const bare = { type: 'object' };
  it('of members that the schema does not declare owns them, although they are pruned', async () => {
    const keyed = {
      type: 'array',
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['k'],
      items: { type: 'object', required: ['k'], properties: { k: TEXT, bare } },
    };
    const fields = { bare, list: { type: 'array', items: bare }, map: { type: 'object', additionalProperties: bare } };
    const declared = { type: 'object', properties: { a: TEXT } };
    const group = await define('bares', [versionOf('v1', { ...fields, keyed, declared })]);
    const some = { x: 1, y: { z: 1 } };
    const spec = { bare: some, list: [some], map: { k: some }, keyed: [{ k: 'k', bare: some }] };
    const applied = await apply(group, 'v1', 'bares', spec, 'fieldManager=one&fieldValidation=Strict');
    expect([applied.status, applied.body['spec']]).toEqual([
      201,
      { bare: {}, list: [{}], map: { k: {} }, keyed: [{ k: 'k', bare: {} }] },
    ]);
    const members = { 'f:x': {}, 'f:y': { '.': {}, 'f:z': {} } };
    expect(ownedBy(applied, 'one')).toEqual({
      'f:spec': {
        'f:bare': members,
        'f:list': {},
        'f:map': { 'f:k': { '.': {}, ...members } },
        'f:keyed': { 'k:{"k":"k"}': { '.': {}, 'f:k': {}, 'f:bare': members } },
      },
    });
    const refused = await apply(group, 'v1', 'bares', { declared: { b: 1 } });
    expect(refused.body['message']).toContain('.spec.declared.b: field not declared in schema');
  });

  it('of an atomic object with arbitrary members owns the whole object', async () => {
    const map = { type: 'object', additionalProperties: ATOMIC };
    const group = await define('atoms', [versionOf('v1', { atom: ATOMIC, map, free: FREE })]);
    const value = { a: { b: 1 } };
    const applied = await apply(group, 'v1', 'atoms', { atom: value, map: { k: value }, free: value });
    expect(ownedBy(applied, 'one')).toEqual({
      'f:spec': { 'f:atom': {}, 'f:map': { 'f:k': {} }, 'f:free': { 'f:a': { '.': {}, 'f:b': {} } } },
    });
    for (const [spec, path] of [
      [{ atom: { c: 1 } }, '.spec.atom'],
      [{ map: { k: { c: 1 } } }, '.spec.map.k'],
    ] as const) {
      const refused = await apply(group, 'v1', 'atoms', spec, 'fieldManager=two');
      expect([refused.status, refused.body['message']]).toEqual([
        409,
        `Apply failed with 1 conflict: conflict with "one": ${path}`,
      ]);
    }
    const forced = await apply(group, 'v1', 'atoms', { atom: { c: 1 } }, 'fieldManager=two&force=true');
    expect(forced.body['spec']!['atom']).toEqual({ c: 1 });
  });

  it('that changes nothing writes nothing, in a version with defaults for fields that the stored one lacks', async () => {
    const defaulted = {
      mode: { ...TEXT, default: 'auto' },
      nested: { type: 'object', default: {}, properties: { n: { type: 'integer', default: 3 } } },
    };
    const group = await define('settles', [
      versionOf('v1', { a: TEXT, ...defaulted }, false),
      versionOf('v2', { a: TEXT }),
    ]);
    const state = ({ body }: Answer): unknown => {
      const { generation, resourceVersion } = body['metadata'] as Loose;
      return { generation, resourceVersion };
    };
    const first = await apply(group, 'v1', 'settles', { a: 'x' });
    expect(first.status).toBe(201);
    for (let i = 0; i < 2; i++) expect(state(await apply(group, 'v1', 'settles', { a: 'x' }))).toEqual(state(first));
    // Another manager of the same fields is recorded, without a change of the object.
    const second = await apply(group, 'v1', 'settles', { a: 'x' }, 'fieldManager=two');
    expect([second.body['metadata']!['generation'], ownedBy(second, 'two')]).toEqual([1, { 'f:spec': { 'f:a': {} } }]);
    const changed = await apply(group, 'v1', 'settles', { a: 'y' }, 'fieldManager=one&force=true');
    expect(changed.body['metadata']!['generation']).toBe(2);
  });
});

describe('a definition', () => {
  it('may have columns whose path selects items with [], of which the first is shown', async () => {
    const hosts = { type: 'array', items: { type: 'object', properties: { name: TEXT } } };
    const additionalPrinterColumns = [{ name: 'Hosts', type: 'string', jsonPath: '.spec.hosts[].name' }];
    const group = await define('columned', [{ ...versionOf('v1', { hosts }), additionalPrinterColumns }]);
    await apply(group, 'v1', 'columned', { hosts: [{ name: 'one' }, { name: 'two' }] });
    const accept = 'application/json;as=Table;v=v1;g=meta.k8s.io';
    const { body } = await api.get(`${group}/v1/namespaces/default/columned`, { accept });
    expect(rowsIn(body).map(({ cells }) => cells)).toEqual([['a', 'one']]);
  });

  it('with a resourceVersion is refused, after all other errors', async () => {
    const versioned = (spec: object) =>
      api.post(CRDS, { metadata: { name: `versioned.${GROUP}`, resourceVersion: '5' }, spec });
    const names = { plural: 'versioned', kind: 'Thing' };
    const versions = [versionOf('v1', {})];
    expect((await versioned({ group: GROUP, scope: 'Nowhere', names, versions })).status).toBe(422);
    expect((await versioned({ group: GROUP, scope: 'Namespaced', names, versions })).body).toMatchObject({
      code: 400,
      message: 'resourceVersion should not be set on objects to be created',
    });
  });
});

describe('aggregated discovery', () => {
  it('names group and version of the kind of the status, as for the kind itself', async () => {
    const group = await define('shown', [versionOf('v1', {})]);
    const accept = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList';
    const groups = listOf((await api.get('/apis', { accept })).body['items']);
    const found = groups.find(({ metadata }) => String(metadata!['name']) === group.slice('/apis/'.length))!;
    const [resource] = listOf(found['versions']![0]!['resources']);
    const own = { group: group.slice('/apis/'.length), version: 'v1', kind: 'Thing' };
    expect(resource!['responseKind']).toEqual(own);
    expect(listOf(resource!['subresources']).map(part => part['responseKind'])).toEqual([
      own,
      { group: 'autoscaling', version: 'v1', kind: 'Scale' },
    ]);
  });
});
