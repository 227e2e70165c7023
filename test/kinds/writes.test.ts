import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Api, listOf, causesIn } from '../api/support.js';
import { CERTIFICATE_REQUEST } from '../access/data/certificateRequest.js';
import { MERGE } from '../support/mediaTypes.js';

const JSON_PATCH = 'application/json-patch+json';
const APPLY = 'application/apply-patch+yaml';
const DEFINITIONS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const SERVICES = '/apis/apiregistration.k8s.io/v1/apiservices';
const REQUESTS = '/apis/certificates.k8s.io/v1/certificatesigningrequests';
const CLAIM = { spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } } };
const VOLUME = { spec: { accessModes: ['ReadWriteOnce'], capacity: { storage: '1Gi' }, hostPath: { path: '/x' } } };

interface Entry {
  manager: string;
  subresource?: string;
  fieldsV1: { [field: string]: object };
}

/** `manager subresource: fields` of each entry, with the fields of the first two levels. */
const owners = (body: { metadata?: object }): string[] =>
  ((body.metadata as { managedFields?: Entry[] }).managedFields ?? []).map(({ manager, subresource, fieldsV1 }) => {
    const fields = Object.entries(fieldsV1).map(([name, below]) => `${name} ${Object.keys(below).sort().join(' ')}`);
    return `${manager} ${subresource ?? 'object'}: ${fields.join(', ')}`;
  });

