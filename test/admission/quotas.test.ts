import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, test } from 'vitest';
import { ConfigError } from '../../core/api/index.js';
import { parseConfig } from '../../plugins/admission/resourceQuota/config.js';
import { type Answer, Api, type Loose, openWidgets, listOf } from '../api/support.js';
import { MERGE } from '../support/mediaTypes.js';

const message = ({ status, body }: Answer): string => `${status} ${status >= 400 ? String(body.message) : ''}`.trim();

const usedOf = async (api: Api, core: string, name: string): Promise<Loose | undefined> =>
  (await api.get(`${core}/resourcequotas/${name}`)).body.status?.['used'];

const pod = (name: string, resources: object = {}, spec: object = {}) => ({
  metadata: { name },
  spec: { containers: [{ name: 'c', image: 'i', resources }], ...spec },
});

/** A request that upstream has answered, and the counts of its quotas then; or a quota that is made before. */
type Step =
  | { readonly quota: string; readonly spec: { readonly hard: object }; readonly used: object }
  | {
      readonly method: 'POST' | 'PATCH' | 'DELETE';
      readonly path: string;
      readonly type?: string;
      readonly body?: object;
      readonly answer: string;
      readonly used: object;
    };

describe('quotas without the controller', () => {
  let api: Api;
  beforeAll(async () => {
    // The controller that publishes the CA certificate would add a ConfigMap to each namespace at an unknown time.
    const off = ['-resourcequota-controller', '-root-ca-certificate-publisher-controller'];
    api = await Api.start({ controllers: ['*', ...off] });
    for (const [name, value] of Object.entries({ high: 1000, low: 10 }))
      await api.made('/apis/scheduling.k8s.io/v1/priorityclasses', { metadata: { name }, value });
    await api.made('/apis/apiextensions.k8s.io/v1/customresourcedefinitions', openWidgets('example.com'));
    await api.until(async () => (await api.get('/apis/example.com/v1/widgets')).status === 200);
  });
  afterAll(() => api.close());

  const { sequences } = JSON.parse(readFileSync('test/admission/quotaFacts.json', 'utf8')) as {
    sequences: readonly (readonly Step[])[];
  };

  test.each(sequences.map((steps, i) => [i, steps] as const))('answer as upstream, sequence %i', async (i, steps) => {
    const namespace = `facts-${i}`;
    const core = await api.namespace(namespace);
    const quotas = `${core}/resourcequotas`;
    for (const step of steps) {
      if ('quota' in step) {
        const { quota: name, spec, used } = step;
        await api.made(quotas, { metadata: { name }, spec });
        const status = { hard: spec.hard, used };
        const { status: code } = await api.put(`${quotas}/${name}/status`, { metadata: { name }, spec, status });
        expect(code).toBe(200);
        continue;
      }
      const { method, path, type, answer, used } = step;
      const body = step.body && JSON.stringify(step.body).replaceAll('"NS"', `"${namespace}"`);
      const sent = { ...(body === undefined ? {} : { body }), ...(type === undefined ? {} : { type }) };
      const found = await api.call(method, path.replace('/NS/', `/${namespace}/`), sent);
      const text = message(found)
        .replace(/(o\d+-)[a-z0-9]{5}/g, '$1GEN')
        .replaceAll(namespace, 'NS');
      const items = listOf((await api.get(quotas)).body['items']);
      const counted = items.map(({ metadata, status }) => [metadata?.['name'], status?.['used']]);
      expect([method, path, text, Object.fromEntries(counted)]).toEqual([method, path, answer.trim(), used]);
    }
  });

  it('are charged in the name of the server, which then owns the counters', async () => {
    const core = await api.namespace('owners');
    const quota = { metadata: { name: 'q' }, spec: { hard: { configmaps: '2', secrets: '2' } } };
    await api.made(`${core}/resourcequotas`, quota);
    const status = { hard: quota.spec.hard, used: { configmaps: '0', secrets: '0' } };
    await api.put(`${core}/resourcequotas/q/status`, { ...quota, status });
    await api.made(`${core}/configmaps`, { metadata: { name: 'c' } });
    const { metadata } = (await api.get(`${core}/resourcequotas/q`)).body;
    const entries = listOf(metadata?.['managedFields']);
    expect(entries.map(({ manager, subresource, fieldsV1 }) => [manager, subresource, fieldsV1?.['f:status']])).toEqual(
      [
        ['unknown', undefined, undefined],
        [
          'unknown',
          'status',
          { 'f:hard': { '.': {}, 'f:configmaps': {}, 'f:secrets': {} }, 'f:used': { '.': {}, 'f:secrets': {} } },
        ],
        ['kube-apiserver', 'status', { 'f:used': { 'f:configmaps': {} } }],
      ],
    );
  });

  it('count nothing for requests that are refused after the quota check, or that are dry runs', async () => {
    const core = await api.namespace('refused');
    const quota = { metadata: { name: 'q' }, spec: { hard: { configmaps: '2' } } };
    await api.made(`${core}/resourcequotas`, quota);
    await api.put(`${core}/resourcequotas/q/status`, {
      ...quota,
      status: { hard: quota.spec.hard, used: { configmaps: '0' } },
    });
    await api.made(`${core}/configmaps`, { metadata: { name: 'c' } });
    expect((await api.post(`${core}/configmaps`, { metadata: { name: 'c' } })).status).toBe(409);
    expect((await api.post(`${core}/configmaps?dryRun=All`, { metadata: { name: 'd' } })).status).toBe(201);
    expect(await usedOf(api, core, 'q')).toEqual({ configmaps: '1' });
    expect(
      (
        await api.patch(`${core}/configmaps/d?fieldManager=m`, 'application/apply-patch+yaml', {
          apiVersion: 'v1',
          kind: 'ConfigMap',
          metadata: { name: 'd' },
        })
      ).status,
    ).toBe(201);
    expect(message(await api.post(`${core}/configmaps?dryRun=All`, { metadata: { name: 'e' } }))).toBe(
      '403 configmaps "e" is forbidden: exceeded quota: q, requested: configmaps=1, used: configmaps=2, limited: configmaps=2',
    );
  });
});

