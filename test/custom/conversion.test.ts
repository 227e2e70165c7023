import { resolve } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { Hooks } from '../admission/hooks.js';
import { RENDER_SLICE_OBJECTS } from '../../core/limits.js';
import { Api, type Loose, listOf, rowsIn } from '../api/support.js';
import { MERGE } from '../support/mediaTypes.js';

/* Conversion of custom objects between versions: by webhooks, and by functions of plugins. */

const CRDS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const TABLE = 'application/json;as=Table;g=meta.k8s.io;v=v1';

let api: Api;
let hooks: Hooks;
beforeAll(async () => {
  hooks = await Hooks.start();
  api = await Api.start({
    webhookResolve: [`default/hook=${hooks.url}`],
    plugins: [{ use: resolve('dist/test/plugins/fixtures/converter.js') }],
  });
});
afterAll(async () => {
  await api.close();
  await hooks.close();
});

interface Widget {
  apiVersion: string;
  metadata: Loose & { name: string };
  spec: { hostPort?: string; host?: string; port?: string };
}

/** v1 has `hostPort`, v2 `host` and `port`. */
function convert({ apiVersion: _, spec, ...rest }: Widget, apiVersion: string): Widget {
  const [host, port] = spec.hostPort?.split(':') ?? [spec.host, spec.port];
  return { ...rest, apiVersion, spec: apiVersion.endsWith('/v2') ? { host, port } : { hostPort: `${host}:${port}` } };
}

interface Conversion {
  readonly desiredAPIVersion: string;
  readonly objects: readonly Widget[];
}
const converted = (request: Loose, change: (widget: Widget) => Widget = widget => widget): object => {
  const { desiredAPIVersion, objects } = request as unknown as Conversion;
  const convertedObjects = objects.map(object => change(convert(object, desiredAPIVersion)));
  return { result: { status: 'Success' }, convertedObjects };
};
beforeEach(() => {
  hooks.on('/convert', request => converted(request));
  hooks.take('/convert');
});

const TEXT = { type: 'string' };
const version = (name: string, storage: boolean, properties: object, path: string): object => ({
  name,
  served: true,
  storage,
  schema: {
    openAPIV3Schema: {
      type: 'object',
      properties: { spec: { type: 'object', properties }, status: { type: 'object', properties: { ready: TEXT } } },
    },
  },
  subresources: { status: {} },
  additionalPrinterColumns: [{ name: 'Where', type: 'string', jsonPath: path }],
});
const versionsOf = (stored: 'v1' | 'v2'): readonly object[] => [
  version('v1', stored === 'v1', { hostPort: TEXT }, '.spec.hostPort'),
  version('v2', stored === 'v2', { host: TEXT, port: TEXT, scheme: { ...TEXT, default: 'http' } }, '.spec.host'),
];
const byWebhook = (clientConfig: object): object => ({
  strategy: 'Webhook',
  webhook: { conversionReviewVersions: ['v1'], clientConfig },
});

/** Defines widgets in a group. Returns the path of the widgets of the namespace `default` in a version. */
async function define(group: string, conversion: object): Promise<(version: string) => string> {
  const names = { plural: 'widgets', kind: 'Widget' };
  const spec = { group, scope: 'Namespaced', names, versions: versionsOf('v1'), conversion };
  await api.made(CRDS, { metadata: { name: `widgets.${group}` }, spec });
  const path = (of: string): string => `/apis/${group}/${of}/namespaces/default/widgets`;
  await api.until(async () => (await api.get(path('v1'))).status === 200);
  return path;
}
const hooked = (group: string): Promise<(version: string) => string> =>
  define(group, byWebhook({ url: `${hooks.url}/convert`, caBundle: hooks.caBundle }));
const widget = (group: string, of: string, name: string, spec: object): object => ({
  apiVersion: `${group}/${of}`,
  kind: 'Widget',
  metadata: { name },
  spec,
});
const create = (path: (version: string) => string, of: string, name: string, spec: object): Promise<Loose> =>
  api.made(path(of), widget(path(of).split('/')[2]!, of, name, spec));
const ofGroup = (group: string, what: string): string => `conversion webhook for ${group}/v1, Kind=Widget ${what}`;

