import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Api, type Loose, namesIn, causesIn, rowsIn } from '../api/support.js';
import { openWatch } from '../api/watching.js';
import { AGE, column, definition, kindShape, object, type Shape, text, version } from './lookalikes/shapes.js';
import { serve, WAYS } from './ways.js';
import { MERGE, STRATEGIC } from '../support/mediaTypes.js';

/* The behavior of custom kinds, whether a definition or a program adds them. */

const TABLE = 'application/json;as=Table;g=meta.k8s.io;v=v1';
const GROUP = 'shop.example.com';
const number = (more: Shape = {}): Shape => ({ type: 'integer', ...more });

const spec = (properties: { readonly [name: string]: Shape }, more: Shape = {}): Shape =>
  kindShape('A widget.', {
    spec: object('What is wanted.', properties, more),
    status: object('What there is.', { phase: text('Phase.', { maxLength: 5 }), replicas: number() }),
  });

const OLD = 'shop.example.com/v1alpha1 Widget is deprecated: use v1';
const widget = definition(
  GROUP,
  'Widget',
  { plural: 'widgets', shortNames: ['wd'], categories: ['shop'] },
  'Namespaced',
  [
    version(
      'v1',
      spec(
        {
          a: number({ minimum: 1 }),
          b: number({ default: 4 }),
          old: number(),
          color: text('Color.', { enum: ['red', 'blue'] }),
          tags: { type: 'array', items: { type: 'string' }, 'x-kubernetes-list-type': 'set' },
          ports: {
            type: 'array',
            items: object('A port.', { port: number(), name: text('Name.') }, { required: ['port'] }),
            'x-kubernetes-list-type': 'map',
            'x-kubernetes-list-map-keys': ['port'],
          },
          free: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
        },
        {
          'x-kubernetes-validations': [
            { rule: '!has(self.a) || self.a < 100', message: 'a is less than 100', fieldPath: '.a' },
            { rule: '!has(oldSelf.color) || has(self.color)', message: 'a color stays', reason: 'FieldValueForbidden' },
          ],
        },
      ),
      {
        subresources: {
          status: {},
          scale: { specReplicasPath: '.spec.a', statusReplicasPath: '.status.replicas' },
        },
        additionalPrinterColumns: [
          column('A', 'integer', '.spec.a'),
          column('Ports', 'string', '.spec.ports[*].name'),
          AGE,
        ],
        selectableFields: [{ jsonPath: '.spec.color' }],
      },
    ),
    version('v2', spec({ a: number(), color: text('Color.') }), { storage: false }),
    version('v1alpha1', spec({ old: number() }), { storage: false, deprecated: true, deprecationWarning: OLD }),
    version('v3', spec({}), { storage: false, served: false }),
  ],
);
const plain = definition(GROUP, 'Plain', { plural: 'plains' }, 'Cluster', [
  version('v1', { type: 'object' }, { subresources: undefined }),
]);