describe('quotas with the controller', () => {
  let api: Api;
  beforeAll(async () => {
    api = await Api.start();
  });
  afterAll(() => api.close());

  /** Creates quotas, and waits until their usage is counted. */
  async function quotas(core: string, all: { readonly [name: string]: object }): Promise<void> {
    for (const [name, spec] of Object.entries(all))
      await api.made(`${core}/resourcequotas`, { metadata: { name }, spec });
    for (const name of Object.keys(all)) await api.until(async () => (await usedOf(api, core, name)) !== undefined);
  }
  const untilUsed = async (core: string, name: string, used: object): Promise<void> => {
    await api.until(async () => JSON.stringify(await usedOf(api, core, name)) === JSON.stringify(used));
    expect(await usedOf(api, core, name)).toEqual(used);
  };

  it('count objects that existed before, and deletions', async () => {
    const core = await api.namespace('before');
    await api.made(`${core}/pods`, pod('a', { requests: { cpu: '250m' } }));
    await api.made(`${core}/pods`, pod('b'));
    await api.made(`${core}/services`, { metadata: { name: 's' }, spec: { type: 'NodePort', ports: [{ port: 80 }] } });
    await api.made(`${core}/persistentvolumeclaims`, {
      metadata: { name: 'v' },
      spec: { accessModes: ['ReadWriteOnce'], storageClassName: 'fast', resources: { requests: { storage: '2Gi' } } },
    });
    const hard = {
      'count/secrets': '9',
      'count/unknown.example.com': '1',
      'fast.storageclass.storage.k8s.io/requests.storage': '5Gi',
      pods: '5',
      'requests.cpu': '1',
      'services.nodeports': '3',
    };
    await quotas(core, { all: { hard }, scoped: { hard: { pods: '5' }, scopes: ['BestEffort'] } });
    const used = {
      'count/secrets': '0',
      'fast.storageclass.storage.k8s.io/requests.storage': '2Gi',
      pods: '2',
      'requests.cpu': '250m',
      'services.nodeports': '1',
    };
    await untilUsed(core, 'all', used);
    await untilUsed(core, 'scoped', { pods: '1' });
    await api.delete(`${core}/pods/b?gracePeriodSeconds=0`);
    await api.patch(`${core}/services/s`, MERGE, {
      spec: { type: 'ClusterIP', ports: [{ port: 80, nodePort: null }] },
    });
    await untilUsed(core, 'all', { ...used, pods: '1', 'services.nodeports': '0' });
    await untilUsed(core, 'scoped', { pods: '0' });
    await api.patch(`${core}/pods/a/status`, MERGE, { status: { phase: 'Succeeded' } });
    await untilUsed(core, 'all', { ...used, pods: '0', 'requests.cpu': '0', 'services.nodeports': '0' });
  });

  it('show new limits, and no usage of limits that are removed', async () => {
    const core = await api.namespace('changed');
    await quotas(core, { q: { hard: { configmaps: '5', secrets: '5' } } });
    await api.patch(`${core}/resourcequotas/q`, MERGE, {
      spec: { hard: { configmaps: '1', secrets: null, pods: '1' } },
    });
    await untilUsed(core, 'q', { configmaps: '1', pods: '0' });
    expect((await api.get(`${core}/resourcequotas/q`)).body.status?.['hard']).toEqual({ configmaps: '1', pods: '1' });
    expect((await api.post(`${core}/configmaps`, { metadata: { name: 'x' } })).status).toBe(403);
  });

  it('are never exceeded by 64 clients, and never lose a free place', async () => {
    const core = await api.namespace('race');
    const limit = 20;
    const names = ['a', 'b', 'c', 'd', 'e'];
    const spec = { hard: { configmaps: String(limit), 'count/configmaps': String(limit + 3) } };
    await quotas(core, Object.fromEntries(names.map(name => [name, spec])));
    const count = async (): Promise<number> => listOf((await api.get(`${core}/configmaps`)).body['items']).length;
    const codes = new Set<number>();
    const client = async (id: number): Promise<void> => {
      for (let i = 0; i < 4; i++) {
        const name = `c${(id * 7 + i * 13) % 50}`;
        const turn = (id + i) % 4;
        if (turn === 0) await api.delete(`${core}/configmaps/${name}`);
        else if (turn === 1) await api.post(`${core}/configmaps?dryRun=All`, { metadata: { name } });
        else codes.add((await api.post(`${core}/configmaps`, { metadata: { name } })).status);
        if (i === 2) expect(await count()).toBeLessThanOrEqual(limit);
      }
    };
    await Promise.all(Array.from({ length: 64 }, (_, id) => client(id)));
    expect([...codes].sort()).toEqual([201, 403, 409]);
    await api.until(async () => {
      const used = await Promise.all(names.map(name => usedOf(api, core, name)));
      const found = String(await count());
      return used.every(all => String(all?.['configmaps']) === found && String(all?.['count/configmaps']) === found);
    });
    // Every remaining place can be used.
    for (let i = await count(); i < limit; i++)
      expect((await api.post(`${core}/configmaps`, { metadata: { name: `more-${i}` } })).status).toBe(201);
    expect((await api.post(`${core}/configmaps`, { metadata: { name: 'too-many' } })).status).toBe(403);
  });
});

