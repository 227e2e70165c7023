import { stringify } from 'yaml';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { acceptable, type Served } from './fuzz/bodies.js';
import { definition, limitRange, outside, pod, runtimeClass } from './prototype/objects.js';
import { type Sent, TrappedServer } from './prototype/server.js';

/*
 * A name from outside must never be looked up on the prototype of a plain object, where `toString` would be found. In
 * the server of these tests, all objects inherit one more name, `outside`, and every look-up of it is reported.
 * The requests contain this name wherever a name is possible.
 */

const server = new TrappedServer();
const MAPS = '/api/v1/namespaces/fuzz/configmaps';
const OUTSIDES = '/apis/outside.example.com/v1/namespaces/fuzz/outsides';
const JSON_TYPE = ['content-type: application/json'];
let served: Served[];

beforeAll(async () => {
  await server.start();
  await server.make('/api/v1/namespaces', { metadata: { name: 'fuzz' } });
  await server.make('/apis/node.k8s.io/v1/runtimeclasses', runtimeClass);
  await server.make('/apis/apiextensions.k8s.io/v1/customresourcedefinitions', definition);
  while (!(await server.send({ method: 'GET', path: OUTSIDES })).startsWith('HTTP/1.1 200'));
  served = await server.served();
});
afterAll(() => server.close());

type Members = { [member: string]: unknown };

/** Values of a member that is called `outside`. */
const MEMBERS: readonly unknown[] = ['outside', '1', { outside: 'outside' }, ['outside'], 1];

/**
 * Copies of a value, each of which contains `outside` in one position: as a member of an object with each of these
 * values, or each of these texts instead of a string.
 */
function* variants(
  value: unknown,
  members: readonly unknown[] = MEMBERS,
  texts: readonly string[] = ['outside'],
): Generator<unknown> {
  const inner = (item: unknown) => variants(item, members, texts);
  if (typeof value === 'string') yield* texts;
  else if (Array.isArray(value)) {
    for (const [i, item] of value.entries()) for (const one of inner(item)) yield value.with(i, one);
  } else if (typeof value === 'object' && value !== null) {
    for (const member of members) yield { ...value, outside: member };
    for (const [key, item] of Object.entries(value)) for (const one of inner(item)) yield { ...value, [key]: one };
  }
}

const pathOf = ({ path, namespaced, name }: Served): string =>
  `${path}${namespaced ? '/namespaces/fuzz' : ''}/${name.replace('/', '/a/')}`;

/** For every kind, the path at which objects are created, and an acceptable object. */
const creatable = (): readonly (readonly [path: string, body: Members])[] => [
  ...served
    .filter(({ verbs, path }) => verbs.includes('create') && !path.includes('outside'))
    .map(resource => [pathOf(resource), acceptable(() => 0, resource)] as const),
  ['/api/v1/namespaces/fuzz/pods', pod],
  ['/api/v1/namespaces/fuzz/limitranges', limitRange],
  [OUTSIDES, outside],
];

