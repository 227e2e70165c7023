import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Api, listOf } from './support.js';

const FLOW = '/apis/flowcontrol.apiserver.k8s.io/v1';

describe('objects that the server maintains', () => {
  let api: Api;
  beforeAll(async () => {
    api = await Api.start();
  });
  afterAll(() => api.close());

  const there = (path: string): Promise<void> => api.until(async () => (await api.get(path)).status === 200);

  test('the Service of the server exists, and is recreated when it is deleted', async () => {
    const path = '/api/v1/namespaces/default/services/kubernetes';
    await there(path);
    const { body } = await api.get(path);
    expect(body).toMatchObject({
      metadata: { labels: { component: 'apiserver', provider: 'kubernetes' } },
      spec: { clusterIP: '10.0.0.1', type: 'ClusterIP', ports: [{ name: 'https', port: 443 }] },
    });
    expect((await api.delete(path)).status).toBe(200);
    await api.until(async () => {
      const again = await api.get(path);
      return again.status === 200 && again.body.metadata!.uid !== body.metadata!.uid;
    });
  });

  test('system priority classes exist, and are recreated when they are deleted', async () => {
    const path = '/apis/scheduling.k8s.io/v1/priorityclasses/system-node-critical';
    await there(path);
    expect((await api.get(path)).body).toMatchObject({ value: 2_000_001_000 });
  });

  test('flow schemas have a condition that says whether their priority level exists', async () => {
    const dangling = async (name: string): Promise<unknown> => {
      const { body } = await api.get(`${FLOW}/flowschemas/${name}`);
      const conditions = listOf(body.status?.conditions ?? []);
      return conditions.find(condition => String(condition.type) === 'Dangling')?.status;
    };
    await api.until(async () => (await dangling('catch-all')) === 'False');
    await api.made(`${FLOW}/flowschemas`, {
      metadata: { name: 'lost' },
      spec: { priorityLevelConfiguration: { name: 'none-such' }, matchingPrecedence: 9999 },
    });
    await api.until(async () => (await dangling('lost')) === 'True');
    await api.made(`${FLOW}/prioritylevelconfigurations`, {
      metadata: { name: 'none-such' },
      spec: { type: 'Limited', limited: { limitResponse: { type: 'Reject' } } },
    });
    await api.until(async () => (await dangling('lost')) === 'False');
    const { metadata } = (await api.get(`${FLOW}/flowschemas/lost`)).body;
    expect(metadata!['managedFields']).toContainEqual(
      expect.objectContaining({
        manager: 'api-priority-and-fairness-config-consumer-v1',
        operation: 'Apply',
        subresource: 'status',
      }),
    );
  });

  test('flow control objects have an annotation that marks them as maintained', async () => {
    for (const path of [`${FLOW}/flowschemas/service-accounts`, `${FLOW}/prioritylevelconfigurations/workload-low`]) {
      await there(path);
      expect((await api.get(path)).body.metadata!.annotations).toEqual({ 'apf.kubernetes.io/autoupdate-spec': 'true' });
    }
  });

  test('API services have the version priorities of upstream', async () => {
    const services = '/apis/apiregistration.k8s.io/v1/apiservices';
    const wanted = {
      'v1.': 1,
      'v1.flowcontrol.apiserver.k8s.io': 21,
      'v1.apps': 15,
      'v2.autoscaling': 30,
      'v1.autoscaling': 15,
    };
    for (const [name, versionPriority] of Object.entries(wanted)) {
      await there(`${services}/${name}`);
      expect((await api.get(`${services}/${name}`)).body).toMatchObject({ spec: { versionPriority } });
    }
  });

  test('every served group version has an API service that is available', async () => {
    const groups = (await api.get('/apis')).body.groups as unknown as readonly {
      versions: { groupVersion: string }[];
    }[];
    const served = groups.flatMap(group =>
      group.versions.map(version => version.groupVersion.split('/').reverse().join('.')),
    );
    await api.until(async () => {
      const items = listOf((await api.get('/apis/apiregistration.k8s.io/v1/apiservices')).body.items);
      const names = items.filter(item => item.status?.conditions).map(item => String(item.metadata!.name));
      return (
        served.filter(name => name !== 'v1.apiregistration.k8s.io').every(name => names.includes(name)) &&
        names.includes('v1.')
      );
    });
  });
});
