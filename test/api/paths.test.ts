import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Api, deployment, pod } from './support.js';

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
    ['[R018] something below a subresource', '/api/v1/namespaces/shop/pods/p1/status/more'],
    ['[R134] the core group below /apis', '/apis/v1/pods'],
    ['an unknown type', '/api/v1/nothings'],
    ['an unknown version', '/apis/apps/v9/deployments'],
    ['an unknown group', '/apis/nothing.example.com/v1/things'],
    ['a path outside of the API', '/nothing'],
  ])('%s: 404', async (_shape, path) => {
    expect((await api.get(path)).status).toBe(404);
  });

  test('an encoded slash separates segments like a plain one', async () => {
    expect((await api.get('/api/v1/namespaces/shop%2Fpods/p1')).status).toBe(200);
    expect((await api.get('/api/v1/namespaces/a%2Fb/pods')).status).toBe(404);
  });
});