describe('a conversion webhook', () => {
  test('converts objects that are written and read in another version than the stored one', async () => {
    const path = await hooked('reads.example.com');
    await create(path, 'v1', 'a', { hostPort: 'a:1' });
    expect((await create(path, 'v2', 'b', { host: 'b', port: '2' }))['spec']).toEqual({ host: 'b', port: '2' });
    expect((await api.get(`${path('v1')}/b`)).body['spec']).toEqual({ hostPort: 'b:2' });
    expect((await api.get(`${path('v2')}/a`)).body['spec']).toEqual({ host: 'a', port: '1' });
    const { body } = await api.get(path('v2'));
    expect((body['items'] as unknown as Widget[]).map(({ apiVersion, spec }) => [apiVersion, spec])).toEqual([
      ['reads.example.com/v2', { host: 'a', port: '1' }],
      ['reads.example.com/v2', { host: 'b', port: '2' }],
    ]);
    const table = rowsIn((await api.get(path('v2'), { accept: TABLE })).body);
    expect(table.map(({ cells }) => cells)).toEqual([
      ['a', 'a'],
      ['b', 'b'],
    ]);
    const patched = await api.patch(`${path('v2')}/a`, MERGE, { spec: { port: '5' } });
    expect(patched.body['spec']).toMatchObject({ host: 'a', port: '5' });
    expect((await api.get(`${path('v1')}/a`)).body['spec']).toEqual({ hostPort: 'a:5' });
  });

  test('is not called for the stored version, and once for a list', async () => {
    const path = await hooked('calls.example.com');
    for (const name of ['a', 'b', 'c']) await create(path, 'v1', name, { hostPort: 'h:1' });
    await api.get(path('v1'));
    expect(hooks.take('/convert')).toEqual([]);
    await api.get(path('v2'));
    const [call, ...more] = hooks.take('/convert');
    expect(more).toEqual([]);
    expect(call!.query).toBe('?timeout=30s');
    expect(call!.request['desiredAPIVersion']).toBe('calls.example.com/v2');
    expect((call!.request['objects'] as unknown as Widget[]).map(({ metadata }) => metadata.name)).toEqual([
      'a',
      'b',
      'c',
    ]);
  });

  test('converts the events of a watch', async () => {
    const path = await hooked('watched.example.com');
    const events = await api.watch(`${path('v2')}?watch=1`);
    await create(path, 'v1', 'a', { hostPort: 'w:1' });
    const event = await events.next();
    expect([event.type, event.object['spec']]).toEqual(['ADDED', { host: 'w', port: '1' }]);
    events.close();
  });

  test('that fails ends a watch of its version with an error, and no other', async () => {
    const path = await hooked('unwatched.example.com');
    const [converted, stored] = [await api.watch(`${path('v2')}?watch=1`), await api.watch(`${path('v1')}?watch=1`)];
    hooks.on('/convert', () => ({ result: { status: 'Failure', message: 'not today' } }));
    await create(path, 'v1', 'a', { hostPort: 'w:1' });
    expect((await stored.next()).type).toBe('ADDED');
    const event = await converted.next();
    expect(event.type).toBe('ERROR');
    const why = ofGroup('unwatched.example.com', 'failed: not today');
    expect(event.object).toMatchObject({
      code: 500,
      reason: 'InternalError',
      message: `Internal error occurred: ${why}`,
      details: { causes: [{ message: why }] },
    });
    stored.close();
    converted.close();
  });

  test('that fails for one object lets a watch show the objects before it', async () => {
    const path = await hooked('begun.example.com');
    for (const name of ['a', 'b', 'c']) await create(path, 'v1', name, { hostPort: 'w:1' });
    hooks.on('/convert', request =>
      (request as unknown as Conversion).objects.some(({ metadata }) => metadata.name === 'b')
        ? { result: { status: 'Failure', message: 'not b' } }
        : converted(request),
    );
    const events = await api.watch(`${path('v2')}?watch=1`);
    const [first, second] = [await events.next(), await events.next()];
    expect([first.type, first.object.metadata?.['name'], second.type]).toEqual(['ADDED', 'a', 'ERROR']);
    events.close();
  });

  test('that fails for one of many objects refuses the whole list, and a deletecollection before it deletes', async () => {
    const path = await hooked('many.example.com');
    const names = Array.from({ length: RENDER_SLICE_OBJECTS + 5 }, (_, i) => `w${String(i).padStart(4, '0')}`);
    await Promise.all(names.map(name => create(path, 'v1', name, { hostPort: 'm:1' })));
    hooks.on('/convert', request =>
      (request as unknown as Conversion).objects.some(({ metadata }) => metadata.name === names.at(-1))
        ? { result: { status: 'Failure', message: 'not the last' } }
        : converted(request),
    );
    const why = ofGroup('many.example.com', 'failed: not the last');
    for (const accept of ['application/json', TABLE])
      expect((await api.get(path('v2'), { accept })).body).toMatchObject({ code: 500, message: why });
    const refused = await api.delete(path('v2'));
    expect([refused.status, refused.body.message]).toEqual([500, why]);
    expect((await api.get(path('v1'))).body['items']).toHaveLength(names.length);
  });

  test('keeps the managers of both versions', async () => {
    const path = await hooked('managed.example.com');
    const apply = (of: string, manager: string, spec: object) =>
      api.patch(
        `${path(of)}/a?fieldManager=${manager}&force=true`,
        'application/apply-patch+yaml',
        widget('managed.example.com', of, 'a', spec),
      );
    await apply('v1', 'one', { hostPort: 'm:1' });
    const second = await apply('v2', 'two', { host: 'm', port: '2' });
    expect(second.status).toBe(200);
    const managedFields = listOf(second.body['metadata']!['managedFields']);
    expect(managedFields.map(entry => [entry['manager'], entry['apiVersion']])).toEqual([
      ['two', 'managed.example.com/v2'],
    ]);
    const third = await apply('v1', 'one', { hostPort: 'm:2' });
    const after = third.body['metadata'] as unknown as { managedFields: Loose[] };
    expect(after.managedFields.map(entry => [entry['manager'], entry['apiVersion']])).toEqual([
      ['one', 'managed.example.com/v1'],
      ['two', 'managed.example.com/v2'],
    ]);
  });

  test('that fails does not prevent writes of the stored version, which lose their managers', async () => {
    const path = await hooked('writable.example.com');
    await create(path, 'v2', 'a', { host: 'a', port: '1' });
    hooks.on('/convert', () => ({ result: { status: 'Failure', message: 'not today' } }));
    const changed = await api.patch(`${path('v1')}/a`, MERGE, { spec: { hostPort: 'a:2' } });
    expect([changed.status, changed.body['metadata']!['managedFields']]).toEqual([200, undefined]);
    expect((await api.patch(`${path('v2')}/a`, MERGE, { spec: { port: '3' } })).status).toBe(500);
  });

  test('converts objects that were stored in an earlier storage version', async () => {
    const path = await hooked('moved.example.com');
    await create(path, 'v1', 'old', { hostPort: 'o:1' });
    const definition = `${CRDS}/widgets.moved.example.com`;
    const changed = await api.patch(definition, MERGE, { spec: { versions: versionsOf('v2') } });
    expect(changed.status).toBe(200);
    expect((await api.get(`${path('v2')}/old`)).body['spec']).toEqual({ host: 'o', port: '1' });
    expect((await api.get(`${path('v1')}/old`)).body['spec']).toEqual({ hostPort: 'o:1' });
    // A write without a change converts it to the storage version.
    expect((await api.patch(`${path('v2')}/old`, MERGE, {})).status).toBe(200);
    hooks.take('/convert');
    expect((await api.get(`${path('v2')}/old`)).body['spec']).toEqual({ host: 'o', port: '1', scheme: 'http' });
    expect(hooks.take('/convert')).toEqual([]);
  });

  test('converts objects of an earlier storage version also for answers with metadata only', async () => {
    const path = await hooked('metadata.example.com');
    await create(path, 'v1', 'old', { hostPort: 'o:1' });
    await api.patch(`${CRDS}/widgets.metadata.example.com`, MERGE, { spec: { versions: versionsOf('v2') } });
    hooks.on('/convert', () => ({ result: { status: 'Failure', message: 'no' } }));
    const accept = (kind: string): string => `application/vnd.kubernetes.protobuf;as=${kind};g=meta.k8s.io;v=v1`;
    expect((await api.get(path('v2'), { accept: accept('PartialObjectMetadataList') })).text).toContain('failed: no');
    expect((await api.get(`${path('v2')}/old`, { accept: accept('PartialObjectMetadata') })).status).toBe(500);
    hooks.on('/convert', request => converted(request, metadataOf({ labels: { added: 'yes' } })));
    const shown = await api.get(path('v2'), { accept: accept('PartialObjectMetadataList') });
    expect([shown.status, shown.text]).toEqual([200, expect.stringContaining('added')]);
  });

  test('may change labels and annotations, and no other metadata', async () => {
    const path = await hooked('labelled.example.com');
    await create(path, 'v1', 'a', { hostPort: 'h:1' });
    hooks.on('/convert', request =>
      converted(request, one => ({
        ...one,
        metadata: { ...one.metadata, labels: { added: 'yes' }, finalizers: ['example.com/x'] } as never,
      })),
    );
    const { metadata } = (await api.get(`${path('v2')}/a`)).body as unknown as { metadata: Loose };
    expect(metadata['labels']).toEqual({ added: 'yes' });
    expect(metadata['finalizers']).toBeUndefined();
  });

  const metadataOf = (change: object) => (one: Widget) =>
    ({ ...one, metadata: { ...one.metadata, ...change } }) as unknown as Widget;
  test.each<[string, (request: Loose) => object, string]>([
    [
      'renames',
      r => converted(r, metadataOf({ name: 'b' })),
      'returned invalid object: must have the same name: a != b',
    ],
    [
      'labels-badly',
      r => converted(r, metadataOf({ labels: { a: 1 } })),
      'returned invalid metadata: metadata.labels[a] must be a string, but is int64 in converted object',
    ],
    [
      'does-not-convert',
      r => converted(r, one => ({ ...one, apiVersion: 'v9' })),
      'returned invalid object at index 0: invalid groupVersion ' +
        '(expected does-not-convert.example.com/v2, received v9)',
    ],
    ['returns-few', () => ({ result: { status: 'Success' }, convertedObjects: [] }), 'returned 0 objects, expected 1'],
    ['refuses', () => ({ result: { status: 'Failure', message: 'not today' } }), 'failed: not today'],
    ['has-no-status', () => ({}), "failed: response.result.status was '', not 'Success'"],
    ['is-not-json', () => ({ raw: 'x' }), "failed: couldn't get version/kind; json parse error"],
    [
      'answers-with-an-error',
      () => ({ code: 500, raw: 'boom' }),
      'failed: an error on the server ("unknown") has prevented the request from succeeding',
    ],
  ])('that %s fails the request with a reason', async (name, answer, why) => {
    const group = `${name}.example.com`;
    const path = await hooked(group);
    await create(path, 'v1', 'a', { hostPort: 'h:1' });
    hooks.on('/convert', answer);
    const failed = await api.get(`${path('v2')}/a`);
    expect(failed.status).toBe(500);
    expect(failed.body['message']).toContain(ofGroup(group, why));
    expect((await api.get(`${path('v1')}/a`)).status).toBe(200);
  });

  test('that is unreachable is named by its URL or service, and affects no other kind', async () => {
    const group = 'dead.example.com';
    const path = await define(group, byWebhook({ url: 'https://127.0.0.1:1/gone' }));
    await create(path, 'v1', 'a', { hostPort: 'h:1' });
    const failed = await api.get(`${path('v2')}/a`);
    expect(failed.body['message']).toContain(
      ofGroup(group, 'failed: Post "https://127.0.0.1:1/gone?timeout=30s": dial tcp 127.0.0.1:1: connect: connection'),
    );
    const service = { namespace: 'default', name: 'none', path: '/x' };
    const webhook = { clientConfig: { url: null, service } };
    await api.patch(`${CRDS}/widgets.${group}`, MERGE, { spec: { conversion: { webhook } } });
    expect((await api.get(`${path('v2')}/a`)).body['message']).toBe(
      ofGroup(group, 'failed: Post "https://none.default.svc:443/x?timeout=30s": service "none" not found'),
    );
    expect((await api.get(`${path('v1')}/a`)).status).toBe(200);
    expect((await api.delete(`${path('v1')}/a`)).status).toBe(200);
  });

  test('is reached through the setting for its service', async () => {
    const service = { namespace: 'default', name: 'hook', path: '/convert' };
    const path = await define('resolved.example.com', byWebhook({ service, caBundle: hooks.caBundle }));
    await create(path, 'v1', 'a', { hostPort: 'r:1' });
    expect((await api.get(`${path('v2')}/a`)).body['spec']).toEqual({ host: 'r', port: '1' });
  });

  test('that does not answer delays only requests for its kind', async () => {
    const path = await hooked('slow.example.com');
    await create(path, 'v1', 'a', { hostPort: 'h:1' });
    let release = (): void => undefined;
    const held = new Promise<void>(resolve => (release = resolve));
    let isAsked = false;
    hooks.on('/convert', async request => {
      isAsked = true;
      await held;
      return converted(request);
    });
    const waiting = api.get(path('v2'));
    await api.until(async () => isAsked);
    expect((await api.get(`${path('v1')}/a`)).status).toBe(200);
    expect((await api.post('/api/v1/namespaces/default/configmaps', { metadata: { name: 'other' } })).status).toBe(201);
    release();
    expect((await waiting).status).toBe(200);
  });
});

describe('a converter of a plugin', () => {
  test('converts the objects of a definition instead of its webhook', async () => {
    const path = await define('plugin.example.com', byWebhook({ url: 'https://127.0.0.1:1/gone' }));
    await create(path, 'v1', 'a', { hostPort: 'p:1' });
    expect((await api.get(`${path('v2')}/a`)).body['spec']).toEqual({ host: 'p', port: '1' });
    await create(path, 'v2', 'b', { host: 'q', port: '2' });
    expect((await api.get(`${path('v1')}/b`)).body['spec']).toEqual({ hostPort: 'q:2' });
  });

  test('may not change the identity of an object', async () => {
    const path = await define('renaming.plugin.example.com', { strategy: 'None' });
    await create(path, 'v1', 'a', { hostPort: 'p:1' });
    expect((await api.get(`${path('v2')}/a`)).body['message']).toBe(
      'conversion for renaming.plugin.example.com/v1, Kind=Widget returned invalid object: ' +
        'must have the same name: a != renamed',
    );
  });
});