describe('resources that are limited without a quota', () => {
  let api: Api;
  const directory = mkdtempSync(join(tmpdir(), 'capstan-quota-'));
  beforeAll(async () => {
    const configuration = {
      apiVersion: 'apiserver.config.k8s.io/v1',
      kind: 'ResourceQuotaConfiguration',
      limitedResources: [
        {
          resource: 'pods',
          matchScopes: [
            { scopeName: 'PriorityClass', operator: 'In', values: ['high', 'low'] },
            { scopeName: 'Terminating', operator: 'Exists' },
          ],
        },
        { resource: 'services', matchContains: ['loadbalancers', 'nodeport'] },
        { apiGroup: 'apps', resource: 'deployments', matchContains: ['count'] },
      ],
    };
    const plugins = [{ name: 'ResourceQuota', configuration }];
    const kind = { apiVersion: 'apiserver.config.k8s.io/v1', kind: 'AdmissionConfiguration' };
    const admissionControlConfigFile = join(directory, 'admission.json');
    writeFileSync(admissionControlConfigFile, JSON.stringify({ ...kind, plugins }));
    api = await Api.start({ admissionControlConfigFile });
    for (const [name, value] of Object.entries({ high: 1000, low: 10 }))
      await api.made('/apis/scheduling.k8s.io/v1/priorityclasses', { metadata: { name }, value });
  });
  afterAll(async () => {
    await api.close();
    rmSync(directory, { recursive: true });
  });

  it('can only be used where a quota covers them', async () => {
    const core = await api.namespace('limited');
    const create = async (plural: string, name: string, spec: object): Promise<string> =>
      message(await api.post(`${core}/${plural}?dryRun=All`, { metadata: { name }, spec }));
    const containers = [{ name: 'c', image: 'i' }];
    const last = { containers, activeDeadlineSeconds: 4, priorityClassName: 'low' };
    const balanced = { type: 'LoadBalancer', ports: [{ port: 80 }] };
    const scopes = (text: string) => `500 insufficient quota to match these scopes: [${text}]`;
    expect(await create('pods', 'p', { containers })).toBe('201');
    expect(await create('pods', 'p', last)).toBe(scopes('{PriorityClass In [high low]} {Terminating Exists []}'));
    expect(await create('services', 's', balanced)).toBe(
      '403 services "s" is forbidden: insufficient quota to consume: services.loadbalancers,services.nodeports',
    );
    for (const [name, spec] of Object.entries({
      classes: {
        hard: { pods: '5' },
        scopeSelector: { matchExpressions: [{ scopeName: 'PriorityClass', operator: 'Exists' }] },
      },
      services: { hard: { 'services.loadbalancers': '1' } },
    })) {
      await api.made(`${core}/resourcequotas`, { metadata: { name }, spec });
      await api.until(async () => (await usedOf(api, core, name)) !== undefined);
    }
    expect(await create('pods', 'p', { containers, priorityClassName: 'high' })).toBe('201');
    expect(await create('pods', 'p', last)).toBe(scopes('{Terminating Exists []}'));
    expect(await create('services', 's', balanced)).toBe(
      '403 services "s" is forbidden: insufficient quota to consume: services.nodeports',
    );
  });
});

