import { setTimeout as pause } from 'node:timers/promises';
import {
  ApiException,
  AppsV1Api,
  CoreV1Api,
  KubeConfig,
  KubernetesObjectApi,
  makeInformer,
  PatchStrategy,
  RbacAuthorizationV1Api,
  setHeaderOptions,
  type V1ConfigMap,
  type V1Deployment,
  Watch,
} from '@kubernetes/client-node';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { deployment } from './manifests.js';
import { type BuiltServer, startBuiltServer, startMemoryServer } from './server.js';
import { eventually, eventuallyPasses } from '../support/eventually.js';

const NAMESPACE = 'typed';
const CONFIGMAPS = `/api/v1/namespaces/${NAMESPACE}/configmaps`;

describe('@kubernetes/client-node', () => {
  let server: BuiltServer;
  let config: KubeConfig;
  let core: CoreV1Api;
  beforeAll(async () => {
    server = await startBuiltServer();
    config = new KubeConfig();
    config.loadFromFile(server.kubeconfig);
    core = config.makeApiClient(CoreV1Api);
    await core.createNamespace({ body: { metadata: { name: NAMESPACE } } });
  });
  afterAll(() => server?.close());

  const create = (name: string): Promise<V1ConfigMap> =>
    core.createNamespacedConfigMap({ namespace: NAMESPACE, body: { metadata: { name }, data: { name } } });

  test('typed clients create, read, list, replace and delete [R013 R015]', async () => {
    const created = await create('typed');
    expect(created.metadata?.creationTimestamp).toBeInstanceOf(Date);
    const read = await core.readNamespacedConfigMap({ namespace: NAMESPACE, name: 'typed' });
    expect(read.data).toEqual({ name: 'typed' });
    const list = await core.listNamespacedConfigMap({ namespace: NAMESPACE, fieldSelector: 'metadata.name=typed' });
    expect(list.items.map(item => item.metadata?.name)).toEqual(['typed']);
    await core.replaceNamespacedConfigMap({ namespace: NAMESPACE, name: 'typed', body: { ...read, data: { a: 'b' } } });
    const stale = core.replaceNamespacedConfigMap({ namespace: NAMESPACE, name: 'typed', body: read });
    await expect(stale).rejects.toMatchObject({ code: 409 });
    await core.deleteNamespacedConfigMap({ namespace: NAMESPACE, name: 'typed' });
    const gone = core.readNamespacedConfigMap({ namespace: NAMESPACE, name: 'typed' });
    await expect(gone).rejects.toBeInstanceOf(ApiException);
    await expect(gone).rejects.toMatchObject({ code: 404 });
  });

  test('pages of a list have no gaps or duplicates', async () => {
    for (let i = 0; i < 7; i++) await create(`page-${i}`);
    const names: (string | undefined)[] = [];
    let token: string | undefined;
    do {
      const page = await core.listNamespacedConfigMap({ namespace: NAMESPACE, limit: 3, _continue: token });
      names.push(...page.items.map(item => item.metadata?.name));
      token = page.metadata?._continue;
    } while (token);
    expect(names.filter(name => name?.startsWith('page-'))).toEqual([0, 1, 2, 3, 4, 5, 6].map(i => `page-${i}`));
  });

  test('patches of three types, scale and status of a deployment', async () => {
    const apps = config.makeApiClient(AppsV1Api);
    const at = { namespace: NAMESPACE, name: 'patched' };
    await apps.createNamespacedDeployment({ namespace: NAMESPACE, body: deployment('patched') as V1Deployment });
    const as = (type: PatchStrategy): ReturnType<typeof setHeaderOptions> => setHeaderOptions('Content-Type', type);
    await apps.patchNamespacedDeployment({ ...at, body: { spec: { replicas: 2 } } }, as(PatchStrategy.MergePatch));
    const containers = [{ name: 'side', image: 'busybox' }];
    const strategic = { spec: { template: { spec: { containers } } } };
    await apps.patchNamespacedDeployment({ ...at, body: strategic }, as(PatchStrategy.StrategicMergePatch));
    const json = [{ op: 'replace', path: '/spec/paused', value: true }];
    const added = json.map(operation => ({ ...operation, op: 'add' }));
    const patched = await apps.patchNamespacedDeployment({ ...at, body: added }, as(PatchStrategy.JsonPatch));
    expect(patched.spec).toMatchObject({ replicas: 2, paused: true });
    expect(patched.spec?.template.spec?.containers).toHaveLength(2);
    const scale = await apps.readNamespacedDeploymentScale(at);
    await apps.replaceNamespacedDeploymentScale({ ...at, body: { ...scale, spec: { replicas: 6 } } });
    const status = await apps.patchNamespacedDeploymentStatus(
      { ...at, body: { status: { replicas: 6 } } },
      as(PatchStrategy.MergePatch),
    );
    expect([status.spec?.replicas, status.status?.replicas]).toEqual([6, 6]);
  });

  test('the object client finds resources by discovery', async () => {
    const objects = KubernetesObjectApi.makeApiClient(config);
    const spec = {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: 'generic', namespace: NAMESPACE },
      stringData: { a: 'b' },
    };
    await objects.create(spec);
    expect(await objects.read(spec)).toMatchObject({ kind: 'Secret', data: { a: 'Yg==' } });
    await objects.delete(spec);
  });

  test('default roles can be read', async () => {
    const rbac = config.makeApiClient(RbacAuthorizationV1Api);
    expect((await rbac.readClusterRole({ name: 'cluster-admin' })).rules).toHaveLength(2);
  });

  test('an informer sees adds, updates and deletes, and continues after a restart of the server [R013]', async () => {
    const informer = makeInformer(config, CONFIGMAPS, () => core.listNamespacedConfigMap({ namespace: NAMESPACE }));
    const seen: string[] = [];
    let errors = 0;
    for (const verb of ['add', 'update', 'delete'] as const) {
      informer.on(
        verb,
        object => void (object.metadata?.name?.startsWith('informed') && seen.push(`${verb} ${object.metadata.name}`)),
      );
    }
    let stopped = false;
    informer.on('error', () => {
      errors++;
      void pause(100).then(() => (stopped ? undefined : informer.start()));
    });
    await informer.start();
    try {
      await create('informed-1');
      await eventually(() => seen.includes('add informed-1'));
      await server.restart();
      await create('informed-2');
      await core.deleteNamespacedConfigMap({ namespace: NAMESPACE, name: 'informed-1' });
      await eventually(() => seen.includes('add informed-2') && seen.includes('delete informed-1'));
      expect(seen.filter(event => event === 'add informed-1')).toHaveLength(1);
      expect(informer.get('informed-2', NAMESPACE)?.data).toEqual({ name: 'informed-2' });
    } finally {
      stopped = true;
      await informer.stop();
    }
    expect(errors).toBeLessThan(100);
  });

  test('an informer that reconnects with an old version catches up', async () => {
    let lists = 0;
    const informer = makeInformer(config, CONFIGMAPS, async () => {
      const list = await core.listNamespacedConfigMap({ namespace: NAMESPACE });
      if (lists++ === 0 && list.metadata) list.metadata.resourceVersion = '1';
      return list;
    });
    const seen = new Set<string>();
    informer.on('add', object => void seen.add(object.metadata?.name ?? ''));
    await informer.start();
    try {
      await create('after-expiry');
      await eventually(() => seen.has('after-expiry'));
    } finally {
      await informer.stop();
    }
  });

  test('an informer whose resource version has expired gets an error and lists again [R013]', async () => {
    const short = await startMemoryServer('--history=200ms');
    try {
      const shortConfig = new KubeConfig();
      shortConfig.loadFromFile(short.kubeconfig);
      const client = shortConfig.makeApiClient(CoreV1Api);
      const at = { namespace: 'default' };
      const write = (name: string): Promise<V1ConfigMap> =>
        client.createNamespacedConfigMap({ ...at, body: { metadata: { name } } });
      const first = await eventuallyPasses(() => write('first'));
      const old = first.metadata?.resourceVersion;
      const path = '/api/v1/namespaces/default/configmaps';
      /** Whether a watch of the old version ends with 410. A list of it may do so earlier. */
      const hasExpired = (): Promise<boolean> =>
        new Promise((done, fail) => {
          let isGone = false;
          const read = (type: string, object: { code?: number }): void => {
            isGone ||= type === 'ERROR' && object.code === 410;
          };
          const end = (error: unknown): void => (error ? fail(error) : done(isGone));
          new Watch(shortConfig).watch(path, { resourceVersion: old, timeoutSeconds: 1 }, read, end).catch(fail);
        });
      let writes = 0;
      await eventually(async () => {
        await write(`later-${writes++}`);
        return await hasExpired();
      });
      let lists = 0;
      const informer = makeInformer(shortConfig, path, async () => {
        const list = await client.listNamespacedConfigMap(at);
        // Simulates an informer that has been disconnected since the first object was created.
        if (lists++ === 0) list.metadata = { resourceVersion: old };
        return list;
      });
      const seen = new Set<string>();
      informer.on('add', object => void seen.add(object.metadata?.name ?? ''));
      await informer.start();
      try {
        // On a busy machine, the version of the second list may have expired as well.
        await eventually(() => lists >= 2);
        await write('after');
        await eventually(() => seen.has('after'));
        expect(seen.has(`later-${writes - 1}`)).toBe(true);
      } finally {
        await informer.stop();
      }
    } finally {
      await short.close();
    }
  });

  test('a watch ends at its timeout and resumes without loss from the last version seen', async () => {
    const seen: string[] = [];
    let version = (await core.listNamespacedConfigMap({ namespace: NAMESPACE })).metadata?.resourceVersion;
    const once = (): Promise<void> =>
      new Promise((done, fail) => {
        const read = (type: string, object: V1ConfigMap): void => {
          seen.push(`${type} ${object.metadata?.name}`);
          version = object.metadata?.resourceVersion;
        };
        const end = (error: unknown): void => (error ? fail(error) : done());
        new Watch(config).watch(CONFIGMAPS, { resourceVersion: version, timeoutSeconds: 1 }, read, end).catch(fail);
      });
    const first = once();
    await create('resumed-1');
    await first;
    await create('resumed-2');
    await once();
    expect(seen).toEqual(['ADDED resumed-1', 'ADDED resumed-2']);
  });
});
