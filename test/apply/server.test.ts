import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Api, type Answer, type Loose, listOf } from '../api/support.js';
import { MERGE, STRATEGIC } from '../support/mediaTypes.js';

const APPLY = 'application/apply-patch+yaml';

const cm = (name: string, data: object = {}, metadata: object = {}): object => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, ...metadata },
  data,
});
const deployment = (spec: object): object => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'web' },
  spec,
});
const full = (replicas?: number): object => ({
  ...(replicas === undefined ? {} : { replicas }),
  selector: { matchLabels: { app: 'web' } },
  template: { metadata: { labels: { app: 'web' } }, spec: { containers: [{ name: 'c', image: 'i:1' }] } },
});

/**
 * `manager operation subresource` of every entry, sorted, because the order of entries depends on the second of the
 * write.
 */
const managers = (object: Loose): string[] =>
  listOf(object.metadata!.managedFields ?? [])
    .map(entry => [entry.manager, entry.operation, entry.subresource].filter(Boolean).join(' '))
    .sort();
const fields = (object: Loose, manager: string): unknown =>
  listOf(object.metadata!.managedFields ?? []).find(entry => (entry.manager as unknown) === manager)?.fieldsV1;

describe('server-side apply', () => {
  let api: Api;
  let maps: string;
  let web: string;
  beforeAll(async () => {
    api = await Api.shared();
    const namespace = await api.namespace('apply');
    maps = `${namespace}/configmaps`;
    web = `/apis/apps/v1${namespace.slice('/api/v1'.length)}/deployments/web`;
  });
  afterAll(() => api.close());

  const apply = (path: string, body: object | string, manager: string, more = ''): Promise<Answer> =>
    api.patch(`${path}?fieldManager=${manager}${more}`, APPLY, body);
  const read = async (path: string): Promise<Loose> => (await api.get(path)).body;
  const created = async (group: string, plural: string, body: object, manager = 'one'): Promise<Loose> => {
    const path = group ? `/apis/${group}${maps.slice('/api/v1'.length)}` : maps;
    const answer = await api.post(`${path.replace('configmaps', plural)}?fieldManager=${manager}`, body);
    expect(answer.status, answer.text).toBe(201);
    return answer.body;
  };

  describe('the manager of a write that is not an apply', () => {
    test('owns lists that are sent empty and stored as null', async () => {
      const slice = { addressType: 'IPv4', endpoints: [], ports: [] };
      const made = await created('discovery.k8s.io/v1', 'endpointslices', { metadata: { name: 'empty' }, ...slice });
      expect(made['ports']).toBeNull();
      expect(fields(made, 'one')).toEqual({ 'f:addressType': {}, 'f:endpoints': {}, 'f:ports': {} });
    });
    test('owns fields whose feature gate is off', async () => {
      const made = await created('coordination.k8s.io/v1', 'leases', {
        metadata: { name: 'gated' },
        spec: { holderIdentity: 'h', strategy: 's' },
      });
      expect(made['spec']).toEqual({ holderIdentity: 'h' });
      expect(fields(made, 'one')).toEqual({ 'f:spec': { 'f:holderIdentity': {}, 'f:strategy': {} } });
    });
    test('owns a whole list in which it has sent an empty list, and no other value with one', async () => {
      const rules = [{ apiGroups: [''], resources: ['pods'], verbs: ['get'] }];
      const made = await created('rbac.authorization.k8s.io/v1', 'roles', { metadata: { name: 'r' }, rules });
      const path = `/apis/rbac.authorization.k8s.io/v1/namespaces/${made.metadata!.namespace}/roles/r`;
      const changed = { ...made, rules: rules.map(rule => ({ ...rule, resourceNames: [] })) };
      expect(fields((await api.put(`${path}?fieldManager=two`, changed)).body, 'two')).toEqual({ 'f:rules': {} });
      const policy = {
        metadata: { name: 'p' },
        spec: { podSelector: { matchLabels: { a: 'b' }, matchExpressions: [] } },
      };
      const { metadata } = await created('networking.k8s.io/v1', 'networkpolicies', policy);
      const one = `/apis/networking.k8s.io/v1/namespaces/${metadata!.namespace}/networkpolicies/p`;
      const same = await api.put(`${one}?fieldManager=two`, policy);
      expect(managers(same.body)).toEqual(['one Update']);
    });
    test('is not recorded for an object with an item that lacks its key, and an apply to it is refused', async () => {
      const made = await created('', 'serviceaccounts', { metadata: { name: 'keyless' }, secrets: [{}] });
      expect(made.metadata!.managedFields).toBeUndefined();
      const path = `/api/v1/namespaces/${made.metadata!.namespace}/serviceaccounts/keyless`;
      const config = { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'keyless', labels: { a: 'b' } } };
      const answer = await apply(path, config, 'two');
      expect(answer.status).toBe(422);
      expect(answer.body['message']).toMatch(
        /^failed to create manager for existing fields: .*\.secrets: element 0: .* omits key field "name"/,
      );
    });
    test('is listed after the managers in the managedFields of a new object', async () => {
      const entry = {
        manager: 'before',
        operation: 'Apply',
        apiVersion: 'v1',
        time: '2020-01-01T00:00:00Z',
        fieldsType: 'FieldsV1',
        fieldsV1: { 'f:data': { 'f:a': {} } },
      };
      const made = await created('', 'configmaps', cm('named', { b: '1' }, { managedFields: [entry] }));
      expect(managers(made)).toEqual(['before Apply', 'one Update']);
      expect(fields(made, 'before')).toEqual(entry.fieldsV1);
    });
  });

  test(
    'creates with 201, then updates with 200, and records the managers [R065 R066 R068 R069 R070 ' + 'R199 R284]',
    async () => {
      const made = await apply(`${maps}/a`, cm('a', { k: '1' }), 'one');
      expect(made.status).toBe(201);
      expect(made.body.metadata!.managedFields).toEqual([
        {
          manager: 'one',
          operation: 'Apply',
          apiVersion: 'v1',
          time: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/),
          fieldsType: 'FieldsV1',
          fieldsV1: { 'f:data': { 'f:k': {} } },
        },
      ]);
      expect((await apply(`${maps}/a`, cm('a', { k: '2' }), 'one')).status).toBe(200);
      expect((await read(`${maps}/a`)).metadata!.managedFields).toHaveLength(1);
    },
  );

  test('many conflicts are reported with their number and the names of the first thousand', async () => {
    const data = (value: string): object =>
      Object.fromEntries(Array.from({ length: 1100 }, (_, i) => [`k${i}`, value]));
    expect((await apply(`${maps}/many`, cm('many', data('1')), 'one')).status).toBe(201);
    const { status, body } = await apply(`${maps}/many`, cm('many', data('2')), 'two');
    expect(status).toBe(409);
    expect(body.message).toMatch(
      /^Apply failed with 1100 conflicts: conflicts with "one":\n- \.data\.k0\n.*\nand more$/s,
    );
    expect(body.details!.causes).toHaveLength(1000);
  });

  test('a duplicate owner reference is removed before ownership is computed: nothing is written', async () => {
    const owner = { apiVersion: 'v1', kind: 'ConfigMap', name: 'nobody', uid: 'u1' };
    const finalizers = ['a.b/c'];
    const made = await api.made(maps, cm('twice', {}, { ownerReferences: [owner], finalizers }));
    const again = await api.put(
      `${maps}/twice?fieldManager=other`,
      cm('twice', {}, { ownerReferences: [owner, owner], finalizers }),
    );
    expect(again.status).toBe(200);
    expect(again.body).toEqual(made);
  });

  test('accepts YAML, including JSON; duplicate keys cause a warning or a refusal [R198 R265]', async () => {
    const yaml = 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: yaml}\ndata:\n  k: v\n  k: w\n';
    const warned = await apply(`${maps}/yaml`, yaml, 'one');
    expect([warned.status, warned.body.data]).toEqual([201, { k: 'w' }]);
    expect(warned.headers['warning']).toContain('line 6: key \\"k\\" already set in map');
    expect((await apply(`${maps}/yaml`, yaml, 'one', '&fieldValidation=Strict')).status).toBe(400);
    expect((await apply(`${maps}/yaml`, yaml, 'one', '&fieldValidation=Ignore')).headers['warning']).toBeUndefined();
    expect((await apply(`${maps}/yaml`, '{apiVersion: v1, kind: ConfigMap, data: {k: x}}', 'one')).body.data).toEqual({
      k: 'x',
    });
  });

  test('that changes nothing writes nothing, except for shared ownership [R285 R293]', async () => {
    const first = (await apply(`${maps}/same`, cm('same', { k: '1' }), 'one')).body;
    const again = (await apply(`${maps}/same`, cm('same', { k: '1' }), 'one')).body;
    expect(again).toEqual(first);
    const shared = (await apply(`${maps}/same`, cm('same', { k: '1' }), 'two')).body;
    expect(managers(shared)).toEqual(['one Apply', 'two Apply']);
    expect(shared.metadata!.resourceVersion).not.toBe(first.metadata!.resourceVersion);
  });

  test('conflicts name every manager and field, and force takes them [R172 R290 R291 R356x]', async () => {
    await apply(web, deployment(full(3)), 'one');
    const { status, body } = await apply(web, deployment({ ...full(5), paused: true }), 'two');
    expect([status, body.reason, body.message]).toEqual([
      409,
      'Conflict',
      'Apply failed with 1 conflict: conflict with "one": .spec.replicas',
    ]);
    expect(body.details).toEqual({
      causes: [{ reason: 'FieldManagerConflict', message: 'conflict with "one"', field: '.spec.replicas' }],
    });
    const forced = await apply(web, deployment({ replicas: 5 }), 'two', '&force=true');
    expect([forced.status, forced.body.spec!.replicas]).toEqual([200, 5]);
    expect(fields(forced.body, 'two')).toEqual({ 'f:spec': { 'f:replicas': {} } });
    expect(JSON.stringify(fields(forced.body, 'one'))).not.toContain('replicas');
    const both = await apply(web, deployment({ replicas: 6, selector: { matchLabels: { app: 'x' } } }), 'three');
    expect(both.body.message).toBe(
      'Apply failed with 2 conflicts: conflicts with "one":\n- .spec.selector\nconflicts with "two":\n- .spec.replicas',
    );
  });

  test('omitting a field removes it or restores its default [R296 R297]', async () => {
    await apply(`${maps}/drop`, cm('drop', { a: '1', b: '1' }, { labels: { l: '1' } }), 'one');
    const dropped = (await apply(`${maps}/drop`, cm('drop', { a: '1' }), 'one')).body;
    expect([dropped.data, dropped.metadata!.labels, dropped.metadata!.name]).toEqual([{ a: '1' }, undefined, 'drop']);
    const other = web.replace('/web', '/defaults');
    const withDefaults = (spec: object): object => ({ ...deployment(spec), metadata: { name: 'defaults' } });
    await apply(other, withDefaults(full(3)), 'one');
    expect((await apply(other, withDefaults(full()), 'one')).body.spec!.replicas).toBe(1);
  });

  test(
    'status and scale have their own entries, and a scale conflicts in its own version [R290 ' + 'R299 R300]',
    async () => {
      const path = web.replace('/web', '/scaled');
      const scaled = (members: object): object => ({
        apiVersion: 'apps/v1',
        kind: 'Deployment',
        metadata: { name: 'scaled' },
        ...members,
      });
      await apply(path, scaled({ spec: full() }), 'one');
      const status = { replicas: 1, conditions: [{ type: 'Available', status: 'True' }] };
      await apply(`${path}/status`, scaled({ status, spec: { replicas: 9 } }), 'ctl');
      await api.patch(`${path}?fieldManager=edit`, MERGE, { spec: { replicas: 2 } });
      await api.put(`${path}/scale?fieldManager=hpa`, { metadata: { name: 'scaled' }, spec: { replicas: 4 } });
      const now = await read(path);
      expect(managers(now)).toEqual(['ctl Apply status', 'hpa Update scale', 'one Apply']);
      expect(fields(now, 'hpa')).toEqual({ 'f:spec': { 'f:replicas': {} } });
      expect([now.spec!.replicas, now.status!.replicas]).toEqual([4, 1]);
      const scale = {
        apiVersion: 'autoscaling/v1',
        kind: 'Scale',
        metadata: { name: 'scaled' },
        spec: { replicas: 7 },
      };
      const lost = await apply(`${path}/scale`, scale, 'me');
      expect(lost.body.message).toBe(
        'Apply failed with 1 conflict: conflict with "hpa" with subresource "scale" using autoscaling/v1: .spec.replicas',
      );
      expect((await apply(`${path}/scale`, scale, 'me', '&force=1')).body.spec).toEqual({ replicas: 7 });
      const shared = await apply(`${path}/scale`, scale, 'you');
      expect([shared.status, managers(await read(path))]).toEqual([
        200,
        ['ctl Apply status', 'me Apply scale', 'one Apply', 'you Apply scale'],
      ]);
    },
  );

  test.each([
    ['without a manager', '', cm('no'), 422, 'fieldManager: Required value: is required for apply patch'],
    ['of another version', 'm', { ...cm('no'), apiVersion: 'v2' }, 400, 'invalid object type: /v2, Kind=ConfigMap'],
    ['of another kind', 'm', { ...cm('no'), kind: 'Secret' }, 400, 'invalid object type: /v1, Kind=Secret'],
    ['of another name', 'm', cm('yes'), 400, 'does not match the name on the URL'],
    ['that sets managers', 'm', cm('no', {}, { managedFields: [] }), 400, 'metadata.managedFields must be nil'],
    [
      'that names another uid',
      'm',
      cm('no', {}, { uid: 'x' }),
      409,
      'uid mismatch: the provided object specified uid x',
    ],
    [
      'with fields that the kind does not have',
      'm',
      { ...cm('no'), size: 1 },
      422,
      '.size: field not declared in schema',
    ],
    ['with a value of another type', 'm', { ...cm('no'), data: ['x'] }, 422, '.data: expected map, got list'],
    ['that is not an object', 'm', '[]', 400, ''],
  ])('%s is refused and stores nothing [R171 R286 R354]', async (_what, manager, body, status, message) => {
    const answer = await apply(`${maps}/no`, body, manager);
    expect(answer.status).toBe(status);
    expect(answer.body.message).toContain(message);
    expect((await api.get(`${maps}/no`)).status).toBe(404);
  });

  test('of a subresource creates nothing, and reports a stale version [R289]', async () => {
    expect((await apply(`${web.replace('/web', '/none')}/status`, deployment({}), 'm')).status).toBe(404);
    await apply(`${maps}/stale`, cm('stale'), 'm');
    expect((await apply(`${maps}/stale`, cm('stale', { k: 'v' }, { resourceVersion: '1' }), 'm')).status).toBe(409);
  });

  test('to the status changes the metadata that status writes of the kind may change, and owns it', async () => {
    const name = 'of-status';
    const deployments = web.slice(0, web.lastIndexOf('/'));
    await api.made(deployments, { metadata: { name }, spec: full() });
    const metadata = { name, labels: { a: 'b' }, annotations: { c: 'd' } };
    const path = `${deployments}/${name}/status`;
    const { body } = await apply(path, { apiVersion: 'apps/v1', kind: 'Deployment', metadata }, 'of-status');
    expect([body.metadata!.labels, body.metadata!.annotations]).toEqual([undefined, { c: 'd' }]);
    expect(fields(body, 'of-status')).toEqual({ 'f:metadata': { 'f:annotations': { 'f:c': {} } } });
    // A kind whose status writes change no metadata at all.
    const attachment = { apiVersion: 'storage.k8s.io/v1', kind: 'VolumeAttachment', metadata: { name } };
    const attachments = '/apis/storage.k8s.io/v1/volumeattachments';
    const spec = { attacher: 'a', nodeName: 'n', source: { persistentVolumeName: 'v' } };
    await api.made(attachments, { ...attachment, spec });
    const status = { attached: true };
    const answer = await apply(`${attachments}/${name}/status`, { ...attachment, metadata, status }, 'of-status');
    expect(answer.body.metadata).not.toHaveProperty('labels');
    expect(fields(answer.body, 'of-status')).toEqual({ 'f:status': { 'f:attached': {} } });
  });

  test('compares managers in the version in which each of them wrote [R068]', async () => {
    const path = (version: string): string =>
      `/apis/autoscaling/${version}/namespaces/apply/horizontalpodautoscalers/h`;
    const scaler = (version: string, spec: object): object => ({
      apiVersion: `autoscaling/${version}`,
      kind: 'HorizontalPodAutoscaler',
      metadata: { name: 'h' },
      spec: { scaleTargetRef: { kind: 'Deployment', name: 'web' }, ...spec },
    });
    const older = { maxReplicas: 5, targetCPUUtilizationPercentage: 70 };
    expect((await apply(path('v1'), scaler('v1', older), 'one')).status).toBe(201);
    const lost = await apply(path('v2'), scaler('v2', { maxReplicas: 6 }), 'two');
    expect(lost.body.message).toBe('Apply failed with 1 conflict: conflict with "one": .spec.maxReplicas');
    const shared = await apply(path('v2'), scaler('v2', { maxReplicas: 5 }), 'two');
    expect([shared.status, fields(shared.body, 'one')]).toEqual([
      200,
      { 'f:spec': { 'f:maxReplicas': {}, 'f:scaleTargetRef': {}, 'f:targetCPUUtilizationPercentage': {} } },
    ]);
    const dropped = await apply(path('v1'), scaler('v1', { maxReplicas: 5 }), 'one');
    // Upstream also keeps metrics if managers write in several versions.
    expect(dropped.body.spec!.targetCPUUtilizationPercentage).toBe(70);
    const behavior = { scaleDown: { stabilizationWindowSeconds: 10 } };
    const wanted = (await api.patch(`${path('v2')}?fieldManager=three`, MERGE, { spec: { behavior } })).body.spec!
      .behavior;
    await api.patch(`${path('v1')}?fieldManager=three`, MERGE, { spec: { minReplicas: 2 } });
    const now = await read(path('v2'));
    expect([now.spec!.behavior, now.spec!.minReplicas]).toEqual([wanted, 2]);
  });

  test('to the status changes metadata that a write of the status may change', async () => {
    const scaler = (part: object): object => ({
      apiVersion: 'autoscaling/v2',
      kind: 'HorizontalPodAutoscaler',
      metadata: { name: 's', ...part },
      spec: { scaleTargetRef: { kind: 'Deployment', name: 'web' }, maxReplicas: 5 },
    });
    const at = '/apis/autoscaling/v2/namespaces/apply/horizontalpodautoscalers/s';
    await apply(at, scaler({}), 'one');
    const annotated = await apply(`${at}/status`, scaler({ annotations: { a: '1' } }), 'two');
    expect(annotated.body.metadata!.annotations).toEqual({ a: '1' });
    expect(fields(annotated.body, 'two')).toEqual({ 'f:metadata': { 'f:annotations': { 'f:a': {} } } });
    const other = await apply(`${at}/status`, scaler({ annotations: { a: '2' } }), 'three');
    expect(other.body.message).toContain('.metadata.annotations.a');
    const deployed = web.replace(/web$/, 'labels');
    const labeled = { ...deployment(full()), metadata: { name: 'labels', labels: { a: '1' } } };
    await apply(deployed, { ...deployment(full()), metadata: { name: 'labels' } }, 'one');
    const status = await apply(`${deployed}/status`, labeled, 'two');
    expect([status.body.metadata!.labels, fields(status.body, 'two')]).toEqual([undefined, undefined]);
  });

  test('that changes nothing adds an entry without a time', async () => {
    await api.post(maps, cm('timeless', { k: 'v' }));
    const same = await apply(`${maps}/timeless`, cm('timeless', { k: 'v' }), 'late');
    const entries = same.body.metadata!.managedFields as unknown as { manager: string; time?: string }[];
    expect(entries.map(({ manager, time }) => [manager === 'late', time !== undefined]).sort()).toEqual([
      [false, true],
      [true, false],
    ]);
  });

  test('of an item without its key is refused by the rules of the kind', async () => {
    const nameless = deployment({
      ...full(),
      template: { metadata: { labels: { app: 'web' } }, spec: { containers: [{}] } },
    });
    const { status, body } = await apply(
      web.replace(/web$/, 'nameless'),
      { ...nameless, metadata: { name: 'nameless' } },
      'm',
    );
    expect([status, body.message]).toEqual([
      422,
      expect.stringContaining('spec.template.spec.containers[0].name: Required value'),
    ]);
  });

  test('as a dry run has the same answer and stores nothing [R270 R274]', async () => {
    const dry = await apply(`${maps}/dry`, cm('dry', { k: 'v' }), 'm', '&dryRun=All');
    expect([dry.status, managers(dry.body)]).toEqual([201, ['m Apply']]);
    expect((await api.get(`${maps}/dry`)).status).toBe(404);
  });
});

