import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { RunningServer } from '../../core/index.js';
import { blocksOf } from '../docs/code.js';
import { startServer } from '../server/library.js';
import { eventually } from '../support/eventually.js';
import { type Answer, send } from './requests.js';

const GROUP = 'shop.example.com';
const ORDERS = `/apis/${GROUP}/v1/namespaces/default/orders`;
const NAMESPACES = '/api/v1/namespaces';
const API_SERVICES = '/apis/apiregistration.k8s.io/v1/apiservices';
const DISCOVERY = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList';
const NAME = `v1.${GROUP}`;

interface Condition {
  readonly status: string;
  readonly reason: string;
  readonly message: string;
}

interface Discovery {
  readonly items: readonly { readonly metadata: { readonly name: string }; readonly versions: object[] }[];
}

/** The definition of the kind that the second server serves. */
const DEFINITION = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: `orders.${GROUP}` },
  spec: {
    group: GROUP,
    scope: 'Namespaced',
    names: { plural: 'orders', singular: 'order', kind: 'Order', shortNames: ['ord'] },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        schema: { openAPIV3Schema: { type: 'object', properties: { cups: { type: 'integer' } } } },
      },
    ],
  },
};

/** The servers of an APIService know the first server by the ConfigMap that it publishes. */
describe('a second server with a group of its own', () => {
  let folder: string;
  let first: RunningServer;
  let second: RunningServer;

  const ask = async (method: string, path: string, headers: object = {}, body?: object): Promise<Answer> =>
    await send(first, method, path, { ...headers }, body && JSON.stringify(body));
  const create = (path: string, body: object): Promise<Answer> => ask('POST', path, {}, body);
  const json = async <T>(path: string, headers: object = {}): Promise<T> =>
    JSON.parse((await ask('GET', path, headers)).text) as T;

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'aggregation-'));
    first = await startServer({ storage: 'memory', naming: 'kubernetes', port: 0, httpPort: 0 });
    const published = await eventually(async () => {
      const path = '/api/v1/namespaces/kube-system/configmaps/extension-apiserver-authentication';
      return (await json<{ data?: Record<string, string> }>(path)).data;
    });
    const listOf = (key: string): string[] => JSON.parse(published[key]!) as string[];
    const proxyCa = join(folder, 'front-proxy-ca.crt');
    writeFileSync(proxyCa, published['requestheader-client-ca-file']!);
    second = await startServer({
      storage: 'memory',
      naming: 'kubernetes',
      port: 0,
      httpPort: 0,
      tlsSan: ['second.default.svc'],
      requestheaderClientCaFile: proxyCa,
      requestheaderAllowedNames: listOf('requestheader-allowed-names'),
      requestheaderUsernameHeaders: listOf('requestheader-username-headers'),
      requestheaderGroupHeaders: listOf('requestheader-group-headers'),
      requestheaderExtraHeadersPrefix: listOf('requestheader-extra-headers-prefix'),
    });
    await send(
      second,
      'POST',
      '/apis/apiextensions.k8s.io/v1/customresourcedefinitions',
      {},
      JSON.stringify(DEFINITION),
    );
    await eventually(async () => (await send(second, 'GET', ORDERS)).status === 200);
    const port = new URL(second.url).port;
    const ca = /certificate-authority-data"?: "?([^\s",]+)/.exec(second.kubeconfig)![1]!;
    const text = blocksOf('aggregation', 'yaml')[0]!.replace('7443', port).replace('BASE64', ca);
    const [service, apiService] = text.replaceAll('orchestrator.io', 'k8s.io').split('---\n');
    const yaml = { 'content-type': 'application/yaml' };
    await send(first, 'POST', '/api/v1/namespaces/default/services', yaml, service);
    const created = await send(first, 'POST', API_SERVICES, yaml, apiService);
    expect(created.status, created.text).toBe(201);
    await available('True');
  });
  afterAll(async () => {
    await Promise.all([first?.close(), second?.close()]);
    rmSync(folder, { recursive: true });
  });

  const condition = async (): Promise<Condition | undefined> =>
    (await json<{ status?: { conditions?: Condition[] } }>(`${API_SERVICES}/${NAME}`)).status?.conditions?.[0];
  const available = async (status: string) => await eventually(condition, found => found?.status === status);

  test('is reported as available', async () => {
    expect(await condition()).toMatchObject({
      type: 'Available',
      status: 'True',
      reason: 'Passed',
      message: 'all checks passed',
    });
  });

  test('has its group in the documents of the first', async () => {
    const group = {
      name: GROUP,
      versions: [{ groupVersion: `${GROUP}/v1`, version: 'v1' }],
      preferredVersion: { groupVersion: `${GROUP}/v1`, version: 'v1' },
    };
    const { groups } = await json<{ groups: object[] }>('/apis');
    expect(groups).toContainEqual(group);
    expect(await json(`/apis/${GROUP}`)).toEqual({ kind: 'APIGroup', apiVersion: 'v1', ...group });
    const { items } = await eventually(
      () => json<Discovery>('/apis', { accept: DISCOVERY }),
      found => JSON.stringify(found).includes('"orders"'),
    );
    expect(items.find(({ metadata }) => metadata.name === GROUP)?.versions).toMatchObject([
      {
        version: 'v1',
        resources: [{ resource: 'orders', scope: 'Namespaced', shortNames: ['ord'] }],
        freshness: 'Current',
      },
    ]);
    expect(await json(`/apis/${GROUP}/v1`)).toMatchObject({ resources: [{ name: 'orders' }] });
  });

  test('is described in the OpenAPI documents of the first', async () => {
    // A server has one second to answer with its documents; the first time may take longer.
    const index = () => json<{ paths: Record<string, { serverRelativeURL: string }> }>('/openapi/v3');
    const entry = await eventually(async () => (await index()).paths[`apis/${GROUP}/v1`]);
    const described = await json(entry.serverRelativeURL);
    expect(described).toHaveProperty(['paths', `/apis/${GROUP}/v1/orders`]);
    const v2 = await eventually(
      () => json<{ paths: object }>('/openapi/v2'),
      ({ paths }) => Object.hasOwn(paths, `/apis/${GROUP}/v1/namespaces/{namespace}/orders`),
    );
    expect(v2).toHaveProperty(['definitions', 'com.example.shop.v1.Order', 'properties', 'cups', 'type'], 'integer');
  });

  test('stores objects for users of the first, after authorizing them itself', async () => {
    const order = { apiVersion: `${GROUP}/v1`, kind: 'Order', metadata: { name: 'one' }, cups: 2 };
    expect((await create(ORDERS, order)).status).toBe(201);
    expect(JSON.parse((await send(second, 'GET', `${ORDERS}/one`)).text)).toMatchObject({ cups: 2 });
    const role = { apiVersion: 'rbac.authorization.k8s.io/v1', metadata: { name: 'orders' } };
    await create('/apis/rbac.authorization.k8s.io/v1/clusterroles', {
      ...role,
      kind: 'ClusterRole',
      rules: [{ apiGroups: [GROUP], resources: ['orders'], verbs: ['*'] }],
    });
    await create('/apis/rbac.authorization.k8s.io/v1/clusterrolebindings', {
      ...role,
      kind: 'ClusterRoleBinding',
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'orders' },
      subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'ann' }],
    });
    // The first server allows it; the second has no such role and refuses it.
    const refused = await eventually(
      () => ask('GET', `${ORDERS}/one`, { 'impersonate-user': 'ann' }),
      ({ text }) => text.includes('ann'),
    );
    expect(refused.status).toBe(403);
  });

  test('[R206] decides about strategic merge patches itself', async () => {
    const type = { 'content-type': 'application/strategic-merge-patch+json' };
    const { status, text } = await ask('PATCH', `${ORDERS}/one`, type, { cups: 3 });
    expect(status).toBe(415);
    expect(JSON.parse(text).message).toContain('application/merge-patch+json');
  });

  test('[R189] answers 406 to a client that only accepts protobuf', async () => {
    const { status } = await ask('GET', `${ORDERS}/one`, { accept: 'application/vnd.kubernetes.protobuf' });
    expect(status).toBe(406);
  });

  test('deletes its objects of a namespace that is deleted in the first', async () => {
    const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'teashop' } };
    const orders = ORDERS.replace('default', 'teashop');
    for (const server of [first, second]) await send(server, 'POST', NAMESPACES, {}, JSON.stringify(namespace));
    const order = { apiVersion: `${GROUP}/v1`, kind: 'Order', metadata: { name: 'two' }, cups: 2 };
    expect((await create(orders, order)).status).toBe(201);
    await ask('DELETE', `${NAMESPACES}/teashop`);
    await eventually(async () => (await ask('GET', `${NAMESPACES}/teashop`)).status === 404);
    expect((await send(second, 'GET', `${orders}/two`)).status).toBe(404);
  });

  test('that has stopped is unavailable, and its group remains in discovery, marked as stale', async () => {
    await second.close();
    const patched = await ask(
      'PATCH',
      `${API_SERVICES}/${NAME}`,
      { 'content-type': 'application/merge-patch+json' },
      { metadata: { labels: { checked: 'again' } } },
    );
    expect(patched.status).toBe(200);
    const found = await available('False');
    expect(found).toMatchObject({ reason: 'FailedDiscoveryCheck' });
    expect(found?.message).toMatch(/^failing or missing response from https:\/\/localhost:\d+\/apis\/shop/);
    const { status, text } = await ask('GET', ORDERS);
    expect([status, text]).toEqual([503, 'service unavailable\n']);
    const metric = `aggregator_unavailable_apiservice{name="${NAME}"} 1`;
    await eventually(async () => (await ask('GET', '/metrics')).text.includes(metric));
    const { items } = await json<Discovery>('/apis', { accept: DISCOVERY });
    expect(items.find(({ metadata }) => metadata.name === GROUP)?.versions).toMatchObject([
      { version: 'v1', resources: [{ resource: 'orders' }], freshness: 'Stale' },
    ]);
  });

  test('that has stopped blocks the deletion of namespaces, whose conditions say so', async () => {
    await create(NAMESPACES, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'late' } });
    await ask('DELETE', `${NAMESPACES}/late`);
    const conditions = await eventually(
      async () => (await json<{ status: { conditions?: Condition[] } }>(`${NAMESPACES}/late`)).status.conditions,
    );
    expect(conditions).toContainEqual(
      expect.objectContaining({
        type: 'NamespaceDeletionDiscoveryFailure',
        status: 'True',
        reason: 'DiscoveryFailed',
        message:
          'Discovery failed for some groups, 1 failing: unable to retrieve the complete list of server APIs: ' +
          `${GROUP}/v1: stale GroupVersion discovery: ${GROUP}/v1`,
      }),
    );
    await ask('DELETE', `${API_SERVICES}/${NAME}`);
    await eventually(async () => (await ask('GET', `${NAMESPACES}/late`)).status === 404);
  });
});
