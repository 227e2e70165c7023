import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Api, deployment, type Loose, namesIn, pod } from './support.js';
import { MERGE } from '../support/mediaTypes.js';
import { textOf } from '../support/values.js';

describe('operations', () => {
  let api: Api;
  let shop: string;
  let maps: string;
  beforeAll(async () => {
    api = await Api.shared();
    shop = await api.namespace('operations');
    maps = `${shop}/configmaps`;
  });
  afterAll(() => api.close());

  test('POST, GET, PUT, PATCH and DELETE work on one resource [R005 R135 R139 R140x R141 R145]', async () => {
    const posted = await api.post(maps, { metadata: { name: 'all' }, data: { a: '1' } });
    expect([posted.status, posted.body.kind, posted.body['data']]).toEqual([201, 'ConfigMap', { a: '1' }]);
    expect(posted.body['metadata']).toMatchObject({ uid: expect.any(String), resourceVersion: expect.any(String) });
    const got = await api.get(`${maps}/all`);
    expect([got.status, got.body]).toEqual([200, posted.body]);
    const put = await api.put(`${maps}/all`, { ...posted.body, data: { a: '2' } });
    expect([put.status, put.body['data']]).toEqual([200, { a: '2' }]);
    const patched = await api.patch(`${maps}/all`, MERGE, { data: { b: '3' } });
    expect([patched.status, patched.body['data']]).toEqual([200, { a: '2', b: '3' }]);
    const uid = posted.body['metadata']!['uid'];
    const wrong = await api.delete(`${maps}/all`, { preconditions: { uid: 'another' } });
    expect([wrong.status, wrong.body.reason]).toEqual([409, 'Conflict']);
    const options = {
      apiVersion: 'v1',
      kind: 'DeleteOptions',
      preconditions: { uid },
      propagationPolicy: 'Background',
    };
    const deleted = await api.delete(`${maps}/all`, options);
    expect(deleted.status).toBe(200);
    expect(deleted.body).toMatchObject({
      kind: 'Status',
      status: 'Success',
      details: { name: 'all', kind: 'configmaps', uid },
    });
    expect((await api.get(`${maps}/all`)).status).toBe(404);
  });

  test('malformed delete options are refused; `null` and an empty policy are accepted [R145]', async () => {
    await api.made(maps, { metadata: { name: 'options' } });
    for (const [body, message] of [
      ['[]', 'cannot unmarshal array'],
      ['"x"', 'cannot unmarshal string'],
      ['{', 'json parse error'],
      [
        '{"gracePeriodSeconds":"x"}',
        'json: cannot unmarshal string into Go struct field DeleteOptions.gracePeriodSeconds of type int64',
      ],
      ['{"apiVersion":"v1","kind":"ConfigMap"}', 'no kind "ConfigMap" is registered for version "v1"'],
    ] as const) {
      const refused = await api.call('DELETE', `${maps}/options`, { body });
      expect([refused.status, refused.body.reason]).toEqual([400, 'BadRequest']);
      expect(refused.body['message']).toContain(message);
    }
    const policy = await api.delete(`${maps}/options?propagationPolicy=`);
    expect([policy.status, policy.body['message']]).toEqual([422, expect.stringContaining('Unsupported value: ""')]);
    expect((await api.call('DELETE', `${maps}/options?dryRun=All`, { body: 'null' })).status).toBe(200);
  });

  test('the envelope, name, namespace and uid of a scale are validated [R152x]', async () => {
    const scale = '/apis/apps/v1/namespaces/operations/deployments/validated/scale';
    await api.made('/apis/apps/v1/namespaces/operations/deployments', deployment('validated'));
    const spec = { replicas: 2 };
    for (const [body, status, message] of [
      [{ spec }, 400, 'undeterminable: name must be provided'],
      [{ metadata: { name: 'validated', namespace: 'default' }, spec }, 400, 'namespace of the provided object'],
      [
        { apiVersion: 'autoscaling/v2', kind: 'Scale', metadata: { name: 'validated' }, spec },
        400,
        'no kind "Scale" is registered for version "autoscaling/v2"',
      ],
      [
        { apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'validated' }, spec },
        400,
        'cannot be handled as a Scale',
      ],
      [{ metadata: { name: 'validated', uid: 'u' }, spec }, 409, 'on deployments.apps'],
    ] as const) {
      const refused = await api.put(scale, body);
      expect([refused.status, refused.body['message']]).toEqual([status, expect.stringContaining(message)]);
    }
    const patched = await api.patch(scale, MERGE, { metadata: { uid: 'u' } });
    expect([patched.status, patched.body['details']]).toEqual([
      409,
      { name: 'validated', group: 'apps', kind: 'deployments/scale' },
    ]);
    expect((await api.patch(scale, MERGE, { kind: 'Deployment' })).status).toBe(422);
    const applied = { apiVersion: 'autoscaling/v1', kind: 'Scale', spec };
    const apply = await api.patch(`${scale}?fieldManager=m&force=true`, 'application/apply-patch+yaml', applied);
    expect([apply.status, apply.body['spec']]).toEqual([200, spec]);
  });

  test('a write of the status does not change metadata, depending on the kind [R123]', async () => {
    const schemas = '/apis/flowcontrol.apiserver.k8s.io/v1/flowschemas';
    const spec = { priorityLevelConfiguration: { name: 'exempt' } };
    await api.made(schemas, { metadata: { name: 'quiet', labels: { a: 'b' } }, spec });
    const written = {
      metadata: { labels: { a: 'c' }, annotations: { d: 'e' }, finalizers: ['example.com/f'] },
      status: {},
    };
    const quiet = await api.patch(`${schemas}/quiet/status`, MERGE, written);
    expect(quiet.body['metadata']).toMatchObject({ labels: { a: 'b' } });
    expect(Object.keys(quiet.body['metadata']!)).not.toEqual(expect.arrayContaining(['annotations']));
    expect(quiet.body['metadata']!['finalizers']).toBeUndefined();
    await api.made(`${shop}/pods`, pod('owned'));
    const owner = { apiVersion: 'v1', kind: 'Pod', name: 'o', uid: 'u' };
    const owned = await api.patch(`${shop}/pods/owned/status`, MERGE, {
      metadata: { ...written.metadata, ownerReferences: [owner] },
    });
    expect(owned.body['metadata']).toMatchObject({ labels: { a: 'c' }, annotations: { d: 'e' } });
    expect(owned.body['metadata']!['ownerReferences']).toBeUndefined();
  });

  test('a PUT replaces the object and removes omitted fields [R280 R141]', async () => {
    const whole = {
      metadata: { name: 'replaced', labels: { a: 'b' }, annotations: { c: 'd' } },
      data: { a: '1', b: '2' },
    };
    await api.made(maps, whole);
    const put = await api.put(`${maps}/replaced`, { metadata: { name: 'replaced' }, data: { b: '2' } });
    expect(put.status).toBe(200);
    const { body } = await api.get(`${maps}/replaced`);
    expect(body['data']).toEqual({ b: '2' });
    expect(body['metadata']).not.toHaveProperty('labels');
    expect(body['metadata']).not.toHaveProperty('annotations');
    const elsewhere = await api.put(`${maps}/replaced`, { metadata: { name: 'other' } });
    expect(elsewhere.status).toBe(400);
  });

  test('a subresource may have another kind than its parent [R007 R152x]', async () => {
    const deployments = '/apis/apps/v1/namespaces/operations/deployments';
    await api.made(deployments, deployment('scaled'));
    const scale = await api.get(`${deployments}/scaled/scale`);
    expect(scale.body).toMatchObject({ kind: 'Scale', apiVersion: 'autoscaling/v1', spec: { replicas: 1 } });
    const put = await api.put(`${deployments}/scaled/scale`, { ...scale.body, spec: { replicas: 3 } });
    expect([put.status, put.body.kind]).toEqual([200, 'Scale']);
    const patched = await api.patch(`${deployments}/scaled/scale`, MERGE, { spec: { replicas: 4 } });
    expect([patched.status, patched.body['spec']]).toEqual([200, { replicas: 4 }]);
    expect((await api.get(`${deployments}/scaled`)).body['spec']!['replicas']).toBe(4);
  });

  test('a scale has the metadata of a scale in every form, and the 404 for it names the resource of each kind [R152x R193]', async () => {
    const deployments = '/apis/apps/v1/namespaces/operations/deployments';
    await api.made(deployments, { ...deployment('plain'), metadata: { name: 'plain', labels: { a: 'b' } } });
    const accept = 'application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io';
    const { body } = await api.get(`${deployments}/plain/scale`, { accept });
    expect([body.kind, Object.keys(body['metadata']!)]).toEqual([
      'PartialObjectMetadata',
      ['name', 'namespace', 'uid', 'resourceVersion', 'creationTimestamp'],
    ]);
    const missing = async (path: string): Promise<unknown> => (await api.get(`${path}/none/scale`)).body['message'];
    expect([
      await missing(deployments),
      await missing('/apis/apps/v1/namespaces/operations/replicasets'),
      await missing('/apis/apps/v1/namespaces/operations/statefulsets'),
      await missing(`${shop}/replicationcontrollers`),
    ]).toEqual([
      'deployments/scale.apps "none" not found',
      'replicasets/scale.apps "none" not found',
      'statefulsets.apps "none" not found',
      'replicationcontrollers/scale.autoscaling "none" not found',
    ]);
  });

  test('subresources other than status and scale have no Table [R057]', async () => {
    await api.made(`${shop}/pods`, pod('tabled'));
    const accept = 'application/json;as=Table;v=v1;g=meta.k8s.io';
    const kinds = async (name: string): Promise<unknown[]> => {
      const [alone, first] = [accept, `${accept},application/json`].map(sent =>
        api.get(`${shop}/pods/tabled/${name}`, { accept: sent }),
      );
      return [(await alone!).status, (await first!).body.kind];
    };
    expect(await kinds('status')).toEqual([200, 'Table']);
    expect(await kinds('ephemeralcontainers')).toEqual([406, 'Pod']);
  });

  test('a binding refers to a pod in the namespace of its path [R153x]', async () => {
    await api.made(`${shop}/pods`, pod('placed'));
    const bind = async (path: string, metadata: object): Promise<unknown> =>
      (await api.post(`${shop}/${path}`, { metadata, target: { name: 'n' } })).body['message'];
    const elsewhere = 'the namespace of the provided object does not match the namespace sent on the request';
    expect(await bind('bindings', { name: 'placed', namespace: 'other' })).toBe(elsewhere);
    expect(await bind('pods/placed/binding', { name: 'placed', namespace: 'other' })).toBe(elsewhere);
    expect(await bind('bindings', {})).toBe('Name parameter required.');
    expect((await api.get(`${shop}/pods/placed`)).body['spec']).not.toHaveProperty('nodeName');
  });

  test('the status of a node cannot set its configuration [R151x]', async () => {
    await api.made('/api/v1/nodes', { metadata: { name: 'plain' } });
    const patched = await api.patch('/api/v1/nodes/plain/status', MERGE, {
      status: { phase: 'Running', config: { error: 'e' } },
    });
    expect([patched.body.status, patched.body['status']!['config']]).toMatchObject([{ phase: 'Running' }, undefined]);
  });

  test('the status subresource is read, replaced and patched separately [R151x]', async () => {
    await api.made(`${shop}/pods`, pod('worker'));
    const path = `${shop}/pods/worker/status`;
    const read = await api.get(path);
    expect(read.body).toMatchObject({ kind: 'Pod', status: { phase: 'Pending' } });
    const put = await api.put(path, { ...read.body, status: { phase: 'Running' } });
    expect([put.status, put.body['status']!['phase']]).toEqual([200, 'Running']);
    const both = { status: { message: 'fine' }, spec: { activeDeadlineSeconds: 5 } };
    const patched = await api.patch(path, MERGE, both);
    expect(patched.body['status']).toMatchObject({ phase: 'Running', message: 'fine' });
    expect(patched.body['spec']).not.toHaveProperty('activeDeadlineSeconds');
  });

  test('create, update, patch and delete act on one object; a collection allows only POST [R148 R149]', async () => {
    const items = [{ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'in-list' } }];
    for (const list of [
      { apiVersion: 'v1', kind: 'List', items },
      { apiVersion: 'v1', kind: 'ConfigMapList', items },
      items,
    ]) {
      const { status, body } = await api.post(maps, list);
      expect([status, body.reason]).toEqual([400, 'BadRequest']);
    }
    expect((await api.get(`${maps}/in-list`)).status).toBe(404);
    for (const method of ['PUT', 'PATCH'] as const) {
      const { status, body } = await api.call(method, maps, {
        body: items[0],
        type: method === 'PATCH' ? MERGE : undefined,
      });
      expect([status, body.reason]).toEqual([405, 'MethodNotAllowed']);
    }
    expect((await api.post(`${maps}/in-list`, items[0]!)).status).toBe(405);
  });

  test('list, watch and deletecollection address many objects [R136 R149]', async () => {
    const many = `${await api.namespace('many')}/secrets`;
    for (const name of ['a', 'b', 'c'])
      await api.made(many, { metadata: { name, labels: { keep: String(name === 'c') } } });
    const list = await api.get(many);
    expect([list.status, list.body.kind, namesIn(list.body)]).toEqual([200, 'SecretList', ['a', 'b', 'c']]);
    const removed = await api.call('DELETE', `${many}?labelSelector=keep%3Dfalse`);
    expect([removed.status, namesIn((await api.get(many)).body)]).toEqual([200, ['c']]);
  });

  test.each(['watch', 'watch=1', 'watch=true', 'watch=TRUE'])(
    'GET with ?%s on a collection streams events [R137 R160 R180]',
    async query => {
      const secrets = `${shop}/secrets`;
      const from = textOf((await api.get(secrets)).body['metadata']!['resourceVersion']);
      const watch = await api.watch(`${secrets}?${query}&resourceVersion=${from}`);
      try {
        expect(watch.status).toBe(200);
        expect(watch.headers).toMatchObject({ 'transfer-encoding': 'chunked', 'content-type': 'application/json' });
        const name = `seen-${query.replace('=', '-').toLowerCase()}`;
        await api.made(secrets, { metadata: { name } });
        await api.patch(`${secrets}/${name}`, MERGE, { stringData: { a: 'b' } });
        await api.delete(`${secrets}/${name}`);
        for (const type of ['ADDED', 'MODIFIED', 'DELETED']) {
          expect(await watch.next()).toMatchObject({ type, object: { kind: 'Secret', metadata: { name } } });
        }
      } finally {
        watch.close();
      }
    },
  );

  test.each(['watch=0', 'watch=false'])('?%s is a plain list [R160]', async query => {
    expect((await api.get(`${maps}?${query}`)).body.kind).toBe('ConfigMapList');
  });

  test('a field selector with an empty name selects nothing, at the current version and at an old one', async () => {
    await api.made(maps, { metadata: { name: 'never-chosen' } });
    const all = await api.get(maps);
    await api.patch(`${maps}/never-chosen`, MERGE, { data: { a: 'b' } });
    for (const version of ['', `&resourceVersion=${all.body.metadata!.resourceVersion}&resourceVersionMatch=Exact`]) {
      const list = await api.get(`${maps}?fieldSelector=metadata.name%3D${version}`);
      expect(list.body).toMatchObject({ kind: 'ConfigMapList', items: [] });
    }
  });

  test.each([
    ["the object's path", (name: string) => `/${name}?watch=1`],
    ['a field selector', (name: string) => `?watch=1&fieldSelector=metadata.name%3D${name}`],
  ])('a watch of a single object by %s streams only its events [R138]', async (how, path) => {
    const name = how === 'a field selector' ? 'selected' : 'alone';
    await api.made(maps, { metadata: { name: `${name}-before` } });
    await api.made(maps, { metadata: { name } });
    await api.made(maps, { metadata: { name: `z-after-${name}` } });
    const watch = await api.watch(`${maps}${path(name)}`);
    try {
      expect(await watch.next()).toMatchObject({ type: 'ADDED', object: { metadata: { name } } });
      await api.made(maps, { metadata: { name: `${name}-not` } });
      await api.patch(`${maps}/${name}`, MERGE, { data: { a: 'b' } });
      expect(await watch.next()).toMatchObject({ type: 'MODIFIED', object: { data: { a: 'b' } } });
    } finally {
      watch.close();
    }
  });

  test('namespaces/finalize and the approval of certificate requests are updated like their parents [R155x]', async () => {
    const made = await api.made('/api/v1/namespaces', { metadata: { name: 'finalized' } });
    const finalized = await api.put('/api/v1/namespaces/finalized/finalize', made);
    expect([finalized.status, finalized.body.kind]).toEqual([200, 'Namespace']);
    const requests = '/apis/certificates.k8s.io/v1/certificatesigningrequests';
    const missing = await api.put(`${requests}/none/approval`, { metadata: { name: 'none' } });
    expect([missing.status, (missing.body as Loose).reason]).toEqual([404, 'NotFound']);
  });

  test('pods can be bound only in a namespace that exists and is not being deleted, with either path', async () => {
    const binding = { metadata: { name: 'p' }, target: { name: 'n' } };
    const told = async (path: string): Promise<unknown> => (await api.post(path, binding)).body.message;
    for (const path of ['pods/p/binding', 'bindings'])
      expect(await told(`/api/v1/namespaces/none-such/${path}`)).toBe('namespaces "none-such" not found');
    const ns = await api.namespace('ending');
    await api.made(`${ns}/pods`, { ...pod('p'), metadata: { name: 'p', finalizers: ['example.com/hold'] } });
    await api.delete(ns);
    const why = 'unable to create new content in namespace ending because it is being terminated';
    expect(await told(`${ns}/pods/p/binding`)).toBe(`pods "p" is forbidden: ${why}`);
    expect(await told(`${ns}/bindings`)).toBe(`bindings "p" is forbidden: ${why}`);
    await api.patch(`${ns}/pods/p`, MERGE, { metadata: { finalizers: null } });
  });

  test('an invalid timeout is refused before all other checks, except for long-running requests', async () => {
    const wrong = 'invalid timeout specified in the request URL - time:';
    for (const [timeout, why] of [
      ['abc', 'invalid duration "abc"'],
      ['5', 'missing unit in duration "5"'],
      ['1s2x', 'unknown unit "x" in duration "1s2x"'],
    ])
      for (const path of [`${maps}/none`, '/version', '/none'])
        expect((await api.get(`${path}?timeout=${timeout}`, { token: 'none' })).body).toMatchObject({
          code: 400,
          message: `${wrong} ${why}`,
        });
    for (const timeout of ['0', '-1.5h', '1h5m.5s', ''])
      expect((await api.get(`/version?timeout=${timeout}`)).status).toBe(200);
    expect((await api.get(`${shop}/pods/none/log?timeout=abc`)).status).toBe(404);
  });

  test('an update with If-Match for another version is refused, including status and scale', async () => {
    await api.namespace('matched');
    const sets = '/apis/apps/v1/namespaces/matched/deployments';
    const { resourceVersion: version } = (await api.made(sets, deployment('matched'))).metadata!;
    /** One after the other: the last one changes the object. */
    const statuses = async (tag: string): Promise<number[]> => {
      const sent = { headers: { 'if-match': tag } };
      return [
        (await api.patch(`${sets}/matched`, MERGE, {}, sent)).status,
        (await api.patch(`${sets}/matched/status`, MERGE, {}, sent)).status,
        (await api.patch(`${sets}/matched/scale`, MERGE, {}, sent)).status,
        (await api.put(`${sets}/matched/scale`, { metadata: { name: 'matched' } }, sent)).status,
      ];
    };
    expect(await statuses('"1"')).toEqual([409, 409, 409, 409]);
    expect((await statuses(`W/"${version}"`)).slice(0, 3)).toEqual([200, 200, 200]);
    expect((await statuses('*')).slice(0, 3)).toEqual([200, 200, 200]);
  });

  test('every invalid option of a write is reported', async () => {
    const { body } = await api.post(`${maps}?dryRun=x&fieldValidation=y&fieldManager=${'m'.repeat(129)}`, {});
    const causes = ['fieldManager', 'dryRun', 'fieldValidation'].map(field => expect.objectContaining({ field }));
    expect(body.details).toMatchObject({ causes });
  });
});

