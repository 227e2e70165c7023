import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Api, deployment, pod } from './support.js';
import { MERGE, STRATEGIC } from '../support/mediaTypes.js';
import { eventuallyPasses } from '../support/eventually.js';

const CRDS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const widget = {
  metadata: { name: 'widgets.toys.example.com' },
  spec: {
    group: 'toys.example.com',
    scope: 'Namespaced',
    names: { plural: 'widgets', kind: 'Widget' },
    versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } }],
  },
};

describe('path shapes', () => {
  let api: Api;
  beforeAll(async () => {
    api = await Api.start();
    const shop = await api.namespace('shop');
    await api.made('/api/v1/nodes', { metadata: { name: 'n1' } });
    await api.made(`${shop}/pods`, pod('p1'));
    await api.made('/apis/apps/v1/namespaces/shop/deployments', deployment('web'));
    await api.made(CRDS, widget);
  });
  afterAll(() => api.close());

  test.each([
    ['[R118] core, cluster-scoped: collection', '/api/v1/nodes', 'NodeList'],
    ['[R119] core, cluster-scoped: object', '/api/v1/nodes/n1', 'Node'],
    ['[R120] core, cluster-scoped: subresource', '/api/v1/nodes/n1/status', 'Node'],
    ['[R121] core, namespaced: collection', '/api/v1/namespaces/shop/pods', 'PodList'],
    ['[R122] core, namespaced: object', '/api/v1/namespaces/shop/pods/p1', 'Pod'],
    ['[R123] core, namespaced: subresource', '/api/v1/namespaces/shop/pods/p1/status', 'Pod'],
    ['[R124] group, cluster-scoped: collection', CRDS, 'CustomResourceDefinitionList'],
    ['[R125] group, cluster-scoped: object', `${CRDS}/widgets.toys.example.com`, 'CustomResourceDefinition'],
    [
      '[R126] group, cluster-scoped: subresource',
      `${CRDS}/widgets.toys.example.com/status`,
      'CustomResourceDefinition',
    ],
    ['[R127] group, namespaced: collection', '/apis/apps/v1/namespaces/shop/deployments', 'DeploymentList'],
    ['[R128] group, namespaced: object', '/apis/apps/v1/namespaces/shop/deployments/web', 'Deployment'],
    ['[R129] group, namespaced: subresource', '/apis/apps/v1/namespaces/shop/deployments/web/status', 'Deployment'],
    ['[R130] core, across all namespaces', '/api/v1/pods', 'PodList'],
    ['[R131] group, across all namespaces', '/apis/apps/v1/deployments', 'DeploymentList'],
    ['[R132] namespaces are cluster-scoped: collection', '/api/v1/namespaces', 'NamespaceList'],
    ['[R133] one namespace', '/api/v1/namespaces/shop', 'Namespace'],
    ['[R133] one namespace: subresource', '/api/v1/namespaces/shop/status', 'Namespace'],
  ])('%s', async (_shape, path, kind) => {
    const { status, body } = await api.get(path);
    expect([status, body.kind]).toEqual([200, kind]);
    if (!kind.endsWith('List')) return;
    const names = (body as unknown as { items: { metadata: { name: string } }[] }).items.map(
      item => item.metadata.name,
    );
    expect(names.length).toBeGreaterThan(0);
  });

  test.each([
    ['[R026] a namespaced object without its namespace', '/api/v1/pods/p1'],
    ['[R026] a cluster-scoped type inside of a namespace', '/api/v1/namespaces/shop/nodes'],
    ['[R026] a cluster-scoped object inside of a namespace', '/api/v1/namespaces/shop/nodes/n1'],
    ['[R019] a subresource of no object', '/api/v1/namespaces/shop/pods//status'],
    ['[R019] a subresource of all objects', '/api/v1/namespaces/shop/pods/*/status'],
    ['[R018] a subresource that the type does not have', '/api/v1/namespaces/shop/pods/p1/nothing'],
    ['[R018] a path below a subresource', '/api/v1/namespaces/shop/pods/p1/status/more'],
    ['[R134] the core group below /apis', '/apis/v1/pods'],
    ['an unknown type', '/api/v1/nothings'],
    ['an unknown version', '/apis/apps/v9/deployments'],
    ['an unknown group', '/apis/nothing.example.com/v1/things'],
    ['a path outside of the API', '/nothing'],
  ])('%s: 404', async (_shape, path) => {
    expect((await api.get(path)).status).toBe(404);
  });

  test('the verb for paths of custom kinds follows from the method, whatever the paths name', async () => {
    const widgets = '/apis/toys.example.com/v1/namespaces/shop/widgets';
    const made = { apiVersion: 'toys.example.com/v1', kind: 'Widget', metadata: { name: 'w' } };
    await eventuallyPasses(async () => expect((await api.get(widgets)).status).toBe(200));
    const noName = [400, 'name must be provided'];
    for (const { status, body } of [await api.put(widgets, made), await api.patch(widgets, MERGE, {})])
      expect([status, body['message']]).toEqual(noName);
    expect((await api.patch(widgets, STRATEGIC, {})).status).toBe(415);
    expect((await api.post(`${widgets}/w`, {})).body['message']).toMatch(/Object 'Kind' is missing/);
    expect((await api.post(`${widgets}/w`, made)).status).toBe(201);
    // Only lists and watches have no namespace.
    for (const { status, text } of [
      await api.post('/apis/toys.example.com/v1/widgets', made),
      await api.put('/apis/toys.example.com/v1/widgets', made),
      await api.delete('/apis/toys.example.com/v1/widgets'),
    ])
      expect([status, text]).toEqual([404, '404 page not found\n']);
    expect((await api.put('/api/v1/namespaces/shop/configmaps', {})).status).toBe(405);
  });

  test('an object of a custom kind without kind is refused with a message that shows the body as it was sent', async () => {
    const { status, body } = await api.post('/apis/toys.example.com/v1/namespaces/shop/widgets', '{"a":1, "a":2}');
    expect([status, body.message]).toEqual([
      400,
      `the object provided is unrecognized (must be of type Widget): Object 'Kind' is missing in '{"a":1, "a":2}' ({"a":1, "a":2})`,
    ]);
  });

  test('segments after a subresource of a custom kind are ignored', async () => {
    const schema = { openAPIV3Schema: { type: 'object' } };
    const version = { name: 'v1', served: true, storage: true, schema, subresources: { status: {} } };
    await api.made(CRDS, {
      metadata: { name: 'gears.toys.example.com' },
      spec: { ...widget.spec, names: { plural: 'gears', kind: 'Gear' }, versions: [version] },
    });
    const gears = '/apis/toys.example.com/v1/namespaces/shop/gears';
    await eventuallyPasses(async () => expect((await api.get(gears)).status).toBe(200));
    await api.made(gears, { apiVersion: 'toys.example.com/v1', kind: 'Gear', metadata: { name: 'g' } });
    expect((await api.get(`${gears}/g/status/more`)).body.kind).toBe('Gear');
    expect((await api.delete(`${gears}/g/status/more`)).status).toBe(405);
  });

  test('a PATCH of a built-in kind without media type and body is answered 406, with a body 415', async () => {
    const node = '/api/v1/nodes/n1';
    const { status, body } = await api.call('PATCH', node);
    expect([status, body['message']]).toEqual([406, '406: Not Acceptable\n\nAvailable representations: ']);
    expect((await api.patch(node, 'text/plain', 'x')).status).toBe(415);
  });

  test.each([
    ['a%25b', "may not contain '%'"],
    ['a%252Fb', "may not contain '%'"],
  ])('a name that no object can have, %s, is 400 for every verb that names an object', async (segment, why) => {
    const name = decodeURIComponent(segment);
    const expected = `Name parameter invalid: ${JSON.stringify(name)}: ${why}`;
    for (const path of ['/api/v1/nodes', '/api/v1/namespaces/shop/services', `${CRDS}`]) {
      const one = `${path}/${segment}`;
      const answers = [
        await api.get(one),
        await api.get(`${one}/status`),
        await api.delete(one),
        await api.patch(one, MERGE, {}),
        await api.put(one, { metadata: { name } }),
        await api.patch(`${one}?fieldManager=x`, 'application/apply-patch+yaml', { metadata: { name } }),
      ];
      for (const { status, body } of answers.slice(0, 4)) expect([status, body.message]).toEqual([400, expected]);
      for (const { status } of answers.slice(4)) expect(status).toBe(400);
    }
    const scale = await api.get(`/apis/apps/v1/namespaces/shop/deployments/${segment}/scale`);
    expect([scale.status, scale.body.details?.kind]).toEqual([404, 'deployments/scale']);
  });

  test.each(['/api/v1/nodes/%', '/api/v1/nodes%zz', '/version%4', '/%/api'])(
    'an invalid escape is answered with 400 as text: %s',
    async path => {
      for (const method of ['GET', 'DELETE'] as const) {
        const { status, text } = await api.call(method, path, { token: '' });
        expect([status, text]).toEqual([400, '400 Bad Request']);
      }
    },
  );

  test('an encoded slash separates segments like a plain one', async () => {
    expect((await api.get('/api/v1/namespaces/shop%2Fpods/p1')).status).toBe(200);
    expect((await api.get('/api/v1/namespaces/a%2Fb/pods')).status).toBe(404);
  });
});