describe('no look-up of a name from outside reaches a prototype', () => {
  const methods = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'outside', 'Outside', 'OUTSIDE'];
  const body = '{"metadata":{"name":"outside"}}';

  test('of methods and paths', async () => {
    const paths = [
      '/outside',
      '/outside/outside',
      '/api/outside',
      '/api/outside/outside',
      '/api/v1/outside',
      '/api/v1/outside/outside/outside',
      '/api/v1/namespaces/outside',
      '/api/v1/namespaces/outside/outside',
      '/api/v1/namespaces/fuzz/outside/outside/outside',
      '/api/v1/namespaces/fuzz/pods/outside',
      '/api/v1/namespaces/fuzz/pods/outside/outside',
      '/api/v1/namespaces/fuzz/pods/outside/log?outside=outside',
      '/api/v1/watch/outside',
      '/api/v1/watch/namespaces/outside/outside',
      '/apis/outside',
      '/apis/outside/outside',
      '/apis/outside/outside/outside',
      '/apis/outside/outside/namespaces/outside/outside/outside/outside',
      '/apis/apps/outside',
      '/apis/apps/v1/outside',
      '/apis/apps/v1/namespaces/outside/deployments/outside/scale',
      '/openapi/outside',
      '/openapi/v2?outside=outside',
      '/openapi/v3/outside',
      '/openapi/v3/apis/outside/outside?hash=outside',
      '/livez/outside',
      '/readyz/outside?exclude=outside&verbose=outside&outside',
      '/healthz?exclude=outside',
      '/metrics?outside=outside',
      '/metrics/outside',
      '/version/outside',
      '/logs/outside',
      '/.well-known/outside',
      '/apis?outside',
    ];
    await server.expectNoLookups(
      methods.flatMap(method =>
        paths.map(path => (method === 'HEAD' ? { method, path } : { method, path, body, headers: JSON_TYPE })),
      ),
    );
  });

  test('of queries', async () => {
    const queries = [
      'outside=outside',
      'fieldSelector=outside%3Doutside',
      'fieldSelector=metadata.name%3Doutside%2Coutside!%3Doutside',
      'labelSelector=outside',
      'labelSelector=outside%20in%20(outside)',
      'labelSelector=!outside%2Coutside!%3Doutside',
      'dryRun=outside',
      'fieldManager=outside',
      'fieldManager=outside&fieldValidation=outside',
      'propagationPolicy=outside',
      'resourceVersion=outside',
      'resourceVersion=0&resourceVersionMatch=outside',
      'continue=outside',
      'limit=outside',
      'pretty=outside',
      'timeoutSeconds=outside',
      'includeObject=outside',
      'gracePeriodSeconds=outside',
    ];
    const targets = [MAPS, '/api/v1/namespaces/fuzz/pods/outside', '/apis/apps/v1/deployments'];
    await server.expectNoLookups(
      methods
        .filter(method => method !== 'HEAD')
        .flatMap(method =>
          targets.flatMap(path =>
            queries.map(query => ({ method, path: `${path}?${query}`, body, headers: JSON_TYPE })),
          ),
        ),
    );
  });

  test('of headers', async () => {
    const types = [
      'outside',
      'outside/outside',
      'application/outside',
      'application/json;outside=outside',
      'application/json;charset=outside',
    ];
    const accepts = [
      ...types,
      'application/json;as=outside;g=outside;v=outside',
      'application/json;as=Table;g=meta.k8s.io;v=outside',
      'application/json;as=Table;g=outside;v=v1',
      'application/json;stream=outside',
      'application/outside;as=Table;g=meta.k8s.io;v=v1',
      '*/*;outside=outside;q=outside',
    ];
    const admin = `authorization: Bearer ${server.token}`;
    const others = [
      ['accept-encoding: outside'],
      ['outside: outside'],
      ['user-agent: outside/outside (outside) outside/outside'],
      ['if-match: "outside"'],
      ['authorization: outside outside'],
      ['authorization: Bearer outside'],
      [admin, 'impersonate-user: outside'],
      [admin, 'impersonate-user: outside', 'impersonate-group: outside'],
      [admin, 'impersonate-user: outside', 'impersonate-uid: outside'],
      [admin, 'impersonate-user: outside', 'impersonate-extra-outside: outside'],
      [admin, 'impersonate-extra-outside: outside'],
    ];
    const paths = [MAPS, '/apis', '/openapi/v2', '/openapi/v3/api/v1', '/version', '/metrics'];
    await server.expectNoLookups([
      ...paths.flatMap(path => accepts.map(type => ({ method: 'GET', path, headers: [`accept: ${type}`] }))),
      ...['POST', 'PUT', 'PATCH', 'DELETE'].flatMap(method =>
        types.map(type => ({ method, path: `${MAPS}/outside`, body, headers: [`content-type: ${type}`] })),
      ),
      ...others.map(headers => ({ method: 'GET', path: MAPS, headers })),
    ]);
  });

  /** Sends every variant of every kind as a new object with its own name. */
  function* creates(): Generator<Sent> {
    for (const [path, body] of creatable()) {
      let made = 0;
      for (const one of variants(body) as Generator<Members>) {
        const metadata = { ...(one['metadata'] as Members), name: `outside.v${made++}` };
        const renamed = path.endsWith('customresourcedefinitions') ? one : { ...one, metadata };
        yield { method: 'POST', path, body: JSON.stringify(renamed), headers: JSON_TYPE };
      }
    }
  }
  test('of creates', () => server.expectNoLookups(creates()), 300_000);

  /** The requests that send a changed object to a path: an update, patches and an apply. */
  const writesOf = (path: string, changed: unknown): Sent[] => {
    const body = JSON.stringify(changed);
    const patch = (kind: string): Sent => ({
      method: 'PATCH',
      path,
      body,
      headers: [`content-type: application/${kind}-patch+json`],
    });
    const apply = ['content-type: application/apply-patch+yaml'];
    return [
      { method: 'PUT', path, body, headers: JSON_TYPE },
      patch('merge'),
      patch('strategic-merge'),
      { method: 'PATCH', path: `${path}&force=true`, body: stringify(changed), headers: apply },
    ];
  };

  /**
   * Updates, patches and applies every variant of every kind without storing it. A member of each object is sent in all
   * four ways, each of which looks up its name. Other values of it, and other texts, are sent in one of these ways in
   * turn, since they are checked in the merged object.
   */
  async function* updates(): AsyncGenerator<Sent[]> {
    for (const [path, body] of creatable()) {
      const { name } = body['metadata'] as { name: string };
      const sent = await server.send({ method: 'POST', path, body: JSON.stringify(body), headers: JSON_TYPE });
      if (path.includes('/a/') || !sent.startsWith('HTTP/1.1 201')) continue;
      const to = `${path}/${name}?dryRun=All&fieldManager=outside`;
      const members = [...variants(body, ['outside'], [])].flatMap(changed => writesOf(to, changed));
      const others = Array.from(variants(body, MEMBERS.slice(1)), (changed, i) => writesOf(to, changed)[i % 4]!);
      yield [...members, ...others];
    }
  }
  test('of updates, patches and applies', async () => {
    let kinds = 0;
    for await (const requests of updates()) {
      kinds++;
      await server.expectNoLookups(requests);
    }
    expect(kinds).toBeGreaterThan(40);
  }, 300_000);

  test('of JSON patches and directives of strategic merge patches', async () => {
    await server.make(MAPS, { metadata: { name: 'patched' }, data: { a: 'b' } });
    const path = `${MAPS}/patched?dryRun=All`;
    const operations = ['add', 'remove', 'replace', 'move', 'copy', 'test', 'outside'];
    const places = ['/outside', '/data/outside', '/metadata/labels/outside', '/data/a/outside', 'outside'];
    const directives = [
      { $patch: 'outside' },
      { data: { $patch: 'outside' } },
      { data: { $retainKeys: ['outside'] } },
      { metadata: { '$setElementOrder/outside': ['outside'], '$deleteFromPrimitiveList/outside': ['outside'] } },
      { metadata: { '$deleteFromPrimitiveList/finalizers': ['outside'], $outside: 'outside' } },
    ];
    const patch = (type: string, body: unknown): Sent => ({
      method: 'PATCH',
      path,
      body: JSON.stringify(body),
      headers: [`content-type: application/${type}-patch+json`],
    });
    await server.expectNoLookups([
      ...operations.flatMap(op =>
        places.map(place => patch('json', [{ op, path: place, from: place, value: 'outside', outside: 'outside' }])),
      ),
      ...directives.map(body => patch('strategic-merge', body)),
    ]);
  });

  test('of reads in every form, and of selectors', async () => {
    const forms = [
      'application/json;as=Table;g=meta.k8s.io;v=v1',
      'application/yaml',
      'application/vnd.kubernetes.protobuf',
      'application/cbor',
      'application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1',
    ];
    const get = (path: string, form: string): Sent => ({ method: 'GET', path, headers: [`accept: ${form}`] });
    const selectors = ['fieldSelector=outside%3Dx', 'labelSelector=outside', 'labelSelector=outside%21%3Dx'];
    await server.expectNoLookups(
      served
        .filter(({ verbs }) => verbs.includes('list'))
        .map(pathOf)
        .flatMap(path => [
          ...forms.map(form => get(path, form)),
          // Objects are selected before the form of the answer is made.
          ...selectors.map(selector => get(`${path}?${selector}`, 'application/json')),
        ]),
    );
  });
});

describe('names of inherited members are ordinary names', () => {
  test.each(['toString', 'constructor', 'hasOwnProperty'])('the method %s is not allowed', async method => {
    const answer = await server.send({ method, path: MAPS, body: '{}', headers: JSON_TYPE });
    expect(answer).toMatch(/^HTTP\/1\.1 405 /);
  });

  test('the data of a ConfigMap and of a Secret may contain them as keys', async () => {
    const keys = ['toString', 'constructor', '__proto__'];
    const data = `{${keys.map(key => `"${key}":"eA=="`).join(',')}}`;
    const headers = JSON_TYPE;
    await server.send({ method: 'POST', path: MAPS, body: `{"metadata":{"name":"keys"},"data":${data}}`, headers });
    const secrets = '/api/v1/namespaces/fuzz/secrets';
    const body = `{"metadata":{"name":"keys"},"stringData":${data}}`;
    await server.send({ method: 'POST', path: secrets, body, headers });
    for (const path of [`${MAPS}/keys`, `${secrets}/keys`]) {
      const object = await server.json<{ data: object }>(path);
      expect(Object.keys(object.data).sort()).toEqual(keys.sort());
    }
  });
});