describe.each(WAYS)('a kind given by %s', way => {
  let api: Api;
  beforeAll(async () => {
    api = await serve(way, [widget, plain]);
  });
  afterAll(() => api?.close());

  const at = (version = 'v1', namespace = 'default') => `/apis/${GROUP}/${version}/namespaces/${namespace}/widgets`;
  const thing = (name: string, members: object = {}, version = 'v1'): object => ({
    apiVersion: `${GROUP}/${version}`,
    kind: 'Widget',
    metadata: { name },
    ...members,
  });
  const fieldsIn = (body: Loose): unknown => causesIn(body).map(({ field }) => field);

  it('is in discovery with its names, and in the OpenAPI documents', async () => {
    const { body } = await api.get(`/apis/${GROUP}/v1`);
    expect(body['resources']).toMatchObject([
      { name: 'plains', kind: 'Plain', namespaced: false },
      { name: 'widgets', singularName: 'widget', shortNames: ['wd'], categories: ['shop'] },
      { name: 'widgets/status', kind: 'Widget' },
      { name: 'widgets/scale', kind: 'Scale', group: 'autoscaling' },
    ]);
    const versions = (await api.get(`/apis/${GROUP}`)).body['versions'] as unknown as { version: string }[];
    expect(versions.map(one => one.version)).toEqual(['v2', 'v1', 'v1alpha1']);
    for (const path of [`/openapi/v3/apis/${GROUP}/v1`, '/openapi/v2'])
      expect((await api.get(path)).text).toContain('"com.example.shop.v1.Widget"');
  });

  it('has objects and collections that support HEAD', async () => {
    await api.made(at(), thing('head'));
    for (const asked of [at(), `${at()}/head`]) {
      const length = String(Buffer.byteLength((await api.get(asked)).text));
      expect(await api.call('HEAD', asked)).toMatchObject({
        status: 200,
        text: '',
        headers: { 'content-length': length },
      });
    }
    expect((await api.call('HEAD', `${at()}/none`)).status).toBe(404);
  });

  it('has no protobuf form [R188] and no strategic merge [R205]', async () => {
    await api.made(at(), thing('media'));
    expect((await api.get(`${at()}/media`, { accept: 'application/vnd.kubernetes.protobuf' })).status).toBe(406);
    const both = await api.get(`${at()}/media`, { accept: 'application/vnd.kubernetes.protobuf, application/json' });
    expect(both).toMatchObject({ status: 200, body: { kind: 'Widget' } });
    expect((await api.patch(`${at()}/media`, STRATEGIC, {})).status).toBe(415);
  });

  it('has metadata in protobuf: of one object, of a list and in a watch', async () => {
    await api.made(at(), { ...thing('partial'), metadata: { name: 'partial', labels: { only: 'this' } } });
    const pb = 'application/vnd.kubernetes.protobuf';
    const forms: readonly (readonly [string, string, string])[] = [
      [`${at()}/partial`, 'PartialObjectMetadata', pb],
      [`${at()}?labelSelector=only`, 'PartialObjectMetadataList', pb],
      [`${at()}?labelSelector=only&watch=1&timeoutSeconds=1`, 'PartialObjectMetadata', `${pb};stream=watch`],
    ];
    for (const [path, form, type] of forms) {
      const answer = await api.get(path, { accept: `${pb};as=${form};g=meta.k8s.io;v=v1` });
      expect([answer.status, answer.headers['content-type']]).toEqual([200, type]);
      for (const part of [`${form}\x12`, 'partial', 'only']) expect(answer.text).toContain(part);
    }
  });

  it('warns about new finalizers without a path, which may collide with those of others', async () => {
    const finalizers = ['x', 'orphan', 'a.b/c', 'a.b'];
    const made = await api.post(at(), { ...thing('held'), metadata: { name: 'held', finalizers } });
    const warning = (name: string, path = ''): string =>
      `299 - "metadata.finalizers: \\"${name}\\": prefer a domain-qualified finalizer name${path} to avoid accidental ` +
      'conflicts with other finalizer writers"';
    const expected = [warning('a.b', ' including a path (/)'), warning('x')];
    expect([made.status, made.headers['warning']]).toEqual([201, expected]);
    const patched = await api.patch(`${at()}/held`, MERGE, { metadata: { finalizers: ['x', 'y'] } });
    expect([patched.status, patched.headers['warning']]).toEqual([200, warning('y')]);
    expect((await api.patch(`${at()}/held`, MERGE, { metadata: { finalizers: null } })).headers['warning']).toBe(
      undefined,
    );
  });

  it('sets defaults, and removes or refuses members that the schema does not have', async () => {
    const given = thing('pruned', { spec: { a: 1, junk: 1, free: { deep: [null] } } });
    const answer = await api.post(at(), given);
    expect(answer.headers['warning']).toBe('299 - "unknown field \\"spec.junk\\""');
    expect(answer.body['spec']).toEqual({ a: 1, b: 4, free: { deep: [null] } });
    const strict = await api.post(`${at()}?fieldValidation=Strict`, given);
    expect([strict.status, strict.body['message']]).toEqual([
      400,
      expect.stringContaining('strict decoding error: unknown field "spec.junk"'),
    ]);
  });

  it('reports all violations of its schema, and of its rules if the schema holds', async () => {
    const ports = [{ port: 1 }, { port: 1 }];
    const bad = await api.post(at(), thing('bad', { spec: { a: 0, color: 'green', tags: ['x', 'x'], ports } }));
    expect([bad.status, fieldsIn(bad.body)]).toEqual([
      422,
      expect.arrayContaining(['spec.a', 'spec.color', 'spec.tags[1]', 'spec.ports[1]']),
    ]);
    const much = await api.post(at(), thing('much', { spec: { a: 100 } }));
    expect(much.body['details']!['causes']).toMatchObject([{ field: 'spec.a', message: expect.stringMatching(/100/) }]);
    await api.made(at(), thing('painted', { spec: { color: 'red' } }));
    const bare = await api.patch(`${at()}/painted`, MERGE, { spec: { color: null } });
    expect(bare.body['details']!['causes']).toMatchObject([
      { reason: 'FieldValueForbidden', field: 'spec', message: 'Forbidden: a color stays' },
    ]);
  });

  it('needs a resourceVersion to be replaced [R281]', async () => {
    await api.made(at(), thing('put'));
    const answer = await api.put(`${at()}/put`, thing('put'));
    expect([answer.status, fieldsIn(answer.body)]).toEqual([422, ['metadata.resourceVersion']]);
  });

  it('separates writes of the status from others, of which only the latter change the generation', async () => {
    await api.made(at(), thing('apart', { spec: { a: 1 }, status: { phase: 'new' } }));
    const current = (await api.get(`${at()}/apart`)).body;
    expect([current['status'], current['metadata']!['generation']]).toEqual([undefined, 1]);
    const change = { metadata: { labels: { a: 'b' } }, spec: { a: 2 }, status: { phase: 'on' } };
    const status = (await api.patch(`${at()}/apart/status`, MERGE, change)).body;
    expect(status).toMatchObject({ spec: { a: 1 }, status: { phase: 'on' }, metadata: { generation: 1 } });
    expect(status['metadata']).not.toHaveProperty('labels');
    const whole = (await api.patch(`${at()}/apart`, MERGE, { ...change, status: { phase: 'off' } })).body;
    expect(whole).toMatchObject({ spec: { a: 2 }, status: { phase: 'on' }, metadata: { generation: 2 } });
    const long = await api.patch(`${at()}/apart/status`, MERGE, { status: { phase: 'endless' } });
    expect(fieldsIn(long.body)).toContain('status.phase');
  });

  it('has no owner of a replica count that had none before it was scaled', async () => {
    const ownersOf = async (name: string) =>
      JSON.stringify((await api.get(`${at()}/${name}`)).body['metadata']!['managedFields']);
    for (const [name, spec] of [
      ['unowned', {}],
      ['owned', { a: 3 }],
    ] as const) {
      await api.made(at(), thing(name, { spec }));
      const { body } = await api.get(`${at()}/${name}/scale`);
      await api.put(`${at()}/${name}/scale`, { ...body, spec: { replicas: 5 } });
      expect((await ownersOf(name)).includes('"subresource":"scale"')).toBe(name === 'owned');
    }
  });

  it('is scaled by its fields', async () => {
    await api.made(at(), thing('scaled', { spec: { a: 3 } }));
    const scale = (await api.get(`${at()}/scaled/scale`)).body;
    expect(scale).toMatchObject({ kind: 'Scale', apiVersion: 'autoscaling/v1', spec: { replicas: 3 } });
    expect((await api.put(`${at()}/scaled/scale`, { ...scale, spec: { replicas: 5 } })).status).toBe(200);
    expect((await api.get(`${at()}/scaled`)).body['spec']).toEqual({ a: 5, b: 4 });
  });

  it('shows its columns in Tables, or names and ages without columns [R504]', async () => {
    const namespace = await api.namespace('columns');
    expect(namespace).toContain('columns');
    const path = at('v1', 'columns');
    await api.made(
      path,
      thing('a', {
        spec: {
          a: 7,
          ports: [
            { port: 1, name: 'x' },
            { port: 2, name: 'y' },
          ],
        },
      }),
    );
    const { body } = await api.get(path, { accept: TABLE });
    expect(body['columnDefinitions']).toMatchObject([
      { name: 'Name' },
      { name: 'A' },
      { name: 'Ports' },
      { name: 'Age' },
    ]);
    expect(rowsIn(body).map(({ cells }) => cells.slice(0, 3))).toEqual([['a', 7, 'x']]);
    const bare = (await api.get(`/apis/${GROUP}/v1/plains`, { accept: TABLE })).body;
    expect(bare['columnDefinitions']).toMatchObject([{ name: 'Name' }, { name: 'Created At' }]);
  });

  it('is found by its selectable fields, also by watches', async () => {
    const query = 'fieldSelector=spec.color%3Dblue';
    const { resourceVersion } = (await api.get(`${at()}?${query}`)).body['metadata'] as Loose;
    const watch = await openWatch(api.server, `${at()}?${query}&watch=1&resourceVersion=${String(resourceVersion)}`);
    await api.made(at(), thing('blue', { spec: { color: 'blue' } }));
    expect(namesIn((await api.get(`${at()}?${query}`)).body)).toEqual(['blue']);
    expect((await watch.next())!.type).toBe('ADDED');
    await api.patch(`${at()}/blue`, MERGE, { spec: { color: 'red' } });
    expect((await watch.next())!.type).toBe('DELETED');
    watch.close();
    expect((await api.get(`${at()}?fieldSelector=spec.a%3D1`)).status).toBe(400);
  });

  it('is applied by managers of its sets, keyed lists and members', async () => {
    const apply = (manager: string, members: object, force = false) =>
      api.patch(
        `${at()}/applied?fieldManager=${manager}&force=${force}`,
        'application/apply-patch+yaml',
        thing('applied', { spec: members }),
      );
    expect((await apply('one', { a: 1, tags: ['x'], ports: [{ port: 1, name: 'p' }] })).status).toBe(201);
    expect((await apply('two', { tags: ['y'], ports: [{ port: 2 }] })).status).toBe(200);
    const conflict = await apply('two', { a: 2 });
    expect([conflict.status, fieldsIn(conflict.body)]).toEqual([409, ['.spec.a']]);
    await apply('two', { tags: ['y'], ports: [{ port: 2 }] });
    const removed = await apply('one', { a: 1 });
    expect(removed.body['spec']).toMatchObject({ a: 1, tags: ['y'], ports: [{ port: 2 }] });
  });

  it('converts between versions only by name, prunes by the requested version, and warns about deprecated ones', async () => {
    await api.made(at(), thing('many', { spec: { a: 1, old: 2 } }));
    const other = (await api.get(`${at('v2')}/many`)).body;
    expect(other).toMatchObject({ apiVersion: `${GROUP}/v2`, spec: { a: 1 } });
    expect(other['spec']).not.toHaveProperty('old');
    const deprecated = await api.get(`${at('v1alpha1')}/many`);
    expect(deprecated.body['spec']).toEqual({ old: 2 });
    expect(deprecated.headers['warning']).toBe(`299 - "${OLD}"`);
    expect((await api.get(`${at('v3')}/many`)).text).toBe('404 page not found\n');
  });

  it('warns about members unknown to another version in a body, before it refuses that version', async () => {
    await api.made(at(), thing('other', { spec: { old: 1 } }));
    const patch = (body: object, query = '') => api.patch(`${at()}/other${query}`, MERGE, body);
    const known = await patch({ apiVersion: `${GROUP}/v2`, spec: { b: null } });
    expect([known.status, known.headers['warning']]).toEqual([422, '299 - "unknown field \\"spec.old\\""']);
    const unknown = await patch({ apiVersion: `${GROUP}/v9` });
    expect([unknown.status, unknown.headers['warning']]).toEqual([422, '299 - "unknown field \\"spec\\""']);
    const strict = await patch({ apiVersion: `${GROUP}/v9` }, '?fieldValidation=Strict');
    expect(strict.body['message']).toMatch(/strict decoding error: unknown field "spec"$/);
    const put = await api.put(`${at()}/other`, thing('other', { spec: { a: 1 } }, 'v9'));
    expect([put.status, put.headers['warning']]).toEqual([400, '299 - "unknown field \\"spec\\""']);
    const named = await api.put(`${at()}/other?fieldValidation=Strict`, thing('other', { spec: { a: 1 } }, 'v9'));
    expect(named.body['message']).toMatch(
      /^Widget in version "v9" cannot be handled as a Widget: strict decoding error/,
    );
    // A version that is not served also has a schema.
    const unserved = await patch({ apiVersion: `${GROUP}/v3` });
    expect(String(unserved.headers['warning'])).toContain('unknown field \\"spec.old\\"');
    // The server knows no schema of another group, so it names both members.
    const foreign = await patch({ apiVersion: 'apps/v1', kind: 'Other' });
    expect(foreign.headers['warning']).toBeUndefined();
    expect([foreign.body['details']!['group'], fieldsIn(foreign.body)]).toEqual(['apps', ['kind', 'apiVersion']]);
  });

  it('takes neither kind nor version from a patch of the status', async () => {
    await api.made(at(), thing('reported'));
    for (const given of [{ apiVersion: `${GROUP}/v2` }, { apiVersion: `${GROUP}/v9` }, { kind: 'Other' }]) {
      const { status, body } = await api.patch(`${at()}/reported/status`, MERGE, given);
      expect([status, body['apiVersion'], body['kind']]).toEqual([200, `${GROUP}/v1`, 'Widget']);
    }
    const { body: current } = await api.get(`${at()}/reported`);
    const kind = await api.put(`${at()}/reported/status`, { ...current, kind: 'Other' });
    const version = await api.put(`${at()}/reported/status`, { ...current, apiVersion: `${GROUP}/v2` });
    expect([kind.status, version.status]).toEqual([200, 400]);
  });

  it('has objects that are deleted with their namespace, and collected with their owners', async () => {
    await api.namespace('short');
    const path = at('v1', 'short');
    const owner = await api.made(path, thing('owner'));
    const reference = { apiVersion: `${GROUP}/v1`, kind: 'Widget', name: 'owner', uid: owner['metadata']!['uid'] };
    await api.made(path, { ...thing('child'), metadata: { name: 'child', ownerReferences: [reference] } });
    await api.delete(`${path}/owner`);
    await api.until(async () => (await api.get(`${path}/child`)).status === 404);
    await api.made(path, thing('left'));
    await api.delete('/api/v1/namespaces/short');
    await api.until(async () => (await api.get('/api/v1/namespaces/short')).status === 404);
    expect((await api.get(path)).body['items']).toEqual([]);
  });
});