describe('the configuration of quotas', () => {
  const config = (limitedResources: unknown, apiVersion = 'apiserver.config.k8s.io/v1') => ({
    apiVersion,
    kind: apiVersion.startsWith('resourcequota') ? 'Configuration' : 'ResourceQuotaConfiguration',
    limitedResources,
  });

  test.each([
    [[{ resource: 'pods' }], 'apiserver.config.k8s.io/v1'],
    [
      [{ apiGroup: 'apps', resource: 'deployments', matchContains: ['count'] }],
      'resourcequota.admission.k8s.io/v1beta1',
    ],
    [
      [{ resource: 'pods', matchScopes: [{ scopeName: 'PriorityClass', operator: 'In', values: ['high'] }] }],
      undefined,
    ],
  ])('%j is accepted', (limited, apiVersion) => {
    expect(parseConfig(config(limited, apiVersion))).toHaveLength(1);
  });

  test.each([
    [{ ...config([]), limited: [] }, 'limited'],
    [{ ...config([]), kind: 'Configuration' }, 'kind'],
    [config([], 'v1'), 'apiVersion'],
    [config({}), 'limitedResources'],
    [config([{ apiGroup: 'apps' }]), 'limitedResources[0].resource'],
    [config([{ resource: 'pods', matchContains: [1] }]), 'limitedResources[0].matchContains'],
    [config([{ resource: 'pods', matchScopes: [{ scope: 'x' }] }]), 'limitedResources[0].matchScopes[0].scope'],
  ])('%j is refused, with the path', (given, path) => {
    expect(() => parseConfig(given)).toThrow(ConfigError);
    expect(() => parseConfig(given)).toThrow(path);
  });
});