describe('managers of other writes', () => {
  let api: Api;
  let maps: string;
  beforeAll(async () => {
    api = await Api.shared();
    maps = `${await api.namespace('track')}/configmaps`;
  });
  afterAll(() => api.close());

  const withAgent = (agent: string): { headers: { 'user-agent': string } } => ({ headers: { 'user-agent': agent } });
  const one = (name: string): Promise<Answer> =>
    api.patch(`${maps}/${name}?fieldManager=one`, APPLY, cm(name, { a: '1' }));

  test('have the name of the client up to the slash, or of the parameter [R067 R171 R184]', async () => {
    const made = await api.post(maps, cm('agents', { a: '1' }), withAgent('creator/v1.2 (linux)'));
    expect(fields(made.body, 'creator')).toEqual({ 'f:data': { '.': {}, 'f:a': {} } });
    const patched = await api.patch(`${maps}/agents?fieldManager=patcher`, MERGE, { data: { b: '1' } }, withAgent('x'));
    expect(managers(patched.body)).toEqual(['creator Update', 'patcher Update']);
    const long = await api.post(maps, cm('long', { a: '1' }), withAgent(`${'u'.repeat(200)}/1`));
    expect(managers(long.body)).toEqual([`${'u'.repeat(128)} Update`]);
    const nameless = await api.post(maps, cm('nameless', { a: '1' }), withAgent('/1'));
    expect(managers(nameless.body)).toEqual(['unknown Update']);
  });

  test('take over fields without conflict, with any kind of write [R294 R295]', async () => {
    await one('taken');
    const put = await api.put(`${maps}/taken?fieldManager=put`, cm('taken', { a: '2' }));
    expect([put.status, managers(put.body)]).toEqual([200, ['put Update']]);
    await one('patched');
    const json = [{ op: 'replace', path: '/data/a', value: '2' }];
    const patched = await api.patch(`${maps}/patched?fieldManager=jp`, 'application/json-patch+json', json);
    expect(managers(patched.body)).toEqual(['jp Update']);
  });

  test.each<[string, (name: string) => Promise<Answer>]>([
    ['merge patch', name => api.patch(`${maps}/${name}`, MERGE, { metadata: { managedFields: [{}] } })],
    [
      'JSON patch',
      name =>
        api.patch(`${maps}/${name}`, 'application/json-patch+json', [
          { op: 'replace', path: '/metadata/managedFields', value: [{}] },
        ]),
    ],
    ['strategic merge patch', name => api.patch(`${maps}/${name}`, STRATEGIC, { metadata: { managedFields: [{}] } })],
    ['PUT', name => api.put(`${maps}/${name}`, cm(name, { a: '1' }, { managedFields: [{}] }))],
  ])('are removed by one empty entry in a %s [R302]', async (what, write) => {
    const name = `reset-${what.replace(/\W/g, '').toLowerCase()}`;
    await one(name);
    const { status, body } = await write(name);
    expect([status, managers(body), body.data]).toEqual([200, [], { a: '1' }]);
  });

  test('are kept if the list is empty or omitted; a manager that resets them owns its other changes [R303 R304]', async () => {
    await one('kept');
    const put = (metadata: object, data = { a: '1' }): Promise<Answer> =>
      api.put(`${maps}/kept?fieldManager=put`, cm('kept', data, metadata));
    expect(managers((await put({ managedFields: [] })).body)).toEqual(['one Apply']);
    expect(managers((await put({})).body)).toEqual(['one Apply']);
    const reset = (await put({ managedFields: [{}] }, { a: '2' })).body;
    expect([managers(reset), fields(reset, 'put')]).toEqual([['put Update'], { 'f:data': { 'f:a': {} } }]);
  });

  test('of an object without tracked fields are determined by its first apply', async () => {
    await one('first');
    await api.patch(`${maps}/first`, MERGE, { metadata: { managedFields: [{}] } });
    const lost = await api.patch(`${maps}/first?fieldManager=one`, APPLY, cm('first', { a: '2' }));
    expect(lost.body.message).toBe(
      'Apply failed with 1 conflict: conflict with "before-first-apply" using v1: .data.a',
    );
  });

  test('are accepted from the client only if they are well-formed', async () => {
    await one('edited');
    const entry = {
      manager: 'x',
      operation: 'Update',
      apiVersion: 'v1',
      fieldsType: 'FieldsV1',
      fieldsV1: { 'f:data': { 'f:a': {} } },
    };
    const edit = (entries: object[]): Promise<Answer> =>
      api.patch(`${maps}/edited`, MERGE, { metadata: { managedFields: entries } });
    expect(managers((await edit([{ ...entry, operation: 'Own' }])).body)).toEqual(['one Apply']);
    expect(managers((await edit([{ ...entry, fieldsV1: { a: {} } }])).body)).toEqual(['one Apply']);
    for (const fieldsV1 of [[], 'x', 5])
      expect(managers((await edit([{ ...entry, fieldsV1 }])).body)).toEqual(['one Apply']);
    expect(await edit([{ ...entry, manager: 'é'.repeat(65) }])).toMatchObject({
      status: 422,
      body: { details: { causes: [{ reason: 'FieldValueTooLong', field: 'metadata.managedFields[0].manager' }] } },
    });
    expect(managers((await edit([entry])).body)).toEqual(['x Update']);
  });

  test('are limited to ten entries of updates; older ones are merged', async () => {
    await one('many');
    for (let i = 0; i < 13; i++)
      await api.patch(`${maps}/many?fieldManager=w${i}`, MERGE, { data: { [`k${i}`]: '1' } });
    const entries = managers((await api.get(`${maps}/many`)).body);
    expect([entries.length, entries.filter(entry => entry === 'ancient-changes Update').length]).toEqual([11, 1]);
  });

  test('are shown in lists, watches and metadata-only answers, and never in tables [R044]', async () => {
    await one('shown');
    const list = (await api.get(`${maps}?fieldSelector=metadata.name=shown`)).body;
    expect(managers(listOf(list.items)[0]!)).toEqual(['one Apply']);
    const partial = await api.get(`${maps}/shown`, {
      accept: 'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1',
    });
    expect(managers(partial.body)).toEqual(['one Apply']);
  });
});