describe('deletecollection', () => {
  let api: Api;
  let path: string;
  beforeAll(async () => {
    api = await Api.shared();
    path = `${await api.namespace('swept')}/secrets`;
  });
  afterAll(() => api.close());

  test('with a resource version deletes the objects at this version, and none created later', async () => {
    await api.made(path, { metadata: { name: 'old' } });
    const then = textOf(((await api.get(path)).body['metadata'] as Loose)['resourceVersion']);
    await api.made(path, { metadata: { name: 'new' } });
    expect(namesIn((await api.delete(`${path}?resourceVersion=${then}`, {})).body)).toEqual(['old']);
    expect(namesIn((await api.get(path)).body)).toEqual(['new']);
    // Without a body the version is a precondition of each deletion as well.
    expect((await api.delete(`${path}?resourceVersion=0`)).status).toBe(409);
    expect(namesIn((await api.delete(`${path}?resourceVersion=0`, {})).body)).toEqual(['new']);
  });

  test.each([
    ['', { body: '{bad' }, 400],
    ['', { body: 'x', type: 'text/plain' }, 415],
    ['', { body: { kind: 'Wrong', apiVersion: 'v1' } }, 400],
    ['', { body: { propagationPolicy: 'Nowhere' } }, 422],
    ['?dryRun=Some', {}, 422],
    ['?gracePeriodSeconds=x', {}, 400],
    ['', { accept: 'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1' }, 406],
  ])('with invalid options (%j, %j) is refused, even if there is nothing to delete', async (query, sent, code) => {
    expect((await api.call('DELETE', path + query, sent)).status).toBe(code);
    await api.made(path, { metadata: { name: 'kept' } });
    expect((await api.call('DELETE', path + query, sent)).status).toBe(code);
    expect(namesIn((await api.get(path)).body)).toEqual(['kept']);
    expect(namesIn((await api.delete(path)).body)).toEqual(['kept']);
  });
});