describe('writes', () => {
  let api: Api;
  let home: string;
  beforeAll(async () => {
    api = await Api.start();
    home = await api.namespace('writes');
  });
  afterAll(() => api.close());

  test('of certificate requests own only fields that they can change', async () => {
    const spec = { request: CERTIFICATE_REQUEST, signerName: 'a.b/c', usages: ['client auth'] };
    const made = await api.made(`${REQUESTS}?fieldManager=one`, { metadata: { name: 'r', labels: { a: 'b' } }, spec });
    expect(owners(made)).toEqual(['one object: f:metadata f:labels']);
    const condition = { type: 'Approved', status: 'True', reason: 'R' };
    await api.patch(`${REQUESTS}/r/approval?fieldManager=two`, MERGE, { status: { conditions: [condition] } });
    const status = { conditions: [condition, { type: 'Failed', status: 'True', reason: 'R' }] };
    const { body } = await api.patch(`${REQUESTS}/r/status?fieldManager=three`, MERGE, { status });
    expect([body.status, owners(body)]).toEqual([
      { conditions: [expect.objectContaining(condition), expect.objectContaining({ type: 'Failed' })] },
      ['one object: f:metadata f:labels', 'two approval: f:status f:conditions'],
    ]);
  });

  test.each([
    ['namespaces', () => '/api/v1/namespaces', {}, 'Active'],
    ['persistentvolumeclaims', () => `${home}/persistentvolumeclaims`, CLAIM, 'Pending'],
    ['persistentvolumes', () => '/api/v1/persistentvolumes', VOLUME, 'Pending'],
  ])('that remove the status of %s restore the phase of a new object', async (kind, path, members, phase) => {
    const name = `without-status-${kind}`;
    await api.made(path(), { metadata: { name }, ...members });
    const { status, body } = await api.patch(`${path()}/${name}/status`, MERGE, { status: null });
    expect([status, body.status]).toEqual([200, expect.objectContaining({ phase })]);
  });

  test('to the status of a volume never own the time that the server sets', async () => {
    const path = '/api/v1/persistentvolumes';
    await api.made(path, { metadata: { name: 'timed' }, ...VOLUME });
    const { body } = await api.patch(`${path}/timed/status?fieldManager=one`, MERGE, {
      status: { phase: 'Available' },
    });
    expect(owners(body)).toContain('one status: f:status f:phase');
    expect(body.status).toHaveProperty('lastPhaseTransitionTime');
  });

  test('to the status of a definition change its metadata without owning any', async () => {
    const names = { plural: 'writes', kind: 'Write' };
    const schema = { openAPIV3Schema: { type: 'object' } };
    const versions = [{ name: 'v1', served: true, storage: true, schema }];
    await api.made(DEFINITIONS, {
      metadata: { name: 'writes.example.com' },
      spec: { group: 'example.com', scope: 'Namespaced', names, versions },
    });
    const path = `${DEFINITIONS}/writes.example.com`;
    const metadata = { labels: { a: 'b' }, annotations: { c: 'd' } };
    const { body } = await api.patch(`${path}/status?fieldManager=one`, MERGE, { metadata });
    expect(body.metadata).toMatchObject(metadata);
    expect(owners(body).filter(entry => entry.startsWith('one'))).toEqual([]);
    const { body: deleted } = await api.delete(`${path}?dryRun=All`);
    expect(deleted.metadata).toMatchObject({ generation: 1, deletionTimestamp: expect.any(String) });
    expect(deleted.metadata).not.toHaveProperty('deletionGracePeriodSeconds');
  });

  test('by finalize that remove all finalizers own no field of the spec', async () => {
    await api.namespace('finalized');
    const path = '/api/v1/namespaces/finalized';
    const { body: before } = await api.get(path);
    const changed = { ...before, spec: { finalizers: ['kubernetes', 'a.b/c'] } };
    expect(owners((await api.put(`${path}/finalize?fieldManager=one`, changed)).body).join()).toContain('one finalize');
    const emptied = await api.put(`${path}/finalize?fieldManager=one`, { metadata: { name: 'finalized' }, spec: {} });
    expect([emptied.status, owners(emptied.body).join()]).toEqual([200, expect.not.stringContaining('f:spec')]);
  });

  test('of pods own volumes whose feature gate is off, which are not stored', async () => {
    const volumeMounts = [{ name: 'v', mountPath: '/v' }];
    const spec = { containers: [{ name: 'c', image: 'i', volumeMounts }], volumes: [{ name: 'v', image: {} }] };
    const pod = await api.made(`${home}/pods`, { metadata: { name: 'disabled' }, spec });
    const names = listOf(pod.spec?.volumes ?? []).map(({ name }) => name);
    expect(names).not.toContain('v');
    const [entry] = (pod.metadata as { managedFields?: Entry[] }).managedFields!;
    expect(entry!.fieldsV1['f:spec']).toMatchObject({
      'f:containers': { 'k:{"name":"c"}': { 'f:volumeMounts': { 'k:{"mountPath":"/v"}': expect.anything() } } },
      'f:volumes': { 'k:{"name":"v"}': { 'f:image': expect.anything() } },
    });
  });

  test('to the scale by JSON Patch find no replicas if the object has none', async () => {
    const path = `${home.replace('/api/v1', '/apis/apps/v1')}/deployments`;
    const template = { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image: 'i' }] } };
    const spec = { replicas: 0, selector: { matchLabels: { a: 'b' } }, template };
    await api.made(path, { metadata: { name: 'none' }, spec });
    for (const operation of [
      { op: 'remove', path: '/spec/replicas' },
      { op: 'test', path: '/spec/replicas', value: 0 },
    ])
      expect((await api.patch(`${path}/none/scale`, JSON_PATCH, [operation])).status).toBe(422);
    const set = await api.patch(`${path}/none/scale`, JSON_PATCH, [{ op: 'add', path: '/spec/replicas', value: 2 }]);
    expect([set.status, set.body.spec]).toEqual([200, { replicas: 2 }]);
  });

  test('never set the selfLink', async () => {
    const path = `${home}/configmaps`;
    const made = await api.made(path, { metadata: { name: 'linked', selfLink: '/x' } });
    expect(made.metadata).not.toHaveProperty('selfLink');
    const { body } = await api.put(`${path}/linked`, { metadata: { name: 'linked', selfLink: '/x' } });
    expect(body.metadata).not.toHaveProperty('selfLink');
    expect(body.metadata?.['resourceVersion']).toBe(made.metadata?.['resourceVersion']);
  });

  test('report errors of an apply with the apiVersion of the configuration, and items by their keys', async () => {
    const path = `${home.replace('/api/v1', '/apis/apps/v1')}/deployments/applied?fieldManager=one`;
    const containers = [{ name: 'a', unknown: 1 }, { name: 'a' }];
    const { body } = await api.patch(path, APPLY, {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { name: 'applied' },
      spec: { template: { spec: { containers } } },
    });
    expect(body.message).toBe(
      'failed to create typed patch object (/applied; apps/v1, Kind=Deployment): errors:\n' +
        '  .spec.template.spec.containers[name="a"].unknown: field not declared in schema\n' +
        '  .spec.template.spec.containers: duplicate entries for key [name="a"]',
    );
  });

  test('quote values with unprintable characters as Go does', async () => {
    const { body } = await api.post(`${home}/configmaps?fieldManager=%01`, { metadata: { name: 'quoted' } });
    expect(body.message).toContain('fieldManager: Invalid value: "\\x01": invalid character U+0001 (at position 0)');
  });

  test.each([
    ['.', ['Invalid value: ".": may not be \'.\'']],
    ['', ['Required value: name or generateName is required']],
    ['x', ['Invalid value: "x": must be `spec.version+"."+spec.group`: "v1.example.com"']],
  ])('of an APIService named %j report the error in its name once', async (name, messages) => {
    const spec = { group: 'example.com', version: 'v1', groupPriorityMinimum: 1, versionPriority: 1 };
    const { body } = await api.post(SERVICES, { metadata: { name, finalizers: ['x'] }, spec });
    expect(causesIn(body).map(cause => cause.message)).toEqual(messages);
  });
});
