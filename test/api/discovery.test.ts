import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Api, namesIn } from './support.js';

interface Listed {
  readonly name: string;
  readonly kind: string;
  readonly namespaced: boolean;
  readonly verbs: readonly string[];
}
interface Group {
  readonly name: string;
  readonly versions: readonly { groupVersion: string }[];
}

/** Every group version with its resources. */
async function discover(api: Api): Promise<Map<string, readonly Listed[]>> {
  const { groups } = (await api.get('/apis')).body as unknown as { groups: Group[] };
  const paths = ['/api/v1', ...groups.flatMap(group => group.versions.map(version => `/apis/${version.groupVersion}`))];
  const found = new Map<string, readonly Listed[]>();
  for (const path of paths) found.set(path, (await api.get(path)).body['resources'] as unknown as Listed[]);
  return found;
}

describe('discovery and the resources in it', () => {
  let api: Api;
  let found: Map<string, readonly Listed[]>;
  const verbsOf = (path: string, name: string): readonly string[] | undefined =>
    found.get(path)?.find(resource => resource.name === name)?.verbs;
  beforeAll(async () => {
    api = await Api.start();
    found = await discover(api);
  });
  afterAll(() => api.close());

  test('every listed resource is reachable by GET at the path of its lower-case plural [R004 R016 R017]', async () => {
    for (const [path, resources] of found) {
      for (const { name, kind, verbs, namespaced } of resources.filter(resource => !resource.name.includes('/'))) {
        expect(name).toMatch(/^[a-z]+$/);
        const all = `${path}/${name}`;
        const { status, body } = await api.get(
          namespaced && !verbs.includes('list') ? `${path}/namespaces/default/${name}` : all,
        );
        if (verbs.includes('list')) expect([name, status, body.kind]).toEqual([name, 200, `${kind}List`]);
        else expect([name, status, body.reason]).toEqual([name, 405, 'MethodNotAllowed']);
        if (namespaced && !verbs.includes('list')) expect((await api.get(all)).status).toBe(404);
      }
    }
  });

  test('the namespaced flag matches the paths that exist [R026]', async () => {
    for (const [path, resources] of found) {
      for (const { name, namespaced, verbs } of resources.filter(resource => !resource.name.includes('/'))) {
        if (!verbs.includes('list')) continue;
        const inside = await api.get(`${path}/namespaces/default/${name}`);
        expect([name, inside.status]).toEqual([name, namespaced ? 200 : name === 'namespaces' ? inside.status : 404]);
      }
    }
  });

  test('objects have the kind that discovery names [R017]', async () => {
    for (const [path, resources] of found) {
      for (const { name, kind, verbs } of resources.filter(resource => resource.verbs.includes('list'))) {
        const { items } = (await api.get(`${path}/${name}`)).body as unknown as {
          items: { metadata: { name: string } }[];
        };
        const first = items.find(item => !('namespace' in item.metadata));
        if (!first || !verbs.includes('get')) continue;
        expect((await api.get(`${path}/${name}/${first.metadata.name}`)).body.kind).toBe(kind);
      }
    }
  });

  test('the name of a subresource begins with its resource, and its path with that of an object [R018]', async () => {
    let count = 0;
    for (const [path, resources] of found) {
      const types = new Map(resources.map(resource => [resource.name, resource]));
      for (const { name, namespaced, verbs } of resources.filter(resource => resource.name.includes('/'))) {
        const [parent = '', sub = ''] = name.split('/');
        expect(types.get(parent)?.namespaced).toBe(namespaced);
        if (!verbs.includes('get') || verbs.includes('create')) continue;
        count++;
        const at = `${path}${namespaced ? '/namespaces/default' : ''}/${parent}/none/${sub}`;
        const { status, body } = await api.get(at);
        expect([name, status, body.reason]).toEqual([name, 404, 'NotFound']);
      }
    }
    expect(count).toBeGreaterThan(30);
  });

  test('status and scale are read, patched and updated [R151x R152x]', () => {
    const of = (suffix: string): string[] =>
      [...found.values()]
        .flat()
        .filter(({ name }) => name.endsWith(suffix))
        .map(({ name, verbs }) => `${name} ${[...verbs]}`);
    for (const line of of('/status')) expect(line).toMatch(/ get,patch,update$/);
    expect(of('/status').length).toBeGreaterThan(20);
    const scaled = ['deployments', 'replicasets', 'replicationcontrollers', 'statefulsets'];
    expect(of('/scale').sort()).toEqual(scaled.map(name => `${name}/scale get,patch,update`));
  });

  test.each([
    ['[R147]', 'pods/proxy', ['create', 'delete', 'get', 'patch', 'update']],
    ['[R147]', 'services/proxy', ['create', 'delete', 'get', 'patch', 'update']],
    ['[R147]', 'nodes/proxy', ['create', 'delete', 'get', 'patch', 'update']],
    ['[R153x]', 'pods/eviction', ['create']],
    ['[R153x]', 'pods/binding', ['create']],
    ['[R153x]', 'bindings', ['create']],
    ['[R153x]', 'serviceaccounts/token', ['create']],
    ['[R154x]', 'pods/log', ['get']],
    ['[R154x]', 'pods/exec', ['create', 'get']],
    ['[R154x]', 'pods/attach', ['create', 'get']],
    ['[R154x]', 'pods/portforward', ['create', 'get']],
    ['[R154x]', 'pods/ephemeralcontainers', ['get', 'patch', 'update']],
    ['[R155x]', 'namespaces/finalize', ['update']],
  ])('%s %s has the verbs %j', (_id, name, verbs) => {
    expect(verbsOf('/api/v1', name)).toEqual(verbs);
  });

  test('certificate requests are approved by get, patch and update; collections have no proxy [R155x R147]', () => {
    expect(verbsOf('/apis/certificates.k8s.io/v1', 'certificatesigningrequests/approval')).toEqual([
      'get',
      'patch',
      'update',
    ]);
    for (const resources of found.values()) {
      for (const { name, verbs } of resources) expect([name, verbs.includes('proxy')]).toEqual([name, false]);
    }
  });

  test('the version is 1.32 [R375]', async () => {
    expect((await api.get('/version')).body).toMatchObject({
      major: '1',
      minor: '32',
      gitVersion: expect.stringMatching(/^v1\.32\./),
    });
  });
});

describe('the neutral names', () => {
  let api: Api;
  beforeAll(async () => {
    api = await Api.start({ naming: 'neutral' });
  });
  afterAll(() => api.close());

  test('names of groups, namespaces and roles contain no brand [R001 R002 R003]', async () => {
    const { groups } = (await api.get('/apis')).body as unknown as { groups: Group[] };
    for (const { name } of groups) expect(name).toMatch(/^[a-z]+$|\.orchestrator\.io$/);
    expect(groups.map(({ name }) => name)).toContain('authentication.orchestrator.io');
    for (const name of ['default', 'orchestrator-node-lease', 'orchestrator-public', 'orchestrator-system']) {
      await api.until(async () => (await api.get(`/api/v1/namespaces/${name}`)).status === 200);
    }
    expect(namesIn((await api.get('/api/v1/namespaces')).body).filter(name => name.includes('kube'))).toEqual([]);
    expect(
      (await api.get('/apis/rbac.authorization.orchestrator.io/v1/clusterroles/system:node-agent-api-admin')).status,
    ).toBe(200);
  });
});
